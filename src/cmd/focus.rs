//! `scruff focus`

use std::time::SystemTime;

use super::placing::{Placing, Seat};
use super::{Outcome, resume};
use crate::client;
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::git::Repo;
use crate::lane::resolve::{Known, Match};
use crate::lane::{Lane, Situation, State, find};
use crate::mux::{self, Focused};
use crate::notify::{self, recheck};
use crate::seam::{self, Acted, Seam};

/// Go to the window a lane runs in; resume the lane when it runs nowhere.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The lane: its name, REPO/NAME, or a unique beginning of either
    #[arg(required_unless_present_any = ["next", "previous", "list"])]
    pub name: Option<String>,
    /// Go to the lane that has waited longest; from there to the next one
    #[arg(long, group = "instead", conflicts_with = "name")]
    pub next: bool,
    /// Go back to where the last focus came from
    #[arg(long, group = "instead", conflicts_with = "name")]
    pub previous: bool,
    /// Print the lanes one could go to
    #[arg(long, group = "instead", conflicts_with = "name")]
    pub list: bool,
    /// Take the name as it is, not as a beginning: for programs
    #[arg(long, hide = true)]
    pub exact: bool,
    /// Whose multiplexer and pane
    #[command(flatten)]
    pub seat: Seat,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    if args.previous {
        let focused = mux::focus_previous(ctx, &args.seat.wish())?;
        return Ok(said(ctx, "the last place", focused).unwrap_or_else(Outcome::done));
    }
    let lane = match &args.name {
        Some(name) => find::find(ctx, name, if args.exact { Match::Exact } else { Match::Prefix })?,
        None if args.next => match next(ctx, &args.seat)? {
            Some(lane) => lane,
            None => {
                ctx.ui.note("no lane waits for you");
                return Ok(Outcome::done());
            }
        },
        None => return list(ctx),
    };
    let placing = Placing { seat: args.seat.clone(), ..Placing::default() };
    go(ctx, &lane, &placing, false)
}

/// One `<repo>/<name>` a line.
fn list(ctx: &Ctx) -> Result<Outcome> {
    let table = find::table(ctx)?;
    let line = |known: Known| format!("{}/{}\n", known.slug, known.lane.row.name);
    Ok(Outcome::text(find::known(ctx, &table).into_iter().map(line).collect::<String>()))
}

/// The lane that has waited longest, or, from one that waits, the next one after it, so that the
/// same key goes through all of them.
fn next(ctx: &Ctx, seat: &Seat) -> Result<Option<Lane>> {
    recheck::all(ctx);
    let table = find::table(ctx)?;
    let lanes = table.rows().map(|row| Lane::of(ctx, row.clone()));
    let mut waiting: Vec<(SystemTime, Lane)> =
        lanes.filter_map(|lane| Some((notify::waits_since(ctx, lane.id())?, lane))).collect();
    waiting.sort_by_key(|(since, _)| *since);
    if waiting.len() < 2 {
        return Ok(waiting.pop().map(|(_, lane)| lane));
    }
    let here = mux::lane_of_pane(ctx, &seat.wish());
    let at = waiting.iter().position(|(_, lane)| Some(lane.id()) == here.as_ref());
    let next = at.map_or(0, |at| (at + 1) % waiting.len());
    Ok(Some(waiting.swap_remove(next).1))
}

/// Brings a lane to the front: the seam, else the ladder, else resume.
pub(super) fn go(ctx: &Ctx, lane: &Lane, placing: &Placing, pick: bool) -> Result<Outcome> {
    match ask_seam(ctx, lane)? {
        Acted::Handled => return Ok(Outcome::done()),
        Acted::Failed => return Err(Error::failed("the focus hook failed")),
        Acted::Refused => return Err(Error::refused("the focus hook refused")),
        Acted::Declined => {}
    }
    match said(ctx, &lane.label(), mux::focus_lane(ctx, lane, &placing.seat.wish())?) {
        Some(outcome) => Ok(outcome),
        None => resume::reopen(ctx, lane, pick, placing, ctx.config().mux.resume),
    }
}

/// Says how far it came; `None` for what runs nowhere.
fn said(ctx: &Ctx, what: &str, focused: Focused) -> Option<Outcome> {
    Some(match focused {
        Focused::Front => Outcome::done(),
        Focused::SelectedNotRaised(why) => {
            ctx.ui.note(format!("{what} is selected, not raised: {why}"));
            Outcome::done()
        }
        Focused::NoClient { command } => {
            ctx.ui.note(format!("{what} runs where nobody looks; to see it: {command}"));
            Outcome::ended(Exit::Degraded)
        }
        Focused::Attach(cmd) => Outcome::become_program(*cmd),
        Focused::NotRunning => return None,
    })
}

/// The seam is asked only where one is configured: everything it is told costs time.
fn ask_seam(ctx: &Ctx, lane: &Lane) -> Result<Acted> {
    if Seam::Focus.configured(ctx).is_none() {
        return Ok(Acted::Declined);
    }
    let repo = Repo::at_main(ctx, &lane.row.main)?;
    let state = if lane.row.path.is_dir() { State::Live } else { State::Parked };
    let situation = Situation::of(ctx, lane, &repo, state);
    let adapter = client::adapter(ctx, &lane.row.client)?;
    let launch = client::resume(ctx, &adapter, &situation, lane.record.session.as_deref(), false)?;
    Ok(seam::act(ctx, Seam::Focus, &situation, &client::command_line(&launch)))
}
