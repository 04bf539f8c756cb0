//! The listing's sweep: parked lanes that have landed go, and it is said how to get them back.

use crate::ctx::Ctx;
use crate::error::Result;
use crate::git::Repo;
use crate::landed::Verdict;
use crate::lane::guard::{self, Standing};
use crate::lane::listing::View;
use crate::lane::take::{self, Grounds};
use crate::lane::{Lane, judge};
use crate::registry::ledger::Taken;

/// Takes a parked lane whose work has landed. Anything else, and any doubt, keeps it.
pub(super) fn swept(ctx: &Ctx, view: &View) -> bool {
    if !ctx.config().reap.sweep || view.state != Some("parked") {
        return false;
    }
    match sweep(ctx, view.lane.clone()) {
        Ok(Some(taken)) => {
            ctx.ui.note(format!(
                "{} has landed ({}) and is gone; scruff undo {}/{} brings it back",
                view.lane.label(),
                taken.via,
                taken.repo,
                taken.name
            ));
            true
        }
        Ok(None) => false,
        Err(error) => {
            tracing::info!("not swept: {error}");
            false
        }
    }
}

fn sweep(ctx: &Ctx, mut lane: Lane) -> Result<Option<Taken>> {
    let repo = Repo::at_main(ctx, &lane.row.main)?;
    let requests = || crate::forge::Asked::NoForge("a sweep asks only git".to_owned());
    if judge::judge(ctx, &repo, &lane, &requests).verdict != Verdict::Yes {
        return Ok(None);
    }
    let _lock = lane.lock(ctx, "sweep")?;
    if !matches!(guard::standing(ctx, &repo.by_git(), &lane), Ok(Standing::Parked)) {
        return Ok(None);
    }
    let landed = judge::judge(ctx, &repo.by_git(), &lane, &requests);
    if landed.verdict != Verdict::Yes {
        return Ok(None);
    }
    let grounds = Grounds { via: landed.via.unwrap_or_default(), pr: String::new() };
    take::take(ctx, &repo, &mut lane, &grounds, Vec::new()).map(Some)
}
