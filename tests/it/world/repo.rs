//! Real repositories, made quickly.

use super::{Env, Ran, World, call::Call};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub struct Repo {
    path: PathBuf,
    remotes: PathBuf,
    env: Env,
}

impl Repo {
    pub(super) fn create(world: &World, name: &str) -> Self {
        let repo = Self::uncommitted(world, name);
        repo.commit("README.md", &format!("# {name}\n"), "Start");
        repo
    }

    /// A repository in which nothing has been committed yet.
    pub fn uncommitted(world: &World, name: &str) -> Self {
        Self::init(world, name, &[])
    }

    /// `git init` with options of your own, nothing committed.
    pub fn init(world: &World, name: &str, options: &[&str]) -> Self {
        let path = world.work().join("src").join(name);
        std::fs::create_dir_all(&path).unwrap();
        let repo = Self { path, remotes: world.work().join("remotes"), env: world.env().clone() };
        repo.git([&["init", "-q"], options].concat());
        repo
    }

    /// The main checkout.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it a bare remote `origin` called `owner/name`, pushed to and tracked.
    pub fn with_origin(self, slug: &str) -> Self {
        let bare = self.remotes.join(format!("{slug}.git"));
        std::fs::create_dir_all(&bare).unwrap();
        self.git_in(&bare, ["init", "-q", "--bare"]);
        self.git([OsStr::new("remote"), "add".as_ref(), "origin".as_ref(), bare.as_ref()]);
        self.git(["push", "-q", "-u", "origin", "main"]);
        self.git(["remote", "set-head", "origin", "main"]);
        self
    }

    /// Runs git in the main checkout; it must succeed. Returns its output without the last newline.
    #[track_caller]
    pub fn git<I, S>(&self, args: I) -> String
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.git_in(&self.path, args)
    }

    /// The same in another directory, such as a lane's checkout.
    #[track_caller]
    pub fn git_in<I, S>(&self, dir: &Path, args: I) -> String
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let ran = self.try_git(dir, args);
        ran.ok().out().trim_end_matches('\n').to_owned()
    }

    /// Runs git without an opinion on how it ends.
    #[track_caller]
    pub fn try_git<I, S>(&self, dir: &Path, args: I) -> Ran
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        Call::new("git".as_ref(), self.env.clone(), dir.to_owned()).args(args).run()
    }

    /// Any git call in the main checkout, to be refined and run.
    pub fn call<I, S>(&self, args: I) -> Call
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        Call::new("git".as_ref(), self.env.clone(), self.path.clone()).args(args)
    }

    /// Writes one file and commits it. Returns the commit's id.
    #[track_caller]
    pub fn commit(&self, file: &str, content: &str, message: &str) -> String {
        self.commit_in(&self.path, file, content, message)
    }

    #[track_caller]
    pub fn commit_in(&self, dir: &Path, file: &str, content: &str, message: &str) -> String {
        let path = dir.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self.git_in(dir, ["add", "--", file]);
        self.git_in(dir, ["commit", "-q", "-m", message]);
        self.git_in(dir, ["rev-parse", "HEAD"])
    }

    /// Local branches, sorted.
    #[track_caller]
    pub fn branches(&self) -> Vec<String> {
        lines(&self.git(["for-each-ref", "--format=%(refname:short)", "refs/heads"]))
    }

    /// Checkouts besides the main one.
    #[track_caller]
    pub fn worktrees(&self) -> Vec<PathBuf> {
        let listed = self.git(["worktree", "list", "--porcelain", "-z"]);
        let paths = listed.split('\0').filter_map(|field| field.strip_prefix("worktree "));
        paths.skip(1).map(PathBuf::from).collect()
    }

    /// Installs a hook of the repository's.
    pub fn hook(&self, world: &World, name: &str, body: &str) {
        world.script(self.path.join(".git/hooks").join(name), body);
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}
