//! Multiplexers: lanes as windows and panes.
//!
//! A backend is one file and one row in [`detect`]. What it reports is looked through by
//! [`locate`](mod@locate), which knows no backend; [`survey`] asks, [`open`] and [`focus`] act.

mod capture;
mod claim;
mod detect;
mod end;
mod focus;
mod here;
mod locate;
mod open;
mod press;
mod previous;
mod reach;
mod record;
mod report;
mod request;
mod survey;
mod tmux;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::Place;
use crate::error::Error;
use crate::lane::LaneId;
use crate::paths::json_bytes;
use crate::proc::Cmd;

pub use capture::capture_lane;
pub use claim::{claim, this_pane};
pub use detect::{Choice, Wish, choose};
pub use end::{Pane, certain_pane, end_pane};
pub use focus::{Focused, Shown, focus_lane};
pub use locate::{Certain, Located, Sought, View, locate};
pub use open::{Opened, PaneLaunch, Placement, open_lane};
pub use press::{Pressed, Size};
pub use previous::focus_previous;
pub use record::PaneRecord;
pub use report::{Eye, Report, Seen, announce, report};
pub use request::Request;
pub use survey::{PaneSeen, Survey, find_lane, lane_of_pane, seen};

/// A kind of multiplexer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// tmux.
    Tmux,
    /// WezTerm.
    Wezterm,
}

impl Kind {
    /// The word for it in output.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Tmux => "tmux",
            Kind::Wezterm => "wezterm",
        }
    }
}

/// One running server. Pane ids start again when a server does, so they mean nothing without it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// What it is.
    pub mux: Kind,
    /// Where it listens.
    #[serde(with = "json_bytes")]
    pub socket: PathBuf,
    /// What no other server at that socket has: tmux `<pid>:<start time>`, WezTerm `<pid>`.
    pub ident: String,
}

/// The id of a pane in its server: `%7` in tmux, `7` in WezTerm. Never empty, never a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PaneId(String);

impl PaneId {
    /// Reads the id of a tmux pane.
    pub fn tmux(text: &str) -> Option<Self> {
        text.strip_prefix('%').and_then(Self::number).map(|_| PaneId(text.to_owned()))
    }

    /// Reads the id of a WezTerm pane.
    pub fn wezterm(text: &str) -> Option<Self> {
        Self::number(text).map(|_| PaneId(text.to_owned()))
    }

    /// Reads the id of a pane of this kind.
    pub fn parse(kind: Kind, text: &str) -> Option<Self> {
        match kind {
            Kind::Tmux => Self::tmux(text),
            Kind::Wezterm => Self::wezterm(text),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn number(digits: &str) -> Option<u32> {
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    }
}

impl fmt::Display for PaneId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<PaneId> for String {
    fn from(id: PaneId) -> String {
        id.0
    }
}

impl TryFrom<String> for PaneId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        PaneId::tmux(&text)
            .or_else(|| PaneId::wezterm(&text))
            .ok_or_else(|| format!("{text:?} is no pane id"))
    }
}

/// A pane of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaneRef {
    /// Its server.
    #[serde(flatten)]
    pub server: Server,
    /// Its id there.
    pub id: PaneId,
}

/// What a server says of one pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaneInfo {
    /// The pane.
    pub id: PaneId,
    /// The process it was started with.
    pub pid: Option<u32>,
    /// Its terminal.
    pub tty: Option<PathBuf>,
    /// Where its foreground process stands: a hint, never an identity.
    pub cwd: Option<PathBuf>,
    /// The lane it is tagged with.
    pub lane: Option<LaneId>,
    /// Whether its lane's client has ended and something else runs there now.
    pub ended: bool,
    /// The name of its foreground process.
    pub command: String,
    /// Whether its program has ended and only the screen is left.
    pub dead: bool,
    /// Whether it is on somebody's screen, if that is known.
    pub visible: Option<bool>,
    /// When something last happened in it, in seconds, to choose between two.
    pub last_used: Option<i64>,
}

/// Why a multiplexer could not be asked or did not do it. An answer of "no panes" is no error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MuxError {
    /// It is there and says nothing: what is known of its lanes still holds.
    #[error("{0}")]
    NotAnswering(String),
    /// The server is not there.
    #[error("{0}")]
    Gone(String),
    /// The server has no such pane.
    #[error("{0}")]
    NoPane(String),
    /// It said no.
    #[error("{0}")]
    Failed(String),
}

