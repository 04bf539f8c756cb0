//! Making a checkout, and taking back what was made when that fails.

use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::checkout::{Checkout, LONG};
use super::command::{self, ask, complained, failed, line, run, run_beside_others, waiting};
use super::removal;
use super::worktree::{Belongs, is_ours};
use super::{Oid, Repo, refs};
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::proc::{Cmd, Output, describe};

/// Where a git directory keeps sparse patterns.
const SPARSE: &str = "info/sparse-checkout";

/// What a new checkout is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// A new branch at this commit.
    NewBranch(Oid),
    /// The branch, which exists.
    Existing,
    /// The branch, which has no commit yet: for a repository without commits.
    Orphan,
}

/// A checkout to be made.
#[derive(Clone, Debug)]
pub struct AddRequest {
    /// Where: absolute; nothing, or an empty directory.
    pub path: PathBuf,
    /// The branch, without `refs/heads/`.
    pub branch: String,
    /// What it starts from.
    pub start: Start,
    /// Whether it gets the sparse patterns of the main checkout.
    pub inherit_sparse: bool,
    /// How long git, its filters and hooks may take.
    pub limit: Duration,
    /// Whether git's errors and progress go straight to stderr.
    pub show: bool,
    /// A lock that git holds too, so that it stands as long as git is at it, also when scruff is killed.
    pub hold: Option<Arc<File>>,
}

impl AddRequest {
    /// A checkout with sparse patterns inherited, a limit of ten minutes, and nothing shown.
    pub fn new(path: impl Into<PathBuf>, branch: impl Into<String>, start: Start) -> Self {
        let (path, branch) = (path.into(), branch.into());
        AddRequest { path, branch, start, inherit_sparse: true, limit: LONG, show: false, hold: None }
    }
}

/// What was said while a checkout was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// What git, filters and hooks said; for stderr, never stdout.
    pub talk: Vec<u8>,
    /// The checkout is whole, but a post-checkout hook failed; and how.
    pub hook_failed: Option<String>,
}

/// Makes a checkout. On failure no branch, directory or entry of its own making is left.
pub fn add(ctx: &Ctx, repo: &Repo, request: &AddRequest) -> Result<Added> {
    let full = format!("refs/heads/{}", request.branch);
    match &request.start {
        Start::NewBranch(oid) => {
            refs::create(ctx, repo, &full, oid)?;
            ctx.step("branch made");
            let added = checkout(ctx, repo, request);
            if added.is_err() {
                // Nobody else made it: `create` demands that it was not there.
                let _ = refs::take_back(ctx, repo, &request.branch, oid);
            }
            added
        }
        Start::Existing if repo.tip(&request.branch)?.is_none() => {
            Err(Error::precondition(format!("there is no branch {}", request.branch)))
        }
        Start::Existing | Start::Orphan => checkout(ctx, repo, request),
    }
}

fn checkout(ctx: &Ctx, repo: &Repo, request: &AddRequest) -> Result<Added> {
    let path = &request.path;
    let before = is_ours(ctx, repo, path)?;
    if before == Belongs::Missing {
        removal::forget(ctx, repo, path, false)?;
    }
    fill(ctx, repo, request).inspect_err(|_| {
        if !matches!(before, Belongs::Ours { .. }) {
            removal::take_back(ctx, repo, path);
        }
    })
}

fn fill(ctx: &Ctx, repo: &Repo, request: &AddRequest) -> Result<Added> {
    let cmd = worktree_add(ctx, repo, request)?;
    let output = if request.show { cmd.run_showing_errors() } else { run_beside_others(&cmd) };
    let output = output.map_err(|failure| failed(&what(request), failure))?;
    let hook_failed = judge(ctx, repo, request, &output)?;
    match request.start {
        Start::Orphan => unborn(ctx, request)?,
        Start::NewBranch(_) | Start::Existing => sparse(ctx, repo, request)?,
    }
    Ok(Added { talk: [output.stdout, output.stderr].concat(), hook_failed })
}

fn what(request: &AddRequest) -> String {
    format!("git cannot make the checkout {}", request.path.display())
}

