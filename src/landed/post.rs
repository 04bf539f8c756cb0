//! What came after the merge.

use serde::Serialize;

use crate::error::Result;
use crate::forge::{Pr, State};
use crate::git::{Oid, Repo};

/// More commits than this are not counted.
const MAX_COUNT: usize = 10_000;

/// A branch that went on after its pull request was merged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PostMerge {
    /// Commits that are neither in what was merged nor in the default branch.
    pub commits: usize,
    /// The pull request that was merged.
    pub pr: u64,
    /// Whether the tip does not build on what was merged.
    pub diverged: bool,
}

/// What came after the merge of one of a branch's own pull requests.
pub fn post_merge(repo: &Repo, branch: &str, own: &[&Pr]) -> Result<PostMerge> {
    let (Some(tip), Some(default)) = (repo.tip(branch)?, repo.default_branch()) else {
        return Ok(PostMerge::default());
    };
    let covered = own.iter().any(|pr| pr.state == State::Open && pr.tip == tip.as_str());
    let merged = own.iter().filter(|pr| pr.state == State::Merged && pr.base == default.name);
    let Some(merged) = merged.max_by_key(|pr| pr.number).filter(|pr| !covered && pr.tip != tip.as_str())
    else {
        return Ok(PostMerge::default());
    };
    let bases: Vec<Oid> = default.local.into_iter().chain(default.remote.map(|(_, oid)| oid)).collect();
    let head = known(repo, &merged.tip)?;
    let commits = past(repo, &tip, head.iter().chain(&bases))?;
    if commits == 0 {
        return Ok(PostMerge::default());
    }
    let builds = builds_on(repo, &bases, &tip)? || builds_on(repo, head.as_slice(), &tip)?;
    Ok(PostMerge { commits, pr: merged.number, diverged: !builds })
}

/// The commit of this name, if it is in the repository: what is not there, nothing builds on.
fn known(repo: &Repo, name: &str) -> Result<Option<Oid>> {
    let Some(oid) = Oid::parse(name) else { return Ok(None) };
    Ok(repo.knows(&oid)?.then_some(oid))
}

fn past<'o>(repo: &Repo, tip: &Oid, without: impl Iterator<Item = &'o Oid>) -> Result<usize> {
    let without: Vec<&Oid> = without.collect();
    Ok(repo.only_in(tip, &without, MAX_COUNT)?.map_or(MAX_COUNT, |commits| commits.len()))
}

fn builds_on(repo: &Repo, any: &[Oid], tip: &Oid) -> Result<bool> {
    for oid in any {
        if repo.is_held(oid, tip)? {
            return Ok(true);
        }
    }
    Ok(false)
}