impl From<MuxError> for Error {
    fn from(error: MuxError) -> Error {
        let message = error.to_string();
        match error {
            MuxError::NotAnswering(_) => {
                Error::failed(message).hint("the lane keeps its state; call again when the server answers")
            }
            MuxError::Gone(_) => Error::precondition(message),
            MuxError::NoPane(_) | MuxError::Failed(_) => Error::failed(message),
        }
    }
}

/// Who asks, and so in front of whom a pane must come.
#[derive(Clone, Debug, Default)]
pub struct Asker {
    /// The multiplexer's client that was named.
    pub client: Option<String>,
    /// The pane that it was asked from.
    pub pane: Option<PaneId>,
    /// The session that it was asked from, where there is no pane, as in a popup.
    pub session: Option<String>,
    /// Whether the asker is inside this server.
    pub inside: bool,
    /// Whether the asker sits at a terminal.
    pub terminal: bool,
}

/// A pane to be made. It is made without taking anybody's screen.
#[derive(Clone, Debug)]
pub struct OpenRequest {
    /// What it runs: two words or more, executed directly.
    pub argv: Vec<OsString>,
    /// What window, tab, session or workspace are called.
    pub name: String,
    /// Where it goes.
    pub place: Place,
    /// Where new windows beside it start, if that is there. The program finds its own way.
    pub cwd: Option<PathBuf>,
}

/// What a pane says about its lane.
#[derive(Clone, Debug)]
pub struct Tag<'a> {
    /// The lane.
    pub lane: &'a LaneId,
    /// What people call it.
    pub label: &'a str,
    /// Whether its client has ended.
    pub ended: bool,
}

/// A terminal that looks at a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    /// What the server calls it.
    pub client: String,
    /// The terminal.
    pub tty: PathBuf,
}

/// What was in front of a client before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The client.
    pub client: String,
    /// The pane that it showed.
    pub pane: PaneId,
}

/// How far a pane was brought to the front.
#[derive(Debug)]
pub enum Raised {
    /// In front of the person, in place of this, if that is known.
    Front(Option<Left>),
    /// Selected where it is; why it is not in front.
    PaneOnly(String),
    /// Selected, and nobody looks at the server; what to type to see it.
    NoClient {
        /// The command to type.
        command: String,
        /// What stands for the target in a terminal's argv.
        target: String,
    },
    /// The person's own terminal shall run this.
    Attach(Box<Cmd>),
}

/// A multiplexer's server. `Err` means that it could not be asked; an empty list means none.
///
/// A value looks once and remembers until it changes something itself, so that one command asks
/// once; to look again, make another.
pub trait Multiplexer: fmt::Debug {
    /// What it is.
    fn kind(&self) -> Kind;
    /// Which server it is.
    fn probe(&self) -> Result<Server, MuxError>;
    /// Every pane of it.
    fn panes(&self) -> Result<Vec<PaneInfo>, MuxError>;
    /// The terminals that look at it.
    fn screens(&self) -> Result<Vec<Screen>, MuxError>;
    /// Makes a pane.
    fn open(&self, request: &OpenRequest, asker: &Asker) -> Result<PaneRef, MuxError>;
    /// Selects a pane and brings it in front of whoever asks.
    fn focus(&self, pane: &PaneId, asker: &Asker) -> Result<Raised, MuxError>;
    /// Writes on a pane which lane it is.
    fn tag(&self, pane: &PaneId, tag: &Tag<'_>) -> Result<(), MuxError>;
    /// What a pane shows, with its colours, a line each.
    fn capture(&self, pane: &PaneId) -> Result<Vec<u8>, MuxError>;
    /// Ends a pane.
    fn close(&self, pane: &Certain) -> Result<(), MuxError>;
    /// What a terminal's argv names this pane's window by.
    fn place(&self, pane: &PaneId) -> Result<String, MuxError>;
    /// Selects a pane; the argv that shows it inside another multiplexer.
    fn viewer(&self, pane: &PaneId) -> Result<Vec<OsString>, MuxError>;
}
