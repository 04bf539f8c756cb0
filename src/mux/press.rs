//! A key that was pressed in tmux: a popup or a line of text for whoever pressed it.

use std::ffi::OsString;
use std::path::PathBuf;

use super::here;
use super::tmux::Tmux;
use super::{Multiplexer, MuxError, Wish};
use crate::ctx::Ctx;
use crate::error::{Error, Result};

/// How large a popup is, in tmux's words: columns, rows or percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Its width.
    pub width: &'static str,
    /// Its height.
    pub height: &'static str,
}

/// A key that was pressed: in which server, pane and client.
#[derive(Debug)]
pub struct Pressed<'a> {
    server: Tmux,
    wish: &'a Wish,
}

impl<'a> Pressed<'a> {
    /// The place of a key press. `TMUX` names the server: it starts what a key runs.
    pub fn new(ctx: &Ctx, wish: &'a Wish) -> Result<Self> {
        let inherited = here::inherited(&ctx.env).ok_or_else(|| {
            Error::precondition("this is for keys of tmux, and TMUX names no server")
                .hint("see the manual on the tmux plugin")
        })?;
        let server = Tmux::at(ctx, &inherited.socket, wish.pane_id.clone())?;
        Ok(Pressed { server, wish })
    }

    /// Where the pane's foreground process stands, if that is known.
    pub fn directory(&self) -> Result<Option<PathBuf>, MuxError> {
        let Some(id) = &self.wish.pane_id else { return Ok(None) };
        let panes = self.server.panes()?;
        let pane = panes.into_iter().find(|pane| pane.id.as_str() == id);
        let pane = pane.ok_or_else(|| MuxError::NoPane(format!("tmux has no pane {id:?}")))?;
        Ok(pane.cwd.filter(|cwd| cwd.is_dir()))
    }

    /// Shows a program in a popup until it ends; one that fails stays, so that it can be read.
    pub fn popup(&self, size: Size, argv: &[OsString]) -> Result<(), MuxError> {
        self.server.popup(self.wish.client.as_deref(), size, argv)
    }

    /// Shows a line of text, whatever is in it.
    pub fn say(&self, text: &str) -> Result<(), MuxError> {
        self.server.say(self.wish.client.as_deref(), text)
    }
}
