//! The servers within reach of one call, each looked at once.

use std::cell::RefCell;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::here::{self, Inherited};
use super::tmux::{self, Tmux};
use super::{Asker, Multiplexer, MuxError, PaneId, Wish};
use crate::ctx::Ctx;
use crate::error::Error;
use crate::proc::facts;

/// A server, shared by all who look at it.
pub(super) type Shared = Rc<dyn Multiplexer>;

/// The servers within reach.
#[derive(Debug)]
pub(super) struct Reach<'a> {
    pub(super) ctx: &'a Ctx,
    pub(super) wish: &'a Wish,
    inherited: Option<Inherited>,
    known: RefCell<Vec<(PathBuf, Shared)>>,
}

impl<'a> Reach<'a> {
    pub(super) fn new(ctx: &'a Ctx, wish: &'a Wish) -> Self {
        Reach { ctx, wish, inherited: here::inherited(&ctx.env), known: RefCell::default() }
    }

    /// What `TMUX` says, unless a WezTerm pane is nearer.
    pub(super) fn inherited(&self) -> Option<&Inherited> {
        self.inherited.as_ref().filter(|_| !here::wezterm_is_nearest(&self.ctx.env))
    }

    /// The server at a socket.
    pub(super) fn at(&self, socket: &Path) -> Result<Shared, MuxError> {
        if let Some((_, known)) = self.known.borrow().iter().find(|(at, _)| at == socket) {
            return Ok(Rc::clone(known));
        }
        let new: Shared = Rc::new(Tmux::at(self.ctx, socket, self.home(socket))?);
        self.known.borrow_mut().push((socket.to_owned(), Rc::clone(&new)));
        Ok(new)
    }

    /// The server this process is in, if what it inherited is true.
    pub(super) fn inside(&self) -> Result<Option<Shared>, MuxError> {
        let Some(inherited) = self.inherited() else { return Ok(None) };
        let server = self.at(&inherited.socket)?;
        let ident = server.probe()?.ident;
        let same = ident.split(':').next() == Some(&inherited.pid.to_string());
        Ok((same && here::is_inside(inherited.pid, &server.panes()?)).then_some(server))
    }

    /// Whether this process is in that server.
    pub(super) fn is_inside(&self, server: &Shared) -> bool {
        matches!(self.inside(), Ok(Some(inside)) if Rc::ptr_eq(&inside, server))
    }

    /// Who asks, seen from that server.
    pub(super) fn asker(&self, server: &Shared) -> Result<Asker, MuxError> {
        let told = self.wish.client.is_some() || self.wish.pane_id.is_some();
        let inherited = self.inherited().filter(|_| self.is_inside(server));
        let inside = inherited.is_some() || (told && self.inherited.is_none());
        let mut asker = Asker { inside, terminal: here::has_terminal(), ..Asker::default() };
        if !inside {
            return Ok(asker);
        }
        asker.client = self.client(server)?;
        asker.pane = self.pane(server, inherited)?;
        asker.session = inherited.and_then(|inherited| inherited.session.clone());
        Ok(asker)
    }

    /// The client that was named.
    fn client(&self, server: &Shared) -> Result<Option<String>, MuxError> {
        let Some(name) = &self.wish.client else { return Ok(None) };
        let screens = server.screens()?;
        let found = screens.iter().find(|screen| screen.client == *name || screen.tty == Path::new(name));
        match found {
            Some(screen) => Ok(Some(screen.client.clone())),
            None => {
                let names: Vec<&str> = screens.iter().map(|screen| screen.client.as_str()).collect();
                let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let mux = server.kind().word();
                Err(MuxError::Failed(format!("{mux} has no client {name:?}; there is {there}")))
            }
        }
    }

    /// The pane that was named, or the one this process really is in.
    fn pane(&self, server: &Shared, inherited: Option<&Inherited>) -> Result<Option<PaneId>, MuxError> {
        let panes = server.panes()?;
        if let Some(text) = &self.wish.pane_id {
            let id = PaneId::parse(server.kind(), text);
            let found = id.filter(|id| panes.iter().any(|pane| pane.id == *id));
            let missing = || MuxError::Failed(format!("{} has no pane {text:?}", server.kind().word()));
            return found.ok_or_else(missing).map(Some);
        }
        let Some(inherited) = inherited else { return Ok(None) };
        let pane = panes.iter().find(|pane| Some(&pane.id) == inherited.pane.as_ref());
        Ok(pane.filter(|pane| here::is_in(pane, inherited.pid)).map(|pane| pane.id.clone()))
    }

    /// Where a server's answer is asked from.
    fn home(&self, socket: &Path) -> Option<String> {
        let inherited = self.inherited().filter(|inherited| inherited.socket == socket);
        let pane = inherited.and_then(|inherited| inherited.pane.as_ref()).map(PaneId::to_string);
        let told = self.wish.pane_id.as_deref().and_then(PaneId::tmux).map(|id| id.to_string());
        let session = || inherited.and_then(|inherited| inherited.session.clone());
        told.filter(|_| inherited.is_some() || self.inherited.is_none()).or(pane).or_else(session)
    }

    /// Sockets of this user's servers that somebody listens at, tmux's default one first.
    pub(super) fn live_sockets(&self) -> Vec<PathBuf> {
        let uid = rustix::process::geteuid().as_raw();
        let base = self.ctx.env.absolute("TMUX_TMPDIR").unwrap_or_else(|| "/tmp".into());
        let directory = base.join(format!("tmux-{uid}"));
        if !directory.metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == uid) {
            return Vec::new();
        }
        let files = std::fs::read_dir(&directory).into_iter().flatten().flatten();
        let sockets = files.filter(|file| file.file_type().is_ok_and(|kind| kind.is_socket()));
        let mut live: Vec<PathBuf> =
            sockets.map(|file| file.path()).filter(|path| tmux::alive(path)).collect();
        live.sort_by_key(|path| (path.file_name() != Some("default".as_ref()), path.clone()));
        live
    }

    /// What to tell about a server that `TMUX` names and that is not there.
    pub(super) fn stale(&self, error: &MuxError) -> Option<Error> {
        let inherited = self.inherited()?;
        let MuxError::Gone(message) = error else { return None };
        let mut error = Error::precondition(format!("TMUX is set, but {message}"));
        if is_tmux(inherited.pid) {
            let pid = inherited.pid;
            error = error
                .hint(format!("its process {pid} still runs: `kill -USR1 {pid}` makes the socket again"));
        } else {
            error = error.hint("start a server with `tmux new-session`, and call again from there");
        }
        Some(error.hint("or start the client in this terminal with --mux none"))
    }
}

/// Whether a tmux server runs with this process id.
pub(super) fn is_tmux(pid: u32) -> bool {
    let facts = facts::is_alive(pid).then(|| facts::of(pid)).flatten();
    facts.is_some_and(|facts| facts.command.starts_with("tmux") && facts.command != "tmux: client")
}
