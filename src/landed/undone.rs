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
    // One that does a step forwards is part of what landed, whatever it says or takes back.
    let forwards: HashSet<usize> = matches.iter().flat_map(|found| found.places.clone()).collect();
    let by_word = matches.iter().flat_map(|found| said_so(&range.theirs, found));
    let by_patch = reversed(case, range, whole, matches)?;
    let back = by_patch.into_iter().chain(by_word).filter(|place| !forwards.contains(place)).min();
    if let Some(commit) = back.and_then(|place| range.theirs.get(place)) {
        return Ok(Undone::By(commit.oid.clone()));
    }
    // Work that is there merges to nothing; where the base went on in the same lines, it conflicts.
    Ok(match case.repo.merged(&range.base.oid, &case.tip)? {
        Merged::Same | Merged::Conflicts { beyond: false } => Undone::No,
        Merged::Changes | Merged::Conflicts { beyond: true } => Undone::Perhaps,
    })
}

/// The places of commits that do the reverse of a step, or of all of them, after the last that
/// did it.
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
    let there = Candidates::of(case, &range.theirs, &wanted)?.patches(case)?;
    let back = there.into_iter().filter(|(place, patch)| is_after(*place, *patch));
    Ok(back.map(|(place, _)| place).collect())
}

/// The places of commits that name one of the found ones as reverted, after the last that did it.
fn said_so<'r>(theirs: &'r [Commit], found: &'r Match) -> impl Iterator<Item = usize> {
    let newest = found.places.iter().min().copied().unwrap_or_default();
    let names = move |commit: &Commit| {
        let copies = found.places.iter().filter_map(|place| theirs.get(*place)).map(|copy| &copy.oid);
        let mut all = copies.chain([&found.step.to]);
        all.any(|oid| commit.reverts.iter().any(|name| oid.as_str().starts_with(name.as_str())))
    };
    theirs.iter().take(newest).enumerate().filter(move |(_, commit)| names(commit)).map(|(place, _)| place)
}
