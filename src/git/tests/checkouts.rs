//! Whose a directory is, and what goes when one is removed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::kinds;
use crate::error::Kind;
use crate::git::testing::{World, write};
use crate::git::worktree::{Belongs, Entry, is_ours, list, remove, repair};

fn lane(world: &World, main: &Path, path: &Path, branch: &str) {
    let args = ["worktree", "add", "-q", "-b", branch].map(OsStr::new);
    world.git(main, &[&args[..], &[path.as_os_str()]].concat());
}

fn entry(world: &World, main: &Path, path: &Path) -> Entry {
    let entries = list(&world.ctx, &world.found(main)).unwrap();
    entries.into_iter().find(|entry| entry.path == path).unwrap()
}

fn whose(world: &World, main: &Path, path: &Path) -> Belongs {
    is_ours(&world.ctx, &world.found(main), path).unwrap()
}

fn remove_at(world: &World, main: &Path, path: &Path, force: bool) -> Result<(), Kind> {
    remove(&world.ctx, &world.found(main), path, force).map_err(|error| error.kind())
}

#[test]
fn every_path_is_listed_as_it_is() {
    let world = World::new();
    let main = world.repo("main");
    let names = [&b"a b"[..], b"new\nline\nbranch refs/heads/evil", "é".as_bytes(), b"\xff\xfe", b"-x", b" "];
    for (at, name) in names.into_iter().enumerate() {
        let path = world.path(OsStr::from_bytes(name));
        let branch = format!("b{at}");
        lane(&world, &main, &path, &branch);
        let entry = entry(&world, &main, &path);
        assert_eq!(
            (entry.branch.as_deref(), entry.prunable, entry.bare),
            (Some(branch.as_str()), false, false)
        );
        assert_eq!(entry.head, Some(world.oid(&main, "HEAD")));
        assert!(entry.admin.unwrap().starts_with(main.join(".git/worktrees")));
        assert!(matches!(whose(&world, &main, &path), Belongs::Ours { .. }));
        assert_eq!(world.found(&path).main(), main);
    }
    let first = &list(&world.ctx, &world.found(&main)).unwrap()[0];
    assert_eq!(
        (first.path.as_path(), first.branch.as_deref(), &first.admin),
        (main.as_path(), Some("main"), &None)
    );
}

#[test]
fn an_older_git_lists_lines_and_refuses_what_would_lie() {
    let world = World::new();
    let main = world.repo("main");
    lane(&world, &main, &world.path("a b"), "x");
    let git = world.ctx.find("git").unwrap();
    let fake = world.path("bin/git");
    let script =
        format!("#!/bin/sh\nfor a; do test \"$a\" != -z || exit 129; done\nexec {} \"$@\"\n", git.display());
    write(&fake, script);
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ctx = world.with_env(&[("PATH", fake.parent().unwrap().as_os_str())]);
    let repo = crate::git::Repo::discover(&ctx, &main).unwrap();
    let entries = list(&ctx, &repo).unwrap();
    assert_eq!((entries.len(), entries[1].path.as_path()), (2, world.path("a b").as_path()));
    lane(&world, &main, &world.path("c\nlocked"), "y");
    assert!(list(&ctx, &repo).unwrap_err().message().contains("newline"));
}

#[test]
fn the_state_of_each_is_told() {
    let world = World::new();
    for (at, args) in kinds(&world).iter().enumerate() {
        let main = world.repo_of(format!("r{at}"), args);
        let path = |name: &str| world.path(format!("{name}{at}"));
        for name in ["locked", "gone", "detached", "rebasing", "bisecting", "unborn"] {
            lane(&world, &main, &path(name), name);
        }
        world.git(&main, &["worktree", "lock", "--reason", "on a stick", path("locked").to_str().unwrap()]);
        std::fs::remove_dir_all(path("gone")).unwrap();
        world.git(&path("detached"), &["checkout", "-q", "--detach"]);
        world.git(&path("unborn"), &["checkout", "-q", "--orphan", "nothing"]);
        let (one, two) = (world.commit(&main, "clash", "1"), world.commit(&path("rebasing"), "clash", "2"));
        assert!(!world.try_git(&path("rebasing"), &["rebase", "-q", "main"]).ok());
        world.git(&path("bisecting"), &["bisect", "start", one.as_str(), two.as_str()]);
        let of = |name: &str| entry(&world, &main, &path(name));
        assert_eq!(of("locked").locked.as_deref(), Some("on a stick"));
        assert!(of("gone").prunable && of("gone").branch.as_deref() == Some("gone"));
        assert!(of("detached").detached && of("detached").branch.is_none());
        assert_eq!((of("unborn").head, of("unborn").branch.as_deref()), (None, Some("nothing")));
        for name in ["rebasing", "bisecting"] {
            assert!(of(name).branch.is_none() && of(name).uses(name), "{name}: {:?}", of(name));
        }
    }
}

