//! `scruff reap`

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::json;

use super::Outcome;
use crate::ctx::Ctx;
use crate::error::{Doing, Kind, Result};
use crate::exit::Exit;
use crate::forge::Forge;
use crate::git::Repo;
use crate::lane::reap::{Fate, Scope, fate};
use crate::lane::resolve::Match;
use crate::lane::{Lane, find, take, undo};

/// Take every lane whose work has landed. One line a lane: taken or kept, and why.
///
/// Kept is whatever is dirty, occupied, in the middle of a git operation, or not provably in the
/// default branch. `scruff undo` brings back what was taken, for 90 days.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Only these lanes; without names all
    pub names: Vec<String>,
    /// Say what would be done, and do nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Also lanes whose pull request was closed unmerged, or whose repository is archived
    #[arg(long)]
    pub dead_ends: bool,
    /// Also lanes that never had a commit, whatever their age
    #[arg(long)]
    pub fresh: bool,
}

/// What became of one lane.
struct Done {
    lane: Lane,
    taken: bool,
    why: String,
    missing: Vec<String>,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let lanes = lanes(args, ctx)?;
    let scope = Scope { dead_ends: args.dead_ends, fresh: args.fresh };
    let forge = Forge::new(ctx);
    let mut repos: HashMap<PathBuf, Result<Repo>> = HashMap::new();
    let mut list = Vec::new();
    for lane in lanes {
        let main = lane.row.main.clone();
        let repo = repos.entry(main.clone()).or_insert_with(|| Repo::at_main(ctx, &main));
        list.push(match repo {
            Ok(repo) => one(ctx, args, repo, lane, &forge, scope),
            Err(error) => unreachable_repo(lane, &error.message()),
        });
    }
    for missing in list.iter().flat_map(|done| &done.missing) {
        if !ctx.ui.warnings().contains(missing) {
            ctx.ui.warn(missing);
        }
    }
    if !args.dry_run {
        expire(ctx);
    }
    let exit = exit(args, &list);
    answer(ctx, args, &list).map(|outcome| outcome.with_exit(exit))
}

fn lanes(args: &Args, ctx: &Ctx) -> Result<Vec<Lane>> {
    if args.names.is_empty() {
        return Ok(find::table(ctx)?.rows().map(|row| Lane::of(ctx, row.clone())).collect());
    }
    args.names.iter().map(|name| find::find(ctx, name, Match::Exact)).collect()
}

fn unreachable_repo(lane: Lane, why: &str) -> Done {
    let why = format!("it cannot be looked at: {why}");
    Done { lane, taken: false, missing: vec![why.clone()], why }
}

fn one(ctx: &Ctx, args: &Args, repo: &Repo, lane: Lane, forge: &Forge<'_>, scope: Scope) -> Done {
    if let Some(done) = without_branch(ctx, args, repo, &lane) {
        return done;
    }
    match fate(ctx, repo, &lane, forge, scope) {
        Fate::Stays { why, missing } => Done { lane, taken: false, why, missing },
        Fate::Goes(_, _, why) if args.dry_run => Done { lane, taken: true, why, missing: Vec::new() },
        Fate::Goes(..) => take_one(ctx, repo, lane, forge, scope),
    }
}

/// Looks again under the lane's own lock, with git itself, and takes it.
fn take_one(ctx: &Ctx, repo: &Repo, mut lane: Lane, forge: &Forge<'_>, scope: Scope) -> Done {
    let kept = |lane: Lane, why: String| Done { lane, taken: false, why, missing: Vec::new() };
    let _lock = match lane.lock(ctx, "reap") {
        Ok(lock) => lock,
        Err(error) if error.kind() == Kind::Busy => return kept(lane, error.message()),
        Err(error) => return unreachable_repo(lane, &error.message()),
    };
    ctx.step("locked");
    let (grounds, files, why) = match fate(ctx, &repo.by_git(), &lane, forge, scope) {
        Fate::Goes(grounds, files, why) => (grounds, files, why),
        Fate::Stays { why, missing } => return Done { lane, taken: false, why, missing },
    };
    match take::take(ctx, repo, &mut lane, &grounds, files) {
        Ok(_) => Done { lane, taken: true, why, missing: Vec::new() },
        Err(error) => kept(lane, error.message()),
    }
}

/// A row whose branch and checkout git positively says are gone: the row goes too.
fn without_branch(ctx: &Ctx, args: &Args, repo: &Repo, lane: &Lane) -> Option<Done> {
    let gone = matches!(repo.by_git().tip(&lane.row.branch), Ok(None))
        && repo.head().is_ok_and(|head| head.is_some());
    if !gone || lane.row.path.symlink_metadata().is_ok() {
        return None;
    }
    let why = format!("the branch {} is gone already", lane.row.branch);
    if args.dry_run {
        return Some(Done { lane: lane.clone(), taken: true, why, missing: Vec::new() });
    }
    let _lock = lane.lock(ctx, "reap").ok()?;
    take::forget(ctx, lane).ok()?;
    Some(Done { lane: lane.clone(), taken: true, why, missing: Vec::new() })
}

/// Lets go of what was taken 90 days ago, and names it.
fn expire(ctx: &Ctx) {
    match undo::expire(ctx) {
        Ok(gone) => {
            for taken in gone {
                ctx.ui.note(format!(
                    "{}/{} was taken 90 days ago; it cannot be brought back any more",
                    taken.repo, taken.name
                ));
            }
        }
        Err(error) => ctx.ui.warn(format!("what was taken long ago is kept: {error}")),
    }
}

/// A lane that was named and stays is a refusal; a signal that was missing is said.
fn exit(args: &Args, list: &[Done]) -> Exit {
    let kept = || list.iter().filter(|done| !done.taken);
    if kept().any(|done| !done.missing.is_empty()) {
        Exit::Degraded
    } else if !args.names.is_empty() && kept().next().is_some() {
        Exit::Refused
    } else {
        Exit::Done
    }
}

fn answer(ctx: &Ctx, args: &Args, list: &[Done]) -> Result<Outcome> {
    let word = |done: &Done| match (done.taken, args.dry_run) {
        (true, true) => "would take",
        (true, false) => "taken",
        (false, _) => "kept",
    };
    if ctx.json {
        let lanes: Vec<_> = list
            .iter()
            .map(|done| json!({"name": done.lane.row.name, "main": done.lane.row.main.to_string_lossy(), "id": done.lane.id(), "action": word(done), "why": done.why}))
            .collect();
        let body =
            json!({"scruff": env!("CARGO_PKG_VERSION"), "warnings": ctx.ui.warnings(), "lanes": lanes});
        let text = serde_json::to_string(&body).doing(|| "cannot write the answer as JSON".to_owned())?;
        return Ok(Outcome::text(text + "\n"));
    }
    let text = list.iter().fold(String::new(), |mut text, done| {
        let _ = writeln!(text, "{:<10}  {}  {}", word(done), done.lane.label(), done.why.replace('\n', " "));
        text
    });
    Ok(Outcome::text(text))
}
