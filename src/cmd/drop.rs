//! `scruff drop`

use super::Outcome;
use crate::ctx::Ctx;
use crate::error::Result;
use crate::git::Repo;
use crate::lane::guard::{self, Standing};
use crate::lane::park::kept;
use crate::lane::resolve::Match;
use crate::lane::take::{self, Grounds};
use crate::lane::{Lane, find};
use crate::registry::ledger::Taken;

/// Take a lane, landed or not: its checkout and its branch go. Only a clean one in which nobody stands.
///
/// `scruff undo` brings it back for 90 days, with its ignored files.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The lane's whole name, or REPO/NAME
    pub name: String,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let mut lane = find::find(ctx, &args.name, Match::Exact)?;
    let _lock = lane.lock(ctx, "drop")?;
    let repo = Repo::at_main(ctx, &lane.row.main)?;
    look(ctx, &repo, &lane).map_err(|why| kept(&lane, &why))?;
    if repo.by_git().tip(&lane.row.branch)?.is_none() && lane.row.path.is_dir() {
        take::take_unborn(ctx, &repo, &mut lane)?;
        ctx.ui.note(format!("{} is gone; it never had a commit", lane.label()));
        return Ok(Outcome::done());
    }
    let grounds = Grounds { via: "drop".to_owned(), pr: String::new() };
    let taken = take::take(ctx, &repo, &mut lane, &grounds, Vec::new())?;
    say(ctx, &lane, &taken);
    Ok(Outcome::done())
}

fn look(ctx: &Ctx, repo: &Repo, lane: &Lane) -> Result<(), guard::Kept> {
    match guard::standing(ctx, repo, lane)? {
        Standing::Parked => Ok(()),
        Standing::Checkout { detached: Some(oid), .. } => {
            Err(format!("its HEAD is detached at {}: commits there belong to no branch", oid.short()))
        }
        Standing::Checkout { dirt, detached: None } => {
            guard::clean(&dirt)?;
            guard::unoccupied(ctx, lane, Vec::new())
        }
    }
}

/// What went, and how to get it back.
pub(super) fn say(ctx: &Ctx, lane: &Lane, taken: &Taken) {
    let sha = taken.sha.get(..10).unwrap_or(&taken.sha);
    ctx.ui.note(format!("{} is gone: branch {} at {sha}", lane.label(), taken.branch));
    if !taken.trash.as_os_str().is_empty() {
        ctx.ui.note(format!("its ignored files are in {}", taken.trash.display()));
    }
    ctx.ui.note(format!("to get it back: scruff undo {}/{}", taken.repo, taken.name));
}
