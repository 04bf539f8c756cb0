//! A repository: where it is, and the facts about it.

use std::cell::OnceCell;
use std::fmt;
use std::path::{Path, PathBuf};

use git2::ErrorCode;
use jiff::Timestamp;

use super::admin::{self, DotGit};
use super::command::{self, Launcher};
use super::discover::{self, Found};
use super::program::Program;
use super::{Oid, facts, name, url};
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::proc::Cmd;

/// A repository. Making one reads a few small files; libgit2 opens it at the first question.
pub struct Repo {
    main: PathBuf,
    common: PathBuf,
    root: Option<PathBuf>,
    from: PathBuf,
    bare: bool,
    launcher: Launcher,
    lib: OnceCell<std::result::Result<git2::Repository, String>>,
}

/// What a listing shows of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitLine {
    /// The first line of the message.
    pub subject: String,
    /// When it was written.
    pub author_time: Timestamp,
    /// When it was committed.
    pub commit_time: Timestamp,
}

/// The branch that work lands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultBranch {
    /// Its short name.
    pub name: String,
    /// The local branch's tip.
    pub local: Option<Oid>,
    /// The remote-tracking branch's full name and tip.
    pub remote: Option<(String, Oid)>,
    /// Which rung named it: `remote-head`, `conventional` or `checked-out`.
    pub via: &'static str,
}

impl Repo {
    /// The repository of any directory: in the main checkout or a linked one, a bare repository,
    /// a directory with a bare repository beside its checkouts. [`crate::error::Kind::Precondition`]
    /// is a positive "there is none"; any other kind means that it cannot be told.
    pub fn discover(ctx: &Ctx, dir: &Path) -> Result<Repo> {
        let real = dir
            .canonicalize()
            .doing(|| format!("cannot look at {}", dir.display()))
            .map_err(|error| error.hint("go to a repository and call again, or name one with -C"))?;
        match discover::upwards(ctx, &real)? {
            Some(found) => Self::new(ctx, real, found),
            None => Err(Error::precondition(format!("{} is not inside a git repository", dir.display()))
                .hint("go to a repository and call again, or name one with -C")),
        }
    }

    /// The repository whose main checkout is recorded as `main`. Nothing above it is looked at:
    /// where it is gone, a repository around the place must not answer for it.
    pub fn at_main(ctx: &Ctx, main: &Path) -> Result<Repo> {
        let real = main
            .canonicalize()
            .doing(|| format!("the main checkout {} cannot be reached", main.display()))?;
        match discover::at(&real)? {
            Some(found) => Self::new(ctx, real, found),
            None => Err(Error::failed(format!("{} holds no git repository any more", main.display()))
                .hint("if it moved, call from its new place")),
        }
    }

    fn new(ctx: &Ctx, from: PathBuf, found: Found) -> Result<Repo> {
        let launcher = Launcher::new(ctx)?;
        discover::check_owner(&launcher, &from, &found)?;
        let shape = Shape::read(&found.common)?;
        let main = shape.main(&found);
        let Found { root, common, .. } = found;
        Ok(Repo { main, common, root, from, bare: shape.bare, launcher, lib: OnceCell::new() })
    }

    /// The root of the main checkout: what lanes are cut from and git is called in.
    ///
    /// A bare repository has none. Where it hides in a directory of checkouts (`proj/.bare` with
    /// `proj/.git` naming it, or a bare `proj/.git`), this is that directory, whose name is the
    /// project's; else it is the bare repository itself.
    pub fn main(&self) -> &Path {
        &self.main
    }

    /// The git directory that all checkouts share, canonical: the identity of the repository.
    pub fn common(&self) -> &Path {
        &self.common
    }

