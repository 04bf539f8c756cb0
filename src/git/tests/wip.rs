//! Work set aside and taken back: every byte, every time, or a refusal.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{change_within_a_tick, kinds};
use crate::ctx::Ctx;
use crate::error::Kind;
use crate::git::status::{Dirt, of};
use crate::git::testing::{World, write};
use crate::git::wip::{self, Back, Saved};
use crate::git::{Repo, worktree};

fn lane(world: &World, main: &Path, name: &str) -> PathBuf {
    let path = world.path(name);
    world.git(main, &["worktree", "add", "-q", "-b", name, path.to_str().unwrap()]);
    path
}

fn save_in(ctx: &Ctx, path: &Path) -> crate::error::Result<Option<Saved>> {
    wip::save(ctx, &Repo::discover(ctx, path).unwrap(), path, "a label")
}

fn save(world: &World, path: &Path) -> Saved {
    save_in(&world.ctx, path).unwrap().unwrap()
}

fn refused(world: &World, path: &Path) -> String {
    let before = (snapshot(path), world.git(path, &["for-each-ref"]), plain_status(world, path));
    let error = save_in(&world.ctx, path).unwrap_err();
    assert_eq!(error.kind(), Kind::Refused, "{error}");
    assert_eq!((snapshot(path), world.git(path, &["for-each-ref"]), plain_status(world, path)), before);
    error.message()
}

fn take_back(world: &World, path: &Path) -> Back {
    wip::take_back(&world.ctx, path).unwrap()
}

fn not_back(world: &World, path: &Path) -> String {
    let before = world.git(path, &["for-each-ref"]);
    let error = wip::take_back(&world.ctx, path).unwrap_err();
    assert_eq!(error.kind(), Kind::Refused, "{error}");
    assert_eq!(world.git(path, &["for-each-ref"]), before);
    error.message()
}

fn plain_status(world: &World, path: &Path) -> String {
    world.git(path, &["status", "--porcelain", "-uall", "-z"])
}

/// Every file outside `.git`: its mode and bytes, or where it links to.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut files = BTreeMap::new();
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let (path, meta) = (entry.path(), entry.path().symlink_metadata().unwrap());
            if entry.file_name() == ".git" {
                continue;
            }
            if meta.is_dir() {
                dirs.push(path);
            } else if meta.is_symlink() {
                files.insert(
                    path.clone(),
                    (0, std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()),
                );
            } else {
                files.insert(path.clone(), (meta.permissions().mode(), std::fs::read(&path).unwrap()));
            }
        }
    }
    files
}

/// Every kind of dirt.
fn soil(world: &World, path: &Path) {
    for file in ["edited", "gone", "mode", "both", "staged"] {
        world.commit(path, file, "old\n");
    }
    write(&path.join("edited"), "new\n");
    std::fs::remove_file(path.join("gone")).unwrap();
    std::fs::set_permissions(path.join("mode"), PermissionsExt::from_mode(0o755)).unwrap();
    write(&path.join("staged"), "new\n");
    write(&path.join("added"), "new\n");
    write(&path.join("both"), "staged so\n");
    write(&path.join("vanished"), "only in the index\n");
    world.git(path, &["add", "staged", "added", "both", "vanished"]);
    write(&path.join("both"), "and lies there so\n");
    std::fs::remove_file(path.join("vanished")).unwrap();
    write(&path.join("deep/new\nline é"), "untracked\n");
    write(&path.join(OsStr::from_bytes(b"\xff\xfe")), "untracked\n");
    std::os::unix::fs::symlink("/nowhere", path.join("link")).unwrap();
}

