//! Rung 6: merging it would change nothing. A hint for a person, no proof.

use super::case::Case;
use super::{Answer, Base, Doubt, Step, Verdict};
use crate::error::Result;
use crate::git::history::Merged;

pub(super) fn nothing_new(case: &Case<'_>) -> Step {
    let mut doubt = Step::Not;
    for base in &case.bases {
        match merged(case, base) {
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

fn merged(case: &Case<'_>, base: &Base) -> Result<Merged> {
    match case.repo.merge_base(&base.oid, &case.tip)? {
        Some(_) => case.repo.merged(&base.oid, &case.tip),
        None => Ok(Merged::Changes),
    }
}