#[test]
fn whose_a_directory_is_takes_both_sides() {
    let world = World::new();
    let main = world.repo("main");
    let other = world.repo("other");
    let path = world.path("lane");
    lane(&world, &main, &path, "x");
    lane(&world, &other, &world.path("theirs"), "x");
    write(&world.path("plain/file"), "");
    std::os::unix::fs::symlink(&path, world.path("link")).unwrap();
    std::fs::create_dir(main.join("sub")).unwrap();
    let is_other = |path: PathBuf, why: &str| match whose(&world, &main, &path) {
        Belongs::Other(told) => assert!(told.contains(why), "{told}"),
        got => panic!("{path:?}: {got:?}"),
    };
    assert!(
        matches!(whose(&world, &main, &path), Belongs::Ours { branch: Some(branch), .. } if branch == "x")
    );
    assert_eq!(whose(&world, &main, &main), Belongs::Main);
    assert_eq!(whose(&world, &main, &main.join(".git")), Belongs::Main);
    assert_eq!(whose(&world, &main, &world.path("nothing")), Belongs::Missing);
    is_other(world.path("theirs"), "belongs to");
    is_other(other.clone(), "its own");
    is_other(world.path("plain"), "no .git");
    is_other(world.path("plain/file"), "no directory");
    is_other(world.path("link"), "symbolic link");
    is_other(main.join("sub"), "no .git");
    world.git(
        &main,
        &[OsStr::new("clone"), OsStr::new("-q"), main.as_os_str(), world.path("clone").as_os_str()],
    );
    is_other(world.path("clone"), "its own");
    std::fs::create_dir(world.path("copy")).unwrap();
    std::fs::copy(path.join(".git"), world.path("copy/.git")).unwrap();
    is_other(world.path("copy"), "copy");
    write(&path.join(".git"), "gitdir: /no/where\n");
    assert!(matches!(whose(&world, &main, &path), Belongs::Unknown(_)));
    std::fs::copy(world.path("theirs/.git"), path.join(".git")).unwrap();
    is_other(path, "belongs to");
}

#[test]
fn only_what_is_ours_and_saved_is_removed() {
    let world = World::new();
    for (at, args) in kinds(&world).iter().enumerate() {
        let main = world.repo_of(format!("r{at}"), args);
        let path = world.path(format!("lane{at}"));
        lane(&world, &main, &path, "x");
        write(&path.join("new"), "work");
        assert_eq!(remove_at(&world, &main, &path, false), Err(Kind::Failed));
        assert!(path.join("new").exists());
        assert_eq!(remove_at(&world, &main, &path, true), Ok(()));
        assert!(!path.exists() && world.found(&main).tip("x").unwrap().is_some());
        assert_eq!(remove_at(&world, &main, &main, true), Err(Kind::Refused));
    }
    let (main, theirs) = (world.path("r0"), world.repo("theirs"));
    write(&world.path("plain/file"), "");
    for path in [theirs, world.path("plain"), main.join(".git")] {
        assert_eq!(remove_at(&world, &main, &path, true), Err(Kind::Refused), "{path:?}");
        assert!(path.exists());
    }
}

#[test]
fn a_lock_holds_also_against_force() {
    let world = World::new();
    let main = world.repo("main");
    let path = world.path("lane");
    lane(&world, &main, &path, "x");
    world.git(&main, &["worktree", "lock", "--reason", "mine", path.to_str().unwrap()]);
    let error = remove(&world.ctx, &world.found(&main), &path, true).unwrap_err();
    assert!(error.kind() == Kind::Refused && error.message().contains("mine"), "{error}");
    std::fs::rename(&path, world.path("stick")).unwrap();
    assert_eq!(remove_at(&world, &main, &path, true), Err(Kind::Refused));
    assert!(main.join(".git/worktrees/lane").exists());
}