#[test]
fn everything_goes_aside_and_comes_back_as_it_was() {
    let world = World::new();
    for (at, args) in kinds(&world).iter().enumerate() {
        let main = world.repo_of(format!("r{at}"), args);
        let path = lane(&world, &main, &format!("lane{at}"));
        write(&path.join(".gitignore"), "ignored\n");
        world.git(&path, &["add", ".gitignore"]);
        soil(&world, &path);
        write(&path.join("ignored"), "stays\n");
        let before = (snapshot(&path), plain_status(&world, &path), world.oid(&path, "HEAD"));
        let saved = save(&world, &path);
        assert_eq!(
            (saved.oid.clone(), saved.branch.as_str()),
            (world.oid(&path, "HEAD"), format!("lane{at}").as_str())
        );
        assert_eq!(of(&world.ctx, &path), Dirt::Clean);
        assert_eq!(plain_status(&world, &path), "");
        assert_eq!(world.git(&path, &["log", "-1", "--format=%s%b"]), "wip: a label");
        assert_eq!(snapshot(&path), before.0, "saving touches no file");
        assert!(!world.git(&path, &["ls-files"]).contains("ignored\n"));
        assert_eq!(
            wip::newest(&world.ctx, &path).unwrap().unwrap(),
            (saved.oid.clone(), "a label".to_owned())
        );
        let back = take_back(&world, &path);
        assert_eq!((back.oid, back.label.as_str()), (saved.oid, "a label"));
        assert_eq!((snapshot(&path), plain_status(&world, &path), world.oid(&path, "HEAD")), before);
        assert_eq!(world.git(&path, &["show", ":both"]), "staged so");
        assert_eq!(world.git(&path, &["show", ":vanished"]), "only in the index");
        assert_eq!(world.git(&path, &["for-each-ref", "refs/scruff", "refs/stash"]), "");
    }
}

#[test]
fn a_rebuilt_checkout_gets_it_all_back() {
    let world = World::new();
    let main = world.repo("main");
    let path = lane(&world, &main, "lane");
    soil(&world, &path);
    let before = (snapshot(&path), plain_status(&world, &path));
    save(&world, &path);
    let repo = world.found(&main);
    worktree::remove(&world.ctx, &repo, &path, false).unwrap();
    world.git(&main, &["gc", "-q", "--prune=now"]);
    let request = worktree::AddRequest::new(&path, "lane", worktree::Start::Existing);
    worktree::add(&world.ctx, &repo, &request).unwrap();
    take_back(&world, &path);
    assert_eq!((snapshot(&path), plain_status(&world, &path)), before);
}

#[test]
fn nothing_is_nothing_and_two_are_two() {
    let world = World::new();
    let main = world.repo("main");
    let path = lane(&world, &main, "lane");
    assert_eq!(save_in(&world.ctx, &path).unwrap(), None);
    write(&path.join("one"), "1");
    save(&world, &path);
    assert_eq!(save_in(&world.ctx, &path).unwrap(), None);
    write(&path.join("two"), "2");
    save(&world, &path);
    assert_eq!(plain_status(&world, &path), "");
    take_back(&world, &path);
    assert_eq!(plain_status(&world, &path), "?? two\0");
    assert_eq!(take_back(&world, &path).files, 1);
    assert_eq!(plain_status(&world, &path), "?? one\0?? two\0");
    assert!(not_back(&world, &path).contains("no wip: commit"));
}

#[test]
fn hooks_signing_and_a_missing_identity_do_not_stop_it() {
    let world = World::new();
    let main = world.repo("main");
    let path = lane(&world, &main, "lane");
    for hook in ["pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-rewrite"] {
        let file = main.join(".git/hooks").join(hook);
        write(&file, "#!/bin/sh\ntouch ran\nexit 1\n");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    }
    for (key, value) in [
        ("commit.gpgSign", "true"),
        ("gpg.program", "false"),
        ("user.useConfigOnly", "true"),
        ("core.safecrlf", "true"),
        ("core.autocrlf", "input"),
        ("commit.template", "/nowhere"),
        ("add.ignoreErrors", "true"),
    ] {
        world.git(&main, &["config", "--global", key, value]);
    }
    world.git(&main, &["config", "--global", "--unset", "user.email"]);
    write(&path.join("crlf"), "a\r\nb\n");
    save(&world, &path);
    let line = world.git(&path, &["log", "-1", "--format=%an <%ae> %cn <%ce> %G?"]);
    assert_eq!(line, "Kim <scruff@localhost> Kim <scruff@localhost> N");
    assert!(!path.join("ran").exists());
    world.git(&main, &["config", "--global", "--unset", "user.name"]);
    write(&path.join("more"), "");
    save(&world, &path);
    assert_eq!(world.git(&path, &["log", "-1", "--format=%an %cn"]), "scruff scruff");
    let given = world.with_env(&[("GIT_AUTHOR_NAME", OsStr::new("Robin"))]);
    write(&path.join("yet more"), "");
    save_in(&given, &path).unwrap().unwrap();
    assert_eq!(world.git(&path, &["log", "-1", "--format=%an %cn"]), "Robin scruff");
}

