//! Seams: decisions of scruff's that a program of the user's can take over.
//!
//! scruff executes the configured argv, hands it the situation, and reads the answer from the
//! exit status. A broken program loses the override, never the operation.

mod protocol;
mod run;
mod told;

use std::ffi::OsString;

use crate::config::Argv;
use crate::ctx::Ctx;

pub use protocol::{Acted, Answer, Said};
pub use run::{LIMIT, act, ask, ask_within};
pub use told::VARIABLES;

/// A decision that can be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seam {
    /// Which client a new lane gets.
    Agent,
    /// Whether a branch's work has landed.
    Landed,
    /// Whether a dirty tree needs a commit before its checkout goes.
    Preserve,
    /// Opens a session in a lane just created.
    Open,
    /// Reopens a lane's session.
    Resume,
    /// Brings a lane's window to the front.
    Focus,
}

impl Seam {
    /// Every seam, in the order of the documentation.
    pub const ALL: [Seam; 6] =
        [Seam::Agent, Seam::Landed, Seam::Preserve, Seam::Open, Seam::Resume, Seam::Focus];

    /// The name in the configuration, and what the program is told it is asked.
    pub fn name(self) -> &'static str {
        match self {
            Seam::Agent => "agent",
            Seam::Landed => "landed",
            Seam::Preserve => "preserve",
            Seam::Open => "open",
            Seam::Resume => "resume",
            Seam::Focus => "focus",
        }
    }

    /// Whether the program acts in scruff's place, rather than answering a question.
    pub fn is_action(self) -> bool {
        match self {
            Seam::Agent | Seam::Landed | Seam::Preserve => false,
            Seam::Open | Seam::Resume | Seam::Focus => true,
        }
    }

    /// The argv that takes this decision, if one is configured.
    pub fn configured(self, ctx: &Ctx) -> Option<Vec<OsString>> {
        let hooks = &ctx.config().hooks;
        let argv = match self {
            Seam::Agent => &hooks.agent,
            Seam::Landed => &hooks.landed,
            Seam::Preserve => &hooks.preserve,
            Seam::Open => &hooks.open,
            Seam::Resume => &hooks.resume,
            Seam::Focus => &hooks.focus,
        };
        argv.as_ref().map(Argv::words).filter(|words| !words.is_empty())
    }
}
