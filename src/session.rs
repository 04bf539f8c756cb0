//! Clients' own conversations: `$SCRUFF_STATE/sessions`. Hooks write down which lane, pane and
//! process a conversation is in, so that later events, `resume` and the listing know.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Doing, Result};
use crate::lane::LaneId;
use crate::mux::PaneRef;
use crate::paths::{self, Paths, json_bytes};
use crate::proc::facts;

/// A record larger than this is not one of ours, in bytes.
const MAX_FILE: u64 = 64 << 10;

/// An id is the name of a file: longer than this it is none, in bytes.
const MAX_ID: usize = 200;

/// A client's id of a conversation, made safe to be the name of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Reads an id: whatever is not a letter, a digit, `.`, `_` or `-` becomes `-`. One that
    /// starts with `-` is none.
    pub fn parse(text: &str) -> Option<Self> {
        let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let text: String = text.chars().map(|c| if safe(c) { c } else { '-' }).collect();
        let fits = !text.is_empty() && text.len() <= MAX_ID && !text.starts_with(['-', '.']);
        fits.then_some(SessionId(text))
    }

    /// What stands for a conversation whose client doesn't say its id.
    pub fn of_lane(lane: &LaneId) -> Self {
        SessionId(format!("lane-{lane}"))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> String {
        id.0
    }
}

impl TryFrom<String> for SessionId {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        SessionId::parse(&text).ok_or_else(|| format!("{text:?} is no session id"))
    }
}

/// A process, told from a later one with the same id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// When it started.
    pub start: Option<String>,
}

impl Process {
    /// The process that has this id now.
    pub fn of(pid: u32) -> Option<Self> {
        facts::is_alive(pid).then(|| Process { pid, start: facts::of(pid).map(|facts| facts.start) })
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        facts::is_same(self.pid, self.start.as_deref())
    }
}

/// What is known of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The client.
    pub client: String,
    /// The lane it is in.
    #[serde(default)]
    pub lane: Option<LaneId>,
    /// Where the client stood when this was written.
    #[serde(default, with = "json_bytes")]
    pub cwd: PathBuf,
    /// The client's process.
    #[serde(default)]
    pub process: Option<Process>,
    /// The pane the client runs in.
    #[serde(default)]
    pub pane: Option<PaneRef>,
    /// Whether a person sits at it.
    #[serde(default)]
    pub attended: bool,
    /// Whether its client has said that it began.
    #[serde(default)]
    pub begun: bool,
}

impl Session {
    /// What is known of a conversation. A record that cannot be read counts as none.
    pub fn read(paths: &Paths, id: &SessionId) -> Option<Self> {
        let bytes = read_small(&by_id(paths, id))?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Writes it down, and whose the process is.
    pub fn write(&self, paths: &Paths) -> Result<()> {
        let what = || format!("cannot record the session {}", self.id);
        paths::write_whole(&by_id(paths, &self.id), &serde_json::to_vec(self).doing(what)?)?;
        if let Some(process) = &self.process {
            let text = serde_json::json!({"session": self.id, "start": process.start}).to_string();
            paths::write_whole(&by_pid(paths, process.pid), text.as_bytes())?;
        }
        Ok(())
    }

    /// Forgets it: it has ended. Gone already is fine.
    pub fn remove(&self, paths: &Paths) {
        let _ = std::fs::remove_file(by_id(paths, &self.id));
        let Some(process) = &self.process else { return };
        if of_pid(paths, process.pid).as_ref() == Some(&self.id) {
            let _ = std::fs::remove_file(by_pid(paths, process.pid));
        }
    }

    /// Whether a person sits at it right now: its client said that it began, and still runs.
    pub fn is_live(&self) -> bool {
        self.attended && self.begun && self.process.as_ref().is_some_and(Process::is_alive)
    }
}

/// The conversation that a lane was last in, for `resume`.
pub fn of_lane(paths: &Paths, lane: &LaneId) -> Option<SessionId> {
    let bytes = read_small(&by_lane(paths, lane))?;
    SessionId::parse(&String::from_utf8(bytes).ok()?)
}

/// Writes down which conversation a lane is in.
pub fn bind(paths: &Paths, lane: &LaneId, id: &SessionId) -> Result<()> {
    paths::write_whole(&by_lane(paths, lane), id.as_str().as_bytes())
}

/// Forgets which conversation a lane was in.
pub fn unbind(paths: &Paths, lane: &LaneId) {
    let _ = std::fs::remove_file(by_lane(paths, lane));
}

/// The conversation of a client's process.
pub fn of_pid(paths: &Paths, pid: u32) -> Option<SessionId> {
    #[derive(Deserialize)]
    struct Held {
        session: SessionId,
    }
    let held: Held = serde_json::from_slice(&read_small(&by_pid(paths, pid))?).ok()?;
    Some(held.session)
}

fn by_id(paths: &Paths, id: &SessionId) -> PathBuf {
    paths.sessions().join("by-session").join(format!("{id}.json"))
}

fn by_pid(paths: &Paths, pid: u32) -> PathBuf {
    paths.sessions().join("by-pid").join(format!("{pid}.json"))
}

fn by_lane(paths: &Paths, lane: &LaneId) -> PathBuf {
    paths.sessions().join("by-lane").join(lane.as_str())
}

fn read_small(file: &Path) -> Option<Vec<u8>> {
    let small = std::fs::metadata(file).is_ok_and(|meta| meta.len() <= MAX_FILE);
    small.then(|| std::fs::read(file).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_never_a_path_nor_an_option() {
        let id = |text: &str| SessionId::parse(text).map(String::from);
        assert_eq!(id("7d0c-._A").as_deref(), Some("7d0c-._A"));
        assert_eq!(id("a/../b c\n").as_deref(), Some("a-..-b-c-"));
        assert_eq!(id("é").as_deref(), None);
        for none in ["", "-x", "../x", ".", "/etc", &"x".repeat(201)] {
            assert_eq!(id(none), None, "{none}");
        }
    }

    #[test]
    fn a_session_is_found_by_id_lane_and_process_until_it_ends() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths { state: dir.path().to_owned(), ..Paths::default() };
        let lane = LaneId::random().unwrap();
        let session = Session {
            id: SessionId::parse("s-1").unwrap(),
            client: "claude".to_owned(),
            lane: Some(lane.clone()),
            cwd: "/l".into(),
            process: Process::of(std::process::id()),
            pane: None,
            attended: true,
            begun: true,
        };
        session.write(&paths).unwrap();
        bind(&paths, &lane, &session.id).unwrap();
        assert_eq!(Session::read(&paths, &session.id).as_ref(), Some(&session));
        assert!(session.is_live());
        assert_eq!(of_lane(&paths, &lane).as_ref(), Some(&session.id));
        assert_eq!(of_pid(&paths, std::process::id()).as_ref(), Some(&session.id));
        session.remove(&paths);
        assert!(Session::read(&paths, &session.id).is_none());
        assert!(of_pid(&paths, std::process::id()).is_none());
        assert_eq!(of_lane(&paths, &lane).as_ref(), Some(&session.id), "resume needs it");
    }
}
