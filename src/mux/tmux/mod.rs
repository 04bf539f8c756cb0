//! tmux: one server, named by its socket. Targets are ids, never indices or names.

mod call;
mod commands;
mod popup;
mod report;
mod seat;
mod snapshot;
mod text;

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tmux_interface::{CapturePane, IfShell, SetOption, TmuxCommand};

use self::commands::{anchor, leave, select, session, split, switch, window};
use self::seat::Seat;
use self::snapshot::{Client, Pane, Snapshot};
use super::{
    Asker, Certain, Kind, Left, Multiplexer, MuxError, OpenRequest, PaneId, PaneInfo, PaneRef, Raised,
};
use super::{Screen, Server, Tag};
use crate::config::Place;
use crate::ctx::Ctx;
use crate::proc::Cmd;

pub(super) use self::call::alive;

/// A tmux server.
#[derive(Debug)]
pub(super) struct Tmux {
    /// tmux with the caller's environment, less the place it was called from.
    program: Cmd,
    socket: PathBuf,
    home: Option<String>,
    /// The last look, also one that failed: a server that hangs is waited for once.
    seen: RefCell<Option<Result<Rc<Snapshot>, MuxError>>>,
}

impl Tmux {
    /// The server at a socket. `home` is the pane or session that it is asked from, if inside.
    pub(super) fn at(ctx: &Ctx, socket: &Path, home: Option<String>) -> Result<Self, MuxError> {
        let program = ctx.find("tmux").ok_or_else(|| MuxError::Failed("tmux is not on PATH".to_owned()))?;
        let program = Cmd::new(program).env_exactly(&ctx.env).env_remove("TMUX").env_remove("TMUX_PANE");
        Ok(Tmux { program, socket: socket.to_owned(), home, seen: RefCell::new(None) })
    }

    fn run(&self, commands: &[TmuxCommand<'_>]) -> Result<Vec<u8>, MuxError> {
        call::run(&self.program, &self.socket, commands, &[])
    }

    /// Looks, or remembers.
    fn look(&self) -> Result<Rc<Snapshot>, MuxError> {
        self.seen.borrow_mut().get_or_insert_with(|| self.look_anew().map(Rc::new)).clone()
    }

    fn look_anew(&self) -> Result<Snapshot, MuxError> {
        let mark = snapshot::mark()?;
        let seen = snapshot::parse(&mark, &self.run(&snapshot::commands(&mark, self.home.as_deref()))?)?;
        if text::too_old(&seen.version) {
            return Err(MuxError::Failed(format!("tmux {} is too old: 3.2 is needed", seen.version)));
        }
        Ok(seen)
    }

    /// What a terminal outside runs to see a pane that was selected.
    fn attach(&self, place: &Pane) -> Cmd {
        let cmd = self.program.clone().arg("-S").arg(&self.socket);
        cmd.args(["attach-session", "-t", &place.window_target()])
    }

    /// The same, to be typed.
    fn typed(&self, place: &Pane) -> String {
        let socket = self.socket.to_string_lossy();
        let words = ["tmux", "-S", &socket, "attach-session", "-t", &place.session];
        shell_words::join(words)
    }
}

impl Multiplexer for Tmux {
    fn kind(&self) -> Kind {
        Kind::Tmux
    }

    fn probe(&self) -> Result<Server, MuxError> {
        self.look().map(|seen| seen.server.clone())
    }

    fn panes(&self) -> Result<Vec<PaneInfo>, MuxError> {
        let mut panes: Vec<PaneInfo> = Vec::new();
        for row in &self.look()?.panes {
            match panes.iter_mut().find(|pane| pane.id == row.info.id) {
                Some(pane) => pane.visible = pane.visible.max(row.info.visible),
                None => panes.push(row.info.clone()),
            }
        }
        Ok(panes)
    }

    fn screens(&self) -> Result<Vec<Screen>, MuxError> {
        let screen = |client: &Client| Screen { client: client.name.clone(), tty: client.tty.clone().into() };
        Ok(self.look()?.clients.iter().map(screen).collect())
    }

    fn open(&self, request: &OpenRequest, asker: &Asker) -> Result<PaneRef, MuxError> {
        let seen = self.look()?;
        let anchor = anchor(&seen, asker)?;
        let command = match (request.place, anchor) {
            (Place::PaneRight, Some(anchor)) => split(anchor).horizontal().build(),
            (Place::PaneBelow, Some(anchor)) => split(anchor).vertical().build(),
            (Place::Window | Place::Here, Some(anchor)) => window(anchor, &request.name),
            (Place::Session | Place::OsWindow, _) | (_, None) => session(&seen, asker, &request.name),
        };
        let tmux = match &request.cwd {
            Some(cwd) => self.program.clone().cwd(cwd),
            None => self.program.clone(),
        };
        let answer = call::run(&tmux, &self.socket, &[command], &request.argv)?;
        let pane = PaneId::tmux(String::from_utf8_lossy(&answer).trim());
        self.seen.take();
        let pane = pane.ok_or_else(|| MuxError::Failed("tmux did not name the new pane".to_owned()))?;
        Ok(PaneRef { server: seen.server.clone(), id: pane })
    }

