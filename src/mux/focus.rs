//! Bringing a lane in front of the person who asked.

use std::time::{Duration, Instant};

use super::previous;
use super::reach::{Reach, Shared};
use super::survey::Survey;
use super::{Asker, Left, Located, MuxError, OpenRequest, PaneId, PaneRef, Raised, Wish};
use crate::config::Place;
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::lane::Lane;
use crate::proc::Cmd;

/// How long a terminal may take to show up.
const TERMINAL_LIMIT: Duration = Duration::from_secs(5);

/// What became of a pane that was to be shown.
#[derive(Debug)]
pub enum Shown {
    /// It is in front of the person.
    Front,
    /// It was not to be shown.
    Background,
    /// It was selected and is not in front; why.
    SelectedNotRaised(String),
    /// Nobody looks at its server; what to type to see it.
    NoClient {
        /// The command to type.
        command: String,
    },
    /// The person's own terminal shall run this in place of scruff.
    Attach(Box<Cmd>),
}

/// What became of a lane that was to be shown.
#[derive(Debug)]
pub enum Focused {
    /// It is in front of the person.
    Front,
    /// It was selected and is not in front; why.
    SelectedNotRaised(String),
    /// Nobody looks at its server; what to type to see it.
    NoClient {
        /// The command to type.
        command: String,
    },
    /// The person's own terminal shall run this in place of scruff.
    Attach(Box<Cmd>),
    /// It runs nowhere.
    NotRunning,
}

impl From<Shown> for Focused {
    fn from(shown: Shown) -> Self {
        match shown {
            Shown::Front | Shown::Background => Focused::Front,
            Shown::SelectedNotRaised(why) => Focused::SelectedNotRaised(why),
            Shown::NoClient { command } => Focused::NoClient { command },
            Shown::Attach(cmd) => Focused::Attach(cmd),
        }
    }
}

/// Shows a lane's pane, if it runs.
pub fn focus_lane(ctx: &Ctx, lane: &Lane, wish: &Wish) -> Result<Focused> {
    let shown = show_running(ctx, lane, wish, false)?;
    Ok(shown.map_or(Focused::NotRunning, |(_, shown)| shown.into()))
}

/// Shows the pane a lane runs in, if there is one; with `background` only finds it.
pub(super) fn show_running(
    ctx: &Ctx,
    lane: &Lane,
    wish: &Wish,
    background: bool,
) -> Result<Option<(PaneRef, Shown)>> {
    let survey = Survey::new(ctx, wish);
    let Some(pane) = only(lane, &survey.find(lane, true)?)?.cloned() else { return Ok(None) };
    if background {
        return Ok(Some((pane, Shown::Background)));
    }
    match show(&survey.reach, &lane.row.name, &pane) {
        Ok(shown) => Ok(Some((pane, shown))),
        // It may have ended between the look and the deed.
        Err(error) => match Survey::new(ctx, wish).find(lane, true)?.pane() {
            Some(_) => Err(error.into()),
            None => Ok(None),
        },
    }
}

/// The pane to show: `None` when there is none, an error when nobody can tell which.
fn only<'a>(lane: &Lane, located: &'a Located) -> Result<Option<&'a PaneRef>> {
    let Located::Ambiguous(panes) = located else { return Ok(located.pane()) };
    let names: Vec<&str> = panes.iter().map(|pane| pane.id.as_str()).collect();
    Err(Error::precondition(format!("{} may run in any of the panes {}", lane.label(), names.join(", ")))
        .hint("go there yourself, or open another pane with --again"))
}

/// Selects a pane and brings it in front of whoever asks.
pub(super) fn show(reach: &Reach<'_>, name: &str, pane: &PaneRef) -> Result<Shown, MuxError> {
    let server = reach.at(&pane.server.socket)?;
    let asker = reach.asker(&server)?;
    if !asker.inside
        && let Ok(Some(outer)) = reach.inside()
    {
        return show_in(reach, &outer, &server, name, pane);
    }
    Ok(match server.focus(&pane.id, &asker)? {
        Raised::Front(left) => came_from(reach, &server, left, &pane.id)?,
        Raised::PaneOnly(why) => Shown::SelectedNotRaised(why),
        Raised::Attach(cmd) => Shown::Attach(cmd),
        Raised::NoClient { command, target } => match terminal(reach.ctx, pane, &target)? {
            Some(cmd) => show_by(reach, &cmd, pane)?,
            None => Shown::NoClient { command },
        },
    })
}

