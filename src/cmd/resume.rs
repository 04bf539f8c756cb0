//! `scruff resume`, and `scruff NAME`

use super::placing::Placing;
use super::{Outcome, focus, start};
use crate::client;
use crate::config::Place;
use crate::ctx::Ctx;
use crate::error::Result;
use crate::git::Repo;
use crate::lane::resolve::Match;
use crate::lane::{Lane, Situation, State, find, handover, park, provision, rebuild};
use crate::mux::{self, Located};
use crate::seam::Seam;
use crate::session;

/// Reopen a lane: rebuild its checkout if it is parked, and continue its conversation.
///
/// A lane that runs comes to the front: two agents never share one lane.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The lane: its name, REPO/NAME, or a unique beginning of either
    pub name: String,
    /// Choose the conversation in the client's own picker
    #[arg(long)]
    pub pick: bool,
    /// Where its pane goes
    #[command(flatten)]
    pub placing: Placing,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let lane = find::find(ctx, &args.name, Match::Prefix)?;
    go(ctx, &lane, args.pick, &args.placing, ctx.config().mux.resume)
}

/// Goes to a lane: to the front if it runs, else a new pane for it.
pub(super) fn go(ctx: &Ctx, lane: &Lane, pick: bool, placing: &Placing, place: Place) -> Result<Outcome> {
    let placement = placing.placement(ctx, place);
    if !placement.again
        && placement.place != Place::Here
        && let Located::Bound(_) | Located::Marked(_) = mux::find_lane(ctx, lane, &placement.wish)?
    {
        if placement.background {
            ctx.ui.note(format!("{} runs already", lane.label()));
            return Ok(Outcome::done());
        }
        return focus::go(ctx, lane, placing, pick);
    }
    reopen(ctx, lane, pick, placing, place)
}

/// Rebuilds what is missing and starts the client again.
pub(super) fn reopen(ctx: &Ctx, lane: &Lane, pick: bool, placing: &Placing, place: Place) -> Result<Outcome> {
    let lock = lane.lock(ctx, "resume")?;
    let repo = Repo::at_main(ctx, &lane.row.main)?;
    let before = rebuild::state(ctx, &repo, lane)?;
    if let Some(added) = rebuild::rebuild(ctx, &repo, lane, &lock, None)? {
        handover::say(ctx, &added, &lane.row.path);
    }
    let mut lane = lane.clone();
    park::unpack(ctx, &repo, &mut lane)?;
    if before != State::Live {
        provision::provision(ctx, &repo, &lane.row.path, None);
    }
    let lane = &lane;
    let situation = Situation::of(ctx, lane, &repo, before);
    let adapter = client::adapter(ctx, &lane.row.client)?;
    let launch = client::resume(ctx, &adapter, &situation, lane.record.session.as_deref(), pick)?;
    let mut lane = lane.clone();
    if launch.session.is_some() && launch.session != lane.record.session {
        lane.record.session.clone_from(&launch.session);
        lane.record.write(&ctx.paths)?;
        session::unbind(&ctx.paths, lane.id());
    }
    if before == State::Parked {
        ctx.ui.note(format!("{} has its checkout back: {}", lane.label(), lane.row.path.display()));
    }
    let placement = placing.placement(ctx, place);
    start::start(ctx, Seam::Resume, &lane, &situation, launch, &placement)
}
