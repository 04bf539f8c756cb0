//! Asking every server that may know where a lane runs, each at most once.

use std::path::{Path, PathBuf};

use super::locate::{Sought, View};
use super::reach::{Reach, is_tmux};
use super::{Located, MuxError, PaneInfo, PaneRecord, PaneRef, Wish, locate};
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
        let mut views = Vec::new();
        for socket in self.sockets(record.as_ref()) {
            views.extend(self.view(&socket, record.as_ref())?);
            if let found @ Located::Bound(_) = locate(&sought, &views) {
                return Ok(found);
            }
        }
        Ok(locate(&sought, &views))
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
            Err(error) => Err(error),
        }
    }

    /// A socket that was removed while its server runs on: the lane may well be in there.
    fn gone(&self, socket: &Path, record: Option<&PaneRecord>) -> Option<MuxError> {
        let recorded = record.filter(|record| record.pane.server.socket == socket);
        let recorded = recorded.and_then(|record| record.pane.server.ident.split(':').next());
        let inherited = self.reach.inherited().filter(|inherited| inherited.socket == socket);
        let pid =
            recorded.or(inherited.map(|inherited| inherited.pid.as_str())).filter(|pid| is_tmux(pid))?;
        let socket = socket.display();
        let hint = format!("`kill -USR1 {pid}` makes it again");
        Some(MuxError::NotAnswering(format!(
            "the tmux server {pid} runs without its socket {socket}: {hint}"
        )))
    }
}

/// Where a lane's pane is, running or not.
pub fn find_lane(ctx: &Ctx, lane: &Lane, wish: &Wish) -> Result<Located, MuxError> {
    Survey::new(ctx, wish).find(lane, false)
}

/// The lane of the pane that this was called from, or that was named. Never by directory.
pub fn lane_of_pane(ctx: &Ctx, wish: &Wish) -> Option<LaneId> {
    let reach = Reach::new(ctx, wish);
    let server = super::detect::choose_in(&reach, None).ok()?.mux?;
    let pane = reach.asker(&server).ok()?.pane?;
    server.panes().ok()?.into_iter().find(|info| info.id == pane)?.lane
}
