//! Which multiplexer: what was said, what this process is in, what the lane was in, what runs.

use std::path::PathBuf;

use super::reach::{Reach, Shared};
use super::{MuxError, Server};
use crate::config::Backend;
use crate::ctx::Ctx;
use crate::error::{Error, Result};

/// What the caller said about multiplexers.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// `--mux`.
    pub mux: Option<Backend>,
    /// `--pane-id`: the pane that a key was pressed in.
    pub pane_id: Option<String>,
    /// `--client`: the multiplexer's client that a key was pressed in.
    pub client: Option<String>,
}

/// What was chosen, and why.
#[derive(Debug)]
pub struct Choice {
    /// The server; `None` means that clients start in place.
    pub mux: Option<Shared>,
    /// Why this one.
    pub reason: String,
    /// What was looked at before, and why not.
    pub considered: Vec<String>,
}

/// Chooses. `recorded` is the server that the lane was last seen in.
pub fn choose(ctx: &Ctx, wish: &Wish, recorded: Option<&Server>) -> Result<Choice> {
    choose_in(&Reach::new(ctx, wish), recorded)
}

pub(super) fn choose_in(reach: &Reach<'_>, recorded: Option<&Server>) -> Result<Choice> {
    let (backend, said) = match reach.wish.mux {
        Some(backend) => (backend, "--mux"),
        None => (reach.ctx.config().mux.backend, "[mux] backend"),
    };
    match backend {
        Backend::Auto => {}
        Backend::None => return Ok(none(format!("{said} says none"), Vec::new())),
        Backend::Wezterm => {
            return Err(Error::precondition(format!(
                "{said} says wezterm, which this scruff cannot talk to"
            ))
            .hint("use tmux, or none to start clients in place"));
        }
        Backend::Tmux => {
            let choice = automatic(reach, recorded)?;
            let missing = || {
                Error::precondition(format!("{said} says tmux, and no tmux server of yours runs"))
                    .hint("start one with `tmux new-session`, and call again from there")
            };
            return choice.mux.is_some().then_some(choice).ok_or_else(missing);
        }
    }
    automatic(reach, recorded)
}

fn none(reason: String, considered: Vec<String>) -> Choice {
    Choice { mux: None, reason, considered }
}

fn automatic(reach: &Reach<'_>, recorded: Option<&Server>) -> Result<Choice> {
    let mut considered = Vec::new();
    let mut stale = None;
    if let Some(inherited) = reach.inherited() {
        match reach.inside() {
            Ok(Some(server)) => {
                let reason = format!("this is inside the tmux server at {}", inherited.socket.display());
                return Ok(Choice { mux: Some(server), reason, considered });
            }
            Ok(None) => considered.push(format!(
                "TMUX names the server {} at {}, and this is not in it",
                inherited.pid,
                inherited.socket.display()
            )),
            Err(error @ MuxError::NotAnswering(_)) => return Err(error.into()),
            Err(error) => {
                stale = reach.stale(&error);
                considered.push(format!("TMUX is set, but {error}"));
            }
        }
    }
    for (socket, reason) in candidates(reach, recorded) {
        match reach.at(&socket).and_then(|server| server.probe().map(|_| server)) {
            Ok(server) => {
                let reason = format!("{reason} at {}", socket.display());
                return Ok(Choice { mux: Some(server), reason, considered });
            }
            Err(error @ MuxError::NotAnswering(_)) => return Err(error.into()),
            Err(error) => considered.push(error.to_string()),
        }
    }
    match stale {
        Some(error) => Err(error),
        None => Ok(none("this is in no multiplexer, and none runs".to_owned(), considered)),
    }
}

/// Sockets to try after the one this process is in. Of several servers without the default name
/// none is chosen: nobody could say which is meant.
fn candidates(reach: &Reach<'_>, recorded: Option<&Server>) -> Vec<(PathBuf, &'static str)> {
    let recorded = recorded.map(|server| (server.socket.clone(), "the lane was last in the tmux server"));
    let live = reach.live_sockets();
    let default = live.first().filter(|path| live.len() == 1 || path.ends_with("default")).cloned();
    recorded.into_iter().chain(default.map(|path| (path, "a tmux server of yours runs"))).collect()
}