fn worktree_add(ctx: &Ctx, repo: &Repo, request: &AddRequest) -> Result<Cmd> {
    let cmd = waiting(acting(ctx, repo)?.limit(request.limit)).args(["worktree", "add"]);
    let cmd = if request.show { cmd } else { cmd.arg("--quiet") };
    let cmd = match request.hold.as_deref().map(File::try_clone) {
        Some(Ok(lock)) => cmd.input_file(lock),
        _ => cmd,
    };
    Ok(match request.start {
        Start::Orphan => {
            let nothing = nothing(ctx, repo)?;
            cmd.args(["--detach", "--no-checkout", "--"]).arg(&request.path).arg(nothing.as_str())
        }
        Start::NewBranch(_) | Start::Existing => cmd.arg("--").arg(&request.path).arg(&request.branch),
    })
}

/// A commit of nothing that nothing refers to: `worktree add` wants one, and knows `--orphan` only
/// since 2.42.
fn nothing(ctx: &Ctx, repo: &Repo) -> Result<Oid> {
    let what = || format!("git cannot begin a branch in {}", repo.main().display());
    let oid = |cmd: Cmd| Oid::parse(&line(&run(&cmd, what)?)).ok_or_else(|| Error::failed(what()));
    let tree = oid(acting(ctx, repo)?.arg("mktree"))?;
    let names = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
    let cmd = names.into_iter().fold(acting(ctx, repo)?, |cmd, name| cmd.env(name, "scruff"));
    oid(cmd.args(["commit-tree", "-m", "nothing", tree.as_str()]))
}

/// Puts a new checkout on a branch without a commit.
fn unborn(ctx: &Ctx, request: &AddRequest) -> Result<()> {
    let checkout = Checkout::at(ctx, &request.path)?;
    let cmd = checkout.acting()?.args(["symbolic-ref", "HEAD", &format!("refs/heads/{}", request.branch)]);
    run(&cmd, || checkout.what("git cannot begin the branch")).map(drop)
}

/// A failure with a whole checkout is a post-checkout hook's: git removes a checkout that it could
/// not fill. A broken hook costs a line, never the lane.
fn judge(ctx: &Ctx, repo: &Repo, request: &AddRequest, output: &Output) -> Result<Option<String>> {
    if output.ok() {
        return Ok(None);
    }
    let on_it = |branch: &Option<String>| branch.as_ref() == Some(&request.branch);
    match is_ours(ctx, repo, &request.path)? {
        Belongs::Ours { branch, admin } if on_it(&branch) && !removal::is_half_made(&admin) => {
            Ok(Some(format!("{}: {}", describe(output.status), output.complaint())))
        }
        _ => Err(complained(&what(request), output)),
    }
}

fn acting(ctx: &Ctx, repo: &Repo) -> Result<Cmd> {
    Ok(repo.pointed(command::acting(ctx, repo.main())?))
}

/// Sees to it that the sparse patterns of the main checkout apply, or do not, whatever this git
/// does by itself: from 2.36 on it copies them.
pub(super) fn sparse(ctx: &Ctx, repo: &Repo, request: &AddRequest) -> Result<()> {
    let Some(patterns) = sparse_patterns(repo)? else { return Ok(()) };
    let checkout = Checkout::at(ctx, &request.path)?;
    let has = checkout.git_dir.join(SPARSE).is_file();
    let what = || checkout.what("git cannot set the sparse patterns");
    let cmd = checkout.acting()?.limit(request.limit).arg("sparse-checkout");
    match (request.inherit_sparse, has) {
        (true, false) => run(&cmd.args(["set", "--no-cone", "--stdin"]).input(patterns), what).map(drop),
        (false, true) => run(&cmd.arg("disable"), what).map(drop),
        (true, true) | (false, false) => Ok(()),
    }
}

/// The patterns of the main checkout, if it is sparse.
fn sparse_patterns(repo: &Repo) -> Result<Option<Vec<u8>>> {
    let what = || format!("cannot tell whether {} is sparse", repo.main().display());
    let patterns = match std::fs::read(repo.common().join(SPARSE)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        patterns => patterns.doing(what)?,
    };
    let cmd = repo.read().args(["config", "--type=bool", "--get", "core.sparseCheckout"]);
    let on = ask(&cmd, what)?.is_some_and(|output| line(&output) == "true");
    Ok(on.then_some(patterns))
}
