//! The verdict on a lane: the hook's, else the ladder's; and which pull requests are its own.

use jiff::Timestamp;

use super::{Lane, Situation, State};
use crate::ctx::Ctx;
use crate::forge::{Asked, Branch, Forge, Place, Pr};
use crate::git::{Oid, Repo, refs};
use crate::landed::{self, Landed, PostMerge, Question};

/// Judges a lane. `requests` is asked only where nothing cheaper answers.
pub fn judge(ctx: &Ctx, repo: &Repo, lane: &Lane, requests: &dyn Fn() -> Asked<Vec<Pr>>) -> Landed {
    let state = if lane.row.path.is_dir() { State::Live } else { State::Parked };
    if let Some(landed) = landed::by_hook(ctx, || Situation::of(ctx, lane, repo, state)) {
        return landed;
    }
    by_ladder(repo, lane, requests)
}

/// The ladder's verdict. With [`Repo::by_git`] it is git's own.
pub fn by_ladder(repo: &Repo, lane: &Lane, requests: &dyn Fn() -> Asked<Vec<Pr>>) -> Landed {
    let place = Place::of(repo);
    landed::landed(&Question {
        repo,
        branch: &lane.row.branch,
        start: lane.record.start.as_deref(),
        requests,
        owners: &place.owners,
    })
}

/// The exact question about one lane's branch.
pub fn exactly<'a>(forge: &'a Forge<'a>, repo: &Repo, lane: &'a Lane) -> impl Fn() -> Asked<Vec<Pr>> + 'a {
    let place = Place::of(repo);
    move || forge.of_branch(&place, &lane.row.branch)
}

/// Of a repository's pull requests, those of this lane.
pub fn own<'p>(repo: &Repo, lane: &Lane, requests: &'p [Pr]) -> Vec<&'p Pr> {
    let owners = Place::of(repo).owners;
    let branch = Branch { name: &lane.row.branch, born: born(repo, lane), owners: &owners };
    let tip = repo.tip(&lane.row.branch).ok().flatten();
    let reaches = |head: &str| match (Oid::parse(head), &tip) {
        (Some(head), Some(tip)) => repo.is_ancestor(&head, tip).unwrap_or(false),
        _ => false,
    };
    requests.iter().filter(|pr| branch.owns(pr, reaches)).collect()
}

/// What came after the merge of one of the lane's own pull requests; nothing where git cannot say.
pub fn post_merge(repo: &Repo, lane: &Lane, own: &[&Pr]) -> Option<PostMerge> {
    landed::post_merge(repo, &lane.row.branch, own).ok()
}

/// When the branch was born: its oldest reflog entry, else the lane's own record.
fn born(repo: &Repo, lane: &Lane) -> Option<Timestamp> {
    let log = refs::reflog(repo, &format!("refs/heads/{}", lane.row.branch)).ok().flatten();
    let oldest = log.and_then(|log| log.last().map(|entry| entry.time));
    oldest.and_then(|seconds| Timestamp::from_second(seconds).ok()).or(lane.record.created)
}
