//! Making checkouts, and leaving nothing where that fails.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::kinds;
use crate::ctx::Ctx;
use crate::git::testing::{World, write};
use crate::git::worktree::{AddRequest, Added, Belongs, Start, add, is_ours, list};
use crate::git::{Oid, Repo};

fn hook(main: &Path, name: &str, script: &str) {
    let file = main.join(".git/hooks").join(name);
    write(&file, format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
}

fn new(world: &World, repo: &Repo, path: &Path, branch: &str) -> crate::error::Result<Added> {
    let head = repo.head().unwrap().unwrap();
    add(&world.ctx, repo, &AddRequest::new(path, branch, Start::NewBranch(head)))
}

/// No branch, no directory, no entry, no configuration.
fn assert_nothing_left(world: &World, main: &Path, path: &Path, branch: &str) {
    let repo = world.found(main);
    assert_eq!(repo.tip(branch).unwrap(), None, "the branch stays");
    assert!(!path.exists(), "the directory stays");
    assert_eq!(list(&world.ctx, &repo).unwrap().len(), 1, "the entry stays");
}

fn branch(world: &World, repo: &Repo, path: &Path) -> Option<String> {
    match is_ours(&world.ctx, repo, path).unwrap() {
        Belongs::Ours { branch, .. } => branch,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_new_branch_is_cut_without_an_upstream() {
    let world = World::new();
    let from = world.repo("from");
    let main = world.path("main");
    world.git(&from, &["clone", "-q", from.to_str().unwrap(), main.to_str().unwrap()]);
    world.git(&main, &["config", "branch.autoSetupMerge", "always"]);
    hook(&main, "post-checkout", "echo /not/the/path; echo noise >&2; echo $LANG");
    let repo = world.found(&main);
    let path = world.path("a b/é/lane");
    let added = new(&world, &repo, &path, "worktree-x").unwrap();
    let talk = String::from_utf8_lossy(&added.talk);
    assert!(talk.contains("/not/the/path") && talk.contains("noise"), "{talk}");
    assert_eq!(added.hook_failed, None);
    assert_eq!(branch(&world, &repo, &path).as_deref(), Some("worktree-x"));
    assert_eq!(repo.tip("worktree-x").unwrap(), repo.head().unwrap());
    assert!(!world.try_git(&main, &["config", "--get-regexp", "branch.worktree-x"]).ok());
    assert_eq!(world.git(&path, &["status", "--porcelain"]), "");
}

#[test]
fn every_kind_of_repository_gets_checkouts() {
    let world = World::new();
    for (at, args) in kinds(&world).iter().enumerate() {
        let main = world.repo_of(format!("r{at}"), args);
        let repo = world.found(&main);
        let path = world.path(format!("lane{at}"));
        new(&world, &repo, &path, "x/y").unwrap();
        assert_eq!(branch(&world, &repo, &path).as_deref(), Some("x/y"));
        assert_eq!(world.found(&path).main(), main);
        let empty = world.path(format!("e{at}"));
        std::fs::create_dir(&empty).unwrap();
        world.git(&empty, &[&["init", "-q"], *args].concat());
        let (repo, path) = (world.found(&empty), world.path(format!("orphan{at}")));
        add(&world.ctx, &repo, &AddRequest::new(&path, "first", Start::Orphan)).unwrap();
        assert_eq!(branch(&world, &repo, &path).as_deref(), Some("first"));
        assert_eq!(world.git(&path, &["status", "--porcelain"]), "");
        assert!(repo.tip("first").unwrap().is_none() && repo.head().unwrap().is_none());
        world.commit(&path, "f", "1");
        assert_eq!(world.git(&path, &["rev-list", "--count", "HEAD"]), "1");
        assert!(repo.tip("first").unwrap().is_some());
    }
}

#[test]
fn a_bare_layout_gets_checkouts() {
    let world = World::new();
    let from = world.repo("from");
    let bare = world.path("proj/.bare");
    world.git(&from, &["clone", "-q", "--bare", from.to_str().unwrap(), bare.to_str().unwrap()]);
    write(&world.path("proj/.git"), "gitdir: ./.bare\n");
    world.git(&from, &["config", "--global", "safe.bareRepository", "explicit"]);
    let repo = world.found(&world.path("proj"));
    new(&world, &repo, &world.path("proj/main2"), "m").unwrap();
    let inside = world.found(&world.path("proj/main2"));
    new(&world, &inside, &world.path("proj/other"), "o").unwrap();
    assert_eq!(branch(&world, &repo, &world.path("proj/other")).as_deref(), Some("o"));
    world.git(
        &from,
        &["clone", "-q", "--bare", from.to_str().unwrap(), world.path("x.git").to_str().unwrap()],
    );
    let repo = world.found(&world.path("x.git"));
    new(&world, &repo, &world.path("x-lane"), "o").unwrap();
    assert_eq!(branch(&world, &repo, &world.path("x-lane")).as_deref(), Some("o"));
}

#[test]
fn an_existing_branch_wins_over_a_tag_of_its_name() {
    let world = World::new();
    let main = world.repo("main");
    world.git(&main, &["branch", "x"]);
    let at = world.oid(&main, "HEAD");
    world.commit(&main, "two", "2");
    world.git(&main, &["tag", "x"]);
    let (repo, path) = (world.found(&main), world.path("lane"));
    let request = AddRequest::new(&path, "x", Start::Existing);
    add(&world.ctx, &repo, &request).unwrap();
    assert_eq!(world.oid(&path, "HEAD"), at);
    assert_eq!(branch(&world, &repo, &path).as_deref(), Some("x"));
    let again = add(&world.ctx, &repo, &AddRequest { path: world.path("two"), ..request }).unwrap_err();
    assert!(again.message().contains("already"), "{again}");
    assert!(!world.path("two").exists() && repo.tip("x").unwrap().is_some());
    let none = AddRequest::new(world.path("three"), "nope", Start::Existing);
    assert!(add(&world.ctx, &repo, &none).unwrap_err().message().contains("no branch nope"));
}

#[test]
fn a_branch_that_is_there_is_not_taken_and_not_lost() {
    let world = World::new();
    let main = world.repo("main");
    world.git(&main, &["branch", "x"]);
    let (repo, path) = (world.found(&main), world.path("lane"));
    assert!(new(&world, &repo, &path, "x").is_err());
    assert!(new(&world, &repo, &path, "x/below").is_err());
    assert!(repo.tip("x").unwrap().is_some() && !path.exists());
    assert_eq!(list(&world.ctx, &repo).unwrap().len(), 1);
}

#[test]
fn a_place_that_is_taken_stays_as_it_is() {
    let world = World::new();
    let main = world.repo("main");
    let (repo, path) = (world.found(&main), world.path("lane"));
    write(&path.join("mine"), "precious");
    let error = new(&world, &repo, &path, "x").unwrap_err();
    assert!(error.message().contains("already exists"), "{error}");
    assert_eq!(std::fs::read(path.join("mine")).unwrap(), b"precious");
    assert_eq!(repo.tip("x").unwrap(), None);
    new(&world, &repo, &world.path("other"), "y").unwrap();
    write(&world.path("other/new"), "precious");
    assert!(new(&world, &repo, &world.path("other"), "x").is_err());
    assert!(world.path("other/new").exists() && repo.tip("x").unwrap().is_none());
    assert_eq!(branch(&world, &repo, &world.path("other")).as_deref(), Some("y"));
}

#[test]
fn a_filter_that_fails_leaves_nothing() {
    let world = World::new();
    let main = world.repo("main");
    write(&main.join(".gitattributes"), "*.big filter=big\n");
    world.commit(&main, "a.big", "x");
    world.git(&main, &["add", ".gitattributes"]);
    world.git(&main, &["commit", "-q", "-m", "attributes"]);
    world.git(&main, &["config", "filter.big.smudge", "echo cannot fetch it >&2; false"]);
    world.git(&main, &["config", "filter.big.required", "true"]);
    let path = world.path("lane");
    let error = new(&world, &world.found(&main), &path, "x").unwrap_err();
    assert!(error.message().contains("a.big"), "{error}");
    assert_nothing_left(&world, &main, &path, "x");
}

#[test]
fn a_hook_that_fails_costs_a_line_and_not_the_checkout() {
    let world = World::new();
    let main = world.repo("main");
    hook(&main, "post-checkout", "echo git-lfs was not found >&2; exit 2");
    let (repo, path) = (world.found(&main), world.path("lane"));
    let added = new(&world, &repo, &path, "x").unwrap();
    assert_eq!(added.hook_failed.as_deref(), Some("exit status 2: git-lfs was not found"));
    assert_eq!(branch(&world, &repo, &path).as_deref(), Some("x"));
    hook(&main, "reference-transaction", "test \"$1\" = aborted || { echo no >&2; exit 1; }");
    assert!(new(&world, &repo, &world.path("two"), "y").is_err());
    assert!(!world.path("two").exists() && repo.tip("y").unwrap().is_none());
}

#[test]
fn what_takes_too_long_is_stopped_and_leaves_nothing() {
    let world = World::new();
    let main = world.repo("main");
    let repo = world.found(&main);
    let try_it = |path: &PathBuf, branch: &str| {
        let start = Start::NewBranch(repo.head().unwrap().unwrap());
        let request = AddRequest::new(path, branch, start);
        add(&world.ctx, &repo, &AddRequest { limit: Duration::from_millis(700), ..request }).unwrap_err()
    };
    hook(&main, "post-checkout", "sleep 60");
    let error = try_it(&world.path("in-hook"), "x");
    assert!(error.message().contains("no answer within"), "{error}");
    assert_nothing_left(&world, &main, &world.path("in-hook"), "x");
    std::fs::remove_file(main.join(".git/hooks/post-checkout")).unwrap();
    write(&main.join(".gitattributes"), "*.big filter=big\n");
    world.git(&main, &["add", ".gitattributes"]);
    world.commit(&main, "a.big", "x");
    world.git(&main, &["config", "filter.big.smudge", "sleep 60"]);
    try_it(&world.path("in-filter"), "y");
    assert_nothing_left(&world, &main, &world.path("in-filter"), "y");
}

#[test]
fn a_git_that_is_killed_leaves_nothing() {
    let world = World::new();
    let main = world.repo("main");
    write(&main.join(".gitattributes"), "*.big filter=big\n");
    world.git(&main, &["add", ".gitattributes"]);
    world.commit(&main, "a.big", "x");
    world.git(&main, &["config", "filter.big.smudge", "kill -9 0"]);
    let path = world.path("lane");
    let error = new(&world, &world.found(&main), &path, "x").unwrap_err();
    assert!(error.message().contains("signal 9"), "{error}");
    assert_nothing_left(&world, &main, &path, "x");
}

#[test]
fn what_vanished_is_made_again() {
    let world = World::new();
    let main = world.repo("main");
    let (repo, path) = (world.found(&main), world.path("lane"));
    new(&world, &repo, &path, "x").unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    add(&world.ctx, &repo, &AddRequest::new(&path, "x", Start::Existing)).unwrap();
    assert_eq!(branch(&world, &repo, &path).as_deref(), Some("x"));
    world.git(&main, &["worktree", "lock", path.to_str().unwrap()]);
    std::fs::rename(&path, world.path("stick")).unwrap();
    let error = add(&world.ctx, &repo, &AddRequest::new(&path, "x", Start::Existing)).unwrap_err();
    assert!(error.message().contains("locked"), "{error}");
    assert!(main.join(".git/worktrees/lane/locked").exists() && !path.exists());
}

#[test]
fn a_place_behind_a_link_is_one_place() {
    let world = World::new();
    let main = world.repo("main");
    std::fs::create_dir(world.path("real")).unwrap();
    std::os::unix::fs::symlink(world.path("real"), world.path("link")).unwrap();
    let (repo, path) = (world.found(&main), world.path("link/lane"));
    new(&world, &repo, &path, "x").unwrap();
    assert_eq!(branch(&world, &repo, &path).as_deref(), Some("x"));
    assert!(list(&world.ctx, &repo).unwrap()[1].is_at(&path));
    std::fs::remove_dir_all(&path).unwrap();
    add(&world.ctx, &repo, &AddRequest::new(&path, "x", Start::Existing)).unwrap();
    assert_eq!(list(&world.ctx, &repo).unwrap().len(), 2);
    crate::git::worktree::remove(&world.ctx, &repo, &path, false).unwrap();
    assert!(!path.exists() && list(&world.ctx, &repo).unwrap().len() == 1);
}

#[test]
fn pointers_of_git_lfs_are_told() {
    let world = World::new();
    let main = world.repo("main");
    write(&main.join(".gitattributes"), "*.bin filter=lfs\n");
    world.git(&main, &["add", "."]);
    world.commit(&main, "a é.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    world.commit(&main, "b.bin", "fetched");
    world.commit(&main, "c.txt", "version https://git-lfs.github.com/spec/v1\n");
    assert_eq!(crate::git::lfs::pointers(&world.ctx, &main).unwrap(), [Path::new("a é.bin")]);
}

#[test]
fn sixteen_at_once_all_succeed() {
    let world = World::new();
    for (at, args) in kinds(&world).iter().enumerate() {
        let main = world.repo_of(format!("r{at}"), args);
        let base = world.oid(&main, "HEAD");
        let one = |ctx: &Ctx, path: PathBuf, base: Oid| {
            let branch = path.file_name().unwrap().to_str().unwrap().to_owned();
            let repo = Repo::discover(ctx, &main).unwrap();
            let request = AddRequest::new(path, branch, Start::NewBranch(base));
            add(ctx, &repo, &request).map(drop).map_err(|error| error.message())
        };
        let path = |lane: usize| world.path(format!("lane{at}-{lane}"));
        let calls: Vec<_> = (0..16).map(|lane| (world.with_env(&[]), path(lane))).collect();
        let results: Vec<_> = std::thread::scope(|scope| {
            let call = |(ctx, path)| {
                let (one, base) = (&one, base.clone());
                scope.spawn(move || one(&ctx, path, base))
            };
            let threads: Vec<_> = calls.into_iter().map(call).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(results.iter().all(Result::is_ok), "{args:?}: {results:?}");
        assert_eq!(list(&world.ctx, &world.found(&main)).unwrap().len(), 17);
    }
}

#[test]
fn sparse_patterns_are_inherited_or_not() {
    let world = World::new();
    let main = world.repo("main");
    for file in ["in/a", "out/b"] {
        world.commit(&main, file, "x");
    }
    world.git(&main, &["sparse-checkout", "set", "in"]);
    assert!(!main.join("out/b").exists());
    let (repo, path) = (world.found(&main), world.path("lane"));
    new(&world, &repo, &path, "x").unwrap();
    assert!(path.join("in/a").exists() && !path.join("out/b").exists());
    assert_eq!(world.git(&path, &["status", "--porcelain"]), "");
    let start = Start::NewBranch(repo.head().unwrap().unwrap());
    let request = AddRequest::new(world.path("whole"), "y", start);
    add(&world.ctx, &repo, &AddRequest { inherit_sparse: false, ..request }).unwrap();
    assert!(world.path("whole/in/a").exists() && world.path("whole/out/b").exists());
    assert_eq!(world.git(&world.path("whole"), &["status", "--porcelain"]), "");
    assert!(!main.join("out/b").exists());
}

#[test]
fn a_git_that_does_not_copy_sparse_patterns_is_helped() {
    let world = World::new();
    let main = world.repo("main");
    for file in ["in/a", "out/b"] {
        world.commit(&main, file, "x");
    }
    let (repo, path) = (world.found(&main), world.path("lane"));
    new(&world, &repo, &path, "x").unwrap();
    world.git(&main, &["sparse-checkout", "set", "--no-cone", "/in/"]);
    let request = AddRequest::new(&path, "x", Start::Existing);
    crate::git::creation::sparse(&world.ctx, &repo, &request).unwrap();
    assert!(path.join("in/a").exists() && !path.join("out/b").exists());
    world.git(&main, &["sparse-checkout", "disable"]);
    crate::git::creation::sparse(&world.ctx, &repo, &request).unwrap();
    assert!(!path.join("out/b").exists());
}

#[test]
fn an_id_that_is_nowhere_leaves_nothing() {
    let world = World::new();
    let main = world.repo("main");
    let start = Start::NewBranch(Oid::parse(&"1".repeat(40)).unwrap());
    let path = world.path("lane");
    assert!(add(&world.ctx, &world.found(&main), &AddRequest::new(&path, "x", start)).is_err());
    assert_nothing_left(&world, &main, &path, "x");
}
