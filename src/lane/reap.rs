//! Which lanes may go, and why the others stay.

use jiff::SignedDuration;

use super::guard::{self, Standing};
use super::take::Grounds;
use super::{Lane, judge};
use crate::ctx::Ctx;
use crate::error::Result;
use crate::forge::{Asked, Forge, Place, dead_end};
use crate::git::Repo;
use crate::landed::{Landed, Verdict};

/// What a run may take beside landed work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope {
    /// Lanes whose pull request was closed unmerged, or whose repository is archived.
    pub dead_ends: bool,
    /// Lanes without a commit of their own, whatever their age.
    pub fresh: bool,
}

/// What is to become of a lane.
#[derive(Debug)]
pub enum Fate {
    /// It goes, on these grounds. The paths are untracked files that go to the trash.
    Goes(Grounds, Vec<std::path::PathBuf>, String),
    /// It stays, and why.
    Stays {
        /// The reason: pid, file, operation or rung.
        why: String,
        /// Signals that were missing and could have changed it.
        missing: Vec<String>,
    },
}

impl Fate {
    fn stays(why: impl Into<String>) -> Self {
        Fate::Stays { why: why.into(), missing: Vec::new() }
    }
}

/// Looks at one lane: guards, then the ladder. With `repo.by_git()` every fact is git's own.
pub fn fate(ctx: &Ctx, repo: &Repo, lane: &Lane, forge: &Forge<'_>, scope: Scope) -> Fate {
    let (dirt, detached) = match guard::standing(ctx, repo, lane) {
        Ok(Standing::Parked) => (Vec::new(), None),
        Ok(Standing::Checkout { dirt, detached }) => {
            if let Err(why) = guard::unoccupied(ctx, lane, Vec::new()) {
                return Fate::stays(why);
            }
            (dirt, detached)
        }
        Err(why) => return Fate::stays(why),
    };
    if let Some(oid) = detached {
        return Fate::stays(format!("its HEAD is detached at {}", oid.short()));
    }
    if let Err(why) = guard::only_untracked(&dirt) {
        return Fate::stays(why);
    }
    let landed = judge::judge(ctx, repo, lane, &judge::exactly(forge, repo, lane));
    // Untracked files are work, unless the branch landed and had commits of its own.
    let may_hold_files = landed.verdict == Verdict::Yes && landed.own_commits;
    if let (false, Err(why)) = (may_hold_files, guard::clean(&dirt)) {
        return Fate::stays(why);
    }
    let files = dirt.into_iter().map(|change| change.path).collect();
    by_verdict(ctx, repo, lane, forge, scope, landed, files)
}

fn by_verdict(
    ctx: &Ctx,
    repo: &Repo,
    lane: &Lane,
    forge: &Forge<'_>,
    scope: Scope,
    landed: Landed,
    files: Vec<std::path::PathBuf>,
) -> Fate {
    let pr = landed.pr.map(|number| number.to_string()).unwrap_or_default();
    let grounds = |via: &str| Grounds { via: via.to_owned(), pr: pr.clone() };
    match landed.verdict {
        Verdict::Yes => {
            let via = landed.via.clone().unwrap_or_else(|| "landed".to_owned());
            Fate::Goes(grounds(&via), files, landed.reason)
        }
        Verdict::Fresh if scope.fresh || is_old(ctx, lane) => {
            Fate::Goes(grounds("fresh"), files, landed.reason)
        }
        Verdict::Fresh => Fate::stays(format!("fresh: {}; `reap --fresh` takes it", landed.reason)),
        Verdict::Contained | Verdict::No => match never_lands(repo, lane, forge) {
            Ok(Some(why)) if scope.dead_ends => Fate::Goes(grounds("dead-end"), files, why),
            Ok(Some(why)) => Fate::stays(format!("{why}; `scruff drop` or `reap --dead-ends` takes it")),
            Ok(None) => Fate::Stays { missing: missing(&landed), why: landed.reason },
            Err(trouble) => {
                Fate::Stays { missing: [missing(&landed), vec![trouble]].concat(), why: landed.reason }
            }
        },
    }
}

fn missing(landed: &Landed) -> Vec<String> {
    landed.missing().map(str::to_owned).collect()
}

fn is_old(ctx: &Ctx, lane: &Lane) -> bool {
    let limit = SignedDuration::from_hours(ctx.config().reap.fresh_after_hours());
    lane.record.created.is_some_and(|created| ctx.clock.now().duration_since(created) > limit)
}

/// Why a lane can never land, if that is so.
fn never_lands(repo: &Repo, lane: &Lane, forge: &Forge<'_>) -> Result<Option<String>, String> {
    let place = Place::of(repo);
    let requests = match forge.of_branch(&place, &lane.row.branch) {
        Asked::Known(requests) => requests,
        Asked::NoForge(_) => return Ok(None),
        Asked::Unknown(why) => return Err(why),
    };
    let own = judge::own(repo, lane, &requests);
    if let Some(pr) = dead_end(&own) {
        return Ok(Some(format!("its pull request #{} was closed unmerged", pr.number)));
    }
    match forge.is_archived(&place) {
        Asked::Known(true) => Ok(Some(format!("{} is archived", place.repo))),
        Asked::Known(false) | Asked::NoForge(_) => Ok(None),
        Asked::Unknown(why) => Err(why),
    }
}
