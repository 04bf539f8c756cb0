//! Rung 5: the forge has merged exactly this commit into the default branch.

use super::case::Case;
use super::{Answer, Doubt, Step, Verdict};
use crate::forge::{Asked, Branch, Pr, State};

pub(super) fn merged(case: &Case<'_>) -> Step {
    let requests = match case.requests() {
        Asked::Known(requests) => requests,
        Asked::NoForge(_) => return Step::Not,
        Asked::Unknown(why) => return Step::Cannot(Doubt::Missing(why)),
    };
    let branch = Branch { name: case.branch, born: None, owners: case.owners };
    let proves = |pr: &&Pr| {
        pr.state == State::Merged
            && pr.base == case.default
            && pr.tip == case.tip.as_str()
            && branch.owns(pr, |head| head == case.tip.as_str())
    };
    match requests.iter().find(proves) {
        Some(pr) => Step::Answers(Answer {
            verdict: Verdict::Yes,
            via: "pr-head-oid",
            base: Some(case.default.clone()),
            pr: Some(pr.number),
        }),
        None => Step::Not,
    }
}
