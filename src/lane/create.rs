//! Makes a lane: row and record first, then the checkout, so that whoever comes after a crash can
//! finish or take back exactly what was begun.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Lane, LaneId, Phase, Record, Situation, State, lock_path, name, provision};
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::git::worktree::{self, AddRequest, Added, Start};
use crate::git::{Oid, Repo};
use crate::lock::Lock;
use crate::registry::{self, Row, Table};

/// How long creation waits for another creation in the same repository.
const REPO_LIMIT: Duration = Duration::from_secs(120);

/// How much of a budget is kept for setting up, or for taking back.
const RESERVE: Duration = Duration::from_secs(15);

/// What is to be made.
#[derive(Debug)]
pub struct Request {
    /// The name.
    pub name: Wanted,
    /// What it is cut from: `None` is the HEAD of the main checkout.
    pub from: Option<Origin>,
    /// The directory a child lane is made from, or empty.
    pub parent: PathBuf,
    /// The directory that the checkout goes into: `None` is the repository's own below the base.
    pub bucket: Option<PathBuf>,
    /// When whoever waits for it gives up.
    pub until: Option<Instant>,
    /// Which client's hook asks for it, and in which conversation.
    pub asked: Option<Asked>,
}

impl Request {
    /// A lane cut from the HEAD of the main checkout, with nothing else said.
    pub fn new(name: Wanted) -> Self {
        Request { name, from: None, parent: PathBuf::new(), bucket: None, until: None, asked: None }
    }
}

/// A client's hook that asks for a lane.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The conversation that it asks in.
    pub session: Option<String>,
}

/// Where a name comes from.
#[derive(Debug)]
pub enum Wanted {
    /// A person typed it: taken is an error.
    Typed(String),
    /// A client gave it: taken is an error. It may begin with what a command line would take for an
    /// option, because nobody types it.
    Given(String),
    /// A program chose it: taken gets a number.
    Chosen(String),
    /// Nobody chose one: two random words.
    Random,
}

/// What a lane is cut from.
#[derive(Debug)]
pub struct Origin {
    /// The commit.
    pub commit: Oid,
    /// The branch it goes back to, if `--from` named one.
    pub branch: Option<String>,
}

/// A lane just made, and its lock.
#[derive(Debug)]
pub struct Made {
    /// The lane.
    pub lane: Lane,
    /// What programs are told about it.
    pub situation: Situation,
    /// What hooks and filters said while the checkout was made.
    pub said: Added,
    /// The lane's lock, for the caller to hold on to.
    pub lock: Lock,
}

/// Makes a lane. `agent` decides on its client before anything is made.
pub fn create(
    ctx: &Ctx,
    repo: &Repo,
    request: Request,
    agent: impl FnOnce(&Situation) -> Result<String>,
) -> Result<Made> {
    let lock = RepoLock::acquire(ctx, repo, request.until)?;
    create_under(ctx, repo, &lock, request, agent)
}

/// [`create`] for whoever holds the repository's lock already.
pub fn create_under(
    ctx: &Ctx,
    repo: &Repo,
    _lock: &RepoLock,
    request: Request,
    agent: impl FnOnce(&Situation) -> Result<String>,
) -> Result<Made> {
    super::recover::recover(ctx);
    let table = registry::read(&ctx.paths)?;
    let until = request.until;
    let mut plan = Plan::new(ctx, repo, &table, request)?;
    let situation = plan.situation(ctx, repo);
    plan.row.client = agent(&situation)?;
    let lock = Lock::acquire(&lock_path(ctx, &plan.record.id), Duration::ZERO, "create", |_| ())?;
    match plan.carry_out(ctx, repo, &lock, until) {
        Ok(said) => {
            let Plan { row, record, .. } = plan;
            let situation = Situation { agent: row.client.clone(), ..situation };
            Ok(Made { lane: Lane { row, record }, situation, said, lock })
        }
        Err(error) => {
            super::recover::take_back(ctx, &Lane { row: plan.row, record: plan.record });
            Err(error)
        }
    }
}

/// One creation at a time in a repository: git's own locks fail instead of waiting.
#[derive(Debug)]
pub struct RepoLock {
    _lock: Lock,
}

