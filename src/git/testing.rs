//! A throw-away home for tests with real git.
#![allow(
    clippy::disallowed_methods,
    clippy::field_reassign_with_default,
    reason = "tests write files as they please"
)]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Oid, Repo};
use crate::ctx::Ctx;
use crate::env::Env;
use crate::proc::{Cmd, Output};
use crate::ui::Ui;

/// A private home with git's configuration, and a context that knows nothing else.
pub(crate) struct World {
    dir: tempfile::TempDir,
    pub(crate) ctx: Ctx,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        let config = "[user]\nname=Kim\nemail=kim@example.org\n[init]\ndefaultBranch=main\n\
                      [protocol \"file\"]\nallow=always\n[advice]\ndetachedHead=false\n";
        std::fs::write(home.join(".gitconfig"), config).unwrap();
        let ctx = Self::ctx_with(&home, &[]);
        World { dir, ctx }
    }

    fn ctx_with(home: &Path, more: &[(&str, &OsStr)]) -> Ctx {
        let path = Env::of_process().get("PATH").unwrap().to_owned();
        let mut env = Env::default();
        env.set("PATH", path);
        env.set("HOME", home);
        env.set("GIT_CONFIG_NOSYSTEM", "1");
        env.set("GIT_CEILING_DIRECTORIES", home.parent().unwrap());
        for (name, value) in more {
            env.set(*name, *value);
        }
        let mut ui = Ui::default();
        ui.quiet = true;
        Ctx::new(env, home.to_owned(), ui, false).unwrap()
    }

    /// A context with more variables.
    pub(crate) fn with_env(&self, more: &[(&str, &OsStr)]) -> Ctx {
        Self::ctx_with(&self.path(""), more)
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        let home = self.dir.path().canonicalize().unwrap();
        if name.as_ref().as_os_str().is_empty() { home } else { home.join(name) }
    }

    /// Runs git and demands success; its standard output without the last newline.
    pub(crate) fn git<S: AsRef<OsStr>>(&self, dir: &Path, args: &[S]) -> String {
        let output = self.try_git(dir, args);
        assert!(output.ok(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(crate) fn try_git<S: AsRef<OsStr>>(&self, dir: &Path, args: &[S]) -> Output {
        self.raw(dir).args(args).run().unwrap()
    }

    pub(crate) fn git_status(&self, args: &[&str]) -> bool {
        self.try_git(&self.path(""), args).ok()
    }

    fn raw(&self, dir: &Path) -> Cmd {
        Cmd::new("git").env_exactly(&self.ctx.env).arg("-C").arg(dir)
    }

    /// A repository with one commit on `main`.
    pub(crate) fn repo(&self, name: impl AsRef<Path>) -> PathBuf {
        self.repo_of(name, &[])
    }

    /// The same, made with more arguments for `git init`.
    pub(crate) fn repo_of(&self, name: impl AsRef<Path>, args: &[&str]) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(&path).unwrap();
        self.git(&path, &[&["init", "-q"], args].concat());
        self.commit(&path, "README", "one\n");
        path
    }

    /// Writes a file and commits it with its own name as the subject.
    pub(crate) fn commit(&self, dir: &Path, file: &str, text: &str) -> Oid {
        write(&dir.join(file), text);
        self.git(dir, &["add", "--", file]);
        self.git(dir, &["commit", "-q", "-m", file]);
        self.oid(dir, "HEAD")
    }

    pub(crate) fn oid(&self, dir: &Path, name: &str) -> Oid {
        Oid::parse(&self.git(dir, &["rev-parse", name])).unwrap()
    }

    pub(crate) fn found(&self, dir: &Path) -> Repo {
        Repo::discover(&self.ctx, dir).unwrap()
    }
}

/// Writes a file and the directories above it.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
