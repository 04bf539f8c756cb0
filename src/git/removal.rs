//! Removing a checkout, and telling git where one went. `worktree prune` is never called: it
//! forgets what is only absent now.

use std::io::ErrorKind;
use std::path::Path;

use super::admin;
use super::checkout::{Checkout, LONG};
use super::command::{self, complained, complaint, failed, line, run, run_beside_others};
use super::operation::operation;
use super::worktree::{self, Belongs, admins_naming, is_ours, list};
use super::{Oid, Repo, submodule};
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};

/// The reason of the lock that git sets while it makes a checkout.
const INITIALIZING: &str = "initializing";

/// Removes a linked checkout of this repository. `force` is for whoever has made sure that
/// everything in it is saved; without it git looks once more, and sees what the configuration
/// hides. A locked one stays. Where the directory is gone already, its own entry goes and no
/// other; without force only if it holds nothing that is nowhere else.
pub fn remove(ctx: &Ctx, repo: &Repo, path: &Path, force: bool) -> Result<()> {
    let refused = |why: &str| Error::refused(format!("{} is not removed: {why}", path.display()));
    match is_ours(ctx, repo, path)? {
        Belongs::Ours { admin, .. } if force && is_half_made(&admin) => by_hand(&admin, path),
        Belongs::Ours { admin, .. } => {
            check_lock(&admin, path)?;
            by_git(ctx, repo, path, force)
        }
        Belongs::Missing => forget(ctx, repo, path, force),
        Belongs::Main => Err(refused("it is the main checkout")),
        Belongs::Moved { from, .. } => Err(refused(&format!("git believes it to be at {}", from.display()))
            .hint("run `git worktree repair` in it")),
        Belongs::Other(what) => Err(refused(&format!("it {what}"))),
        Belongs::Unknown(why) => Err(refused(&why)),
    }
}

/// Whether git was stopped while it made the checkout. Such a one may lack what `git worktree
/// remove` asks for.
pub fn is_half_made(admin: &Path) -> bool {
    admin::pointer(&admin.join("locked"))
        .is_ok_and(|reason| reason.as_deref() == Some(INITIALIZING.as_bytes()))
}

/// Removes the checkout first: what names it must be the last to go.
fn by_hand(admin: &Path, path: &Path) -> Result<()> {
    for dir in [path, admin] {
        match std::fs::remove_dir_all(dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            done => done.doing(|| format!("cannot remove {}", dir.display()))?,
        }
    }
    Ok(())
}

fn by_git(ctx: &Ctx, repo: &Repo, path: &Path, force: bool) -> Result<()> {
    let cmd = repo.pointed(command::acting(ctx, repo.main())?).limit(LONG);
    let cmd = Checkout::at(ctx, path)?.seeing_all(cmd).args(["worktree", "remove"]);
    let cmd = if force { cmd.arg("--force") } else { cmd };
    let what = || format!("git cannot remove {}", path.display());
    let output = run_beside_others(&cmd.arg("--").arg(path)).map_err(|failure| failed(&what(), failure))?;
    if output.ok() { Ok(()) } else { Err(complained(&what(), &output)) }
}

/// A lock is somebody's word that the checkout stays.
fn check_lock(admin: &Path, path: &Path) -> Result<()> {
    let what = || format!("cannot read the lock of {}", path.display());
    let Some(reason) = admin::pointer(&admin.join("locked")).doing(what)? else { return Ok(()) };
    let reason = String::from_utf8_lossy(&reason).trim().to_owned();
    let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    Err(Error::refused(format!("{} is locked{why}", path.display()))
        .hint(format!("git worktree unlock {} lets it go", path.display())))
}

/// Forgets a checkout that is not there: only the entry that names exactly this path.
pub(super) fn forget(ctx: &Ctx, repo: &Repo, path: &Path, force: bool) -> Result<()> {
    for admin in admins_naming(repo, path)? {
        if !(force && is_half_made(&admin)) {
            check_lock(&admin, path)?;
        }
        if let Some(what) = if force { None } else { only_here(ctx, repo, &admin)? } {
            return Err(Error::refused(format!("git's entry for {} is kept: {what}", path.display()))
                .hint(format!("look at it in {}", admin.display())));
        }
        by_hand(&admin, path)?;
    }
    Ok(())
}

/// What the administrative directory of a checkout that is gone has and nothing else.
fn only_here(ctx: &Ctx, repo: &Repo, admin: &Path) -> Result<Option<String>> {
    if let Some(operation) = operation(ctx, admin) {
        return Ok(Some(format!("{operation} was under way in it")));
    }
    if let Some(kept) = submodule::kept_in(ctx, admin)?.into_iter().next() {
        return Ok(Some(format!("{} has {}", kept.path.display(), kept.why)));
    }
    let Some(head) = admin::pointer(&admin.join("HEAD")).ok().flatten() else { return Ok(None) };
    let Some(head) = Oid::parse(String::from_utf8_lossy(&head).trim()) else { return Ok(None) };
    let args = ["for-each-ref", "--count=1", "--format=%(refname)", "--contains", head.as_str()];
    let output = run(&repo.read().args(args), || format!("git cannot tell what holds {}", head.short()))?;
    let lost = line(&output).is_empty();
    Ok(lost.then(|| format!("its last commit {} is on no branch", head.short())))
}

/// Takes back a checkout whose making failed or was stopped.
pub(super) fn take_back(ctx: &Ctx, repo: &Repo, path: &Path) {
    // Without a `.git` yet, only an empty directory can be ours.
    let _ = std::fs::remove_dir(path);
    if let Err(error) = remove(ctx, repo, path, true) {
        tracing::warn!(path = %path.display(), %error, "a half-made checkout stays");
    }
}

/// Tells git where a checkout went that was moved by other means, or where the main checkout went.
/// git rewrites the pointers of every checkout while it is at it, so this is refused where one of
/// them is not ours to rewrite.
pub fn repair(ctx: &Ctx, repo: &Repo, path: &Path) -> Result<()> {
    let refused = |why: &str| Error::refused(format!("{} is not repaired: {why}", path.display()));
    match is_ours(ctx, repo, path)? {
        Belongs::Ours { .. } => return Ok(()),
        Belongs::Moved { .. } => {}
        Belongs::Unknown(_) if !admins_naming(repo, path)?.is_empty() => {}
        Belongs::Other(why) | Belongs::Unknown(why) => return Err(refused(&why)),
        Belongs::Main => return Err(refused("it is the main checkout")),
        Belongs::Missing => return Err(refused("nothing is there")),
    }
    for entry in list(ctx, repo)?.iter().skip(1) {
        if let Belongs::Other(what) = is_ours(ctx, repo, &entry.path)? {
            return Err(refused(&format!("git would also rewrite {}, which {what}", entry.path.display())));
        }
    }
    let cmd = repo.command().args(["worktree", "repair", "--"]).arg(path);
    let output = run(&cmd, || format!("git cannot repair {}", path.display()))?;
    match worktree::is_ours(ctx, repo, path)? {
        Belongs::Ours { .. } => Ok(()),
        _ => Err(Error::failed(format!("{} is not repaired: {}", path.display(), complaint(&output)))),
    }
}
