//! Exit codes: what every verb's status means.

/// What a verb's exit status says.
///
/// | code | meaning |
/// |---|---|
/// | 0 | done, including "nothing to do" |
/// | 1 | wrong usage or precondition, or it failed |
/// | 2 | refused for safety: occupied, dirty, not provably landed |
/// | 3 | degraded: done, but a signal was missing or nobody put a window on it |
/// | 4 | a conflict was found: a finding, not a failure |
/// | 5 | another scruff holds the registry or the lane |
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Done, including "nothing to do".
    Done = 0,
    /// Wrong usage, a precondition that does not hold, or a failure.
    Failed = 1,
    /// Refused for safety.
    Refused = 2,
    /// Done, but less than was asked for.
    Degraded = 3,
    /// A conflict was found.
    Conflict = 4,
    /// Another scruff holds the lock.
    Busy = 5,
}

impl Exit {
    /// The number the process ends with.
    pub fn code(self) -> u8 {
        self as u8
    }
}
