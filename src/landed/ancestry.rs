//! Rung 2: the tip is in the history of the default branch.

use super::case::Case;
use super::{Answer, Base, Doubt, Step};

pub(super) const VIA: &str = "ancestry";

pub(super) fn held(case: &Case<'_>) -> Step {
    match holder(case) {
        Ok(Some(base)) => Answer::yes(VIA, &base.name),
        Ok(None) => Step::Not,
        Err(doubt) => Step::Cannot(doubt),
    }
}

/// The base that holds the tip.
pub(super) fn holder<'c>(case: &'c Case<'_>) -> Result<Option<&'c Base>, Doubt> {
    for base in &case.bases {
        if case.repo.is_held(&case.tip, &base.oid).map_err(|error| Doubt::Missing(error.message()))? {
            return Ok(Some(base));
        }
    }
    Ok(None)
}
