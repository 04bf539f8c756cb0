//! Brings a lane back that was taken: its branch, its row and record, its trashed files.

use std::path::PathBuf;

use jiff::Timestamp;

use super::{Lane, Record, rebuild, take, trash};
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::git::{Oid, Repo, refs};
use crate::registry::ledger::{self, Taken};
use crate::registry::{self, Row};

/// How long what was taken can be brought back, in hours: 90 days.
const KEPT_HOURS: i64 = 90 * 24;

/// The word in the ledger's `via` for a lane that came back.
pub const UNDONE: &str = "undone";

/// The ledger's lines of each lane that can still come back, newest lane first: a lane that was
/// taken more than once (killed in between) has several.
pub fn takeable_back(taken: Vec<Taken>) -> Vec<Vec<Taken>> {
    let mut lanes: Vec<Vec<Taken>> = Vec::new();
    for line in taken {
        let same = lanes.iter().position(|lines| lines[0].id == line.id);
        match (same, line.via == UNDONE) {
            (Some(index), true) => drop(lanes.remove(index)),
            (Some(index), false) => {
                let mut lines = lanes.remove(index);
                lines.push(line);
                lanes.push(lines);
            }
            (None, true) => {}
            (None, false) => lanes.push(vec![line]),
        }
    }
    lanes.reverse();
    lanes
}

/// Brings a lane back. Returns it, and the trashed files that something else stands in place of.
pub fn undo(ctx: &Ctx, lines: &[Taken]) -> Result<(Lane, Vec<std::path::PathBuf>)> {
    let Some(last) = lines.last() else { return Err(Error::precondition("there is nothing to undo")) };
    let repo = Repo::at_main(ctx, &last.main)?;
    let lane = lane_of(ctx, last)?;
    let lock = lane.lock(ctx, "undo")?;
    let oid = Oid::parse(&last.sha).ok_or_else(|| {
        Error::failed(format!("the ledger names no commit for {}: {:?}", last.name, last.sha))
    })?;
    bring_branch(ctx, &repo, &lane, &oid)?;
    ctx.step("branch back");
    lane.record.write(&ctx.paths)?;
    registry::put(ctx, lane.row.clone(), "undo")?;
    ctx.step("row back");
    rebuild::rebuild(ctx, &repo, &lane, &lock, None)?;
    ctx.step("checkout back");
    let mut left = Vec::new();
    for place in lines.iter().map(|line| &line.trash).filter(|place| place.is_dir()) {
        left.extend(trash::take_back(place, &lane.row.path)?);
    }
    let undone =
        Taken { time: ctx.clock.stamp(), via: UNDONE.to_owned(), trash: PathBuf::new(), ..last.clone() };
    ledger::append(&ctx.paths, &undone)?;
    let _ = std::fs::remove_file(take::gone_record(&ctx.paths.lanes(), &last.id));
    Ok((lane, left))
}

/// The lane as it was, at a path that nothing else has taken meanwhile.
fn lane_of(ctx: &Ctx, taken: &Taken) -> Result<Lane> {
    let table = registry::read(&ctx.paths)?;
    if let Some(other) = table.find(&taken.path).filter(|row| row.branch != taken.branch) {
        return Err(Error::precondition(format!(
            "the lane {} has the checkout {} now",
            other.name,
            taken.path.display()
        ))
        .hint(format!("drop or rename it first; the work is safe at {}", taken.sha)));
    }
    let kept = std::fs::read(take::gone_record(&ctx.paths.lanes(), &taken.id)).ok();
    let record: Option<Record> = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let record = match record {
        Some(record) => record,
        None => {
            let id = super::LaneId::parse(&taken.id)
                .ok_or_else(|| Error::failed(format!("the ledger has no id for {}", taken.name)))?;
            Record::new(id, &taken.path)
        }
    };
    let row = Row {
        name: taken.name.clone(),
        main: taken.main.clone(),
        branch: taken.branch.clone(),
        path: taken.path.clone(),
        parent: taken.parent.clone(),
        client: taken.client.clone(),
        more: Vec::new(),
    };
    Ok(Lane { row, record })
}

fn bring_branch(ctx: &Ctx, repo: &Repo, lane: &Lane, oid: &Oid) -> Result<()> {
    match repo.by_git().tip(&lane.row.branch)? {
        Some(tip) if tip == *oid => Ok(()),
        Some(_) => {
            Err(Error::precondition(format!("there is a branch {} again, with other work", lane.row.branch))
                .hint(format!("to have the old work under another name: git branch NAME {oid}")))
        }
        None => refs::create(ctx, repo, &format!("refs/heads/{}", lane.row.branch), oid),
    }
}

/// Lets go of what was taken more than 90 days ago: reference, record and trash together. Nothing
/// goes whose date, or that of the newest line, lies in the future. Returns what went.
pub fn expire(ctx: &Ctx) -> Result<Vec<Taken>> {
    let lines = ledger::read(&ctx.paths)?;
    let now = ctx.clock.now();
    if lines.iter().any(|line| line.time > now) {
        return Ok(Vec::new());
    }
    let mut gone = Vec::new();
    for lines in takeable_back(lines) {
        if lines.iter().all(|line| is_old(now, line.time))
            && let Some(went) = let_go(ctx, &lines)?
        {
            gone.push(went);
        }
    }
    Ok(gone)
}

fn is_old(now: Timestamp, then: Timestamp) -> bool {
    now.duration_since(then).as_hours() >= KEPT_HOURS
}

fn let_go(ctx: &Ctx, lines: &[Taken]) -> Result<Option<Taken>> {
    let Some(last) = lines.last() else { return Ok(None) };
    let mut went = false;
    if let Ok(repo) = Repo::at_main(ctx, &last.main) {
        for (name, oid) in repo.by_git().refs_below(&format!("refs/scruff/reaped/{}/", last.id))? {
            refs::delete(ctx, &repo, &name, &oid)?;
            went = true;
        }
    }
    for place in lines.iter().map(|line| &line.trash) {
        if place.starts_with(ctx.paths.trash()) && place.is_dir() {
            std::fs::remove_dir_all(place).doing(|| format!("cannot remove {}", place.display()))?;
            trash::remove_empty(place);
            went = true;
        }
    }
    let record = take::gone_record(&ctx.paths.lanes(), &last.id);
    went |= std::fs::remove_file(record).is_ok();
    Ok(went.then(|| last.clone()))
}