    /// The root of the checkout that the search began in, if it did not begin in a git directory.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Whether there is no main checkout.
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// The same repository, with every fact asked of the `git` program: to confirm what deletes.
    #[must_use]
    pub fn by_git(&self) -> Repo {
        let lib = OnceCell::from(Err("git itself was asked".to_owned()));
        let Repo { main, common, root, from, bare, launcher, .. } = self;
        let (main, common, root, from) = (main.clone(), common.clone(), root.clone(), from.clone());
        Repo { main, common, root, from, bare: *bare, launcher: launcher.clone(), lib }
    }

    /// `git` in the main checkout. See [`command::command`].
    pub fn command(&self) -> Cmd {
        self.pointed(self.launcher.command(&self.main))
    }

    /// `git` in the main checkout, for a question.
    pub fn read(&self) -> Cmd {
        self.pointed(self.launcher.read(&self.main))
    }

    /// A bare repository is named outright: `safe.bareRepository=explicit` forbids finding it.
    pub(super) fn pointed(&self, cmd: Cmd) -> Cmd {
        if self.main == self.common { cmd.arg("--git-dir").arg(&self.common) } else { cmd }
    }

    pub(super) fn lib(&self) -> std::result::Result<&git2::Repository, &str> {
        let open = || git2::Repository::open(&self.common).map_err(|error| error.message().to_owned());
        self.lib.get_or_init(open).as_ref().map_err(String::as_str)
    }

    /// libgit2's view, for whoever looks at the contents of commits: trees, diffs, merges in memory.
    /// `None` where it has none or not all of it; then git is to be asked.
    pub fn library(&self) -> Option<&git2::Repository> {
        self.lib().ok().filter(|_| super::quirks::partial_clone_of(self).is_none())
    }

