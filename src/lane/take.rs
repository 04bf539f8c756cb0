//! Takes a lane: everything that could be missed is put aside and written down before anything goes.

use std::path::{Path, PathBuf};

use super::{Lane, trash};
use crate::activity;
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::git::{Oid, Repo, refs, status, submodule, worktree};
use crate::mux::PaneRecord;
use crate::paths;
use crate::registry;
use crate::registry::ledger::{self, Taken};

/// On what grounds a lane goes.
#[derive(Clone, Debug)]
pub struct Grounds {
    /// The rung of the ladder, or the word of a person: `drop`, `discard`.
    pub via: String,
    /// The pull request's number, or empty.
    pub pr: String,
}

/// Takes a lane whose guards have all been heard and whose lock is held. `untracked` are files of
/// its checkout that go to the trash like ignored ones.
pub fn take(
    ctx: &Ctx,
    repo: &Repo,
    lane: &mut Lane,
    grounds: &Grounds,
    untracked: Vec<PathBuf>,
) -> Result<Taken> {
    let tip = confirmed_tip(repo, lane)?;
    let has_checkout = lane.row.path.symlink_metadata().is_ok();
    if has_checkout {
        put_aside(ctx, repo, lane, untracked)?;
    }
    let taken = line(ctx, repo, lane, grounds, &tip);
    let written = write_down(ctx, repo, lane, &tip, &taken);
    let gone = written.and_then(|()| {
        if has_checkout { remove_checkout(ctx, repo, lane) } else { remove_stale_entry(ctx, repo, lane) }
    });
    if let Err(error) = gone {
        put_back(ctx, lane);
        return Err(error);
    }
    refs::delete(ctx, repo, &full(lane), &tip)?;
    ctx.step("branch deleted");
    forget(ctx, lane)?;
    Ok(taken)
}

/// Takes a lane whose branch has no commit yet: there is nothing to write down but ignored files,
/// whose place is said.
pub fn take_unborn(ctx: &Ctx, repo: &Repo, lane: &mut Lane) -> Result<()> {
    put_aside(ctx, repo, lane, Vec::new())?;
    if !lane.record.trash.as_os_str().is_empty() {
        ctx.ui.note(format!("its ignored files are in {}", lane.record.trash.display()));
    }
    remove_checkout(ctx, repo, lane).inspect_err(|_| put_back(ctx, lane))?;
    forget(ctx, lane)
}

fn line(ctx: &Ctx, repo: &Repo, lane: &Lane, grounds: &Grounds, tip: &Oid) -> Taken {
    Taken {
        time: ctx.clock.stamp(),
        repo: repo.slug(),
        name: lane.row.name.clone(),
        branch: lane.row.branch.clone(),
        sha: tip.as_str().to_owned(),
        via: grounds.via.clone(),
        pr: grounds.pr.clone(),
        id: lane.id().as_str().to_owned(),
        main: lane.row.main.clone(),
        path: lane.row.path.clone(),
        parent: lane.row.parent.clone(),
        client: lane.row.client.clone(),
        trash: lane.record.trash.clone(),
    }
}

fn full(lane: &Lane) -> String {
    format!("refs/heads/{}", lane.row.branch)
}

/// The branch's tip as git itself says, because it decides what is written down and deleted.
fn confirmed_tip(repo: &Repo, lane: &Lane) -> Result<Oid> {
    repo.by_git().tip(&lane.row.branch)?.ok_or_else(|| {
        Error::precondition(format!("the branch {} of {} is gone already", lane.row.branch, lane.label()))
    })
}

/// Moves what must not be lost of a checkout into the trash. The lane's record names the place
/// before anything is moved there.
pub fn put_aside(ctx: &Ctx, repo: &Repo, lane: &mut Lane, untracked: Vec<PathBuf>) -> Result<()> {
    let ignored = status::ignored(ctx, &lane.row.path)?;
    let mut aside = trash::precious(ctx, &lane.row.path, ignored);
    aside.extend(untracked);
    if aside.is_empty() {
        return Ok(());
    }
    if lane.record.trash.as_os_str().is_empty() {
        lane.record.trash = trash::place(ctx, &repo.slug(), &lane.row.name);
        lane.record.write(&ctx.paths)?;
    }
    ctx.step("trash named");
    trash::put(ctx, &lane.row.path, &aside, &lane.record.trash).inspect_err(|_| put_back(ctx, lane))
}