#[test]
fn a_label_is_one_line() {
    let world = World::new();
    let main = world.repo("main");
    let path = lane(&world, &main, "lane");
    for (label, subject) in [
        ("  two\nlines\tand\u{1b}[31m more ", "wip: two lines and [31m more"),
        ("", "wip: set aside"),
        ("-x --amend 'é'", "wip: -x --amend 'é'"),
        ("# no comment", "wip: # no comment"),
    ] {
        write(&path.join("file"), label);
        wip::save(&world.ctx, &world.found(&path), &path, label).unwrap();
        assert_eq!(world.git(&path, &["log", "-1", "--format=%B"]), subject, "{label:?}");
        take_back(&world, &path);
    }
    write(&path.join("file"), "");
    wip::save(&world.ctx, &world.found(&path), &path, &"é".repeat(5000)).unwrap();
    assert!(world.git(&path, &["log", "-1", "--format=%s"]).chars().count() < 210);
}

#[test]
fn what_is_hidden_goes_along() {
    let world = World::new();
    let main = world.repo("main");
    for file in ["assumed", "skipped", "in/a", "out/b"] {
        world.commit(&main, file, "old\n");
    }
    for (key, value) in
        [("status.showUntrackedFiles", "no"), ("core.fileMode", "false"), ("core.ignoreCase", "true")]
    {
        world.git(&main, &["config", key, value]);
    }
    let path = lane(&world, &main, "lane");
    world.git(&path, &["update-index", "--assume-unchanged", "assumed"]);
    world.git(&path, &["update-index", "--skip-worktree", "skipped"]);
    for file in ["assumed", "skipped", "new", "readme"] {
        write(&path.join(file), "new\n");
    }
    std::fs::set_permissions(path.join("in/a"), PermissionsExt::from_mode(0o755)).unwrap();
    let saved = save(&world, &path);
    assert_eq!(saved.files, 5);
    let text = |name: &str| world.git(&path, &["show", &format!("HEAD:{name}")]);
    assert!(["assumed", "skipped", "new", "readme"].iter().all(|name| text(name) == "new"));
    assert!(world.git(&path, &["ls-tree", "HEAD", "in/"]).starts_with("100755"));
    assert_eq!(of(&world.ctx, &path), Dirt::Clean);
    let marks = || world.git(&path, &["ls-files", "-v", "assumed", "skipped"]);
    assert_eq!(marks(), "h assumed\nS skipped");
    take_back(&world, &path);
    assert_eq!(marks(), "h assumed\nS skipped");
    assert!(matches!(of(&world.ctx, &path), Dirt::Dirty(changes) if changes.len() == 5));
}

#[test]
fn a_change_within_a_tick_goes_along() {
    let world = World::new();
    let main = world.repo("main");
    world.commit(&main, "file", "old\n");
    let path = lane(&world, &main, "lane");
    change_within_a_tick(&world, &main.join(".git/worktrees/lane/index"), &path, "file", "new\n");
    assert_eq!(save(&world, &path).files, 1);
    assert_eq!(world.git(&path, &["show", "HEAD:file"]), "new");
}

#[test]
fn a_sparse_checkout_loses_nothing_that_is_absent() {
    let world = World::new();
    let main = world.repo("main");
    for file in ["in/a", "out/b", "out/c"] {
        world.commit(&main, file, "old\n");
    }
    for index in ["--sparse-index", "--no-sparse-index"] {
        world.git(&main, &["sparse-checkout", "set", index, "in"]);
        let path = lane(&world, &main, &index[2..]);
        write(&path.join("in/a"), "new\n");
        write(&path.join("out/b"), "new\n");
        write(&path.join("out/new"), "new\n");
        let before = snapshot(&path);
        save(&world, &path);
        let text = |name: &str| world.git(&path, &["show", &format!("HEAD:{name}")]);
        let texts = ["in/a", "out/b", "out/new", "out/c"].map(text);
        assert_eq!(texts, ["new", "new", "new", "old"]);
        assert_eq!(of(&world.ctx, &path), Dirt::Clean);
        take_back(&world, &path);
        assert_eq!(snapshot(&path), before);
        let Dirt::Dirty(changes) = of(&world.ctx, &path) else { panic!() };
        assert_eq!(changes.len(), 3, "{changes:?}");
    }
}

