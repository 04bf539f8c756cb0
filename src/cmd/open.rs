//! `scruff open`

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::making::Making;
use super::placing::Placing;
use super::{Outcome, resume, start, task};
use crate::client::{self, Launch, Prompt};
use crate::ctx::Ctx;
use crate::error::{Error, Kind, Result};
use crate::git::Repo;
use crate::git::worktree::{self, Belongs};
use crate::lane::create::Made;
use crate::lane::resolve::Match;
use crate::lane::{Lane, find, recover};
use crate::seam::Seam;
use crate::session;

/// New lane with a session in a window. A lane of that name comes to the front instead.
///
/// In tmux: `scruff open fix-auth --prompt "retry on 503"` makes a branch, a checkout and a window
/// in which the client works on that brief; `-b` leaves the screen as it is.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The lane's name; two random words without one
    pub name: Option<String>,
    /// Ask for the first turn on the terminal
    #[arg(long, conflicts_with_all = ["prompt", "prompt_file", "cmd"])]
    pub ask: bool,
    /// What the lane is made of
    #[command(flatten)]
    pub making: Making,
    /// Where its pane goes
    #[command(flatten)]
    pub placing: Placing,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let repo = Repo::discover(ctx, &ctx.cwd);
    if let Some(lane) = existing(args, ctx, repo.as_ref().ok())? {
        return go_to(args, ctx, &lane);
    }
    let repo = repo?;
    let mut making = args.making.clone();
    if args.ask {
        let Some(text) = task::ask(ctx, &repo)? else { return Ok(Outcome::done()) };
        making.prompt = Some(OsString::from_vec(text)).filter(|text| !text.is_empty());
    }
    let result = make_and_start(args, ctx, &repo, &making);
    match &making.prompt {
        Some(text) if args.ask => result.map_err(|error| task::keep(ctx, text, error)),
        _ => result,
    }
}

fn make_and_start(args: &Args, ctx: &Ctx, repo: &Repo, making: &Making) -> Result<Outcome> {
    let prompt = making.prompt(ctx)?;
    let made = match making.make(ctx, repo, args.name.as_deref(), prompt.as_ref()) {
        Ok(made) => made,
        // Somebody else may have made it meanwhile.
        Err(error) => match existing(args, ctx, Some(repo))? {
            Some(lane) => return go_to(args, ctx, &lane),
            None => return Err(error),
        },
    };
    start_new(ctx, repo, made, making, prompt.as_ref(), &args.placing)
}

/// The lane that the name means, if there is one. With a first turn a new lane is meant, so only
/// the whole name counts.
fn existing(args: &Args, ctx: &Ctx, repo: Option<&Repo>) -> Result<Option<Lane>> {
    let Some(name) = &args.name else { return Ok(None) };
    if let Some(lane) = repo.map(|repo| find::in_repo(ctx, repo, name)).transpose()?.flatten() {
        return Ok(Some(lane));
    }
    let makes = args.making.has_prompt() || args.making.cmd.is_some() || args.making.from.is_some();
    let reach = if makes { Match::Exact } else { Match::Prefix };
    match find::find(ctx, name, reach) {
        // A lane of another repository, unless a new one is meant here.
        Ok(lane) if !makes || name.contains('/') => Ok(Some(lane)),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == crate::error::Kind::Precondition => Ok(None),
        Err(error) => Err(error),
    }
}

fn go_to(args: &Args, ctx: &Ctx, lane: &Lane) -> Result<Outcome> {
    if args.making.has_prompt() || args.making.cmd.is_some() || args.making.from.is_some() {
        return Err(Error::precondition(format!(
            "{} is there already, and a first turn is for a new lane",
            lane.label()
        ))
        .hint(format!("go there with `scruff {}`, or choose another name", lane.row.name)));
    }
    if args.name.as_deref() != Some(lane.row.name.as_str()) {
        ctx.ui.note(format!("going to {}", lane.label()));
    }
    resume::go(ctx, lane, false, &args.placing, ctx.config().mux.open)
}

/// Starts the client of a lane just made. Its lock is held until then.
pub(super) fn start_new(
    ctx: &Ctx,
    repo: &Repo,
    made: Made,
    making: &Making,
    prompt: Option<&Prompt>,
    placing: &Placing,
) -> Result<Outcome> {
    let Made { mut lane, situation, lock, .. } = made;
    let launch = match &making.cmd {
        Some(cmd) => Launch::shell(cmd.clone(), &lane.row.path),
        None => {
            let adapter = client::adapter(ctx, &lane.row.client)?;
            client::start(ctx, &adapter, &situation, &git_dir(ctx, repo, &lane)?, prompt)?
        }
    };
    if launch.session.is_some() {
        lane.record.session.clone_from(&launch.session);
        lane.record.write(&ctx.paths)?;
        session::unbind(&ctx.paths, lane.id());
    }
    let placement = placing.placement(ctx, ctx.config().mux.open);
    let stays =
        |error: Error| error.hint(format!("the lane is there; open it with `scruff {}`", lane.row.name));
    // What the user's program did with the lane before it failed is not known: it stays.
    if let Some(outcome) = start::by_seam(ctx, Seam::Open, &situation, &launch).map_err(stays)? {
        return Ok(outcome);
    }
    let outcome = start::by_scruff(ctx, &lane, launch, &placement);
    drop(lock);
    // Where nothing but a window is missing, the lane stays; any other failure takes it back.
    outcome.map_err(|error| match error.kind() {
        Kind::Degraded => stays(error),
        _ if recover::take_back_new(ctx, &lane) => error,
        _ => stays(error),
    })
}

/// The checkout's own git directory, where a long prompt waits for the client.
fn git_dir(ctx: &Ctx, repo: &Repo, lane: &Lane) -> Result<PathBuf> {
    match worktree::is_ours(ctx, repo, &lane.row.path)? {
        Belongs::Ours { admin, .. } => Ok(admin),
        other => {
            Err(Error::failed(format!("{} is no checkout of this lane: {other:?}", lane.row.path.display())))
        }
    }
}
