//! Whether work has landed, after every way of landing it that there is, with real git.

mod forge;
mod odd;
mod property;
mod undone;
mod ways;

use crate::world::{Repo, World};
use scruff::ctx::Ctx;
use scruff::forge::{Asked, Pr};
use scruff::landed::{self, Landed, Question, Verdict};
use scruff::ui::Ui;
use std::path::{Path, PathBuf};

/// A repository with a lane cut from `main`, in a checkout of its own.
struct Lane {
    world: World,
    repo: Repo,
    path: PathBuf,
    start: Option<String>,
}

impl Lane {
    fn new() -> Self {
        Self::of(|repo| repo)
    }

    /// With a remote that has everything that main has.
    fn with_origin() -> Self {
        Self::of(|repo| repo.with_origin("acme/shop"))
    }

    fn of(prepare: impl FnOnce(Repo) -> Repo) -> Self {
        let world = World::new();
        let repo = world.repo("shop");
        // Nobody pulls the plug on a test.
        repo.git(["config", "core.fsync", "none"]);
        repo.commit("list", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "List");
        repo.commit("other", "a\nb\nc\n", "Other");
        let repo = prepare(repo);
        if !repo.git(["remote"]).is_empty() {
            repo.git(["push", "-q", "origin", "main"]);
        }
        let path = world.base().join("shop/lane");
        repo.git([
            "worktree".as_ref(),
            "add".as_ref(),
            "-q".as_ref(),
            "-b".as_ref(),
            "lane".as_ref(),
            path.as_os_str(),
        ]);
        let start = Some(repo.git(["rev-parse", "main"]));
        Self { world, repo, path, start }
    }

    /// Writes a file in the lane and commits it.
    fn commit(&self, file: &str, content: &str) -> &Self {
        self.repo.commit_in(&self.path, file, content, &format!("Lane: {file}"));
        self
    }

    /// Writes a file on main and commits it.
    fn main(&self, file: &str, content: &str) -> &Self {
        self.repo.commit(file, content, &format!("Main: {file}"));
        self
    }

    /// git in the main checkout, word by word.
    fn git(&self, line: &str) -> &Self {
        self.repo.git(line.split(' '));
        self
    }

    /// git in the lane.
    fn lane_git(&self, line: &str) -> &Self {
        self.repo.git_in(&self.path, line.split(' '));
        self
    }

    /// Squashes the lane into main.
    fn squash(&self) -> &Self {
        self.git("merge -q --squash lane").git("commit -q -m Squashed")
    }

    /// Puts the lane's commits onto main one by one.
    fn pick(&self, range: &str) -> &Self {
        self.git(&format!("cherry-pick --allow-empty {range}"))
    }

    fn tip(&self) -> String {
        self.repo.git(["rev-parse", "refs/heads/lane"])
    }

    fn ctx(&self) -> Ctx {
        let env = self.world.env().iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        Ctx::new(env, self.world.home(), Ui::default(), false).unwrap()
    }

    fn found(&self) -> scruff::git::Repo {
        scruff::git::Repo::discover(&self.ctx(), self.repo.path()).unwrap()
    }

    /// Judged without a forge.
    #[track_caller]
    fn judged(&self) -> Landed {
        self.judged_with(&|| Asked::NoForge("there is none".to_owned()))
    }

    /// Judged by libgit2 and by git, which must agree.
    #[track_caller]
    fn judged_with(&self, requests: &dyn Fn() -> Asked<Vec<Pr>>) -> Landed {
        self.judged_as("lane", self.start.as_deref(), requests)
    }

    #[track_caller]
    fn judged_as(&self, branch: &str, start: Option<&str>, requests: &dyn Fn() -> Asked<Vec<Pr>>) -> Landed {
        judge(&self.found(), branch, start, requests)
    }

    #[track_caller]
    fn is(&self, verdict: Verdict, via: &str) -> Landed {
        let landed = self.judged();
        assert!(
            landed.verdict == verdict && landed.via.as_deref().unwrap_or("") == via,
            "expected {verdict:?} {via}: {landed:#?}\n{}",
            self.repo.git(["log", "--graph", "--oneline", "--all"]),
        );
        landed
    }

    #[track_caller]
    fn yes(&self, via: &str) -> Landed {
        self.is(Verdict::Yes, via)
    }

    #[track_caller]
    fn no(&self) -> Landed {
        self.is(Verdict::No, "")
    }

    #[track_caller]
    fn fresh(&self) -> Landed {
        self.is(Verdict::Fresh, "never-diverged")
    }

    #[track_caller]
    fn contained(&self) -> Landed {
        self.is(Verdict::Contained, "merge-tree-empty")
    }
}

#[track_caller]
fn judge(
    repo: &scruff::git::Repo,
    branch: &str,
    start: Option<&str>,
    requests: &dyn Fn() -> Asked<Vec<Pr>>,
) -> Landed {
    let owners = ["acme".to_owned(), "kim".to_owned()];
    let by = |repo| landed::landed(&Question { repo, branch, start, requests, owners: &owners });
    let (shown, confirmed) = (by(repo), by(&repo.by_git()));
    assert_eq!(shown, confirmed, "libgit2 and git differ");
    confirmed
}

/// The content of the file `list` with some of its lines replaced.
fn list(changes: &[(usize, &str)]) -> String {
    let mut lines: Vec<String> = (1..=9).map(|n| n.to_string()).collect();
    for (line, text) in changes {
        lines[line - 1] = (*text).to_owned();
    }
    lines.join("\n") + "\n"
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}
