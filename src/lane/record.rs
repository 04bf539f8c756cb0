//! A lane's record: `$SCRUFF_STATE/lanes/<id>.json`, what the table has no column for.

use std::fmt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::digest;
use crate::error::{Doing, Error, Result};
use crate::paths::{self, Paths, json_bytes};
use crate::registry::Row;

/// A record larger than this is not one of ours, in bytes.
const MAX_FILE: u64 = 1 << 20;

const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Twelve characters that name a lane for its whole life.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LaneId(String);

impl LaneId {
    /// Twelve random characters.
    pub fn random() -> Result<Self> {
        let mut bytes = [0; 12];
        getrandom::fill(&mut bytes).map_err(|error| Error::failed(format!("no randomness: {error}")))?;
        let letters = bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)]));
        Ok(LaneId(letters.collect()))
    }

    /// Reads an id: 12 lower-case letters and digits.
    pub fn parse(text: &str) -> Option<Self> {
        let fits =
            text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        fits.then(|| LaneId(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LaneId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<LaneId> for String {
    fn from(id: LaneId) -> String {
        id.0
    }
}

impl TryFrom<String> for LaneId {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        LaneId::parse(&text).ok_or_else(|| format!("{text:?} is no lane id"))
    }
}

/// How far a lane has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Being made. If its maker is gone, the next command takes back what was made.
    Opening,
    /// Made.
    #[default]
    #[serde(other)]
    Made,
}

/// What is known of a lane beyond its row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The lane's id.
    pub id: LaneId,
    /// Its checkout: ties the record to its row.
    #[serde(with = "json_bytes")]
    pub path: PathBuf,
    /// How far it has come.
    #[serde(default)]
    pub phase: Phase,
    /// When it was made.
    #[serde(default)]
    pub created: Option<Timestamp>,
    /// The commit it was cut from.
    #[serde(default)]
    pub start: Option<String>,
    /// The branch it was cut from, and goes back to.
    #[serde(default)]
    pub base: Option<String>,
    /// Whether scruff made the branch. Only such a branch is taken back when creation fails.
    #[serde(default)]
    pub made_branch: bool,
    /// The client's own conversation.
    #[serde(default)]
    pub session: Option<String>,
    /// Where the conversation lives, if not in the checkout.
    #[serde(default)]
    pub chat: Option<String>,
    /// Whether a client's hook asked for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_hook: bool,
    /// The conversation in which the hook asked. For a sub-agent's lane it is that of the client
    /// which started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_in: Option<String>,
    /// Where its ignored files are while it has no checkout, or empty.
    #[serde(default, with = "json_bytes", skip_serializing_if = "is_empty")]
    pub trash: PathBuf,
    /// Keys of a newer scruff; kept as they are.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Record {
    /// A new record for a checkout.
    pub fn new(id: LaneId, path: &Path) -> Self {
        Record {
            id,
            path: path.to_owned(),
            phase: Phase::Made,
            created: None,
            start: None,
            base: None,
            made_branch: false,
            session: None,
            chat: None,
            by_hook: false,
            asked_in: None,
            trash: PathBuf::new(),
            more: Map::new(),
        }
    }

    /// The record of a row. A row without one (another tool wrote it) has an id that follows
    /// from its path, so that every command sees the same one without writing.
    pub fn of_row(paths: &Paths, row: &Row) -> Self {
        Self::find(paths, &row.path).unwrap_or_else(|| {
            let id = LaneId(digest(&row.path));
            Self::new(id, &row.path)
        })
    }

    /// The record of a checkout: by the pointer, else by looking at all of them.
    pub fn find(paths: &Paths, path: &Path) -> Option<Self> {
        let pointed = std::fs::read_to_string(pointer(paths, path)).ok();
        let record = pointed.and_then(|id| Self::read(paths, &LaneId::parse(id.trim())?));
        match record {
            Some(record) if record.path == path => Some(record),
            _ => Self::all(paths).into_iter().find(|record| record.path == path),
        }
    }

    /// The record with this id.
    pub fn read(paths: &Paths, id: &LaneId) -> Option<Self> {
        read_file(&paths.lanes().join(format!("{id}.json")))
    }

    /// Every record that can be read.
    pub fn all(paths: &Paths) -> Vec<Self> {
        let Ok(entries) = std::fs::read_dir(paths.lanes()) else { return Vec::new() };
        let files = entries.flatten().map(|entry| entry.path());
        files
            .filter(|file| file.extension().is_some_and(|end| end == "json"))
            .filter_map(|file| read_file(&file))
            .collect()
    }

    /// Writes the record whole, and the pointer from its path.
    pub fn write(&self, paths: &Paths) -> Result<()> {
        let bytes =
            serde_json::to_vec(self).doing(|| format!("cannot write the record of lane {}", self.id))?;
        paths::write_whole(&paths.lanes().join(format!("{}.json", self.id)), &bytes)?;
        paths::write_whole(&pointer(paths, &self.path), self.id.as_str().as_bytes())
    }

    /// Removes the record and its pointer. Gone already is fine.
    pub fn remove(&self, paths: &Paths) {
        let _ = std::fs::remove_file(paths.lanes().join(format!("{}.json", self.id)));
        let pointer = pointer(paths, &self.path);
        if std::fs::read_to_string(&pointer).is_ok_and(|id| id.trim() == self.id.as_str()) {
            let _ = std::fs::remove_file(pointer);
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}

fn is_empty(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

fn pointer(paths: &Paths, path: &Path) -> PathBuf {
    paths.lanes().join("by-path").join(digest(path))
}

fn read_file(file: &Path) -> Option<Record> {
    let small = std::fs::metadata(file).is_ok_and(|meta| meta.len() <= MAX_FILE);
    small.then(|| std::fs::read(file).ok()).flatten().and_then(|bytes| serde_json::from_slice(&bytes).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(dir: &Path) -> Paths {
        Paths { state: dir.to_owned(), ..Paths::default() }
    }

    #[test]
    fn a_record_is_found_by_its_path_also_without_the_pointer() {
        let dir = tempfile::tempdir().unwrap();
        let paths = paths(dir.path());
        let record = Record::new(LaneId::random().unwrap(), Path::new("/b/é"));
        record.write(&paths).unwrap();
        assert_eq!(Record::find(&paths, Path::new("/b/é")).unwrap().id, record.id);
        std::fs::remove_dir_all(dir.path().join("lanes/by-path")).unwrap();
        assert_eq!(Record::find(&paths, Path::new("/b/é")).unwrap().id, record.id);
        record.remove(&paths);
        assert!(Record::find(&paths, Path::new("/b/é")).is_none());
    }

    #[test]
    fn keys_of_a_newer_scruff_stay() {
        let text = r#"{"id":"abcdefghijkm","path":"/b","phase":"levitating","wings":2}"#;
        let record: Record = serde_json::from_str(text).unwrap();
        assert_eq!(record.phase, Phase::Made);
        assert!(serde_json::to_string(&record).unwrap().contains("\"wings\":2"));
    }

    #[test]
    fn an_id_is_never_a_path() {
        assert!(LaneId::parse("../../../etc").is_none());
        assert!(LaneId::parse("").is_none());
        assert!(LaneId::parse("abcdefghijkm").is_some());
    }
}
