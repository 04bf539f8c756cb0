//! `[notify]`: how a person is told what lanes do.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

/// A way to show a banner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Notifier {
    /// The notification compositor of that name, where it is installed.
    Trill,
    /// The desktop's notification service.
    Desktop,
    /// A line inside the multiplexer, or the terminal's bell.
    Mux,
}

/// What a client's word that nothing has happened for a while is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Idle {
    /// A banner.
    #[default]
    Ask,
    /// Nothing.
    Ignore,
}

/// What happens when the pane is in front of the person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenVisible {
    /// No banner.
    #[default]
    Skip,
    /// A banner all the same.
    Show,
}

/// `[notify]`: how a person is told what lanes do.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default)]
pub struct Notify {
    /// The ways to show a banner, the first that is there is taken.
    pub backends: Vec<Notifier>,
    /// What a client's word that nothing has happened for a while is worth.
    pub idle: Idle,
    /// What happens when the pane is in front of the person.
    pub when_visible: WhenVisible,
    /// How long a banner waits for the person to see by themselves.
    #[serde(deserialize_with = "duration")]
    pub delay: Duration,
}

impl Default for Notify {
    fn default() -> Self {
        Notify {
            backends: vec![Notifier::Trill, Notifier::Desktop, Notifier::Mux],
            idle: Idle::default(),
            when_visible: WhenVisible::default(),
            delay: Duration::ZERO,
        }
    }
}

/// Reads `500ms`, `5s`, `2m`.
fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    let parsed = text.parse::<jiff::SignedDuration>().ok().and_then(|parsed| Duration::try_from(parsed).ok());
    parsed.ok_or_else(|| serde::de::Error::custom(format!("{text:?} is no time such as 500ms, 5s or 2m")))
}
