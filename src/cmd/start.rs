//! Starts a client in a lane: the seam, else the multiplexer, else in place.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::client::{self, Launch};
use crate::cmd::Outcome;
use crate::config::Place;
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::lane::{Lane, Situation};
use crate::mux::{self, Opened, PaneLaunch, Placement, Shown};
use crate::proc::Cmd;
use crate::seam::{self, Acted, Seam};

/// Starts `launch` in the lane's pane.
pub(super) fn start(
    ctx: &Ctx,
    seam: Seam,
    lane: &Lane,
    situation: &Situation,
    launch: Launch,
    placement: &Placement,
) -> Result<Outcome> {
    match by_seam(ctx, seam, situation, &launch)? {
        Some(outcome) => Ok(outcome),
        None => by_scruff(ctx, lane, launch, placement),
    }
}

/// What the user's own program made of it; `None` where it leaves it to scruff.
pub(super) fn by_seam(
    ctx: &Ctx,
    seam: Seam,
    situation: &Situation,
    launch: &Launch,
) -> Result<Option<Outcome>> {
    if let Some(note) = &launch.note {
        ctx.ui.note(note);
    }
    match seam::act(ctx, seam, situation, &client::command_line(launch)) {
        Acted::Handled => Ok(Some(Outcome::done())),
        Acted::Failed => Err(Error::failed(format!("the {} hook failed", seam.name()))),
        Acted::Refused => Err(Error::refused(format!("the {} hook refused", seam.name()))),
        Acted::Declined => Ok(None),
    }
}

/// In a pane of the multiplexer, or in place.
pub(super) fn by_scruff(ctx: &Ctx, lane: &Lane, launch: Launch, placement: &Placement) -> Result<Outcome> {
    if placement.place == Place::Here {
        return Ok(Outcome::become_program(in_place(ctx, &launch)));
    }
    is_there(ctx, &launch)?;
    let pane = PaneLaunch {
        argv: launch.argv.clone(),
        cwd: launch.cwd.clone(),
        env: launch.environment(&ctx.env),
        shell: launch.shell,
    };
    match mux::open_lane(ctx, lane, &pane, placement)? {
        Opened::InPane { shown, .. } => Ok(told(ctx, lane, shown)),
        Opened::NoMultiplexer if placement.background => {
            Err(Error::new(crate::error::Kind::Degraded, "there is no tmux or WezTerm to open a pane in")
                .hint(format!("start it yourself: scruff resume --here {}", lane.row.name)))
        }
        Opened::NoMultiplexer => Ok(Outcome::become_program(in_place(ctx, &launch))),
    }
}

/// A client that is not installed is an error here, not a line in a pane that nobody looks at.
fn is_there(ctx: &Ctx, launch: &Launch) -> Result<()> {
    let Some(program) = launch.argv.first().filter(|_| !launch.shell) else { return Ok(()) };
    if Path::new(program).components().count() > 1 || ctx.find(program).is_some() {
        return Ok(());
    }
    let program = program.display();
    Err(Error::precondition(format!("{program} is not on PATH"))
        .hint(format!("install {program}, or choose another client with --agent")))
}

/// Says what became of a pane that was to be shown.
pub(super) fn told(ctx: &Ctx, lane: &Lane, shown: Shown) -> Outcome {
    match shown {
        Shown::Front | Shown::Background => Outcome::done(),
        Shown::SelectedNotRaised(why) => {
            ctx.ui.note(format!("{} is selected, not raised: {why}", lane.label()));
            Outcome::done()
        }
        Shown::NoClient { command } => {
            ctx.ui.note(format!("{} runs where nobody looks; to see it: {command}", lane.label()));
            Outcome::ended(Exit::Degraded)
        }
        Shown::Attach(cmd) => Outcome::become_program(*cmd),
    }
}

/// The client in place of scruff. It stays in the caller's pane, so the caller's place stays known.
fn in_place(ctx: &Ctx, launch: &Launch) -> Cmd {
    let mut env = launch.environment(&ctx.env);
    for (name, value) in ctx.env.iter() {
        if name.as_bytes().starts_with(b"TMUX") || name.as_bytes().starts_with(b"WEZTERM_") {
            env.set(name, value);
        }
    }
    let cmd = if launch.shell {
        let shell = env.get("SHELL").unwrap_or_else(|| "/bin/sh".as_ref()).to_owned();
        Cmd::new(shell).arg("-c").args(&launch.argv)
    } else {
        Cmd::from_argv(&launch.argv).unwrap_or_else(|| Cmd::new("/bin/sh"))
    };
    cmd.env_exactly(&env).cwd(&launch.cwd)
}
