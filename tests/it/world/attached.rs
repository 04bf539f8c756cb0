//! A terminal with a tmux client in it.

use super::screen::Terminal;
use super::tmux::{Client, Pane, Tmux};
use super::wait;
use std::ops::Deref;

pub struct Attached<'a> {
    tmux: &'a Tmux,
    terminal: Terminal,
    name: String,
}

impl<'a> Attached<'a> {
    #[track_caller]
    pub(super) fn to(tmux: &'a Tmux, session: &str) -> Self {
        let call = tmux.call(["attach-session", "-t", &format!("{session}:")]);
        let terminal = call.on_terminal(100, 30);
        let mine = |client: &Client| client.pid == terminal.pid();
        let found = || tmux.clients().into_iter().find(mine);
        let client = wait::until_some("the client attaches", found, || terminal.framed());
        Self { name: client.name, tmux, terminal }
    }

    /// The name tmux knows this client by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// As tmux sees it; `None` once it has detached.
    #[track_caller]
    pub fn client(&self) -> Option<Client> {
        self.tmux.clients().into_iter().find(|client| client.name == self.name)
    }

    /// The id of the session in front of the person.
    #[track_caller]
    pub fn session(&self) -> String {
        self.client().unwrap_or_else(|| panic!("the client is gone\n{}", self.tmux.report())).session
    }

    /// The pane in front of the person.
    #[track_caller]
    pub fn pane(&self) -> Pane {
        self.tmux.current(&self.session())
    }

    /// Waits until this pane is in front of the person.
    #[track_caller]
    pub fn wait_for_pane(&self, id: &str) {
        let last = || format!("{}\n{}", self.framed(), self.tmux.report());
        wait::until(&format!("{id} in front of {}", self.name), || self.pane().id == id, last);
    }

    /// The prefix, then a key.
    pub fn prefix(&self, key: &str) {
        self.send(self.tmux.conf().prefix());
        self.send(key);
    }
}

impl Deref for Attached<'_> {
    type Target = Terminal;

    fn deref(&self) -> &Terminal {
        &self.terminal
    }
}
