//! A checkout is disposable: it is rebuilt from its branch.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::{Lane, State, create};
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::git::Repo;
use crate::git::worktree::{self, AddRequest, Added, Belongs, Start};
use crate::lock::Lock;

/// What there is of a lane.
pub fn state(ctx: &Ctx, repo: &Repo, lane: &Lane) -> Result<State> {
    Ok(match worktree::is_ours(ctx, repo, &lane.row.path)? {
        Belongs::Ours { .. } => State::Live,
        Belongs::Missing => State::Parked,
        Belongs::Main | Belongs::Moved { .. } | Belongs::Other(_) => State::Stray,
        Belongs::Unknown(why) => {
            return Err(Error::precondition(format!(
                "cannot tell what {} is: {why}",
                lane.row.path.display()
            ))
            .hint("scruff leaves it as it is; look at it with git"));
        }
    })
}

/// Makes the checkout again where it is gone. `None`: it was there. git holds the lane's lock too
/// while it is at it, also when scruff is killed. `until` is when whoever waits for it gives up.
pub fn rebuild(
    ctx: &Ctx,
    repo: &Repo,
    lane: &Lane,
    lock: &Lock,
    until: Option<Instant>,
) -> Result<Option<Added>> {
    match state(ctx, repo, lane)? {
        State::Live if is_half_made(ctx, repo, &lane.row.path)? => {
            move_aside(ctx, &lane.row.path)?;
            // What is left of it now is git's note that there is a checkout.
            worktree::remove(ctx, repo, &lane.row.path, true)?;
        }
        State::Live => return Ok(None),
        State::Stray => move_aside(ctx, &lane.row.path)?,
        State::Parked => {}
    }
    if repo.tip(&lane.row.branch)?.is_none() && repo.head()?.is_some() {
        return Err(Error::precondition(format!(
            "the branch {} of {} is gone",
            lane.row.branch,
            lane.label()
        ))
        .hint("if it was taken: scruff undo; else make the branch again from the commit you want"));
    }
    let start = if repo.tip(&lane.row.branch)?.is_some() { Start::Existing } else { Start::Orphan };
    let request = AddRequest::new(&lane.row.path, &lane.row.branch, start);
    let limit = until.map_or(request.limit, |until| create::left(until).min(request.limit));
    let hold = Some(std::sync::Arc::new(lock.share()?));
    worktree::add(ctx, repo, &AddRequest { limit, hold, ..request }).map(Some)
}

/// Whether git was stopped while it made the checkout: it lacks files, which would look deleted.
fn is_half_made(ctx: &Ctx, repo: &Repo, path: &Path) -> Result<bool> {
    let belongs = worktree::is_ours(ctx, repo, path)?;
    Ok(matches!(belongs, Belongs::Ours { admin, .. } if worktree::is_half_made(&admin)))
}

/// A stray that stands where a checkout must go is moved aside, and its `.git` file renamed, so
/// that git inside it cannot act on the new lane.
fn move_aside(ctx: &Ctx, path: &Path) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".stray-{}", ctx.clock.stamp().as_second()));
    let aside = PathBuf::from(name);
    if aside.symlink_metadata().is_ok() {
        return Err(Error::precondition(format!("{} is in the way", aside.display()))
            .hint("move it away and call again"));
    }
    std::fs::rename(path, &aside).doing(|| format!("cannot move {} aside", path.display()))?;
    let link = aside.join(".git");
    if link.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        std::fs::rename(&link, aside.join(".git.stray"))
            .doing(|| format!("cannot rename {}", link.display()))?;
    }
    ctx.ui.warn(format!("what stood at {} is now {}", path.display(), aside.display()));
    Ok(())
}
