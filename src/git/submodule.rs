//! Work in the submodules of a checkout. Their repositories lie in the checkout's own git
//! directory and go with it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::admin::{self, DotGit};
use super::checkout::Checkout;
use super::command::{self, run};
use super::status::{self, Dirt};
use crate::ctx::Ctx;
use crate::error::{Doing, Result};

/// Nested deeper than this is not looked at but counts as work.
const MAX_DEPTH: usize = 8;

/// A submodule that holds something that is nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where it is, from the root of the checkout or of its git directory.
    pub path: PathBuf,
    /// What it holds.
    pub why: String,
}

/// The submodules of a checkout that are filled, from its root.
pub fn present(ctx: &Ctx, place: &Path) -> Result<Vec<PathBuf>> {
    let filled = |path: &PathBuf| !matches!(admin::dot_git(&place.join(path)), DotGit::None);
    Ok(all(ctx, place)?.into_iter().filter(filled).collect())
}

/// The submodules of a checkout that are not filled, from its root.
pub fn empty(ctx: &Ctx, place: &Path) -> Result<Vec<PathBuf>> {
    let empty = |path: &PathBuf| matches!(admin::dot_git(&place.join(path)), DotGit::None);
    Ok(all(ctx, place)?.into_iter().filter(empty).collect())
}

fn all(ctx: &Ctx, place: &Path) -> Result<Vec<PathBuf>> {
    let checkout = Checkout::at(ctx, place)?;
    let cmd = checkout.read()?.args(["ls-files", "--stage", "-z"]);
    let output = run(&cmd, || checkout.what("git cannot list the submodules"))?;
    let entries = output.stdout.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"160000 "));
    let paths = entries.filter_map(|entry| {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        Some(PathBuf::from(OsStr::from_bytes(&entry[tab + 1..])))
    });
    Ok(paths.collect())
}

/// Whether git will refuse to remove the checkout because submodules were filled in it.
pub fn any(ctx: &Ctx, place: &Path) -> Result<bool> {
    let checkout = Checkout::at(ctx, place)?;
    Ok(checkout.git_dir.join("modules").is_dir() || !present(ctx, place)?.is_empty())
}

/// What the submodules of a checkout hold that would be lost with it: uncommitted work, and
/// commits that no remote is known to have.
pub fn work(ctx: &Ctx, place: &Path) -> Result<Vec<Kept>> {
    let mut kept = Vec::new();
    below(ctx, place, Path::new(""), 0, &mut kept)?;
    kept.extend(kept_in(ctx, &Checkout::at(ctx, place)?.git_dir)?);
    Ok(kept)
}

/// The part of it that lies in the checkout's git directory.
pub(super) fn kept_in(ctx: &Ctx, git_dir: &Path) -> Result<Vec<Kept>> {
    let mut kept = Vec::new();
    for module in modules(&git_dir.join("modules"), 0)? {
        if let Some(why) = unpushed(ctx, &module)? {
            let path = module.strip_prefix(git_dir).unwrap_or(&module).to_owned();
            kept.push(Kept { path, why });
        }
    }
    Ok(kept)
}

fn below(ctx: &Ctx, place: &Path, prefix: &Path, depth: usize, kept: &mut Vec<Kept>) -> Result<()> {
    for submodule in present(ctx, place)? {
        let (path, root) = (prefix.join(&submodule), place.join(&submodule));
        let mut keep = |why: String| kept.push(Kept { path: path.clone(), why });
        if depth == MAX_DEPTH {
            keep("is nested too deep to look at".to_owned());
            continue;
        }
        match status::of(ctx, &root) {
            Dirt::Clean => {}
            Dirt::Dirty(changes) => keep(format!("{} uncommitted changes", changes.len())),
            Dirt::Unknown(why) => keep(why),
        }
        if matches!(admin::dot_git(&root), DotGit::Dir) {
            unpushed(ctx, &root.join(".git"))?.into_iter().for_each(&mut keep);
        }
        below(ctx, &root, &path, depth + 1, kept)?;
    }
    Ok(())
}

/// Every git directory below `modules`, also of submodules that are not filled at the moment.
fn modules(dir: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let what = || format!("cannot look at {}", dir.display());
    let mut found = Vec::new();
    if !dir.is_dir() || depth > 2 * MAX_DEPTH {
        return Ok(found);
    }
    for entry in std::fs::read_dir(dir).doing(what)? {
        let path = entry.doing(what)?.path();
        if admin::is_git_dir(&path) {
            found.extend(modules(&path.join("modules"), depth + 1)?);
            found.push(path);
        } else if path.is_dir() {
            found.extend(modules(&path, depth + 1)?);
        }
    }
    Ok(found)
}

/// What a submodule's repository has that no remote is known to have, stashes among it.
fn unpushed(ctx: &Ctx, git_dir: &Path) -> Result<Option<String>> {
    // The working tree that its configuration names may be gone.
    let cmd = command::read(ctx, git_dir)?.args(["--git-dir=.", "--work-tree=."]);
    let cmd = cmd.args(["rev-list", "--count", "--all", "--not", "--remotes"]);
    let output = run(&cmd, || format!("git cannot tell what is pushed of {}", git_dir.display()))?;
    Ok(match command::line(&output).as_str() {
        "0" => None,
        count => Some(format!("{count} commits that no remote is known to have")),
    })
}