impl RepoLock {
    /// Takes it, waiting no longer than until `until`.
    pub fn acquire(ctx: &Ctx, repo: &Repo, until: Option<Instant>) -> Result<Self> {
        let path = ctx.paths.locks().join(format!("repo-{}.lock", super::digest(repo.common())));
        let told = |holder: &str| {
            ctx.ui.note(format!("waiting for {holder}, which makes a lane in this repository"));
        };
        let limit = until.map_or(REPO_LIMIT, |until| left(until).min(REPO_LIMIT));
        Lock::acquire(&path, limit, "create", told).map(|lock| RepoLock { _lock: lock })
    }
}

/// What is left of a budget for making the checkout itself.
pub(super) fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now()).saturating_sub(RESERVE)
}

struct Plan {
    row: Row,
    record: Record,
    start: Option<Oid>,
}

impl Plan {
    /// Settles name, branch, directory and base, and refuses what cannot be, before anything is made.
    fn new(ctx: &Ctx, repo: &Repo, table: &Table, request: Request) -> Result<Self> {
        let template = &ctx.config().lane.branch;
        let lane_name = settle_name(ctx, repo, table, request.name)?;
        let branch = name::branch(template, &lane_name)?;
        if let Some(other) = repo.name_clash(&branch)? {
            return Err(Error::precondition(format!(
                "{branch} and the branch {other} cannot both be: git keeps a branch as a file"
            ))
            .hint("choose another name, or rename that branch"));
        }
        let (start, base) = settle_base(repo, request.from)?;
        let bucket = request.bucket.unwrap_or_else(|| name::bucket(&ctx.paths.base, &repo.slug()));
        let path = name::directory(&bucket, &lane_name, |path| is_taken(table, path));
        let record = Record {
            phase: Phase::Opening,
            created: Some(ctx.clock.stamp()),
            start: start.as_ref().map(|oid| oid.as_str().to_owned()),
            base,
            made_branch: true,
            by_hook: request.asked.is_some(),
            asked_in: request.asked.and_then(|asked| asked.session),
            ..Record::new(LaneId::random()?, &path)
        };
        let main = repo.main().to_owned();
        let row = Row {
            name: lane_name,
            main,
            branch,
            path,
            parent: request.parent,
            client: String::new(),
            more: Vec::new(),
        };
        Ok(Plan { row, record, start })
    }

    fn situation(&self, ctx: &Ctx, repo: &Repo) -> Situation {
        let lane = Lane { row: self.row.clone(), record: self.record.clone() };
        Situation::of(ctx, &lane, repo, State::Live)
    }

    /// Record, row, checkout, in this order; then whatever the checkout is to be set up with.
    fn carry_out(&mut self, ctx: &Ctx, repo: &Repo, lock: &Lock, until: Option<Instant>) -> Result<Added> {
        super::recover::begun(ctx, &self.record.id)?;
        ctx.step("begun");
        self.record.write(&ctx.paths)?;
        ctx.step("record");
        registry::put(ctx, self.row.clone(), "create")?;
        ctx.step("row");
        let added = self.checkout(ctx, repo, lock, until)?;
        ctx.step("checkout");
        provision::provision(ctx, repo, &self.row.path, until);
        self.record.phase = Phase::Made;
        self.record.write(&ctx.paths)?;
        ctx.step("made");
        super::recover::settled(ctx, &self.record.id);
        Ok(added)
    }

    fn checkout(&self, ctx: &Ctx, repo: &Repo, lock: &Lock, until: Option<Instant>) -> Result<Added> {
        let start = self.start.clone().map_or(Start::Orphan, Start::NewBranch);
        let request = AddRequest::new(&self.row.path, &self.row.branch, start);
        let limit = until.map_or(request.limit, |until| left(until).min(request.limit));
        let hold = Some(std::sync::Arc::new(lock.share()?));
        worktree::add(ctx, repo, &AddRequest { limit, hold, ..request })
    }
}

