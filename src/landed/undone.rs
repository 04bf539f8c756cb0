//! Whether what landed as a copy was taken out again: then the only whole one is the branch's.

use std::collections::HashSet;

use super::case::{Case, Range};
use super::patches::{Candidates, Match};
use crate::error::Result;
use crate::git::Oid;
use crate::git::history::{Commit, Merged, Patch, Step};

/// What became of work that was found on a base.
pub(super) enum Undone {
    /// Nothing speaks against its being there.
    No,
    /// Some of it is not there any more; nobody says that it was taken back.
    Perhaps,
    /// This commit took it back.
    By(Oid),
}

pub(super) fn undone(case: &Case<'_>, range: &Range, whole: &Step, matches: &[Match]) -> Result<Undone> {
    let by_word = matches.iter().filter_map(|found| said_so(&range.theirs, found));
    let by_patch = reversed(case, range, whole, matches)?;
    if let Some(commit) = by_patch.into_iter().chain(by_word).min().and_then(|place| range.theirs.get(place))
    {
        return Ok(Undone::By(commit.oid.clone()));
    }
    // Work that is there merges to nothing; where the base went on in the same lines, it conflicts.
    Ok(match case.repo.merged(&range.base.oid, &case.tip)? {
        Merged::Same | Merged::Conflicts { beyond: false } => Undone::No,
        Merged::Changes | Merged::Conflicts { beyond: true } => Undone::Perhaps,
    })
}

/// The places of commits that do the reverse of a step, or of all of them, after the last that
/// did it. One that does a step forwards is part of what landed.
fn reversed(case: &Case<'_>, range: &Range, whole: &Step, matches: &[Match]) -> Result<Vec<usize>> {
    let last = range.theirs.len();
    let newest = |found: &Match| found.places.iter().min().copied().unwrap_or(last);
    let all = matches.iter().map(newest).min().unwrap_or(last);
    let back = matches.iter().map(|found| (found.step.back(), newest(found))).chain([(whole.back(), all)]);
    let (steps, limits): (Vec<Step>, Vec<usize>) = back.unzip();
    let wanted: HashSet<_> = case.touched(&steps)?.into_iter().collect();
    let patches = case.repo.patches(&steps)?;
    let is_after = |place: usize, patch: Patch| {
        let mut same = patches.iter().zip(&limits).filter(|(one, _)| **one == Some(patch));
        same.any(|(_, limit)| place < *limit)
    };
    let forwards: HashSet<usize> = matches.iter().flat_map(|found| found.places.clone()).collect();
    let there = Candidates::of(case, &range.theirs, &wanted)?.patches(case)?;
    let back =
        there.into_iter().filter(|(place, patch)| !forwards.contains(place) && is_after(*place, *patch));
    Ok(back.map(|(place, _)| place).collect())
}

/// The place of the newest commit that names one of the found ones as reverted, if nothing did
/// the same again afterwards.
fn said_so(theirs: &[Commit], found: &Match) -> Option<usize> {
    let newest = found.places.iter().min()?;
    let names = |commit: &Commit| {
        let copies = found.places.iter().filter_map(|place| theirs.get(*place)).map(|copy| &copy.oid);
        let mut all = copies.chain([&found.step.to]);
        all.any(|oid| commit.reverts.iter().any(|name| oid.as_str().starts_with(name.as_str())))
    };
    theirs.iter().take(*newest).position(names)
}
