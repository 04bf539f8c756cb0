//! One branch being judged, and what its rungs share.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use super::{Answer, Base, Doubt, Landed, Question, Verdict};
use crate::error::{Error, Result};
use crate::forge::{Asked, Pr};
use crate::git::history::{Commit, Step, Touched};
use crate::git::refs::{self, LogEntry};
use crate::git::{Oid, Repo};

/// A range longer than this is not compared commit by commit.
pub(super) const MAX_RANGE: usize = 20_000;

pub(super) struct Case<'a> {
    pub(super) repo: &'a Repo,
    pub(super) branch: &'a str,
    pub(super) tip: Oid,
    pub(super) start: Option<&'a str>,
    pub(super) owners: &'a [String],
    /// The default branch's name.
    pub(super) default: String,
    /// Its local and remote tips; where one holds the other, only the larger.
    pub(super) bases: Vec<Base>,
    requests: &'a dyn Fn() -> Asked<Vec<Pr>>,
    log: OnceCell<Result<Vec<LogEntry>, String>>,
    ranges: OnceCell<Result<Vec<Range>, String>>,
    touched: RefCell<HashMap<Step, Touched>>,
}

/// What a branch and a base each have alone.
pub(super) struct Range {
    pub(super) base: Base,
    /// The branch's own commits, newest first.
    pub(super) own: Vec<Commit>,
    /// The base's, newest first.
    pub(super) theirs: Vec<Commit>,
}

impl<'a> Case<'a> {
    pub(super) fn of(question: &Question<'a>) -> Result<Self, Doubt> {
        let Question { repo, branch, start, requests, owners } = *question;
        let missing = |error: Error| Doubt::Missing(error.message());
        let default = repo.default_branch().ok_or_else(|| {
            Doubt::Missing(format!("{} has no default branch that can be found", repo.main().display()))
        })?;
        if default.name == branch {
            return Err(Doubt::Beyond(format!("{branch} is the default branch")));
        }
        let tip = repo.tip(branch).map_err(missing)?;
        let tip = tip.ok_or_else(|| Doubt::Beyond(format!("there is no branch {branch}")))?;
        let local = default.local.map(|oid| Base { name: default.name.clone(), oid });
        let remote = default.remote.map(|(full, oid)| Base { name: short(&full), oid });
        let bases = larger(repo, local.into_iter().chain(remote).collect()).map_err(missing)?;
        Ok(Case {
            repo,
            branch,
            tip,
            start,
            owners,
            default: default.name,
            bases,
            requests,
            log: OnceCell::new(),
            ranges: OnceCell::new(),
            touched: RefCell::default(),
        })
    }

    /// The branch's moves, newest first; empty without a log.
    pub(super) fn log(&self) -> Result<&[LogEntry], Doubt> {
        let read = || {
            let log = refs::reflog(self.repo, &format!("refs/heads/{}", self.branch));
            log.map(Option::unwrap_or_default).map_err(|error| error.message())
        };
        self.log.get_or_init(read).as_deref().map_err(|why| Doubt::Missing(why.clone()))
    }

    /// What the branch and each base have alone.
    pub(super) fn ranges(&self) -> Result<&[Range], Doubt> {
        let read = || self.bases.iter().filter_map(|base| self.range(base).transpose()).collect();
        self.ranges.get_or_init(read).as_deref().map_err(|why| Doubt::Missing(why.clone()))
    }

    /// `None`: too long.
    fn range(&self, base: &Base) -> Result<Option<Range>, String> {
        let only =
            |tip, without| self.repo.only_in(tip, &[without], MAX_RANGE).map_err(|error| error.message());
        let (own, theirs) = (only(&self.tip, &base.oid)?, only(&base.oid, &self.tip)?);
        Ok(own.zip(theirs).map(|(own, theirs)| Range { base: base.clone(), own, theirs }))
    }

    /// What each step touches; every step is looked at once.
    pub(super) fn touched(&self, steps: &[Step]) -> Result<Vec<Touched>> {
        let mut known = self.touched.borrow_mut();
        let new: Vec<Step> = steps.iter().filter(|step| !known.contains_key(step)).cloned().collect();
        let touched = self.repo.touched(&new)?;
        known.extend(new.into_iter().zip(touched));
        Ok(steps.iter().filter_map(|step| known.get(step).copied()).collect())
    }

    pub(super) fn requests(&self) -> Asked<Vec<Pr>> {
        (self.requests)()
    }

    /// Whether the log shows a commit made on this branch.
    fn has_committed(&self) -> bool {
        const MADE: [&str; 5] = ["commit", "cherry-pick", "revert", "am:", "merge"];
        let made = |entry: &LogEntry| MADE.iter().any(|word| entry.message.starts_with(word));
        self.log().is_ok_and(|log| log.iter().any(made))
    }

    pub(super) fn answered(&self, answer: Answer, doubts: Vec<Doubt>) -> Landed {
        let (confidence, reason) = match answer.verdict {
            Verdict::Fresh => ("certain", "it never had a commit of its own".to_owned()),
            Verdict::Contained => ("heuristic", self.hint(&answer)),
            Verdict::Yes | Verdict::No => ("certain", self.proof(&answer)),
        };
        let own_commits = match answer.verdict {
            Verdict::Fresh => false,
            _ => answer.via != super::ancestry::VIA || self.has_committed(),
        };
        Landed {
            verdict: answer.verdict,
            via: Some(answer.via.to_owned()),
            confidence: confidence.to_owned(),
            base: answer.base,
            pr: answer.pr,
            own_commits,
            reason,
            doubts,
        }
    }

    fn hint(&self, answer: &Answer) -> String {
        let base = answer.base.as_deref().unwrap_or(&self.default);
        format!("merging it would change nothing in {base}, which proves nothing")
    }

    fn proof(&self, answer: &Answer) -> String {
        let base = answer.base.as_deref().unwrap_or(&self.default);
        match answer.pr {
            Some(number) => format!("#{number} was merged into {base} with exactly this commit"),
            None => format!("landed in {base} ({})", answer.via),
        }
    }

    pub(super) fn unproven(&self, doubts: Vec<Doubt>) -> Landed {
        let own = self.ranges().ok().and_then(|ranges| ranges.iter().map(|range| range.own.len()).min());
        let mut reason = match own {
            Some(1) => format!("nothing proves that its commit is in {}", self.default),
            Some(count) => format!("nothing proves that its {count} commits are in {}", self.default),
            None => format!("nothing proves that it is in {}", self.default),
        };
        for doubt in &doubts {
            reason.push_str("; ");
            reason.push_str(doubt.why());
        }
        let missing = doubts.iter().any(|doubt| matches!(doubt, Doubt::Missing(_)));
        let confidence = if missing { "unsure" } else { "certain" };
        Landed { confidence: confidence.to_owned(), own_commits: true, doubts, ..Landed::no(reason) }
    }
}

fn short(full: &str) -> String {
    full.strip_prefix("refs/remotes/").unwrap_or(full).to_owned()
}

/// The bases that no other one holds: a branch that is only behind has nothing to add.
fn larger(repo: &Repo, bases: Vec<Base>) -> Result<Vec<Base>> {
    let [local, remote] = bases.as_slice() else { return Ok(bases) };
    if repo.is_held(&remote.oid, &local.oid)? {
        return Ok(vec![local.clone()]);
    }
    if repo.is_held(&local.oid, &remote.oid)? {
        return Ok(vec![remote.clone()]);
    }
    Ok(bases)
}
