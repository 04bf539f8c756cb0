//! `scruff adopt`

use std::path::{Path, PathBuf};

use super::Outcome;
use super::making;
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::git::Repo;
use crate::git::worktree::{self, Entry};
use crate::lane::{Lane, LaneId, Record, Situation, State, find, name};
use crate::registry::{self, Row};

/// Take a worktree or a branch that scruff did not make into the registry.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The worktree's path, or the branch's name
    pub what: PathBuf,
    /// The lane's name; the branch's without one
    #[arg(long)]
    pub name: Option<String>,
    /// The client: claude, codex, opencode, gemini, pi or one of yours
    #[arg(long, value_name = "CLIENT")]
    pub agent: Option<String>,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let path = ctx.cwd.join(&args.what);
    let from = if path.is_dir() { &path } else { &ctx.cwd };
    let repo = Repo::discover(ctx, from)?;
    let (branch, path) = candidate(args, ctx, &repo, &path)?;
    refuse_main_line(&repo, &branch, &path)?;
    let table = find::table(ctx)?;
    if let Some(row) =
        table.rows().find(|row| row.path == path || (row.main == repo.main() && row.branch == branch))
    {
        ctx.ui.note(format!("{} is the lane {} already", branch, row.name));
        return Ok(Outcome::done());
    }
    let lane_name = args.name.clone().unwrap_or_else(|| default_name(ctx, &branch));
    name::check(&lane_name)?;
    if table.rows().any(|row| row.main == repo.main() && row.name == lane_name) {
        return Err(Error::precondition(format!("there is a lane called {lane_name} already"))
            .hint("choose another with --name"));
    }
    let record = Record { created: Some(ctx.clock.stamp()), ..Record::new(LaneId::random()?, &path) };
    let main = repo.main().to_owned();
    let row = Row {
        name: lane_name,
        main,
        branch,
        path,
        parent: PathBuf::new(),
        client: String::new(),
        more: Vec::new(),
    };
    let mut lane = Lane { row, record };
    let situation =
        Situation::of(ctx, &lane, &repo, if lane.row.path.is_dir() { State::Live } else { State::Parked });
    lane.row.client = making::agent(ctx, args.agent.as_deref(), &situation)?;
    lane.record.write(&ctx.paths)?;
    registry::put(ctx, lane.row.clone(), "adopt")?;
    ctx.ui.note(format!("{} is a lane now: {}", lane.row.branch, lane.label()));
    Ok(Outcome::done())
}

/// The branch, and the checkout it has or would get.
fn candidate(args: &Args, ctx: &Ctx, repo: &Repo, path: &Path) -> Result<(String, PathBuf)> {
    let entries = worktree::list(ctx, repo)?;
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if let Some(entry) = entries.iter().find(|entry| entry.path == real) {
        return branch_of(entry).map(|branch| (branch, real));
    }
    let what = args.what.to_str().unwrap_or_default();
    let branch = what.trim_start_matches("refs/heads/");
    if !Repo::valid_branch(branch) || repo.tip(branch)?.is_none() {
        return Err(Error::precondition(format!(
            "{} is neither a worktree nor a branch of {}",
            args.what.display(),
            repo.slug()
        ))
        .hint("see `git worktree list` and `git branch`"));
    }
    if let Some(entry) = entries.iter().find(|entry| entry.uses(branch)) {
        return Ok((branch.to_owned(), entry.path.clone()));
    }
    let bucket = name::bucket(&ctx.paths.base, &repo.slug());
    let table = registry::read(&ctx.paths)?;
    let taken = |path: &Path| path.symlink_metadata().is_ok() || table.find(path).is_some();
    Ok((branch.to_owned(), name::directory(&bucket, &default_name(ctx, branch), taken)))
}

fn branch_of(entry: &Entry) -> Result<String> {
    entry.branch.clone().ok_or_else(|| {
        Error::precondition(format!("{} is on no branch", entry.path.display()))
            .hint("make one there first: git switch -c <name>")
    })
}

/// The main checkout and the default branch are never lanes.
fn refuse_main_line(repo: &Repo, branch: &str, path: &Path) -> Result<()> {
    let default = repo.default_branch().is_some_and(|default| default.name == branch);
    if default || repo.head_branch().as_deref() == Some(branch) || path == repo.main() {
        return Err(Error::refused(format!("{branch} is the main line of {}, never a lane", repo.slug()))
            .hint("make a branch for the work first"));
    }
    Ok(())
}

/// The branch's name without what scruff would put around a lane's.
fn default_name(ctx: &Ctx, branch: &str) -> String {
    let template = &ctx.config().lane.branch;
    let bare = template
        .split_once("{{.Name}}")
        .and_then(|(before, after)| branch.strip_prefix(before)?.strip_suffix(after));
    bare.filter(|bare| !bare.is_empty()).unwrap_or(branch).to_owned()
}
