//! Rung 6: merging it would change nothing. A hint for a person, no proof.

use super::case::Case;
use super::{Answer, Doubt, Step, Verdict};
use crate::git::history::Merged;

pub(super) fn nothing_new(case: &Case<'_>) -> Step {
    let mut doubt = Step::Not;
    for base in &case.bases {
        match case.repo.merged(&base.oid, &case.tip) {
            Ok(Merged::Same) => {
                let base = Some(base.name.clone());
                let answer = Answer { verdict: Verdict::Contained, via: "merge-tree-empty", base, pr: None };
                return Step::Answers(answer);
            }
            Ok(_) => {}
            Err(error) => doubt = Step::Cannot(Doubt::Beyond(error.message())),
        }
    }
    doubt
}