    pub(super) fn program(&self) -> Program<'_> {
        Program { read: self.read(), common: &self.common }
    }

    /// Asks libgit2; where it cannot open the repository or cannot answer, the program.
    pub(super) fn fact<T>(
        &self,
        lib: impl FnOnce(&git2::Repository) -> std::result::Result<T, git2::Error>,
        git: impl FnOnce(Program<'_>) -> Result<T>,
    ) -> Result<T> {
        match self.lib().ok().map(lib) {
            Some(Ok(fact)) => Ok(fact),
            Some(Err(error)) => {
                tracing::debug!(%error, "libgit2 cannot answer");
                git(self.program())
            }
            None => git(self.program()),
        }
    }

    /// `owner/name` of the `origin` URL as written, before any `insteadOf`; then of `upstream`,
    /// then of the first remote. Without one: `local/<basename of main>`.
    pub fn slug(&self) -> String {
        let remotes = self.remotes();
        remotes.iter().find_map(|(_, url)| url::slug(url)).unwrap_or_else(|| {
            let base = self.main.file_name().unwrap_or_default().to_string_lossy();
            format!("local/{}", base.strip_suffix(".git").unwrap_or(&base))
        })
    }

    /// The remotes and their URLs as written: `origin`, `upstream`, then the others as configured.
    pub fn remotes(&self) -> Vec<(String, String)> {
        let mut remotes = configured_remotes(&self.common).unwrap_or_default();
        remotes.sort_by_key(|(name, _)| match name.as_str() {
            "origin" => 0,
            "upstream" => 1,
            _ => 2,
        });
        remotes
    }

    /// The commit the main checkout is at. `None`: a repository without commits.
    pub fn head(&self) -> Result<Option<Oid>> {
        self.ref_oid("HEAD")
    }

    /// The branch the main checkout is on, also one without commits.
    pub fn head_branch(&self) -> Option<String> {
        let full = self.symbolic("HEAD").ok().flatten()?;
        full.strip_prefix("refs/heads/").map(str::to_owned)
    }

    /// The tip of a branch. `None` is a positive "there is no such branch".
    pub fn tip(&self, branch: &str) -> Result<Option<Oid>> {
        self.ref_oid(&format!("refs/heads/{branch}"))
    }

    /// What a reference points at, by its full name. `None` is a positive "there is none".
    pub fn ref_oid(&self, full: &str) -> Result<Option<Oid>> {
        self.fact(|lib| facts::ref_oid(lib, full), |git| git.ref_oid(full))
    }

    /// What a symbolic reference names, by its full name.
    pub fn symbolic(&self, full: &str) -> Result<Option<String>> {
        self.fact(|lib| facts::symbolic(lib, full), |git| git.symbolic(full))
    }

    /// The references below a prefix that ends in `/`, by full name.
    pub fn refs_below(&self, prefix: &str) -> Result<Vec<(String, Oid)>> {
        self.fact(|lib| facts::below(lib, prefix), |git| git.below(prefix))
    }

    /// The commit that somebody typed where scruff was called. A branch wins over a tag of the
    /// same name; `HEAD` is that of the checkout they are in.
    pub fn commit_of(&self, spec: &str) -> Result<Oid> {
        if let Some(oid) = name::valid_branch(spec).then(|| self.tip(spec)).transpose()?.flatten() {
            return Ok(oid);
        }
        let cmd = self.pointed(self.launcher.read(&self.from));
        let cmd = cmd.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]);
        let none = || {
            Error::precondition(format!("{spec} names no commit in {}", self.main.display()))
                .hint("name a branch, a tag or a commit; fetch first if it is on a remote")
        };
        if spec.contains('\0') {
            return Err(none());
        }
        let output =
            command::ask(&cmd.arg(format!("{spec}^{{commit}}")), || format!("git cannot resolve {spec}"))?;
        output.and_then(|output| Oid::parse(&command::line(&output))).ok_or_else(none)
    }

    /// The branch that work lands in: what the remote calls its HEAD, then `main`, `master` or
    /// `trunk` where there is one, then what the main checkout is on.
    pub fn default_branch(&self) -> Option<DefaultBranch> {
        let remotes: Vec<String> = self.remotes().into_iter().map(|(name, _)| name).collect();
        let named = remotes.iter().find_map(|remote| Some((self.remote_head(remote)?, "remote-head")));
        let usual = || ["main", "master", "trunk"].into_iter().find(|name| self.has(name, &remotes));
        let (name, via) = named
            .or_else(|| usual().map(|name| (name.to_owned(), "conventional")))
            .or_else(|| self.head_branch().map(|name| (name, "checked-out")))?;
        let remote = remotes.iter().find_map(|remote| self.remote_tip(remote, &name));
        Some(DefaultBranch { local: self.tip(&name).ok().flatten(), remote, name, via })
    }

    fn remote_head(&self, remote: &str) -> Option<String> {
        let full = self.symbolic(&format!("refs/remotes/{remote}/HEAD")).ok().flatten()?;
        let name = full.strip_prefix(&format!("refs/remotes/{remote}/"))?;
        self.remote_tip(remote, name).map(|_| name.to_owned())
    }

    fn remote_tip(&self, remote: &str, name: &str) -> Option<(String, Oid)> {
        let full = format!("refs/remotes/{remote}/{name}");
        let oid = self.ref_oid(&full).ok().flatten()?;
        Some((full, oid))
    }

    fn has(&self, name: &str, remotes: &[String]) -> bool {
        self.tip(name).ok().flatten().is_some()
            || remotes.iter().any(|remote| self.remote_tip(remote, name).is_some())
    }

    /// How many commits are only in `tip`, and how many only in `base`.
    pub fn ahead_behind(&self, tip: &Oid, base: &Oid) -> Result<(usize, usize)> {
        self.fact(|lib| facts::ahead_behind(lib, tip, base), |git| git.ahead_behind(tip, base))
    }

    /// Whether `b` holds all of `a`; a commit holds itself.
    pub fn is_ancestor(&self, a: &Oid, b: &Oid) -> Result<bool> {
        self.fact(|lib| facts::is_ancestor(lib, a, b), |git| git.is_ancestor(a, b))
    }

    /// A best common ancestor.
    pub fn merge_base(&self, a: &Oid, b: &Oid) -> Result<Option<Oid>> {
        self.fact(|lib| facts::merge_base(lib, a, b), |git| git.merge_base(a, b))
    }

    /// What a listing shows of a commit.
    pub fn last_commit(&self, oid: &Oid) -> Result<CommitLine> {
        self.fact(|lib| facts::last_commit(lib, oid), |git| git.last_commit(oid))
    }

    /// A branch that keeps `branch` from being made: a directory of its name (`a` for `a/b`), or
    /// one below it.
    pub fn name_clash(&self, branch: &str) -> Result<Option<String>> {
        for (at, _) in branch.match_indices('/') {
            if self.tip(&branch[..at])?.is_some() {
                return Ok(Some(branch[..at].to_owned()));
            }
        }
        let below = self.refs_below(&format!("refs/heads/{branch}/"))?;
        Ok(below.into_iter().next().map(|(full, _)| full.replacen("refs/heads/", "", 1)))
    }

    /// Whether git takes `refs/heads/<branch>`, and no command line takes it for something else.
    pub fn valid_branch(branch: &str) -> bool {
        name::valid_branch(branch)
    }
}