/// Puts trashed files back after a later step failed. The record goes on naming their place, so
/// that whatever could not be put back is found again.
pub fn put_back(ctx: &Ctx, lane: &Lane) {
    let (place, checkout) = (&lane.record.trash, &lane.row.path);
    if place.is_dir() && !matches!(trash::take_back(place, checkout), Ok(left) if left.is_empty()) {
        ctx.ui.warn(format!("some files of {} are in {}", checkout.display(), place.display()));
    }
}

/// A reference first, so that no garbage collection can take the commits, then the ledger.
fn write_down(ctx: &Ctx, repo: &Repo, lane: &Lane, tip: &Oid, taken: &Taken) -> Result<()> {
    keep_commit(ctx, repo, lane, "reaped", tip)?;
    ctx.step("kept");
    ledger::append(&ctx.paths, taken)?;
    ctx.step("ledger");
    Ok(())
}

/// Keeps a commit as `refs/scruff/<kind>/<id>/<counter>`.
pub fn keep_commit(ctx: &Ctx, repo: &Repo, lane: &Lane, kind: &str, oid: &Oid) -> Result<String> {
    let below = format!("refs/scruff/{kind}/{}/", lane.id());
    let existing = repo.by_git().refs_below(&below)?;
    if let Some((name, _)) = existing.iter().find(|(_, kept)| kept == oid) {
        return Ok(name.clone());
    }
    let counter = existing.iter().filter_map(|(name, _)| name.rsplit('/').next()?.parse::<u32>().ok()).max();
    let name = format!("{below}{}", counter.map_or(1, |counter| counter + 1));
    refs::create(ctx, repo, &name, oid).map(|()| name)
}

/// Removes the checkout. Force is used only for submodules, whose work the guards have looked at.
pub fn remove_checkout(ctx: &Ctx, repo: &Repo, lane: &Lane) -> Result<()> {
    let force = submodule::any(ctx, &lane.row.path)?;
    if let Err(error) = worktree::remove(ctx, repo, &lane.row.path, force) {
        leave_rest(ctx, repo, lane).ok_or(error)?;
    }
    ctx.step("checkout removed");
    if let Some(bucket) = lane.row.path.parent().filter(|bucket| bucket.parent() == Some(&ctx.paths.base)) {
        // Only when empty.
        let _ = std::fs::remove_dir(bucket);
    }
    Ok(())
}

/// git forgets a checkout even where it cannot delete all of its files, such as those in a directory
/// that may not be written. Everything in it was looked at and saved by then: what is left of it is
/// moved to the trash. `None`: the checkout still stands, and is kept.
fn leave_rest(ctx: &Ctx, repo: &Repo, lane: &Lane) -> Option<()> {
    let path = &lane.row.path;
    let known = worktree::list(ctx, repo).ok()?.into_iter().any(|entry| entry.is_at(path));
    if known {
        return None;
    }
    let rest = trash::place(ctx, &repo.slug(), &lane.row.name).with_extension("rest");
    paths::make_private_dir(rest.parent()?).ok()?;
    std::fs::rename(path, &rest).ok()?;
    let _ = std::fs::rename(rest.join(".git"), rest.join(".git.stray"));
    ctx.ui.warn(format!("some files of {} could not be deleted and are in {}", lane.label(), rest.display()));
    Some(())
}

/// A checkout that was deleted by hand still has an entry, which holds on to the branch.
fn remove_stale_entry(ctx: &Ctx, repo: &Repo, lane: &Lane) -> Result<()> {
    let stale = worktree::list(ctx, repo)?.into_iter().any(|entry| entry.is_at(&lane.row.path));
    if stale { worktree::remove(ctx, repo, &lane.row.path, false) } else { Ok(()) }
}

/// Takes the lane out of the registry and puts its record where `undo` finds it.
pub fn forget(ctx: &Ctx, lane: &Lane) -> Result<()> {
    let record = serde_json::to_vec(&lane.record).doing(|| "cannot keep the lane's record".to_owned())?;
    paths::write_whole(&gone_record(&ctx.paths.lanes(), lane.id().as_str()), &record)?;
    registry::forget(ctx, &lane.row.path, "take")?;
    ctx.step("row");
    lane.record.remove(&ctx.paths);
    remove_traces(ctx, lane);
    Ok(())
}

/// Where the record of a lane that was taken is.
pub fn gone_record(lanes: &Path, id: &str) -> PathBuf {
    lanes.join("gone").join(format!("{id}.json"))
}

/// Removes what state there is beside record and row: caches of what the lane was doing.
pub fn remove_traces(ctx: &Ctx, lane: &Lane) {
    PaneRecord::remove(&ctx.paths, lane.id());
    let _ = activity::set(&ctx.paths, lane.id(), None);
}