#[test]
fn what_a_commit_cannot_hold_is_refused() {
    let world = World::new();
    let (main, sub) = (world.repo("main"), world.repo("sub"));
    world.git(&main, &["submodule", "--quiet", "add", sub.to_str().unwrap(), "sub"]);
    world.git(&main, &["commit", "-q", "-m", "sub"]);
    let path = lane(&world, &main, "lane");
    world.git(&path, &["submodule", "--quiet", "update", "--init"]);
    write(&path.join("sub/new"), "");
    assert!(refused(&world, &path).contains("submodule has uncommitted work: sub"));
    std::fs::remove_file(path.join("sub/new")).unwrap();
    world.repo("lane/inner");
    assert!(refused(&world, &path).contains("inner/"));
    std::fs::remove_dir_all(path.join("inner")).unwrap();
    world.git(&path, &["checkout", "-q", "--detach"]);
    write(&path.join("new"), "");
    assert!(refused(&world, &path).contains("no branch"));
    let error = wip::save(&world.ctx, &world.found(&sub), &path, "x").unwrap_err();
    assert!(error.message().contains("another repository"), "{error}");
}

#[test]
fn nothing_under_way_is_concluded() {
    let world = World::new();
    for (at, args) in kinds(&world).iter().enumerate() {
        let main = world.repo_of(format!("r{at}"), args);
        world.commit(&main, "clash", "0\n");
        let names = ["merge", "rebase", "pick", "conflict"].map(|name| format!("{name}{at}"));
        let paths = names.map(|name| lane(&world, &main, &name));
        world.commit(&main, "clash", "theirs\n");
        for path in &paths {
            world.commit(path, "clash", "mine\n");
        }
        for (path, args) in paths.iter().zip([["merge", "main"], ["rebase", "main"], ["cherry-pick", "main"]])
        {
            assert!(!world.try_git(path, &args).ok());
            assert!(refused(&world, path).contains("under way"));
            write(&path.join("clash"), "resolved\n");
            world.git(path, &["add", "clash"]);
            assert!(refused(&world, path).contains("under way"));
        }
        let stuck = &paths[3];
        write(&stuck.join("clash"), "work\n");
        let stash = world.git(stuck, &["stash", "create"]);
        world.git(stuck, &["checkout", "-q", "clash"]);
        world.commit(stuck, "clash", "other\n");
        assert!(!world.try_git(stuck, &["stash", "apply", &stash]).ok());
        assert!(refused(&world, stuck).contains("conflicts are not resolved: clash"));
    }
}

#[test]
fn what_cannot_be_saved_stays_untouched() {
    let world = World::new();
    let main = world.repo("main");
    let path = lane(&world, &main, "lane");
    write(&path.join("new"), "work");
    let lock = main.join(".git/refs/heads/lane.lock");
    write(&lock, "");
    let before = (snapshot(&path), plain_status(&world, &path), world.oid(&path, "HEAD"));
    let same =
        || assert_eq!((snapshot(&path), plain_status(&world, &path), world.oid(&path, "HEAD")), before);
    assert!(save_in(&world.ctx, &path).is_err());
    same();
    std::fs::remove_file(lock).unwrap();
    let hook = main.join(".git/hooks/reference-transaction");
    write(&hook, "#!/bin/sh\nexit 1\n");
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    assert!(save_in(&world.ctx, &path).is_err());
    same();
    std::fs::remove_file(hook).unwrap();
    world.git(&main, &["config", "filter.x.clean", "false"]);
    world.git(&main, &["config", "filter.x.required", "true"]);
    write(&main.join(".git/info/attributes"), "new filter=x\n");
    assert!(save_in(&world.ctx, &path).is_err());
    same();
    std::fs::remove_file(main.join(".git/info/attributes")).unwrap();
    let index = std::fs::read(main.join(".git/worktrees/lane/index")).unwrap();
    write(&main.join(".git/worktrees/lane/index"), "garbage");
    assert!(save_in(&world.ctx, &path).is_err());
    write(&main.join(".git/worktrees/lane/index"), index);
    same();
    save(&world, &path);
}

