//! The verbs, one file each: resolve the lane, ask a decision, act through an adapter, say what came of it.

pub mod adopt;
pub mod close;
pub mod completions;
pub mod demo;
pub mod doctor;
pub mod drop;
pub mod focus;
pub mod heartbeat;
pub mod holder;
pub mod hook;
pub mod init;
pub mod key;
pub mod list;
mod making;
pub mod new;
pub mod open;
pub mod overview;
pub mod pane;
pub mod park;
pub mod path;
pub mod pick;
mod placing;
pub mod reap;
pub mod reaped;
pub mod reship;
pub mod resume;
mod start;
pub mod status;
mod task;
pub mod undo;
pub mod unpark;

use crate::exit::Exit;
use crate::proc::Cmd;

/// What a verb came to.
#[derive(Debug)]
pub struct Outcome {
    /// The exit status.
    pub exit: Exit,
    /// The answer, for stdout.
    pub stdout: Vec<u8>,
    /// A program that takes this process's place afterwards.
    pub then: Option<Cmd>,
}

impl Outcome {
    /// Done, with nothing to say.
    pub fn done() -> Self {
        Self::ended(Exit::Done)
    }

    /// Ended with this status and nothing to say.
    pub fn ended(exit: Exit) -> Self {
        Outcome { exit, stdout: Vec::new(), then: None }
    }

    /// Done, with this answer.
    pub fn text(answer: impl Into<Vec<u8>>) -> Self {
        Outcome { stdout: answer.into(), ..Self::done() }
    }

    /// Goes on as another program.
    pub fn become_program(cmd: Cmd) -> Self {
        Outcome { then: Some(cmd), ..Self::done() }
    }

    /// The same with another status.
    #[must_use]
    pub fn with_exit(self, exit: Exit) -> Self {
        Outcome { exit, ..self }
    }
}