#[test]
fn what_a_killed_git_left_half_made_goes_by_force() {
    let world = World::new();
    let main = world.repo("main");
    let path = world.path("lane");
    lane(&world, &main, &path, "x");
    let admin = main.join(".git/worktrees/lane");
    write(&admin.join("locked"), "initializing\n");
    for file in ["HEAD", "commondir", "index"] {
        std::fs::remove_file(admin.join(file)).unwrap();
    }
    assert_eq!(remove_at(&world, &main, &path, false), Err(Kind::Refused));
    assert_eq!(remove_at(&world, &main, &path, true), Ok(()));
    assert!(!path.exists() && !admin.exists());
}

#[test]
fn only_the_entry_of_what_is_gone_is_forgotten() {
    let world = World::new();
    let main = world.repo("main");
    let (path, unmounted) = (world.path("lane"), world.path("unmounted"));
    lane(&world, &main, &path, "x");
    lane(&world, &main, &unmounted, "y");
    std::fs::remove_dir_all(&path).unwrap();
    std::fs::rename(&unmounted, world.path("away")).unwrap();
    assert_eq!(remove_at(&world, &main, &path, false), Ok(()));
    assert_eq!(remove_at(&world, &main, &path, false), Ok(()));
    std::fs::rename(world.path("away"), &unmounted).unwrap();
    assert!(matches!(whose(&world, &main, &unmounted), Belongs::Ours { .. }));
    assert_eq!(list(&world.ctx, &world.found(&main)).unwrap().len(), 2);
}

#[test]
fn an_entry_that_alone_holds_work_is_kept() {
    let world = World::new();
    let (main, sub) = (world.repo("main"), world.repo("sub"));
    world.git(&main, &["submodule", "--quiet", "add", sub.to_str().unwrap(), "sub"]);
    world.git(&main, &["commit", "-q", "-m", "sub"]);
    let paths = ["detached", "reachable", "bisecting", "modules"].map(|name| world.path(name));
    for (at, path) in paths.iter().enumerate() {
        lane(&world, &main, path, &format!("b{at}"));
    }
    for path in &paths[..2] {
        world.git(path, &["checkout", "-q", "--detach"]);
    }
    world.commit(&paths[0], "only here", "1");
    world.git(&paths[2], &["bisect", "start"]);
    world.git(&paths[3], &["submodule", "--quiet", "update", "--init"]);
    world.commit(&paths[3].join("sub"), "only here", "1");
    for path in &paths {
        std::fs::remove_dir_all(path).unwrap();
    }
    let refused = |path: &Path, why: &str| {
        let error = remove(&world.ctx, &world.found(&main), path, false).unwrap_err();
        assert!(error.kind() == Kind::Refused && error.message().contains(why), "{error}");
    };
    refused(&paths[0], "on no branch");
    refused(&paths[2], "a bisect was under way");
    refused(&paths[3], "no remote is known to have");
    assert_eq!(remove_at(&world, &main, &paths[1], false), Ok(()));
    assert_eq!(list(&world.ctx, &world.found(&main)).unwrap().len(), 4);
    assert_eq!(remove_at(&world, &main, &paths[0], true), Ok(()));
}

#[test]
fn a_configuration_that_hides_does_not_let_a_file_go() {
    let world = World::new();
    let main = world.repo("main");
    let path = world.path("lane");
    lane(&world, &main, &path, "x");
    world.git(&main, &["config", "status.showUntrackedFiles", "no"]);
    write(&path.join("new"), "work");
    assert_eq!(remove_at(&world, &main, &path, false), Err(Kind::Failed));
    assert!(path.join("new").exists());
}