#[test]
fn a_stale_index_lock_is_named() {
    let world = World::new();
    let main = world.repo("main");
    let path = lane(&world, &main, "lane");
    write(&path.join("new"), "");
    write(&main.join(".git/worktrees/lane/index.lock"), "");
    assert!(refused(&world, &path).contains("another git"));
}

#[test]
fn a_save_that_was_killed_half_way_is_concluded_by_the_next() {
    let world = World::new();
    let main = world.repo("main");
    let path = lane(&world, &main, "lane");
    soil(&world, &path);
    let before = (snapshot(&path), plain_status(&world, &path), world.oid(&path, "HEAD"));
    let index = std::fs::read(main.join(".git/worktrees/lane/index")).unwrap();
    let oid = save(&world, &path).oid;
    write(&main.join(".git/worktrees/lane/index"), index);
    assert_ne!(of(&world.ctx, &path), Dirt::Clean);
    let saved = save(&world, &path);
    assert_eq!(saved.oid, oid);
    assert_eq!(of(&world.ctx, &path), Dirt::Clean);
    assert_eq!(world.oid(&path, "HEAD"), saved.oid);
    take_back(&world, &path);
    assert_eq!((snapshot(&path), plain_status(&world, &path), world.oid(&path, "HEAD")), before);
}

#[test]
fn a_repository_without_commits_can_set_aside_but_not_take_back() {
    let world = World::new();
    let main = world.path("main");
    std::fs::create_dir(&main).unwrap();
    world.git(&main, &["init", "-q"]);
    assert_eq!(save_in(&world.ctx, &main).unwrap(), None);
    write(&main.join("new"), "");
    assert_eq!(save(&world, &main).branch, "main");
    assert_eq!(of(&world.ctx, &main), Dirt::Clean);
    assert!(not_back(&world, &main).contains("first of its branch"));
}

#[test]
fn only_what_is_ours_alone_is_taken_back() {
    let world = World::new();
    let from = world.repo("from");
    let main = world.path("main");
    world.git(&from, &["clone", "-q", from.to_str().unwrap(), main.to_str().unwrap()]);
    let path = lane(&world, &main, "lane");
    assert!(not_back(&world, &path).contains("no wip: commit"));
    write(&path.join("new"), "");
    let saved = save(&world, &path);
    world.git(&path, &["push", "-q", "origin", "lane"]);
    assert!(not_back(&world, &path).contains("refs/remotes/origin/lane"));
    world.git(&path, &["update-ref", "-d", "refs/remotes/origin/lane"]);
    world.git(&path, &["checkout", "-q", "--detach"]);
    assert!(not_back(&world, &path).contains("no branch"));
    world.git(&path, &["checkout", "-q", "lane"]);
    write(&path.join("README"), "staged so\n");
    world.git(&path, &["add", "README"]);
    write(&path.join("README"), "lies so\n");
    assert!(not_back(&world, &path).contains("README is staged one way"));
    world.git(&path, &["add", "README"]);
    assert_eq!(take_back(&world, &path).oid, saved.oid);
    assert_eq!(std::fs::read(path.join("README")).unwrap(), b"lies so\n");
}

#[test]
fn the_stash_is_never_touched() {
    let world = World::new();
    let main = world.repo("main");
    let path = lane(&world, &main, "lane");
    write(&path.join("README"), "stashed\n");
    world.git(&path, &["stash", "-q"]);
    let stash = world.oid(&path, "refs/stash");
    write(&path.join("README"), "work\n");
    save(&world, &path);
    take_back(&world, &path);
    assert_eq!(world.oid(&path, "refs/stash"), stash);
    assert_eq!(world.git(&path, &["stash", "list"]).lines().count(), 1);
}
