//! Errors that name their cause and the next step.

use std::error::Error as StdError;
use std::fmt;

use crate::exit::Exit;

/// What went wrong, in terms of what a caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The command line cannot be understood.
    Usage,
    /// Something that must hold beforehand does not.
    Precondition,
    /// Something below failed: a program, a file, the system.
    Failed,
    /// Doing it could lose or take something that is in use.
    Refused,
    /// It was done, but less than was asked for.
    Degraded,
    /// A conflict was found.
    Conflict,
    /// Another scruff is at it.
    Busy,
}

impl Kind {
    /// The exit status of this kind. No wildcard: a new kind must choose.
    pub fn exit(self) -> Exit {
        match self {
            Kind::Usage | Kind::Precondition | Kind::Failed => Exit::Failed,
            Kind::Refused => Exit::Refused,
            Kind::Degraded => Exit::Degraded,
            Kind::Conflict => Exit::Conflict,
            Kind::Busy => Exit::Busy,
        }
    }
}

/// An error: what happened and why, what caused it, and what to do next.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
    hints: Vec<String>,
}

/// A result with scruff's own error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `kind`; `message` says what and why in one line.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), source: None, hints: Vec::new() }
    }

    /// A wrong command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// Something that had to hold does not.
    pub fn precondition(message: impl Into<String>) -> Self {
        Self::new(Kind::Precondition, message)
    }

    /// Something below failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, message)
    }

    /// Refused for safety.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(Kind::Refused, message)
    }

    /// Another scruff holds what is needed.
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(Kind::Busy, message)
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds the cause below this error.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The exit status.
    pub fn exit(&self) -> Exit {
        self.kind.exit()
    }

    /// The first line, with the chain of causes.
    pub fn message(&self) -> String {
        let mut text = self.message.clone();
        let mut cause = self.source.as_deref().map(|source| source as &dyn StdError);
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }

    /// The next steps.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message())
    }
}

impl StdError for Error {}

/// Says what was being done when an operating-system error came.
pub trait Doing<T> {
    /// Turns the error into [`Kind::Failed`] with `what` in front, as in "cannot read /x".
    fn doing(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: StdError + Send + Sync + 'static> Doing<T> for std::result::Result<T, E> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Error::failed(what()).caused_by(error))
    }
}