#[test]
fn filled_submodules_need_force() {
    let world = World::new();
    let (main, sub) = (world.repo("main"), world.repo("sub"));
    world.git(&main, &["submodule", "--quiet", "add", sub.to_str().unwrap(), "sub"]);
    world.git(&main, &["commit", "-q", "-m", "sub"]);
    let path = world.path("lane");
    lane(&world, &main, &path, "x");
    assert!(!crate::git::submodule::any(&world.ctx, &path).unwrap());
    assert_eq!(crate::git::submodule::empty(&world.ctx, &path).unwrap(), [Path::new("sub")]);
    world.git(&path, &["submodule", "--quiet", "update", "--init"]);
    assert!(crate::git::submodule::any(&world.ctx, &path).unwrap());
    assert!(crate::git::submodule::empty(&world.ctx, &path).unwrap().is_empty());
    assert_eq!(remove_at(&world, &main, &path, false), Err(Kind::Failed));
    assert_eq!(remove_at(&world, &main, &path, true), Ok(()));
    assert!(!path.exists() && !main.join(".git/worktrees/lane").exists());
}

#[test]
fn removal_follows_no_link() {
    let world = World::new();
    let main = world.repo("main");
    let path = world.path("lane");
    lane(&world, &main, &path, "x");
    write(&world.path("elsewhere/file"), "precious");
    std::os::unix::fs::symlink(world.path("elsewhere"), path.join("node_modules")).unwrap();
    assert_eq!(remove_at(&world, &main, &path, true), Ok(()));
    assert!(world.path("elsewhere/file").exists());
}

#[test]
fn relative_pointers_are_understood() {
    let world = World::new();
    let main = world.repo("main");
    let path = world.path("lanes/lane");
    lane(&world, &main, &path, "x");
    write(&path.join(".git"), "gitdir: ../../main/.git/worktrees/lane\n");
    write(&main.join(".git/worktrees/lane/gitdir"), "../../../../lanes/lane/.git\n");
    assert!(matches!(whose(&world, &main, &path), Belongs::Ours { .. }));
    assert_eq!(world.found(&path).main(), main);
}

#[test]
fn what_was_moved_is_told_and_repaired() {
    let world = World::new();
    let main = world.repo("main");
    let (path, moved) = (world.path("lane"), world.path("moved"));
    lane(&world, &main, &path, "x");
    std::fs::rename(&path, &moved).unwrap();
    assert!(matches!(whose(&world, &main, &moved), Belongs::Moved { from, .. } if from == path));
    assert_eq!(remove_at(&world, &main, &moved, true), Err(Kind::Refused));
    assert!(moved.join("README").exists());
    repair(&world.ctx, &world.found(&main), &moved).unwrap();
    assert!(matches!(whose(&world, &main, &moved), Belongs::Ours { .. }));
    repair(&world.ctx, &world.found(&main), &moved).unwrap();
    assert_eq!(remove_at(&world, &main, &moved, false), Ok(()));
}

#[test]
fn a_lane_whose_main_moved_is_repaired_from_there() {
    let world = World::new();
    let main = world.repo("main");
    let path = world.path("lane");
    lane(&world, &main, &path, "x");
    let moved = world.path("main2");
    std::fs::rename(&main, &moved).unwrap();
    assert_eq!(crate::git::Repo::discover(&world.ctx, &path).unwrap_err().kind(), Kind::Failed);
    assert!(matches!(whose(&world, &moved, &path), Belongs::Unknown(_)));
    assert_eq!(remove_at(&world, &moved, &path, true), Err(Kind::Refused));
    repair(&world.ctx, &world.found(&moved), &path).unwrap();
    assert!(matches!(whose(&world, &moved, &path), Belongs::Ours { .. }));
}

#[test]
fn repair_takes_nothing_that_is_not_ours() {
    let world = World::new();
    let (main, other) = (world.repo("main"), world.repo("other"));
    let (path, swapped) = (world.path("lane"), world.path("swapped"));
    lane(&world, &main, &path, "x");
    lane(&world, &main, &swapped, "y");
    std::fs::rename(&path, world.path("moved")).unwrap();
    std::fs::remove_dir_all(&swapped).unwrap();
    lane(&world, &other, &swapped, "theirs");
    let before = std::fs::read(swapped.join(".git")).unwrap();
    let error = repair(&world.ctx, &world.found(&main), &world.path("moved")).unwrap_err();
    assert_eq!(error.kind(), Kind::Refused, "{error}");
    assert_eq!(std::fs::read(swapped.join(".git")).unwrap(), before);
    assert_eq!(remove_at(&world, &main, &swapped, true), Err(Kind::Refused));
}
