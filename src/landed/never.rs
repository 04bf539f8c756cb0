//! Rung 1: the branch never had a commit of its own.

use super::case::Case;
use super::{Answer, Step, Verdict, ancestry};

/// The tip is where the lane was created; or there is nothing past the default branch and the log
/// shows nothing but the creation. Without a record and a log nothing tells work that landed from
/// work that never was.
pub(super) fn diverged(case: &Case<'_>) -> Step {
    if case.start == Some(case.tip.as_str()) {
        return fresh();
    }
    match ancestry::holder(case) {
        Ok(Some(_)) => {}
        Ok(None) => return Step::Not,
        Err(doubt) => return Step::Cannot(doubt),
    }
    match case.log() {
        // A log that cannot be read shows no work.
        Ok([]) | Err(_) if case.start.is_none() => fresh(),
        Ok([]) | Err(_) => Step::Not,
        Ok(log) if log.iter().all(|entry| entry.old.is_zero() || entry.old == entry.new) => fresh(),
        Ok(_) => Step::Not,
    }
}

fn fresh() -> Step {
    Step::Answers(Answer { verdict: Verdict::Fresh, via: "never-diverged", base: None, pr: None })
}
