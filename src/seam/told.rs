//! What a seam's program is told: the same facts as variables and as one JSON object.

use std::ffi::{OsStr, OsString};

use serde_json::{Map, Value};

use super::Seam;
use crate::env::Env;
use crate::lane::Situation;

/// Every variable that scruff sets for a seam, with its key. None of them is ever read back: they
/// leak into every pane that a program opens, and may be another lane's.
pub const VARIABLES: [(&str, &str); 13] = [
    ("SCRUFF_HOOK", "hook"),
    ("SCRUFF_PATH", "path"),
    ("SCRUFF_MAIN", "main"),
    ("SCRUFF_REPO", "repo"),
    ("SCRUFF_NAME", "name"),
    ("SCRUFF_BRANCH", "branch"),
    ("SCRUFF_BASE_BRANCH", "base"),
    ("SCRUFF_PARENT", "parent"),
    ("SCRUFF_CWD", "cwd"),
    ("SCRUFF_LANE_AGENT", "agent"),
    ("SCRUFF_LANE_STATE", "state"),
    ("SCRUFF_CHAT", "chat"),
    ("SCRUFF_COMMAND", "command"),
];

/// What only an action is told.
const ACTIONS_ONLY: [&str; 3] = ["state", "chat", "command"];

/// The facts for one call of one seam.
pub(super) struct Told {
    facts: Vec<(&'static str, OsString)>,
    extra: Vec<(String, OsString)>,
}

impl Told {
    /// The facts of a lane. `extra` goes into the object alone.
    pub(super) fn new(seam: Seam, situation: &Situation, extra: &[(&str, OsString)]) -> Self {
        let mut facts = vec![("hook", OsString::from(seam.name()))];
        facts.extend(situation.facts());
        facts.retain(|(key, _)| seam.is_action() || !ACTIONS_ONLY.contains(key));
        let extra = extra.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        Told { facts, extra }
    }

    /// Adds the client's command line, for an action.
    pub(super) fn with_command(mut self, command: &OsStr) -> Self {
        self.facts.push(("command", command.to_owned()));
        self
    }

    /// One JSON object on one line. Bytes that are not UTF-8 are replaced here; the variables
    /// have them exactly.
    pub(super) fn json(&self) -> Vec<u8> {
        let text = |value: &OsString| Value::String(value.to_string_lossy().into_owned());
        let mut object = Map::new();
        for (key, value) in &self.facts {
            object.insert((*key).to_owned(), text(value));
        }
        for (key, value) in &self.extra {
            object.insert(key.clone(), text(value));
        }
        let mut line = Value::Object(object).to_string().into_bytes();
        line.push(b'\n');
        line
    }

    /// What scruff was given, less the facts of any other lane, and these facts.
    pub(super) fn environment(&self, given: &Env) -> Env {
        let mut env = given.clone();
        for (variable, key) in VARIABLES {
            match self.facts.iter().find(|(name, _)| *name == key) {
                Some((_, value)) => env.set(variable, value),
                None => env.remove(variable),
            }
        }
        env
    }
}