fn settle_name(ctx: &Ctx, repo: &Repo, table: &Table, wanted: Wanted) -> Result<String> {
    let template = &ctx.config().lane.branch;
    let has_lane = |name: &str| table.rows().any(|row| row.name == name && row.main == repo.main());
    let has_branch = |name: &str| -> bool {
        let branch = name::branch(template, name).ok();
        branch.is_some_and(|branch| !matches!(repo.tip(&branch), Ok(None)))
    };
    let taken = |name: &str| has_lane(name) || has_branch(name);
    match wanted {
        Wanted::Random => {
            let mut name = name::random()?;
            for _ in 0..20 {
                if !taken(&name) {
                    break;
                }
                name = name::random()?;
            }
            fit(ctx, repo, &name::free(&name, taken))
        }
        Wanted::Chosen(name) => {
            name::check(&name)?;
            fit(ctx, repo, &name::free(&name, taken))
        }
        Wanted::Typed(name) => {
            name::check(&name)?;
            refuse_taken(ctx, repo, &name, has_lane(&name), has_branch(&name)).map(|()| name)
        }
        Wanted::Given(name) => {
            name::check_given(&name)?;
            refuse_taken(ctx, repo, &name, has_lane(&name), has_branch(&name)).map(|()| name)
        }
    }
}

fn refuse_taken(ctx: &Ctx, repo: &Repo, name: &str, has_lane: bool, has_branch: bool) -> Result<()> {
    if has_lane {
        return Err(Error::precondition(format!("{} has a lane called {name} already", repo.slug()))
            .hint(format!("go there with `scruff {name}`, or choose another name")));
    }
    if has_branch {
        let branch = name::branch(&ctx.config().lane.branch, name)?;
        return Err(Error::precondition(format!("{} has a branch {branch} already", repo.slug()))
            .hint(format!("choose another name, or make it a lane: scruff adopt {branch}")));
    }
    refuse_too_long(ctx, repo, name)
}

/// The key that `name_max` caps.
fn key(repo: &Repo, name: &str) -> String {
    let base = repo.main().file_name().unwrap_or_default().to_string_lossy();
    format!("scruff/{base}/{name}")
}

fn refuse_too_long(ctx: &Ctx, repo: &Repo, name: &str) -> Result<()> {
    let key = key(repo, name);
    match ctx.config().lane.name_max {
        Some(max) if key.len() > max => {
            Err(Error::usage(format!("{key} has {} bytes, and [lane] name_max is {max}", key.len()))
                .hint("choose a shorter name, or raise name_max"))
        }
        _ => Ok(()),
    }
}

/// A chosen name is cut at a word to fit `name_max`.
fn fit(ctx: &Ctx, repo: &Repo, name: &str) -> Result<String> {
    let Some(max) = ctx.config().lane.name_max else { return Ok(name.to_owned()) };
    let room = max.saturating_sub(key(repo, "").len());
    if name.len() <= room {
        return Ok(name.to_owned());
    }
    let cut = name::cut(name, room);
    let cut = cut.rfind('-').filter(|at| *at > 0).map_or(cut, |at| &cut[..at]);
    refuse_too_long(ctx, repo, cut)?;
    name::check(cut).map(|()| cut.to_owned())
}

fn settle_base(repo: &Repo, from: Option<Origin>) -> Result<(Option<Oid>, Option<String>)> {
    match from {
        Some(Origin { commit, branch }) => {
            let base = branch.or_else(|| repo.default_branch().map(|default| default.name));
            Ok((Some(commit), base))
        }
        None => {
            let base = repo.head_branch().or_else(|| repo.default_branch().map(|default| default.name));
            Ok((repo.head()?, base))
        }
    }
}

/// A directory is taken when something is there or a lane, perhaps parked, comes back to it.
/// Compared without case: some file systems see no difference.
fn is_taken(table: &Table, path: &Path) -> bool {
    let same = |row: &Row| row.path.as_os_str().eq_ignore_ascii_case(path.as_os_str());
    path.symlink_metadata().is_ok() || table.rows().any(same)
}

/// The commit that `--from` names, and the branch if it is one.
pub fn origin(repo: &Repo, spec: &str) -> Result<Origin> {
    let branch = [spec.to_owned(), spec.trim_start_matches("refs/heads/").to_owned()]
        .into_iter()
        .find(|name| Repo::valid_branch(name) && matches!(repo.tip(name), Ok(Some(_))));
    let commit = repo.commit_of(spec).map_err(|error| {
        Error::precondition(format!("--from {spec} names no commit here"))
            .caused_by(error)
            .hint("name a branch, a tag or a commit of this repository")
    })?;
    Ok(Origin { commit, branch })
}
