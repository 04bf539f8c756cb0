//! The time, as text and as a value.

use jiff::Timestamp;

/// Where "now" comes from. The default is the system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock(Option<Timestamp>);

impl Clock {
    /// A clock that stands still.
    pub fn fixed(at: Timestamp) -> Self {
        Clock(Some(at))
    }

    /// The time now.
    pub fn now(self) -> Timestamp {
        self.0.unwrap_or_else(Timestamp::now)
    }

    /// The time now in whole seconds, for records: `2026-11-30T08:00:00Z`.
    pub fn stamp(self) -> Timestamp {
        Timestamp::from_second(self.now().as_second()).unwrap_or_else(|_| self.now())
    }
}
