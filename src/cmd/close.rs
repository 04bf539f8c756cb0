//! `scruff close`

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::Outcome;
use super::placing::Seat;
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::git::Repo;
use crate::lane::guard::{self, Standing};
use crate::lane::park::{self, Work, kept};
use crate::lane::resolve::Match;
use crate::lane::{Lane, Record, find};
use crate::{mux, registry, ui};

/// How long the programs of a pane may take to end once it is gone.
const PATIENCE: Duration = Duration::from_secs(5);

/// Park a whole lane: save its work, end its pane, remove its checkout, keep its branch.
///
/// Uncommitted work becomes a commit, ignored files that are not cheap to make again go to the
/// trash, and `scruff NAME` brings it all back.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The lane; without a name, that of the pane this was called from
    pub name: Option<String>,
    /// Whose multiplexer and pane
    #[command(flatten)]
    pub seat: Seat,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let mut lane = match &args.name {
        Some(name) => find::find(ctx, name, Match::Exact)?,
        None => of_pane(args, ctx)?,
    };
    let _lock = lane.lock(ctx, "close")?;
    let repo = Repo::at_main(ctx, &lane.row.main)?;
    if let Standing::Parked = guard::standing(ctx, &repo, &lane).map_err(|why| kept(&lane, &why))? {
        ctx.ui.note(format!("{} is parked already", lane.label()));
        return Ok(Outcome::done());
    }
    end_pane(args, ctx, &lane)?;
    let parked = park::put_away(ctx, &repo, &mut lane, Work::Commit)?;
    say(ctx, &lane, &parked);
    Ok(Outcome::done())
}

/// The lane that the pane itself names; never the one its directory suggests.
fn of_pane(args: &Args, ctx: &Ctx) -> Result<Lane> {
    let wish = args.seat.wish();
    let id = mux::lane_of_pane(ctx, &wish).ok_or_else(|| {
        Error::precondition("this pane is no lane's").hint("name the lane: scruff close NAME")
    })?;
    let record = Record::read(&ctx.paths, &id);
    let table = registry::read(&ctx.paths)?;
    let row = record.and_then(|record| table.find(&record.path).cloned());
    row.map(|row| Lane::of(ctx, row)).ok_or_else(|| {
        Error::precondition(format!("the lane {id} of this pane is gone")).hint("see `scruff list`")
    })
}

/// Ends the lane's pane, where it certainly is that, after making sure that nobody else stands in
/// the checkout.
fn end_pane(args: &Args, ctx: &Ctx, lane: &Lane) -> Result<()> {
    let wish = args.seat.wish();
    let pane = mux::certain_pane(ctx, lane, &wish)?;
    let excuse: Vec<u32> = pane.iter().filter_map(|pane| pane.pid).collect();
    free(args, ctx, lane, excuse).map_err(|why| kept(lane, &why))?;
    let Some(pane) = pane else { return Ok(()) };
    mux::end_pane(ctx, &pane, &wish)?;
    ctx.step("pane ended");
    let begun = Instant::now();
    loop {
        match free(args, ctx, lane, Vec::new()) {
            Ok(()) => return Ok(()),
            Err(why) if begun.elapsed() > PATIENCE => return Err(kept(lane, &why)),
            Err(_) => sleep(Duration::from_millis(20)),
        }
    }
}

/// Whether nobody stands in the checkout. A key binding starts scruff in its pane's directory, which
/// is not where anybody typed: it leaves.
fn free(args: &Args, ctx: &Ctx, lane: &Lane, excuse: Vec<u32>) -> Result<(), guard::Kept> {
    if args.seat.pane_id.is_none() {
        return guard::unoccupied(ctx, lane, excuse);
    }
    if std::env::set_current_dir(&lane.row.main).is_err() {
        let _ = std::env::set_current_dir("/");
    }
    guard::free_of_others(ctx, lane, excuse)
}

/// What parking did, and how to get it back.
fn say(ctx: &Ctx, lane: &Lane, parked: &park::Parked) {
    let files = parked
        .committed
        .map(|files| format!("; uncommitted work ({}) is a commit on it", ui::counted(files, "file")));
    ctx.ui.note(format!("{} is parked on {}{}", lane.label(), lane.row.branch, files.unwrap_or_default()));
    if !parked.trash.as_os_str().is_empty() {
        ctx.ui.note(format!("its ignored files are in {}", parked.trash.display()));
    }
    if let Some(name) = &parked.detached {
        ctx.ui.note(format!("its HEAD was detached; that commit is kept as {name}"));
    }
    ctx.ui.note(format!("`scruff {}` brings it all back", lane.row.name));
}
