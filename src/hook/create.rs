//! A client asks for a checkout: a new lane, or the way back to the one of that name.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::config::ClaudeBase;
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::git::worktree::{self, Belongs};
use crate::git::{self, Repo};
use crate::lane::create::{self, RepoLock, Request, Wanted};
use crate::lane::{self, Lane, find, handover, park, provision, rebuild, take};
use crate::lock::Lock;

/// How long all of it may take: the client gives up after two minutes.
const BUDGET: Duration = Duration::from_secs(110);

/// How long an operation on the lane of that name is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// The client of a lane where nobody names another.
const CLIENT: &str = "claude";

/// Where checkouts go that are to be inside the repository.
const INSIDE: [&str; 2] = [".claude", "worktrees"];

/// What a client asks for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The name, as the client chose it.
    pub name: String,
    /// A directory of the repository.
    pub base: PathBuf,
    /// The client's name for itself, if it said one.
    pub client: Option<String>,
    /// The conversation in which it asks.
    pub session: Option<String>,
}

/// Makes the lane, or sets the one of that name up again. The answer is its checkout.
pub fn create(ctx: &Ctx, asked: &Asked) -> Result<PathBuf> {
    let until = Instant::now() + BUDGET;
    let repo = Repo::discover(ctx, &asked.base)?;
    let lock = RepoLock::acquire(ctx, &repo, Some(until))?;
    if let Some(lane) = find::in_repo(ctx, &repo, &asked.name)?
        && let Some(path) = reconnect(ctx, &repo, lane, until)?
    {
        return Ok(path);
    }
    make(ctx, &repo, &lock, asked, until)
}

fn make(ctx: &Ctx, repo: &Repo, lock: &RepoLock, asked: &Asked, until: Instant) -> Result<PathBuf> {
    let client = client(ctx, asked.client.as_deref());
    let inside = Inside::prepare(ctx, repo)?;
    let request = Request {
        bucket: inside.as_ref().map(|inside| inside.directory.clone()),
        until: Some(until),
        asked: Some(create::Asked { session: asked.session.clone() }),
        ..Request::new(Wanted::Given(asked.name.clone()))
    };
    let made = create::create_under(ctx, repo, lock, request, |_| Ok(client)).inspect_err(|_| {
        inside.iter().for_each(Inside::take_back);
    })?;
    let lane = &made.lane;
    handover::say(ctx, &made.said, &lane.row.path);
    let base = lane.record.base.as_deref().unwrap_or("a detached HEAD");
    ctx.ui.note(format!("{} is on {}, cut from {base}", lane.label(), lane.row.branch));
    Ok(lane.row.path.clone())
}

/// The client of the row: what the payload or the command line says, never a guess.
fn client(ctx: &Ctx, said: Option<&str>) -> String {
    let plain = |text: &&str| {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        !text.is_empty() && text.len() <= 64 && text.bytes().all(letter)
    };
    match said {
        None => CLIENT.to_owned(),
        Some(text) if plain(&text) => text.to_owned(),
        Some(text) => {
            ctx.ui.warn(format!("{text:?} is no client's name; taken for {CLIENT}"));
            CLIENT.to_owned()
        }
    }
}

/// Sets a lane up again that is there. `None`: nothing of it was, and its row is gone now too.
fn reconnect(ctx: &Ctx, repo: &Repo, lane: Lane, until: Instant) -> Result<Option<PathBuf>> {
    let told = |holder: &str| ctx.ui.note(format!("waiting for {holder}, which is at {}", lane.label()));
    let lock = Lock::acquire(&lane::lock_path(ctx, lane.id()), PATIENCE, "create", told)?;
    // Whoever held it may have taken the lane.
    let Some(mut lane) = find::in_repo(ctx, repo, &lane.row.name)? else { return Ok(None) };
    match agreement(ctx, repo, &lane)? {
        Agreement::Live => {}
        Agreement::Parked => {
            let added = rebuild::rebuild(ctx, repo, &lane, &lock, Some(until))?;
            ctx.step("checkout back");
            if let Some(added) = added {
                handover::say(ctx, &added, &lane.row.path);
            }
        }
        Agreement::Gone => {
            ctx.ui.note(format!("{} had neither branch nor checkout left; it is made anew", lane.label()));
            take::forget(ctx, &lane)?;
            return Ok(None);
        }
    }
    park::unpack(ctx, repo, &mut lane)?;
    provision::provision(ctx, repo, &lane.row.path, Some(until));
    ctx.ui.note(format!("{} is there already, on {}", lane.label(), lane.row.branch));
    Ok(Some(lane.row.path))
}

/// How row, branch and checkout go together.
enum Agreement {
    Live,
    Parked,
    Gone,
}

