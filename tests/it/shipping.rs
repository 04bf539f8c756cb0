//! What the forge says decides: dead ends, merged heads, and shipping what came after a merge.

use crate::world::{Ran, Repo, World};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::PathBuf;

const FAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakes/gh");
const URL: &str = "https://github.com/acme/shop.git";

/// A repository on a forge: a stand-in `gh`, and a bare repository that its URL leads to.
struct Forged {
    world: World,
    repo: Repo,
    remote: PathBuf,
}

impl Forged {
    fn new() -> Self {
        let world = World::new();
        std::fs::create_dir(world.root().join("gh")).unwrap();
        symlink(FAKE, world.bin().join("gh")).unwrap();
        let repo = world.repo("shop");
        let remote = world.work().join("remote.git");
        repo.git(["init", "-q", "--bare", remote.to_str().unwrap()]);
        repo.git(["config", &format!("url.{}.insteadOf", remote.display()), URL]);
        repo.git(["remote", "add", "origin", URL]);
        repo.git(["push", "-q", "origin", "main"]);
        let it = Self { world, repo, remote };
        it.world.file("gh/repo-view.json", json!({"isArchived": false}).to_string());
        it.requests(json!([]));
        it
    }

    fn requests(&self, answer: Value) {
        self.world.file("gh/pr-list.json", answer.to_string());
        // What was asked a moment ago is still remembered.
        let _ = std::fs::remove_dir_all(self.world.state().join("cache"));
    }

    fn pr(&self, state: &str, tip: &str) -> Value {
        let closed = if state == "OPEN" { Value::Null } else { json!("2999-01-01T00:00:00Z") };
        let merged = if state == "MERGED" { closed.clone() } else { Value::Null };
        json!({
            "number": 7, "state": state, "url": "https://github.com/acme/shop/pull/7",
            "headRefName": "worktree-pears", "headRefOid": tip, "headRepositoryOwner": {"login": "acme"},
            "isCrossRepository": false, "baseRefName": "main", "statusCheckRollup": [],
            "mergedAt": merged, "closedAt": closed,
        })
    }

    /// A lane with a commit of its own, and that commit.
    fn worked(&self) -> (PathBuf, String) {
        let path = PathBuf::from(self.run(["new", "pears"]).ok().line());
        let tip = self.repo.commit_in(&path, "pear", "ripe\n", "pears");
        (path, tip)
    }

    fn run<const N: usize>(&self, args: [&str; N]) -> Ran {
        self.world.call(args).cwd(self.repo.path()).run()
    }

    fn pushed(&self) -> String {
        let ran =
            self.repo.try_git(&self.remote, ["rev-parse", "--verify", "-q", "refs/heads/worktree-pears"]);
        ran.out().trim().to_owned()
    }
}

#[test]
fn a_merged_head_is_proof_and_a_moved_one_is_not() {
    let forged = Forged::new();
    let (path, tip) = forged.worked();
    forged.requests(json!([forged.pr("MERGED", &"a".repeat(40))]));
    forged.run(["reap"]).ok();
    assert!(path.exists());
    forged.requests(json!([forged.pr("MERGED", &tip)]));
    let ran = forged.run(["reap"]);
    assert!(ran.ok().out().starts_with("taken"), "{ran}");
    assert!(forged.run(["reaped"]).ok().out().contains("pr-head-oid"));
}

#[test]
fn a_forge_that_fails_keeps_the_lane_and_is_said() {
    let forged = Forged::new();
    let (path, _) = forged.worked();
    forged.world.file("gh/do", "echo 'HTTP 403: rate limit' >&2; exit 1\n");
    forged.run(["reap"]).exits(3).warns("rate limit");
    forged.run(["list"]).ok().warns("rate limit");
    let warnings = forged.run(["--json"]).ok().json()["warnings"].to_string();
    assert!(warnings.contains("rate limit"), "{warnings}");
    assert!(path.exists());
}

#[test]
fn a_dead_end_is_named_and_goes_only_when_asked() {
    let forged = Forged::new();
    let (path, tip) = forged.worked();
    forged.requests(json!([forged.pr("CLOSED", &tip)]));
    let ran = forged.run(["reap"]);
    assert!(ran.ok().out().contains("#7 was closed unmerged"), "{ran}");
    assert!(path.exists());
    forged.run(["reap", "--dead-ends"]).ok();
    assert!(!path.exists());
    forged.run(["undo"]).ok();
    assert!(path.exists());
}

#[test]
fn an_archived_repository_is_a_dead_end() {
    let forged = Forged::new();
    let (path, _) = forged.worked();
    forged.world.file("gh/repo-view.json", json!({"isArchived": true}).to_string());
    assert!(forged.run(["reap"]).ok().out().contains("archived"));
    assert!(path.exists());
}

#[test]
fn what_came_after_the_merge_is_shipped() {
    let forged = Forged::new();
    let (path, tip) = forged.worked();
    forged.repo.git(["merge", "-q", "--ff-only", "worktree-pears"]);
    forged.repo.commit_in(&path, "plum", "ripe\n", "plums");
    forged.requests(json!([forged.pr("MERGED", &tip)]));
    assert!(forged.run(["list"]).ok().out().contains("live+1"));
    forged
        .world
        .file("gh/do", "[ \"$1-$2\" = pr-create ] && echo https://github.com/acme/shop/pull/8 && exit 0\n");
    let ran = forged.run(["reship", "pears"]);
    assert_eq!(ran.ok().line(), "https://github.com/acme/shop/pull/8");
    assert_eq!(forged.pushed(), forged.repo.git(["rev-parse", "worktree-pears"]));
}

#[test]
fn an_open_request_is_only_pushed_to() {
    let forged = Forged::new();
    let (_, tip) = forged.worked();
    forged.requests(json!([forged.pr("OPEN", &"b".repeat(40))]));
    forged.run(["reship", "pears"]).ok().silent();
    assert_eq!(forged.pushed(), tip);
}

#[test]
fn what_should_not_be_shipped_is_refused_before_anything_is_pushed() {
    let forged = Forged::new();
    let (path, tip) = forged.worked();
    forged.run(["reship", "pears"]).exits(2).warns("never had a pull request");
    forged.requests(json!([forged.pr("MERGED", &tip)]));
    forged.run(["reship", "pears"]).exits(2).warns("nothing came after");
    forged.repo.git_in(&path, ["reset", "-q", "--hard", "main"]);
    forged.run(["reship", "pears"]).exits(2).warns("has all of it");
    forged.repo.commit_in(&path, "fig", "ripe\n", "figs");
    forged.repo.commit("main", "on\n", "main goes on");
    forged.repo.git(["push", "-q", "origin", "main"]);
    forged.run(["reship", "pears"]).exits(2).warns("does not build on");
    forged.world.file("gh/do", "exit 1\n");
    let _ = std::fs::remove_dir_all(forged.world.state().join("cache"));
    forged.run(["reship", "pears"]).exits(3);
    assert_eq!(forged.pushed(), "");
}
