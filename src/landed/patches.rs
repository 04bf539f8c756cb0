//! Rungs 3 and 4: what the branch does has been done on the default branch, byte for byte, commit
//! by commit or as a whole.

use std::collections::HashSet;

use super::case::{Case, MAX_RANGE, Range};
use super::undone::{Undone, undone};
use super::{Answer, Doubt, Step};
use crate::error::Result;
use crate::git::history::{self, Commit, Patch, Touched};

/// Rung 3: every commit has its patch there.
pub(super) fn each(case: &Case<'_>) -> Step {
    judge(case, "patch-equivalence", |line| line.clone())
}

/// Rung 4: the whole is the patch of one commit there.
pub(super) fn whole(case: &Case<'_>) -> Step {
    judge(case, "squash-equivalence", |line| vec![whole_of(line)])
}

/// What of a branch was found on a base: the commits there that do the same as a step, by their
/// place in the range; a smaller one is newer.
pub(super) struct Match {
    pub(super) step: history::Step,
    pub(super) places: Vec<usize>,
}

/// A branch as a single line of steps, newest first.
type Line = Vec<history::Step>;

/// Asks about every base: one that holds the work is enough, unless another one has undone it.
fn judge(case: &Case<'_>, via: &'static str, steps: fn(&Line) -> Line) -> Step {
    let ranges = match case.ranges() {
        Ok(ranges) => ranges,
        Err(doubt) => return Step::Cannot(doubt),
    };
    let mut verdict = Step::Not;
    if ranges.len() < case.bases.len() {
        verdict = Step::Cannot(Doubt::Beyond(format!("more than {MAX_RANGE} commits lie between")));
    }
    for range in ranges {
        let one = judge_one(case, range, via, steps);
        match one.unwrap_or_else(|error| Step::Cannot(Doubt::Missing(error.message()))) {
            Step::Never(why) => return Step::Never(why),
            Step::Not => {}
            _ if matches!(verdict, Step::Answers(_)) => {}
            one => verdict = one,
        }
    }
    verdict
}

fn judge_one(case: &Case<'_>, range: &Range, via: &'static str, steps: fn(&Line) -> Line) -> Result<Step> {
    let line: Option<Line> = range.own.iter().map(Commit::step).collect();
    let Some(line) = line.filter(|line| !line.is_empty()) else {
        return Ok(Step::Cannot(Doubt::Beyond(why_no_line(range))));
    };
    let Some(matches) = matches_of(case, &steps(&line), &range.theirs)? else { return Ok(Step::Not) };
    Ok(match undone(case, range, &whole_of(&line), &matches)? {
        Undone::No => Answer::yes(via, &range.base.name),
        Undone::Perhaps => Step::Not,
        Undone::By(commit) => {
            Step::Never(format!("{} took it out of {} again", commit.short(), range.base.name))
        }
    })
}

fn why_no_line(range: &Range) -> String {
    if range.own.iter().any(|commit| commit.parents.is_empty()) {
        return format!("it has no history in common with {}", range.base.name);
    }
    "a merge commit is in it, whose patch cannot be compared".to_owned()
}

/// From where a line left the base to its tip. Never called with an empty one.
fn whole_of(line: &Line) -> history::Step {
    let (newest, oldest) = (&line[0], &line[line.len() - 1]);
    history::Step { from: oldest.from.clone(), to: newest.to.clone() }
}

/// For each step the commits of `theirs` that do the same. `None`: one has none, does nothing, or
/// is there less often than here.
fn matches_of(case: &Case<'_>, steps: &[history::Step], theirs: &[Commit]) -> Result<Option<Vec<Match>>> {
    let touched = case.touched(steps)?;
    let wanted: HashSet<Touched> = touched.iter().copied().collect();
    let candidates = Candidates::of(case, theirs, &wanted)?;
    if touched.iter().any(|touched| touched.is_nothing() || !candidates.touched.contains(touched)) {
        return Ok(None);
    }
    let Some(patches) = case.repo.patches(steps)?.into_iter().collect::<Option<Vec<Patch>>>() else {
        return Ok(None);
    };
    let there = candidates.patches(case)?;
    let mut matches = Vec::new();
    for (step, patch) in steps.iter().zip(&patches) {
        let same = there.iter().filter(|(_, other)| other == patch);
        let places: Vec<usize> = same.map(|(place, _)| *place).collect();
        if places.len() < patches.iter().filter(|other| *other == patch).count() {
            return Ok(None);
        }
        matches.push(Match { step: step.clone(), places });
    }
    Ok(Some(matches))
}

/// Those commits of a range that touch the same paths as one that is looked for. Only their
/// patches are worth making.
pub(super) struct Candidates {
    steps: Vec<(usize, history::Step)>,
    touched: HashSet<Touched>,
}

impl Candidates {
    pub(super) fn of(case: &Case<'_>, commits: &[Commit], wanted: &HashSet<Touched>) -> Result<Self> {
        let single = commits.iter().enumerate().filter_map(|(place, commit)| Some((place, commit.step()?)));
        let (places, steps): (Vec<usize>, Vec<history::Step>) = single.unzip();
        let all = case.touched(&steps)?;
        let same = places.into_iter().zip(steps).zip(&all).filter(|(_, touched)| wanted.contains(touched));
        let steps = same.map(|(candidate, _)| candidate).collect();
        Ok(Candidates { steps, touched: all.into_iter().collect() })
    }

    /// Their patches, with their places in the range.
    pub(super) fn patches(self, case: &Case<'_>) -> Result<Vec<(usize, Patch)>> {
        let (places, steps): (Vec<usize>, Vec<history::Step>) = self.steps.into_iter().unzip();
        let patches = case.repo.patches(&steps)?;
        Ok(places.into_iter().zip(patches).filter_map(|(place, patch)| Some((place, patch?))).collect())
    }
}