fn agreement(ctx: &Ctx, repo: &Repo, lane: &Lane) -> Result<Agreement> {
    let path = lane.row.path.display();
    let differs = |why: String| Error::precondition(format!("{} cannot be taken up: {why}", lane.label()));
    match worktree::is_ours(ctx, repo, &lane.row.path)? {
        Belongs::Ours { admin, .. } if worktree::is_half_made(&admin) => Ok(Agreement::Parked),
        Belongs::Ours { branch, .. } if is_its_own(ctx, repo, lane, branch.as_deref())? => {
            Ok(Agreement::Live)
        }
        Belongs::Ours { branch, .. } => {
            let what = branch.map_or("no branch".to_owned(), |branch| format!("the branch {branch}"));
            Err(differs(format!("its checkout {path} is on {what}, not on {}", lane.row.branch))
                .hint(format!("switch it back: git -C {path} switch {}", lane.row.branch))
                .hint("or choose another name"))
        }
        Belongs::Missing => missing(ctx, repo, lane),
        Belongs::Main => Err(differs(format!("its row names the main checkout {path}"))),
        Belongs::Moved { from, .. } => {
            Err(differs(format!("git believes the checkout {path} to be at {}", from.display()))
                .hint(format!("mend it: git -C {path} worktree repair")))
        }
        Belongs::Other(what) => Err(differs(format!("what stands at {path} {what}"))
            .hint(format!("`scruff resume {}` moves it aside and makes the checkout again", lane.row.name))),
        Belongs::Unknown(why) => Err(differs(format!("it is not known what {path} is: {why}"))),
    }
}

/// Whether the checkout is on the lane's branch, or will be when a rebase in it has ended.
fn is_its_own(ctx: &Ctx, repo: &Repo, lane: &Lane, branch: Option<&str>) -> Result<bool> {
    if branch == Some(&lane.row.branch) {
        return Ok(true);
    }
    let real = lane.row.path.canonicalize().unwrap_or_else(|_| lane.row.path.clone());
    let entry = worktree::list(ctx, repo)?.into_iter().find(|entry| entry.path == real);
    Ok(entry.is_some_and(|entry| entry.uses(&lane.row.branch)))
}

fn missing(ctx: &Ctx, repo: &Repo, lane: &Lane) -> Result<Agreement> {
    let branch = &lane.row.branch;
    if repo.by_git().tip(branch)?.is_none() {
        // Without any commit, a branch is only a name.
        return Ok(if repo.head()?.is_none() { Agreement::Parked } else { Agreement::Gone });
    }
    match worktree::list(ctx, repo)?.into_iter().find(|entry| entry.uses(branch) && entry.path.exists()) {
        None => Ok(Agreement::Parked),
        Some(entry) => Err(Error::precondition(format!(
            "{} cannot be taken up: its branch {branch} is checked out in {}",
            lane.label(),
            entry.path.display()
        ))
        .hint("switch that one to another branch, or choose another name")),
    }
}

/// A place for checkouts below the main checkout.
struct Inside {
    directory: PathBuf,
    made: Vec<PathBuf>,
}

impl Inside {
    /// Makes the place, if the configuration wants it. A link on the way is refused: it comes with
    /// the repository and may lead anywhere.
    fn prepare(ctx: &Ctx, repo: &Repo) -> Result<Option<Self>> {
        if ctx.config().worktree.claude_base == ClaudeBase::Base {
            return Ok(None);
        }
        if repo.main() == repo.common() {
            ctx.ui.note("a bare repository has no place for checkouts inside; it goes to the base");
            return Ok(None);
        }
        let mut inside = Inside { directory: repo.main().to_owned(), made: Vec::new() };
        for part in INSIDE {
            inside.directory.push(part);
            if let Err(error) = inside.enter() {
                inside.take_back();
                return Err(error);
            }
        }
        inside.hide(ctx, repo);
        Ok(Some(inside))
    }

    fn enter(&mut self) -> Result<()> {
        let what = || format!("cannot make {}", self.directory.display());
        match self.directory.symlink_metadata() {
            Ok(meta) if meta.is_symlink() => {
                Err(Error::precondition(format!("{} is a symbolic link", self.directory.display()))
                    .hint("a checkout is never made through a link of the repository: remove it")
                    .hint("or set [worktree] claude_base = \"base\""))
            }
            Ok(meta) if meta.is_dir() => Ok(()),
            Ok(_) => Err(Error::precondition(format!("{} is no directory", self.directory.display()))
                .hint("move it away, or set [worktree] claude_base = \"base\"")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                DirBuilder::new().mode(0o755).create(&self.directory).doing(what)?;
                self.made.push(self.directory.clone());
                Ok(())
            }
            Err(error) => Err(error).doing(what),
        }
    }

    /// Checkouts inside must not show as work in the main one.
    fn hide(&self, ctx: &Ctx, repo: &Repo) {
        let asked = git::read(ctx, repo.main())
            .map(|cmd| cmd.args(["check-ignore", "-q", "--"]).arg(self.directory.join("x")).run());
        if matches!(asked, Ok(Ok(output)) if output.ok()) {
            return;
        }
        let pattern = format!("/{}/", INSIDE.join("/"));
        if let Err(error) = provision::exclude(repo, pattern.as_bytes()) {
            ctx.ui.warn(format!("{pattern} could not be added to the repository's info/exclude: {error}"));
        }
    }

    fn take_back(&self) {
        for directory in self.made.iter().rev() {
            // Only when empty.
            let _ = std::fs::remove_dir(directory);
        }
    }
}
