//! Checkouts that are not as git or scruff left them, and repositories that are alike.

use crate::world::{Ran, Repo, World};
use std::path::{Path, PathBuf};

struct Scene {
    world: World,
    repo: Repo,
    path: PathBuf,
}

impl Scene {
    /// A lane with a commit of its own.
    fn new() -> Self {
        let world = World::new();
        let repo = world.repo("orchard").with_origin("kim/orchard");
        repo.commit(".gitignore", "target\n", "ignore");
        let path = PathBuf::from(world.call(["new", "pears"]).cwd(repo.path()).run().ok().line());
        repo.commit_in(&path, "pear", "ripe\n", "pears");
        Scene { world, repo, path }
    }

    fn run<const N: usize>(&self, args: [&str; N]) -> Ran {
        self.world.call(args).cwd(self.repo.path()).run()
    }

    fn ledger(&self) -> String {
        std::fs::read_to_string(self.world.state().join("reaped.log")).unwrap_or_default()
    }
}

#[test]
fn a_branch_that_two_checkouts_have_is_kept_untouched() {
    let scene = Scene::new();
    let second = scene.world.work().join("second");
    let second = second.to_str().unwrap();
    scene.repo.git(["worktree", "add", "-q", "--force", second, "worktree-pears"]);
    for command in [["drop", "pears"], ["close", "pears"]] {
        scene.run(command).exits(2).warns(second);
    }
    assert!(scene.path.join("pear").exists());
    assert_eq!(scene.ledger(), "");
}

#[test]
fn a_checkout_deleted_by_hand_is_dropped_and_undone() {
    let scene = Scene::new();
    std::fs::remove_dir_all(&scene.path).unwrap();
    scene.run(["drop", "pears"]).ok();
    assert_eq!(scene.repo.branches(), ["main"]);
    assert_eq!(scene.ledger().lines().count(), 1);
    scene.run(["undo"]).ok();
    assert_eq!(std::fs::read_to_string(scene.path.join("pear")).unwrap(), "ripe\n");
}

#[test]
fn files_that_cannot_be_deleted_are_moved_and_the_rest_is_done() {
    let scene = Scene::new();
    let stuck = scene.path.join("target/stuck");
    std::fs::create_dir_all(&stuck).unwrap();
    std::fs::write(scene.path.join("target/big"), "cheap\n").unwrap();
    let script = "mount --bind \"$1\" \"$1\" || exit 99; shift; exec \"$@\"";
    let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-rm" };
    let scruff = env!("CARGO_BIN_EXE_scruff");
    let args = [flags, "sh", "-c", script, "sh", stuck.to_str().unwrap(), scruff, "drop", "pears"];
    let ran = scene.world.program("unshare").args(args).cwd(scene.repo.path()).run();
    if ran.status.code() == Some(99) || ran.stderr.contains("unshare failed") {
        eprintln!("skipped: nothing can be mounted here");
        return;
    }
    ran.ok().warns("could not be deleted");
    assert!(!scene.path.exists() && scene.repo.branches() == ["main"]);
    scene.run(["undo"]).ok();
    assert_eq!(std::fs::read_to_string(scene.path.join("pear")).unwrap(), "ripe\n");
}

#[test]
fn a_repository_in_a_cheap_directory_is_not_cheap() {
    let scene = Scene::new();
    let inner = scene.path.join("target/inner");
    std::fs::create_dir_all(&inner).unwrap();
    scene.repo.git_in(&inner, ["init", "-q"]);
    let commit = scene.repo.commit_in(&inner, "a", "a\n", "inner");
    scene.run(["drop", "pears"]).ok();
    scene.run(["undo"]).ok();
    assert_eq!(scene.repo.git_in(&inner, ["rev-parse", "HEAD"]), commit);
}

#[test]
fn an_emptied_registry_is_noticed() {
    let scene = Scene::new();
    scene.world.file(scene.world.base().join("registry.tsv"), "");
    scene.run(["list"]).ok().warns("scruff adopt");
    scene.run(["adopt", scene.path.to_str().unwrap()]).ok();
    scene.run(["list"]).ok().says("pears");
}

#[test]
fn lanes_of_two_repositories_of_one_name_can_be_told_apart() {
    let world = World::new();
    let shop = world.repo("shop");
    let other = world.work().join("other/shop");
    std::fs::create_dir_all(other.parent().unwrap()).unwrap();
    shop.git(["clone", "-q", ".", other.to_str().unwrap()]);
    shop.git_in(&other, ["remote", "remove", "origin"]);
    for place in [shop.path(), Path::new(&other)] {
        world.call(["new", "pears"]).cwd(place).run().ok();
    }
    let ran = world.scruff(["drop", "pears"]);
    ran.exits(1).warns(&format!("scruff -C {}", other.display()));
    world.scruff(["-C", other.to_str().unwrap(), "drop", "pears"]).ok();
    assert!(shop.branches().contains(&"worktree-pears".to_owned()));
}

#[test]
fn a_lane_without_a_commit_can_be_dropped() {
    let world = World::new();
    let repo = Repo::uncommitted(&world, "empty");
    let path = PathBuf::from(world.call(["new", "pears"]).cwd(repo.path()).run().ok().line());
    std::fs::write(path.join("a"), "a\n").unwrap();
    world.call(["drop", "pears"]).cwd(repo.path()).run().exits(2);
    std::fs::remove_file(path.join("a")).unwrap();
    world.call(["drop", "pears"]).cwd(repo.path()).run().ok();
    assert!(!path.exists());
}
