//! `scruff focus`

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
use crate::seam::{self, Acted, Seam};

/// Go to the window a lane runs in; resume the lane when it runs nowhere.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The lane: its name, REPO/NAME, or a unique beginning of either
    #[arg(required_unless_present = "list")]
    pub name: Option<String>,
    /// Print the lanes one could go to
    #[arg(long, conflicts_with = "name")]
    pub list: bool,
    /// Whose multiplexer and pane
    #[command(flatten)]
    pub seat: Seat,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let Some(name) = &args.name else { return list(ctx) };
    let lane = find::find(ctx, name, Match::Prefix)?;
    let placing = Placing { seat: args.seat.clone(), ..Placing::default() };
    go(ctx, &lane, &placing, false)
}

/// One `<repo>/<name>` a line.
fn list(ctx: &Ctx) -> Result<Outcome> {
    let table = find::table(ctx)?;
    let line = |known: Known| format!("{}/{}\n", known.slug, known.lane.row.name);
    Ok(Outcome::text(find::known(ctx, &table).into_iter().map(line).collect::<String>()))
}

/// Brings a lane to the front: the seam, else the ladder, else resume.
pub(super) fn go(ctx: &Ctx, lane: &Lane, placing: &Placing, pick: bool) -> Result<Outcome> {
    match ask_seam(ctx, lane)? {
        Acted::Handled => return Ok(Outcome::done()),
        Acted::Failed => return Err(Error::failed("the focus hook failed")),
        Acted::Refused => return Err(Error::refused("the focus hook refused")),
        Acted::Declined => {}
    }
    match mux::focus_lane(ctx, lane, &placing.seat.wish())? {
        Focused::Front => Ok(Outcome::done()),
        Focused::SelectedNotRaised(why) => {
            ctx.ui.note(format!("{} is selected, not raised: {why}", lane.label()));
            Ok(Outcome::done())
        }
        Focused::NoClient { command } => {
            ctx.ui.note(format!("{} runs where nobody looks; to see it: {command}", lane.label()));
            Ok(Outcome::ended(Exit::Degraded))
        }
        Focused::Attach(cmd) => Ok(Outcome::become_program(*cmd)),
        Focused::NotRunning => resume::reopen(ctx, lane, pick, placing, ctx.config().mux.resume),
    }
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
