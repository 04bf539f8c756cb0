//! Which conversations a client has of a directory. Each client keeps them in its own way; an
//! adapter names the finder that knows it.
//!
//! The clients' files are theirs: scruff only reads them, a bounded part of them, and where it
//! cannot make sense of one it says that it does not know.

mod claude;
mod codex;
mod files;
mod gemini;
mod opencode;
mod pi;

use serde::Deserialize;

use crate::ctx::Ctx;
use crate::lane::Situation;

/// A way to look for conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Finder {
    /// There is none.
    #[default]
    None,
    /// A folder per directory under `~/.claude/projects`.
    Claude,
    /// All of them under `~/.codex/sessions`, with the directory in the first line.
    Codex,
    /// `~/.gemini/tmp`, by a table of directories.
    Gemini,
    /// `opencode session list`.
    Opencode,
    /// A folder per directory under `~/.pi/agent/sessions`.
    Pi,
}

/// The newest conversation of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Newest {
    /// Its id.
    Id(String),
    /// There is none.
    Nothing,
    /// It could not be found out, and why.
    Unknown(String),
}

impl From<Option<String>> for Newest {
    fn from(found: Option<String>) -> Self {
        found.map_or(Newest::Nothing, Newest::Id)
    }
}

impl Finder {
    /// Whether the client still has a conversation and would go on with it in the lane's
    /// checkout; `None` where that cannot be told.
    pub(super) fn has(self, ctx: &Ctx, situation: &Situation, id: &str) -> Option<bool> {
        match self {
            // OpenCode would have to be started to be asked.
            Finder::None | Finder::Opencode => None,
            Finder::Claude => claude::has(ctx, situation, id),
            Finder::Codex => codex::has(ctx, id),
            Finder::Gemini => gemini::has(ctx, situation, id),
            Finder::Pi => pi::has(ctx, situation, id),
        }
    }

    /// The newest conversation that was begun in the lane's checkout.
    pub(super) fn newest(self, ctx: &Ctx, situation: &Situation, program: &str) -> Newest {
        match self {
            Finder::None => Newest::Unknown("its adapter does not say how to look".to_owned()),
            Finder::Claude => claude::newest(ctx, situation).into(),
            Finder::Codex => codex::newest(ctx, situation).into(),
            Finder::Gemini => gemini::newest(ctx, situation).into(),
            Finder::Opencode => opencode::newest(ctx, situation, program),
            Finder::Pi => pi::newest(ctx, situation).into(),
        }
    }
}
