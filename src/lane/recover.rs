//! Finishes or takes back lanes whose making was cut short.
//!
//! A lane being made has a mark in `$SCRUFF_STATE/opening/`. Where the mark stands and nobody holds
//! the lane's lock (git itself holds it too while it makes the checkout), the maker is gone. The
//! lane was never handed to anybody then.

use std::path::PathBuf;
use std::time::Duration;

use super::guard::{self, Standing};
use super::{Lane, LaneId, Phase, Record, lock_path, provision};
use crate::ctx::Ctx;
use crate::error::Result;
use crate::git::worktree::{self, Belongs};
use crate::git::{Oid, Repo, refs};
use crate::lock::Lock;
use crate::registry;

fn marks(ctx: &Ctx) -> PathBuf {
    ctx.paths.state.join("opening")
}

/// Marks a lane as being made.
pub(super) fn begun(ctx: &Ctx, id: &LaneId) -> Result<()> {
    crate::paths::write_whole(&marks(ctx).join(id.as_str()), b"")
}

/// Takes the mark away.
pub(super) fn settled(ctx: &Ctx, id: &LaneId) {
    let _ = std::fs::remove_file(marks(ctx).join(id.as_str()));
}

/// Settles every lane whose maker is gone. Cheap when there is none: one look at a directory.
pub fn recover(ctx: &Ctx) {
    let Ok(entries) = std::fs::read_dir(marks(ctx)) else { return };
    for entry in entries.flatten() {
        if let Some(id) = entry.file_name().to_str().and_then(LaneId::parse) {
            recover_one(ctx, &id);
        }
    }
}

fn recover_one(ctx: &Ctx, id: &LaneId) {
    let Ok(_lock) = Lock::acquire(&lock_path(ctx, id), Duration::ZERO, "recover", |_| ()) else { return };
    let Some(record) = Record::read(&ctx.paths, id) else { return settled(ctx, id) };
    let row = registry::read(&ctx.paths).ok().and_then(|table| table.find(&record.path).cloned());
    match row {
        Some(row) if record.phase == Phase::Opening => {
            let lane = Lane { row, record };
            match whole(ctx, &lane) {
                Some(repo) => finish(ctx, &repo, lane),
                None => take_back(ctx, &lane),
            }
        }
        Some(_) => settled(ctx, id),
        None => {
            record.remove(&ctx.paths);
            settled(ctx, id);
        }
    }
}

/// The repository, if git had made the checkout whole. What is in it by now, or checked out there,
/// is not asked: it may be somebody's, and only what git was still making may go.
fn whole(ctx: &Ctx, lane: &Lane) -> Option<Repo> {
    let repo = Repo::at_main(ctx, &lane.row.main).ok()?;
    match worktree::is_ours(ctx, &repo, &lane.row.path) {
        Ok(Belongs::Ours { admin, .. }) if !worktree::is_half_made(&admin) => Some(repo),
        _ => None,
    }
}

fn finish(ctx: &Ctx, repo: &Repo, mut lane: Lane) {
    provision::provision(ctx, repo, &lane.row.path, None);
    lane.record.phase = Phase::Made;
    if lane.record.write(&ctx.paths).is_ok() {
        settled(ctx, lane.id());
        ctx.ui.note(format!("{} was being made when scruff was stopped; it is complete", lane.label()));
    }
}

/// Takes back a lane that was made a moment ago and in which nothing has been done or runs. Says
/// whether it did.
pub fn take_back_new(ctx: &Ctx, lane: &Lane) -> bool {
    let Ok(_lock) = lane.lock(ctx, "take back") else { return false };
    let Ok(repo) = Repo::at_main(ctx, &lane.row.main) else { return false };
    let clean = match guard::standing(ctx, &repo, lane) {
        Ok(Standing::Checkout { dirt, detached: None }) => dirt.is_empty(),
        _ => false,
    };
    let idle = guard::free_of_others(ctx, lane, Vec::new()).is_ok();
    let untouched = lane.record.made_branch && clean && idle && at_start(&repo, lane);
    if untouched {
        take_back(ctx, lane);
    }
    untouched
}

fn at_start(repo: &Repo, lane: &Lane) -> bool {
    let tip = repo.tip(&lane.row.branch).ok().map(|tip| tip.map(|oid| oid.as_str().to_owned()));
    tip == Some(lane.record.start.clone())
}

/// Takes back exactly what making this lane made: checkout, branch, row, record. What cannot be
/// taken back is named and kept.
pub(super) fn take_back(ctx: &Ctx, lane: &Lane) {
    if let Err(error) = try_take_back(ctx, lane) {
        ctx.ui.warn(format!("{} was half made and could not be taken back: {error}", lane.label()));
    }
}

fn try_take_back(ctx: &Ctx, lane: &Lane) -> Result<()> {
    let repo = Repo::at_main(ctx, &lane.row.main)?;
    let path = &lane.row.path;
    match worktree::is_ours(ctx, &repo, path)? {
        Belongs::Ours { .. } => worktree::remove(ctx, &repo, path, true)?,
        // Killed before git wrote its own file: an empty or half-made directory of ours.
        Belongs::Missing => worktree::remove(ctx, &repo, path, true).unwrap_or(()),
        Belongs::Main | Belongs::Moved { .. } | Belongs::Other(_) | Belongs::Unknown(_) => {
            let _ = std::fs::remove_dir(path);
        }
    }
    if let (true, Some(start)) = (lane.record.made_branch, lane.record.start.as_deref().and_then(Oid::parse))
    {
        let full = format!("refs/heads/{}", lane.row.branch);
        if repo.tip(&lane.row.branch)?.as_ref() == Some(&start) {
            refs::delete(ctx, &repo, &full, &start)?;
        }
    }
    registry::forget(ctx, path, "take back")?;
    lane.record.remove(&ctx.paths);
    settled(ctx, lane.id());
    if let Some(bucket) = path.parent() {
        // Only when empty: other lanes of the repository may be in it.
        let _ = std::fs::remove_dir(bucket);
    }
    Ok(())
}
