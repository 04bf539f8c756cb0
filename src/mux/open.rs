//! Opening a lane in a pane of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::detect::choose_in;
use super::focus::{Shown, show, show_by, show_running, terminal};
use super::reach::Shared;
use super::survey::Survey;
use super::{Certain, MuxError, OpenRequest, PaneRecord, PaneRef, Request, Wish};
use crate::config::{After, Place};
use crate::ctx::Ctx;
use crate::env::Env;
use crate::error::{Doing, Error, Result};
use crate::lane::Lane;
use crate::proc;

/// How long the new pane may take to fetch its request.
const START_LIMIT: Duration = Duration::from_secs(5);

/// What a lane's pane runs.
#[derive(Clone, Debug)]
pub struct PaneLaunch {
    /// The client, executed directly; with `shell`, one word of shell text.
    pub argv: Vec<OsString>,
    /// The directory of the conversation.
    pub cwd: PathBuf,
    /// The whole environment, less what belongs to the caller's place.
    pub env: Env,
    /// Whether `argv` goes through `$SHELL -c`.
    pub shell: bool,
}

/// Where a lane's pane goes, and how.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// Where.
    pub place: Place,
    /// Without taking the screen.
    pub background: bool,
    /// Also when the lane already runs.
    pub again: bool,
    /// What happens when the client ends.
    pub after: After,
    /// What the caller said about multiplexers.
    pub wish: Wish,
}

/// What became of a lane that was to be opened.
#[derive(Debug)]
pub enum Opened {
    /// It runs in this pane.
    InPane {
        /// The pane.
        pane: PaneRef,
        /// Whether somebody sees it.
        shown: Shown,
        /// Whether it ran there before.
        already: bool,
    },
    /// There is none: the caller starts the client in place.
    NoMultiplexer,
}

/// Opens a lane in a pane, or shows the pane it already runs in.
pub fn open_lane(ctx: &Ctx, lane: &Lane, launch: &PaneLaunch, placement: &Placement) -> Result<Opened> {
    if placement.place == Place::Here {
        return Ok(Opened::NoMultiplexer);
    }
    if !placement.again
        && let Some((pane, shown)) = show_running(ctx, lane, &placement.wish, placement.background)?
    {
        return Ok(Opened::InPane { pane, shown, already: true });
    }
    let survey = Survey::new(ctx, &placement.wish);
    let record = PaneRecord::read(&ctx.paths, lane.id());
    let choice = choose_in(&survey.reach, record.as_ref().map(|record| &record.pane.server))?;
    let Some(server) = choice.mux else { return Ok(Opened::NoMultiplexer) };
    tracing::info!(lane = %lane.id(), reason = choice.reason, "opening a pane");
    let pane = start(&survey, &server, lane, launch, placement)?;
    Ok(Opened::InPane { shown: present(&survey, lane, &pane, placement), pane, already: false })
}

/// Makes the pane and waits until it has its request. What fails is taken back.
fn start(
    survey: &Survey<'_>,
    server: &Shared,
    lane: &Lane,
    launch: &PaneLaunch,
    placement: &Placement,
) -> Result<PaneRef> {
    let ctx = survey.reach.ctx;
    if placement.place == Place::OsWindow && !placement.background && ctx.config().mux.terminal.is_empty() {
        return Err(Error::precondition("no terminal is configured to open a window of the desktop with")
            .hint("set [mux] terminal in config.toml, or use --session"));
    }
    let path = Request::leave(ctx, lane, launch, placement.after)?;
    ctx.step("request");
    let made = shim(ctx, &path).and_then(|argv| make(survey, server, lane, launch, placement, argv));
    let pane = made.inspect_err(|_| drop(std::fs::remove_file(&path)))?;
    ctx.step("pane");
    PaneRecord { pane: pane.clone(), ended: false }.write(&ctx.paths, lane.id())?;
    if let Err(error) = wait_taken(survey, &path, &pane) {
        let _ = std::fs::remove_file(&path);
        let _ = server.close(&Certain::made(pane, lane.id().clone()));
        PaneRecord::remove(&ctx.paths, lane.id());
        return Err(error);
    }
    Ok(pane)
}

/// Makes the pane. Where there is no room to split, a window is better than nothing.
fn make(
    survey: &Survey<'_>,
    server: &Shared,
    lane: &Lane,
    launch: &PaneLaunch,
    placement: &Placement,
    argv: Vec<OsString>,
) -> Result<PaneRef> {
    let asker = survey.reach.asker(server)?;
    let cwd = launch.cwd.is_dir().then(|| launch.cwd.clone());
    let mut request = OpenRequest { argv, name: lane.row.name.clone(), place: placement.place, cwd };
    match server.open(&request, &asker) {
        Err(MuxError::Failed(why)) if matches!(request.place, Place::PaneRight | Place::PaneBelow) => {
            survey.reach.ctx.ui.warn(format!("{why}; opened a window instead"));
            request.place = Place::Window;
            Ok(server.open(&request, &asker)?)
        }
        result => Ok(result?),
    }
}

/// What the pane runs: this program, told where its request is. The base is told too when it is
/// not the usual one: a pane that is started again has only its server's environment.
fn shim(ctx: &Ctx, request: &Path) -> Result<Vec<OsString>> {
    let own = proc::own_program().doing(|| "cannot find this program".to_owned())?;
    let mut argv = vec![own.into(), "__pane".into(), request.into()];
    if ctx.env.has("SCRUFF_BASE") {
        argv.push(ctx.paths.base.clone().into());
    }
    Ok(argv)
}

/// The request's file vanishes when the shim has read it.
fn wait_taken(survey: &Survey<'_>, path: &Path, pane: &PaneRef) -> Result<()> {
    let deadline = Instant::now() + START_LIMIT;
    let mut nap = Duration::from_micros(500);
    while path.exists() {
        if Instant::now() >= deadline {
            let alive = survey.info(pane).is_some_and(|info| !info.dead);
            let message = format!("the new pane {} has not started within {START_LIMIT:?}", pane.id);
            return if alive { Ok(()) } else { Err(Error::failed(message)) };
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(Duration::from_millis(20));
    }
    Ok(())
}

/// The pane runs: whatever goes wrong now is no reason to fail.
fn present(survey: &Survey<'_>, lane: &Lane, pane: &PaneRef, placement: &Placement) -> Shown {
    if placement.background {
        return Shown::Background;
    }
    let shown = match placement.place {
        Place::OsWindow => in_terminal(survey, pane),
        _ => show(&survey.reach, &lane.row.name, pane),
    };
    shown.unwrap_or_else(|error| Shown::SelectedNotRaised(error.to_string()))
}

fn in_terminal(survey: &Survey<'_>, pane: &PaneRef) -> Result<Shown, MuxError> {
    let reach = &survey.reach;
    let target = reach.at(&pane.server.socket)?.place(&pane.id)?;
    match terminal(reach.ctx, pane, &target)? {
        Some(cmd) => show_by(reach, &cmd, pane),
        None => Ok(Shown::Background),
    }
}
