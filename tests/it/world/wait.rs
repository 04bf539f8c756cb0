//! Waiting for a condition, never for a time.

use std::time::{Duration, Instant};

/// Generous: the machine may be busy with a hundred other things. Only a failure waits it out.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Waits until `met`; on time-out panics with what `last` has to show.
#[track_caller]
pub fn until(what: &str, mut met: impl FnMut() -> bool, last: impl Fn() -> String) {
    until_some(what, || met().then_some(()), last);
}

/// Waits until `found` finds something.
#[track_caller]
pub fn until_some<T>(what: &str, found: impl FnMut() -> Option<T>, last: impl Fn() -> String) -> T {
    match within(LIMIT, found) {
        Some(it) => it,
        None => panic!("waited {LIMIT:?} in vain: {what}\n{}", last()),
    }
}

/// As `until_some`, but a time-out is an answer.
pub fn within<T>(limit: Duration, mut found: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(it) = found() {
            return Some(it);
        }
        if start.elapsed() > limit {
            return None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
