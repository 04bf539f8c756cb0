//! What a client's hook tells the pane that the client runs in.

use super::here::{self, Inherited};
use super::tmux::Tmux;
use super::{Kind, MuxError, PaneRecord, PaneRef, Server};
use crate::activity::Activity;
use crate::ctx::Ctx;
use crate::lane::LaneId;

/// What a lane does.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The lane.
    pub lane: &'a LaneId,
    /// What people call it.
    pub label: &'a str,
    /// What it does, if that is known.
    pub activity: Option<Activity>,
    /// Whether the pane that this runs in becomes the lane's, if it is nobody else's.
    pub claim: bool,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Which server that was.
    pub ident: String,
    /// Whether the pane is the lane's.
    pub told: bool,
    /// Whether terminals are asked to say that they have the focus.
    pub focus_events: bool,
    /// Who looks at the server.
    pub eyes: Vec<Eye>,
}

/// Somebody who looks at a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eye {
    /// A name for this client that no other one has.
    pub client: String,
    /// Whether its terminal has the focus, as far as the server knows.
    pub focused: bool,
    /// Whether the pane is the one in front of it.
    pub on_pane: bool,
}

/// Tells the lane's pane what the lane does: the one this runs in, else the recorded one. `None`
/// where there is no pane that is certainly the lane's. The first pane a lane is told of in is
/// recorded. A pane is never guessed from a directory.
pub fn report(ctx: &Ctx, report: &Report<'_>) -> Option<Seen> {
    let record = PaneRecord::read(&ctx.paths, report.lane);
    let own = here::inherited(&ctx.env).filter(|_| !here::wezterm_is_nearest(&ctx.env));
    if let Some(own) =
        own.filter(|own| report.claim || record.as_ref().is_some_and(|record| is_of(record, own)))
        && let Some(seen) = in_own(ctx, report, &own, record.as_ref())
    {
        return Some(seen);
    }
    let pane = record.filter(|record| !record.ended)?.pane;
    let server = pane.server.ident.split(':').next()?.parse().ok()?;
    let report = Report { claim: false, ..report.clone() };
    told(Tmux::at(ctx, &pane.server.socket, None).and_then(|tmux| tmux.report(&pane.id, server, &report)))
}

fn in_own(ctx: &Ctx, report: &Report<'_>, own: &Inherited, record: Option<&PaneRecord>) -> Option<Seen> {
    let id = own.pane.clone()?;
    let tmux = Tmux::at(ctx, &own.socket, None);
    let seen = told(tmux.and_then(|tmux| tmux.report(&id, own.pid, report)))?;
    let server = Server { mux: Kind::Tmux, socket: own.socket.clone(), ident: seen.ident.clone() };
    let new = PaneRecord { pane: PaneRef { server, id }, ended: false };
    if record != Some(&new)
        && let Err(error) = new.write(&ctx.paths, report.lane)
    {
        tracing::warn!("{error}");
    }
    Some(seen)
}

fn told(result: Result<Seen, MuxError>) -> Option<Seen> {
    match result {
        Ok(seen) => Some(seen).filter(|seen| seen.told),
        Err(error) => {
            tracing::info!("{error}");
            None
        }
    }
}

fn is_of(record: &PaneRecord, own: &Inherited) -> bool {
    let pane = &record.pane;
    let pid = pane.server.ident.split(':').next().and_then(|pid| pid.parse().ok());
    let server = pid == Some(own.pid) && pane.server.socket == own.socket;
    server && Some(&pane.id) == own.pane.as_ref()
}

/// Shows a line to everyone who looks at the lane's server, or at the one this runs in.
pub fn announce(ctx: &Ctx, lane: Option<&LaneId>, line: &str) -> Result<(), MuxError> {
    let recorded = lane.and_then(|lane| PaneRecord::read(&ctx.paths, lane));
    let recorded = recorded.map(|record| record.pane.server.socket);
    let own = || here::inherited(&ctx.env).map(|own| own.socket);
    let socket = recorded.or_else(own).ok_or_else(|| MuxError::Gone("this is in no tmux".to_owned()))?;
    Tmux::at(ctx, &socket, None)?.announce(line)
}
