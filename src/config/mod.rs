//! The configuration: `config.toml`, read tolerantly. A typo must not keep a pane from opening.

pub mod declared;
mod notify;
mod sections;
mod tolerant;

use std::path::Path;

use serde::Deserialize;

pub use notify::{Idle, Notifier, Notify, WhenVisible};
pub use sections::*;

/// The reference, with every key, its default and what it means. A test holds it against the types.
pub const DEFAULTS: &str = include_str!("default.toml");

/// A file larger than this is not read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Everything that can be configured.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct Config {
    /// The client for new lanes where neither `SCRUFF_AGENT` nor the `agent` seam names one.
    pub agent: Option<String>,
    /// Programs that take over decisions.
    pub hooks: Hooks,
    /// How lanes become panes.
    pub mux: Mux,
    /// How lanes are named.
    pub lane: Lane,
    /// What is never committed.
    pub park: Park,
    /// What goes by itself.
    pub reap: Reap,
    /// What is kept of a checkout that goes.
    pub trash: Trash,
    /// What a new checkout gets, and what becomes of one whose client is done with it.
    pub worktree: Worktree,
    /// How a person is told what lanes do.
    pub notify: Notify,
}

impl Config {
    /// Reads a file. What cannot be understood is warned of and left at its default.
    pub fn load(file: &Path) -> (Self, Vec<String>) {
        match std::fs::metadata(file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Default::default(),
            Ok(meta) if meta.len() > MAX_FILE => {
                let warning = format!("{}: larger than 1 MiB, not read", file.display());
                return (Config::default(), vec![warning]);
            }
            _ => {}
        }
        match std::fs::read(file) {
            Ok(bytes) => {
                let (config, warnings) = Self::parse(&String::from_utf8_lossy(&bytes));
                let named = |warning| format!("{}: {warning}", file.display());
                (config, warnings.into_iter().map(named).collect())
            }
            Err(error) => (Config::default(), vec![format!("{}: {error}", file.display())]),
        }
    }

    /// Reads text, with a warning for every line or key that is not understood.
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        tolerant::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_says_what_the_types_say() {
        assert_eq!(Config::parse(DEFAULTS), (Config::default(), vec![]));
    }

    #[test]
    fn an_unknown_key_is_a_warning_and_the_rest_applies() {
        let (config, warnings) =
            Config::parse("agent = 'codex'\nagnet = 'x'\n[mux]\nopne = 'here'\nopen = 'here'");
        assert_eq!((config.agent.as_deref(), config.mux.open), (Some("codex"), Place::Here));
        assert_eq!(warnings.len(), 2, "{warnings:?}");
    }

    #[test]
    fn a_wrong_value_loses_only_its_own_key() {
        let (config, warnings) = Config::parse("[mux]\nopen = 'nowhere'\nbackground = true\nafter = 3");
        assert_eq!((config.mux.open, config.mux.background), (Place::Window, true));
        assert_eq!(warnings.len(), 2, "{warnings:?}");
    }

    #[test]
    fn a_delay_is_a_time() {
        let delay =
            |text: &str| Config::parse(&format!("[notify]\ndelay = '{text}'")).0.notify.delay.as_millis();
        assert_eq!(["500ms", "5s", "2m", "-1s", "soon"].map(delay), [500, 5000, 120_000, 0, 0]);
    }

    #[test]
    fn a_line_that_does_not_parse_loses_only_itself() {
        let (config, warnings) = Config::parse("agent = 'pi'\nthis is no toml\n[mux]\nopen = 'session'\n");
        assert_eq!((config.agent.as_deref(), config.mux.open), (Some("pi"), Place::Session));
        assert!(!warnings.is_empty());
    }
}
