//! Finding the repository of a directory, without a process, by git's rules.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::admin::{self, DotGit};
use super::command::{self, Launcher};
use crate::ctx::Ctx;
use crate::env::Env;
use crate::error::{Error, Result};

/// A git directory, and the checkout it was found by.
#[derive(Debug)]
pub(super) struct Found {
    /// The git directory; of a linked worktree its administrative directory.
    pub(super) git_dir: PathBuf,
    /// The root of the checkout, unless the search began inside a git directory.
    pub(super) root: Option<PathBuf>,
    /// The git directory that all checkouts share, canonical.
    pub(super) common: PathBuf,
}

/// Looks at `dir` and upwards. `None` is a positive "there is none".
pub(super) fn upwards(ctx: &Ctx, dir: &Path) -> Result<Option<Found>> {
    let device = std::fs::metadata(dir).ok().map(|meta| meta.dev());
    let crossing = ctx.env.text("GIT_DISCOVERY_ACROSS_FILESYSTEM").is_some_and(|value| value != "0");
    for place in dir.ancestors() {
        let other_disk = std::fs::metadata(place).ok().map(|meta| meta.dev()) != device;
        if place != dir && (is_ceiling(&ctx.env, place) || (other_disk && !crossing)) {
            return Ok(None);
        }
        if let Some(found) = at(place)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Looks at `place` only.
pub(super) fn at(place: &Path) -> Result<Option<Found>> {
    let broken = |why: String| {
        Error::failed(format!("cannot tell which repository {} belongs to: {why}", place.display()))
    };
    let (git_dir, root) = match admin::dot_git(place) {
        DotGit::File(target) if admin::is_git_dir(&target) => (target, Some(place.to_owned())),
        DotGit::File(target) => {
            let why = format!("its .git names {}, which is no git directory", target.display());
            return Err(broken(why).hint("if the main checkout moved, run `git worktree repair` there"));
        }
        DotGit::Odd(why) => return Err(broken(why)),
        DotGit::Dir if admin::is_git_dir(&place.join(".git")) => (place.join(".git"), Some(place.to_owned())),
        DotGit::Dir | DotGit::None if admin::is_git_dir(place) => (place.to_owned(), None),
        DotGit::Dir | DotGit::None => return Ok(None),
    };
    let canonical = |path: PathBuf| path.canonicalize().map_err(|error| broken(error.to_string()));
    let git_dir = canonical(git_dir)?;
    let common = canonical(admin::common_of(&git_dir))?;
    Ok(Some(Found { git_dir, root, common }))
}

/// `GIT_CEILING_DIRECTORIES`: git looks at nothing that is one of them or above.
fn is_ceiling(env: &Env, place: &Path) -> bool {
    let Some(list) = env.get("GIT_CEILING_DIRECTORIES") else { return false };
    let paths = list.as_bytes().split(|byte| *byte == b':').filter(|path| !path.is_empty());
    let mut paths = paths.map(|path| Path::new(std::ffi::OsStr::from_bytes(path)));
    paths.any(|ceiling| ceiling == place || admin::same(ceiling, place))
}

/// git refuses to act on another user's repository. Everything ours: no question. Anything else:
/// git decides, and its refusal is not "there is no repository".
pub(super) fn check_owner(launcher: &Launcher, dir: &Path, found: &Found) -> Result<()> {
    let me = rustix::process::geteuid().as_raw();
    let dot_git = found.root.as_ref().map(|root| root.join(".git"));
    let places = [Some(&found.git_dir), found.root.as_ref(), dot_git.as_ref(), Some(&found.common)];
    let mut owners = places.into_iter().flatten().map(std::fs::symlink_metadata);
    if owners.all(|meta| meta.is_ok_and(|meta| meta.uid() == me)) {
        return Ok(());
    }
    let cmd = launcher.read(dir).args(["rev-parse", "--git-dir"]);
    command::run(&cmd, || format!("git does not answer for {}", dir.display())).map(drop)
}
