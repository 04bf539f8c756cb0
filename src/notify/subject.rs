//! Whom a banner is about, and what it says.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::lane::{Lane, LaneId};
use crate::registry::Table;
use crate::sanitise;
use crate::session::SessionId;

/// Whom a banner is about: a lane, or a conversation outside of any.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The banner's key: one banner each.
    pub key: String,
    /// Names the files that have to do with its banner.
    pub id: String,
    /// The lane's name, or the directory's; harmless to show.
    pub title: String,
    /// The repository, harmless to show; empty outside of lanes.
    pub repo: String,
    /// What people call it in a pane: `<repo>/<lane>`, or the directory.
    pub label: String,
    /// What `scruff focus` calls it; `None` where there is nothing to go to.
    pub target: Option<String>,
    /// The client.
    pub client: String,
    /// The lane.
    pub lane: Option<LaneId>,
    /// The conversation.
    pub session: SessionId,
}

impl Subject {
    /// A lane. A second one of the same name in a repository of the same name is told apart by
    /// its id.
    pub fn of_lane(table: &Table, lane: &Lane, session: SessionId) -> Self {
        let label = lane.label();
        let same = |row: &&crate::registry::Row| {
            row.name == lane.row.name && row.main.file_name() == lane.row.main.file_name()
        };
        let first = table.rows().find(same).is_none_or(|row| row.path == lane.row.path);
        let tag = lane.id().as_str().get(..4).unwrap_or_default();
        let target = if first { label.clone() } else { format!("{label}~{tag}") };
        let repo = lane.row.main.file_name().unwrap_or_default().to_string_lossy();
        Subject {
            key: format!("scruff/{target}"),
            id: lane.id().to_string(),
            title: sanitise::name(&lane.row.name),
            repo: sanitise::name(&repo),
            label,
            target: Some(target),
            client: lane.row.client.clone(),
            lane: Some(lane.id().clone()),
            session,
        }
    }

    /// A conversation outside of any lane.
    pub fn of_session(session: SessionId, cwd: &Path, client: String) -> Self {
        let directory = cwd.file_name().unwrap_or(cwd.as_os_str()).to_string_lossy();
        Subject {
            key: format!("scruff/session/{session}"),
            id: format!("session-{session}"),
            title: sanitise::name(&directory),
            repo: String::new(),
            label: directory.into_owned(),
            target: None,
            client,
            lane: None,
            session,
        }
    }
}

/// What a banner says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// The lane waits for its user.
    Ask,
    /// Its turn is over.
    Done,
    /// Its turn is over by an error.
    Failed,
    /// Nothing any more: the banner comes down.
    Down,
}

impl Word {
    /// The text: fixed, nothing of a conversation is ever in it.
    pub fn text(self) -> &'static str {
        match self {
            Word::Ask => "waiting on you",
            Word::Done => "finished its turn",
            Word::Failed => "its turn failed",
            Word::Down => "",
        }
    }
}

/// A banner that shall be as this says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Whom it is about.
    #[serde(flatten)]
    pub subject: Subject,
    /// What it says.
    pub word: Word,
}
