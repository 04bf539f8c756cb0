//! Asking every server that may know where a lane runs, each at most once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::locate::{Sought, View};
use super::reach::{Reach, is_tmux};
use super::{Kind, Located, MuxError, PaneId, PaneInfo, PaneRecord, PaneRef, Wish, locate};
use crate::ctx::Ctx;
use crate::lane::{Lane, LaneId};

/// A look at all servers, for one lane or for many.
#[derive(Debug)]
pub struct Survey<'a> {
    pub(super) reach: Reach<'a>,
}

impl<'a> Survey<'a> {
    /// A new look. Nothing is asked before it is needed.
    pub fn new(ctx: &'a Ctx, wish: &'a Wish) -> Self {
        Survey { reach: Reach::new(ctx, wish) }
    }

    /// Where a lane's pane is. With `running`, only one in which the client has not ended.
    pub fn find(&self, lane: &Lane, running: bool) -> Result<Located, MuxError> {
        let record = PaneRecord::read(&self.reach.ctx.paths, lane.id());
        let checkout = lane.row.path.canonicalize().unwrap_or_else(|_| lane.row.path.clone());
        let sought = Sought {
            lane: lane.id(),
            checkout: &checkout,
            client: &lane.row.client,
            record: record.as_ref(),
            running,
        };
        self.climb(&sought)
    }

    /// Asks server after server; a recorded pane that is still there ends it.
    fn climb(&self, sought: &Sought<'_>) -> Result<Located, MuxError> {
        let mut views = Vec::new();
        for socket in self.sockets(sought.record) {
            views.extend(self.view(&socket, sought.record)?);
            if let found @ Located::Bound(_) = locate(sought, &views) {
                return Ok(found);
            }
        }
        Ok(locate(sought, &views))
    }

    fn describe(&self, pane: &PaneRef) -> PaneSeen {
        let visible = self.info(pane).and_then(|info| info.visible);
        PaneSeen { mux: pane.server.mux, id: pane.id.clone(), visible }
    }

    /// What its server says of a pane.
    pub fn info(&self, pane: &PaneRef) -> Option<PaneInfo> {
        let panes = self.reach.at(&pane.server.socket).ok()?.panes().ok()?;
        panes.into_iter().find(|info| info.id == pane.id)
    }

    /// The recorded server, the one we are in, and whatever else of the user's runs.
    fn sockets(&self, record: Option<&PaneRecord>) -> impl Iterator<Item = PathBuf> {
        let recorded = record.map(|record| record.pane.server.socket.clone());
        let inherited = self.reach.inherited().map(|inherited| inherited.socket.clone());
        let mut seen = Vec::new();
        let first = recorded.into_iter().chain(inherited);
        let others = std::iter::once_with(|| self.reach.live_sockets()).flatten();
        first.chain(others).filter(move |socket| {
            let new = !seen.contains(socket);
            seen.push(socket.clone());
            new
        })
    }

    /// A server that is gone runs nothing; one that does not answer may run anything.
    fn view(&self, socket: &Path, record: Option<&PaneRecord>) -> Result<Option<View>, MuxError> {
        let server = match self.reach.at(socket) {
            Ok(server) => server,
            Err(MuxError::Failed(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        match server.probe() {
            Ok(ident) => Ok(Some(View { server: ident, panes: server.panes()? })),
            Err(MuxError::Gone(_)) => self.gone(socket, record).map_or(Ok(None), Err),
            Err(error) if self.may_hold(socket, record) => Err(error),
            Err(error) => {
                tracing::info!("not asked: {error}");
                Ok(None)
            }
        }
    }

    /// Whether a server is likely to have the lane. One that has not need not answer.
    fn may_hold(&self, socket: &Path, record: Option<&PaneRecord>) -> bool {
        record.is_some_and(|record| record.pane.server.socket == socket)
            || self.reach.inherited().is_some_and(|inherited| inherited.socket == socket)
    }

    /// A socket that was removed while its server runs on: the lane may well be in there.
    fn gone(&self, socket: &Path, record: Option<&PaneRecord>) -> Option<MuxError> {
        let recorded = record.filter(|record| record.pane.server.socket == socket);
        let recorded = recorded.and_then(|record| record.pane.server.ident.split(':').next()?.parse().ok());
        let inherited = self.reach.inherited().filter(|inherited| inherited.socket == socket);
        let pid = recorded.or(inherited.map(|inherited| inherited.pid)).filter(|pid| is_tmux(*pid))?;
        let socket = socket.display();
        let hint = format!("`kill -USR1 {pid}` makes it again");
        Some(MuxError::NotAnswering(format!(
            "the tmux server {pid} runs without its socket {socket}: {hint}"
        )))
    }
}

/// Where a lane runs. For the pane of one whose client has ended, see [`Survey::find`].
pub fn find_lane(ctx: &Ctx, lane: &Lane, wish: &Wish) -> Result<Located, MuxError> {
    Survey::new(ctx, wish).find(lane, true)
}

/// A lane's pane, as the listing shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PaneSeen {
    /// What it is a pane of.
    pub mux: Kind,
    /// Its id.
    pub id: PaneId,
    /// Whether it is on somebody's screen, if that is known.
    pub visible: Option<bool>,
}

/// The panes that certainly are these lanes'. A server that does not answer is warned of.
pub fn seen<'i>(ctx: &Ctx, lanes: impl Iterator<Item = &'i LaneId>) -> HashMap<LaneId, PaneSeen> {
    let wish = Wish::default();
    let survey = Survey::new(ctx, &wish);
    let mut known = HashMap::new();
    for lane in lanes {
        let record = PaneRecord::read(&ctx.paths, lane);
        // No pane stands in no directory: what is shown is never a guess.
        let sought =
            Sought { lane, checkout: Path::new(""), client: "", record: record.as_ref(), running: true };
        match survey.climb(&sought) {
            Ok(found) => known.extend(found.pane().map(|pane| (lane.clone(), survey.describe(pane)))),
            Err(error) => {
                ctx.ui.warn(format!("panes are not shown: {error}"));
                return known;
            }
        }
    }
    known
}

/// The lane of the pane that this was called from, or that was named. Never by directory.
pub fn lane_of_pane(ctx: &Ctx, wish: &Wish) -> Option<LaneId> {
    let reach = Reach::new(ctx, wish);
    let server = super::detect::choose_in(&reach, None).ok()?.mux?;
    let pane = reach.asker(&server).ok()?.pane?;
    server.panes().ok()?.into_iter().find(|info| info.id == pane)?.lane
}