impl fmt::Debug for Repo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Repo")
            .field("main", &self.main)
            .field("common", &self.common)
            .finish_non_exhaustive()
    }
}

/// What the configuration says of where the main checkout is.
struct Shape {
    bare: bool,
    worktree: Option<PathBuf>,
}

impl Shape {
    fn read(common: &Path) -> Result<Shape> {
        let what = || format!("the configuration of {} cannot be read", common.display());
        let mut shape = Shape { bare: false, worktree: None };
        for file in ["config", "config.worktree"].map(|name| common.join(name)) {
            if !file.exists() {
                continue;
            }
            let config = git2::Config::open(&file).doing(what)?;
            shape.bare = optional(config.get_bool("core.bare")).doing(what)?.unwrap_or(shape.bare);
            shape.worktree = optional(config.get_path("core.worktree")).doing(what)?.or(shape.worktree);
            if file.ends_with("config") && !config.get_bool("extensions.worktreeConfig").unwrap_or(false) {
                break;
            }
        }
        Ok(shape)
    }

    fn main(&self, found: &Found) -> PathBuf {
        let common = &found.common;
        let parent = common.parent().unwrap_or(common);
        let named = self.worktree.as_ref().filter(|_| !self.bare);
        if let Some(main) = named.and_then(|path| common.join(path).canonicalize().ok()) {
            return main;
        }
        if common.file_name().is_some_and(|name| name == ".git") {
            return parent.to_owned();
        }
        if let Some(root) = found.root.as_ref().filter(|_| !self.bare && found.git_dir == *common) {
            return root.clone();
        }
        match admin::dot_git(parent) {
            DotGit::File(target) if admin::same(&target, common) => parent.to_owned(),
            _ => common.clone(),
        }
    }
}

fn optional<T>(value: std::result::Result<T, git2::Error>) -> std::result::Result<Option<T>, git2::Error> {
    match value {
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        value => value.map(Some),
    }
}

/// `remote.<name>.url` of the repository's own configuration, the first of each.
fn configured_remotes(common: &Path) -> std::result::Result<Vec<(String, String)>, git2::Error> {
    let config = git2::Config::open(&common.join("config"))?;
    let mut remotes: Vec<(String, String)> = Vec::new();
    config.entries(Some(r"^remote\..*\.url$"))?.for_each(|entry| {
        let name = String::from_utf8_lossy(entry.name_bytes());
        let name = name.strip_prefix("remote.").and_then(|name| name.strip_suffix(".url"));
        let url = String::from_utf8_lossy(entry.value_bytes()).into_owned();
        match name {
            Some(name) if remotes.iter().all(|(other, _)| other != name) => {
                remotes.push((name.to_owned(), url));
            }
            _ => {}
        }
    })?;
    Ok(remotes)
}
