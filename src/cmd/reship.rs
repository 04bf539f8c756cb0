//! `scruff reship`

use std::time::Duration;

use super::Outcome;
use super::park::top_level;
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Kind, Result};
use crate::forge::{Asked, Forge, Place, Pr, State};
use crate::git::Repo;
use crate::lane::resolve::Match;
use crate::lane::{Lane, find, judge};

/// How long a push may take.
const PUSH_LIMIT: Duration = Duration::from_secs(300);

/// Ship what came after the merge: push the branch and open the follow-up pull request.
///
/// With an open pull request it only pushes. Refused when there is nothing past the base, when the
/// branch does not build on what was merged, and when there never was a pull request.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// The lane's whole name; without one, the lane of this checkout
    pub name: Option<String>,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let lane = lane(args, ctx)?;
    let repo = Repo::at_main(ctx, &lane.row.main)?;
    let _lock = lane.lock(ctx, "reship")?;
    let forge = Forge::new(ctx);
    let place = Place::of(&repo);
    let requests = asked(&forge, &place, &lane)?;
    let own = judge::own(&repo, &lane, &requests);
    let base = past_base(&repo, &lane)?;
    if own.iter().any(|pr| pr.state == State::Open) {
        push(ctx, &repo, &lane)?;
        ctx.ui.note(format!("{} is pushed to its open pull request", lane.label()));
        return Ok(Outcome::done());
    }
    refuse(&repo, &lane, &own)?;
    push(ctx, &repo, &lane)?;
    let url = forge.open_pr(&place, &lane.row.branch, &base)?;
    Ok(Outcome::text(url + "\n"))
}

fn lane(args: &Args, ctx: &Ctx) -> Result<Lane> {
    match &args.name {
        Some(name) => find::find(ctx, name, Match::Exact),
        None => find::holding(ctx, &top_level(ctx)?)?.ok_or_else(|| {
            Error::precondition("this is no lane's checkout").hint("name the lane: scruff reship NAME")
        }),
    }
}

fn asked(forge: &Forge<'_>, place: &Place, lane: &Lane) -> Result<Vec<Pr>> {
    match forge.of_branch(place, &lane.row.branch) {
        Asked::Known(requests) => Ok(requests),
        Asked::NoForge(why) | Asked::Unknown(why) => Err(Error::new(
            Kind::Degraded,
            format!("the forge cannot be asked about {}: {why}", lane.row.branch),
        )
        .hint("nothing was pushed; see `scruff doctor`")),
    }
}

/// The base's name; refused where the lane has nothing that the base lacks.
fn past_base(repo: &Repo, lane: &Lane) -> Result<String> {
    let tip = repo.tip(&lane.row.branch)?;
    let (Some(tip), Some(base)) = (tip, repo.default_branch()) else {
        return Err(Error::precondition(format!(
            "{} has no commit, or no default branch to go to",
            lane.label()
        ))
        .hint("see `scruff doctor`"));
    };
    let bases = base.local.iter().chain(base.remote.iter().map(|(_, oid)| oid));
    for oid in bases {
        if repo.is_ancestor(&tip, oid)? {
            return Err(refused(lane, &format!("{} has all of it", base.name)));
        }
    }
    Ok(base.name)
}

fn refuse(repo: &Repo, lane: &Lane, own: &[&Pr]) -> Result<()> {
    if !own.iter().any(|pr| pr.state == State::Merged) {
        return Err(refused(lane, "it never had a pull request that was merged")
            .hint("push it and open its first pull request yourself"));
    }
    match judge::post_merge(repo, lane, own) {
        Some(post) if post.diverged => Err(refused(lane, "it does not build on what was merged")
            .hint("rebase it on the default branch first")),
        Some(post) if post.commits == 0 => Err(refused(lane, "nothing came after the merge")),
        Some(_) => Ok(()),
        None => Err(refused(lane, "git cannot tell what came after the merge")),
    }
}

fn refused(lane: &Lane, why: &str) -> Error {
    Error::refused(format!("{} is not shipped again: {why}", lane.label()))
}

fn push(ctx: &Ctx, repo: &Repo, lane: &Lane) -> Result<()> {
    let remotes = repo.remotes();
    let (remote, _) = remotes.first().ok_or_else(|| {
        Error::precondition(format!("{} has no remote to push to", repo.slug()))
            .hint("git remote add origin URL")
    })?;
    let full = format!("refs/heads/{}", lane.row.branch);
    let cmd = repo.command().limit(PUSH_LIMIT).args(["push", "--", remote, &format!("{full}:{full}")]);
    let output = cmd.run().doing(|| "git cannot push".to_owned())?;
    ctx.ui.note(String::from_utf8_lossy(&output.stderr).trim_end());
    if output.ok() {
        return Ok(());
    }
    Err(Error::failed(format!("git cannot push {}: {}", lane.row.branch, output.complaint()))
        .hint("nothing was forced; look with `git fetch` and `git log --left-right`"))
}