    fn focus(&self, pane: &PaneId, asker: &Asker) -> Result<Raised, MuxError> {
        let seen = self.look()?;
        let places: Vec<&Pane> = seen.panes.iter().filter(|row| row.info.id == *pane).collect();
        let first = find(&seen, pane)?;
        let seat = seat::seat(&seen, asker, &places)?;
        if let Seat::Client(client) = seat {
            let shown = places.iter().find(|place| place.session == client.session);
            self.run(&match shown {
                Some(place) => select(place),
                None => vec![switch(&client.name, first)],
            })?;
            return Ok(Raised::Front(left(&seen, client)));
        }
        self.run(&select(first))?;
        Ok(match seat {
            Seat::Client(client) => Raised::Front(left(&seen, client)),
            Seat::Terminal => Raised::Attach(Box::new(self.attach(first))),
            Seat::Unseen => {
                let session = seat::session(&seen, asker);
                Raised::PaneOnly(format!("no terminal shows the tmux session {session}"))
            }
            Seat::Nobody => Raised::NoClient { command: self.typed(first), target: first.window_target() },
        })
    }

    fn tag(&self, pane: &PaneId, tag: &Tag<'_>) -> Result<(), MuxError> {
        let option = || SetOption::new().pane().target_pane(pane.to_string());
        let ended = option().option("@scruff_ended");
        self.run(&[
            option().option("@scruff_id").value(tag.lane.to_string()).build(),
            option().option("@scruff_lane").value(text::literal(tag.label)).build(),
            option().unset().option("@scruff_state").build(),
            if tag.ended { ended.value("1") } else { ended.unset() }.build(),
        ])?;
        self.seen.take();
        Ok(())
    }

    fn capture(&self, pane: &PaneId) -> Result<Vec<u8>, MuxError> {
        let capture = CapturePane::new().escape_sequences().stdout().target_pane(pane.to_string());
        self.run(&[capture.build()])
    }

    fn close(&self, pane: &Certain) -> Result<(), MuxError> {
        let id = &pane.pane().id;
        if self.probe()? != pane.pane().server {
            return Err(MuxError::Gone(format!("the tmux server of {id} has ended")));
        }
        let away = leave(&*self.look()?, id);
        if !away.is_empty() {
            self.run(&away)?;
        }
        // tmux itself looks at the tag once more: between a look and a deed a pane may change.
        let ours = format!("#{{==:#{{@scruff_id}},{}}}", pane.lane());
        let fresh = "#{==:#{@scruff_id},}";
        let safe = IfShell::new()
            .not_execute()
            .target_pane(id.to_string())
            .shell_command(format!("#{{||:{ours},{fresh}}}"))
            .command(format!("kill-pane -t {id}"));
        self.run(&[safe.build()])?;
        self.seen.take();
        Ok(())
    }

    fn place(&self, pane: &PaneId) -> Result<String, MuxError> {
        find(&*self.look()?, pane).map(Pane::window_target)
    }

    fn viewer(&self, pane: &PaneId) -> Result<Vec<OsString>, MuxError> {
        let seen = self.look()?;
        let place = find(&seen, pane)?;
        self.run(&select(place))?;
        let unset = ["env", "-u", "TMUX", "-u", "TMUX_PANE"].map(OsString::from);
        Ok(unset.into_iter().chain(self.attach(place).argv()).collect())
    }
}

/// What a client shows.
fn left(seen: &Snapshot, client: &Client) -> Option<Left> {
    let shown = |row: &&Pane| row.session == client.session && row.current && row.active;
    let pane = seen.panes.iter().find(shown)?.info.id.clone();
    Some(Left { client: client.name.clone(), pane })
}

/// A pane's row, in a session that somebody looks at if there is one.
fn find<'a>(seen: &'a Snapshot, pane: &PaneId) -> Result<&'a Pane, MuxError> {
    let rows = || seen.panes.iter().filter(|row| row.info.id == *pane);
    let row = rows().find(|row| row.attached).or_else(|| rows().next());
    row.ok_or_else(|| MuxError::NoPane(format!("tmux has no pane {pane}")))
}