/// From inside another server: the pane there that looks at this one, or a new one that does.
fn show_in(
    reach: &Reach<'_>,
    outer: &Shared,
    server: &Shared,
    name: &str,
    pane: &PaneRef,
) -> Result<Shown, MuxError> {
    let asker = reach.asker(outer)?;
    let viewer = if let Some((viewer, client)) = window_on(outer, server)? {
        server.focus(&pane.id, &Asker { client: Some(client), inside: true, ..Asker::default() })?;
        viewer
    } else {
        let (name, place) = (name.to_owned(), Place::Window);
        let request = OpenRequest { argv: server.viewer(&pane.id)?, name, place, cwd: None };
        outer.open(&request, &asker)?.id
    };
    Ok(match outer.focus(&viewer, &asker)? {
        Raised::Front(left) => came_from(reach, outer, left, &viewer)?,
        Raised::PaneOnly(why) => Shown::SelectedNotRaised(why),
        Raised::Attach(cmd) => Shown::Attach(cmd),
        Raised::NoClient { command, .. } => Shown::NoClient { command },
    })
}

fn came_from(
    reach: &Reach<'_>,
    server: &Shared,
    left: Option<Left>,
    now: &PaneId,
) -> Result<Shown, MuxError> {
    if let Some(left) = left.filter(|left| left.pane != *now) {
        previous::note(reach.ctx, server.probe()?, left);
    }
    Ok(Shown::Front)
}

/// A pane of the outer server in which a client of the inner one runs: they share a terminal.
fn window_on(outer: &Shared, inner: &Shared) -> Result<Option<(PaneId, String)>, MuxError> {
    let screens = inner.screens()?;
    let mut pairs = outer.panes()?.into_iter().filter_map(|pane| {
        let tty = pane.tty?;
        let screen = screens.iter().find(|screen| screen.tty == tty)?;
        Some((pane.id, screen.client.clone()))
    });
    Ok(pairs.next())
}

/// `[mux] terminal` with its words filled in; `None` when it isn't configured.
pub(super) fn terminal(ctx: &Ctx, pane: &PaneRef, target: &str) -> Result<Option<Cmd>, MuxError> {
    let socket = pane.server.socket.to_string_lossy();
    let fill = |word: &String| word.replace("{{.Socket}}", &socket).replace("{{.Target}}", target);
    let argv: Vec<String> = ctx.config().mux.terminal.iter().map(fill).collect();
    let Some((program, args)) = argv.split_first() else { return Ok(None) };
    let missing = || MuxError::Failed(format!("[mux] terminal: {program} is not on PATH"));
    let program = ctx.find(program).ok_or_else(missing)?;
    Ok(Some(Cmd::new(program).args(args).env_exactly(&ctx.env).env_remove("TMUX").env_remove("TMUX_PANE")))
}

/// Starts a terminal and waits until somebody sees the pane.
pub(super) fn show_by(reach: &Reach<'_>, cmd: &Cmd, pane: &PaneRef) -> Result<Shown, MuxError> {
    cmd.release().map_err(|failure| MuxError::Failed(format!("[mux] terminal: {failure}")))?;
    let deadline = Instant::now() + TERMINAL_LIMIT;
    let nobody = Wish::default();
    loop {
        let panes = Reach::new(reach.ctx, &nobody).at(&pane.server.socket)?.panes()?;
        if panes.iter().any(|info| info.id == pane.id && info.visible == Some(true)) {
            return Ok(Shown::Front);
        }
        if Instant::now() >= deadline {
            let why = "the terminal was started and does not show it yet".to_owned();
            return Ok(Shown::SelectedNotRaised(why));
        }
        std::thread::sleep(Duration::from_millis(25));
    }
}
