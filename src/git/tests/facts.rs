//! Where a repository is found, and the facts about it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::kinds;
use crate::error::Kind;
use crate::git::testing::{World, write};
use crate::git::{Oid, Repo, command, quirks};

#[test]
fn the_list_of_local_variables_is_git_s() {
    let world = World::new();
    for name in world.git(&world.path(""), &["rev-parse", "--local-env-vars"]).lines() {
        assert!(command::LOCAL.contains(&name), "{name}");
    }
}

#[test]
fn nothing_leaks_in_from_the_environment() {
    let world = World::new();
    let (a, b) = (world.repo("a"), world.repo("b"));
    world.git(&b, &["commit", "-q", "--allow-empty", "-m", "b"]);
    let git_dir = b.join(".git");
    let ctx = world.with_env(&[
        ("GIT_DIR", git_dir.as_os_str()),
        ("GIT_WORK_TREE", b.as_os_str()),
        ("GIT_INDEX_FILE", OsStr::new("/nowhere")),
        ("GIT_CONFIG_COUNT", OsStr::new("x")),
        ("LC_ALL", OsStr::new("de_DE.UTF-8")),
    ]);
    let repo = Repo::discover(&ctx, &a).unwrap();
    assert_eq!(repo.main(), a);
    let at = world.oid(&a, "HEAD");
    assert_eq!(repo.head().unwrap(), Some(at.clone()));
    assert_eq!(repo.by_git().head().unwrap(), Some(at));
}

#[test]
fn main_is_found_from_everywhere() {
    let world = World::new();
    for name in [OsStr::new("a b"), OsStr::new("new\nline"), OsStr::new("é"), OsStr::from_bytes(b"\xff\xfe")]
    {
        let main = world.repo(Path::new(name).join("main"));
        let lane = world.path(name).join("lane");
        world.git(&main, &[OsStr::new("worktree"), OsStr::new("add"), OsStr::new("-q"), lane.as_os_str()]);
        for dir in [main.clone(), main.join("deep/er"), main.join(".git"), lane.clone(), lane.join("deep")] {
            std::fs::create_dir_all(&dir).unwrap();
            let repo = world.found(&dir);
            assert_eq!(
                (repo.main(), repo.common()),
                (main.as_path(), main.join(".git").as_path()),
                "{dir:?}"
            );
            assert!(!repo.is_bare() && repo.head_branch().as_deref() == Some("main"), "{dir:?}");
        }
        assert_eq!(world.found(&lane.join("deep")).root(), Some(lane.as_path()));
    }
}

#[test]
fn bare_repositories_and_layouts_have_a_place_to_stand() {
    let world = World::new();
    let from = world.repo("from");
    let clone = |args: &[&str], to: &Path| {
        let args = args.iter().map(OsStr::new);
        let all: Vec<&OsStr> = args.chain([from.as_os_str(), to.as_os_str()]).collect();
        world.git(&from, &all);
    };
    clone(&["clone", "-q", "--bare"], &world.path("app.git"));
    clone(&["clone", "-q", "--bare"], &world.path("hidden/.bare"));
    write(&world.path("hidden/.git"), "gitdir: ./.bare\n");
    clone(&["clone", "-q", "--bare"], &world.path("dotgit/.git"));
    clone(&["clone", "-q", "--separate-git-dir=../apart.git"], &world.path("apart"));
    for (dir, main, bare) in [
        ("app.git", "app.git", true),
        ("hidden", "hidden", true),
        ("dotgit", "dotgit", true),
        ("apart", "apart", false),
    ] {
        let lane = world.path(format!("lane-of-{dir}"));
        let repo = world.found(&world.path(dir));
        assert_eq!((repo.main(), repo.is_bare()), (world.path(main).as_path(), bare), "{dir}");
        world.git(&world.path(dir), &["worktree", "add", "-q", "-b", "lane", lane.to_str().unwrap()]);
        let inside = world.found(&lane);
        assert_eq!(inside.common(), repo.common(), "{dir}");
        assert!(bare || inside.main() == inside.common());
        assert!(!bare || inside.main() == repo.main(), "{dir}");
        for repo in [&repo, &inside, &inside.by_git()] {
            assert_eq!(repo.head_branch().as_deref(), Some("main"), "{dir}");
            assert!(repo.head().unwrap().is_some() && repo.tip("lane").unwrap().is_some(), "{dir}");
        }
    }
    world.git(&from, &["config", "--global", "safe.bareRepository", "explicit"]);
    let repo = world.found(&world.path("app.git"));
    assert!(repo.by_git().head().unwrap().is_some());
}

#[test]
fn none_and_cannot_tell_are_different() {
    let world = World::new();
    let none = |dir: &Path| Repo::discover(&world.ctx, dir).unwrap_err().kind();
    assert_eq!(none(&world.path("")), Kind::Precondition);
    assert_eq!(none(&world.path("gone")), Kind::Failed);
    write(&world.path("broken/.git"), "gitdir: /no/where\n");
    assert_eq!(none(&world.path("broken")), Kind::Failed);
    write(&world.path("odd/.git"), "hello\n");
    assert_eq!(none(&world.path("odd")), Kind::Failed);
    let main = world.repo("around");
    std::fs::create_dir(main.join("inner")).unwrap();
    assert_eq!(Repo::at_main(&world.ctx, &main.join("inner")).unwrap_err().kind(), Kind::Failed);
    assert_eq!(Repo::at_main(&world.ctx, &main).unwrap().main(), main);
}

#[test]
fn another_user_s_repository_is_not_called_none() {
    let world = World::new();
    let main = world.repo("main");
    let ctx = world.with_env(&[("GIT_TEST_ASSUME_DIFFERENT_OWNER", OsStr::new("1"))]);
    let repo = Repo::discover(&ctx, &main).unwrap().by_git();
    let error = repo.tip("main").unwrap_err();
    assert!(error.message().contains("dubious ownership"), "{error}");
    assert!(error.message().contains(main.to_str().unwrap()), "{error}");
    assert!(error.hints()[0].contains("safe.directory"), "{error:?}");
    if !rustix::process::geteuid().is_root() {
        return;
    }
    std::os::unix::fs::chown(&main, Some(65534), None).unwrap();
    let error = Repo::discover(&world.ctx, &main).unwrap_err();
    assert!(error.kind() == Kind::Failed && error.message().contains("dubious ownership"), "{error}");
    world.git(&world.path(""), &["config", "--global", "safe.directory", main.to_str().unwrap()]);
    let repo = Repo::discover(&world.ctx, &main).unwrap();
    assert!(repo.head().unwrap().is_some() && repo.by_git().head().unwrap().is_some());
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let world = World::new();
    let (main, sub) = (world.repo("main"), world.repo("sub"));
    world.git(&main, &["submodule", "--quiet", "add", sub.to_str().unwrap(), "a/sub"]);
    world.git(&main, &["commit", "-q", "-m", "sub"]);
    let lane = world.path("lane");
    world.git(&main, &["worktree", "add", "-q", lane.to_str().unwrap()]);
    world.git(&lane, &["submodule", "--quiet", "update", "--init"]);
    for place in [&main, &lane] {
        let repo = world.found(&place.join("a/sub"));
        assert_eq!(repo.main(), place.join("a/sub"));
        for repo in [&repo, &repo.by_git()] {
            assert_eq!(repo.head().unwrap(), Some(world.oid(&sub, "HEAD")));
        }
    }
}

#[test]
fn a_partial_clone_is_told() {
    let world = World::new();
    let from = world.repo("from");
    world.git(&from, &["config", "uploadpack.allowFilter", "true"]);
    let (main, url) = (world.path("main"), format!("file://{}", from.display()));
    world.git(&from, &["clone", "-q", "--filter=blob:none", &url, main.to_str().unwrap()]);
    let repo = world.found(&main);
    assert!(quirks::inexact(&repo)[0].contains("partial clone of origin") && repo.library().is_none());
    assert_eq!(repo.head().unwrap(), Some(world.oid(&from, "HEAD")));
    world.git(&main, &["config", "extensions.partialClone", "origin"]);
    let repo = world.found(&main);
    assert!(quirks::why_not_libgit2(&repo).unwrap().contains("partial clone of origin"));
    assert_eq!(repo.head().unwrap(), Some(world.oid(&from, "HEAD")));
    assert_eq!(repo.default_branch().unwrap().via, "remote-head");
    let plain = world.found(&from);
    assert!(quirks::inexact(&plain).is_empty() && plain.library().is_some());
    world.git(&from, &["update-ref", "refs/replace/1111111111111111111111111111111111111111", "HEAD"]);
    assert!(quirks::inexact(&plain)[0].contains("git replace"));
}

#[test]
fn every_kind_of_repository_says_the_same() {
    let world = World::new();
    for (at, args) in kinds(&world).iter().enumerate() {
        let main = world.repo_of(format!("r{at}"), args);
        world.git(&main, &["branch", "side"]);
        let one = world.oid(&main, "HEAD");
        let two = world.commit(&main, "two", "2");
        world.git(&main, &["checkout", "-q", "side"]);
        let side = world.commit(&main, "side", "s");
        world.git(&main, &["tag", "main", "side"]);
        world.git(&main, &["tag", "only", "side"]);
        let repo = world.found(&main);
        assert_eq!(quirks::why_not_libgit2(&repo).is_some(), at > 0, "{args:?}");
        for repo in [&repo, &repo.by_git()] {
            assert_eq!(repo.head_branch().as_deref(), Some("side"));
            assert_eq!(repo.head().unwrap(), Some(side.clone()));
            assert_eq!(repo.tip("main").unwrap(), Some(two.clone()));
            assert_eq!(repo.commit_of("main").unwrap(), two);
            assert_eq!(repo.commit_of("only").unwrap(), side);
            assert_eq!((repo.tip("only").unwrap(), repo.tip("nope").unwrap()), (None, None));
            assert_eq!(repo.ahead_behind(&side, &two).unwrap(), (1, 1));
            assert_eq!(repo.merge_base(&side, &two).unwrap(), Some(one.clone()));
            assert!(repo.is_ancestor(&one, &two).unwrap() && repo.is_ancestor(&two, &two).unwrap());
            assert!(!repo.is_ancestor(&side, &two).unwrap());
            assert_eq!(repo.last_commit(&side).unwrap().subject, "side");
            assert!(repo.last_commit(&side).unwrap().author_time.as_second() > 1_600_000_000);
            let default = repo.default_branch().unwrap();
            assert_eq!(
                (default.name.as_str(), default.via, default.local),
                ("main", "conventional", Some(two.clone()))
            );
        }
    }
}

#[test]
fn a_repository_without_commits_has_a_branch_and_no_head() {
    let world = World::new();
    for (at, args) in kinds(&world).iter().enumerate() {
        let main = world.path(format!("r{at}"));
        std::fs::create_dir(&main).unwrap();
        world.git(&main, &[&["init", "-q"], *args].concat());
        let repo = world.found(&main);
        for repo in [&repo, &repo.by_git()] {
            assert_eq!((repo.head().unwrap(), repo.head_branch().as_deref()), (None, Some("main")));
            assert_eq!(repo.commit_of("HEAD").unwrap_err().kind(), Kind::Precondition);
            let default = repo.default_branch().unwrap();
            assert_eq!((default.name.as_str(), default.local, default.via), ("main", None, "checked-out"));
        }
    }
}

#[test]
fn what_cannot_be_read_is_never_none() {
    let world = World::new();
    let main = world.repo("main");
    write(&main.join(".git/refs/heads/broken"), "not an id\n");
    let repo = world.found(&main);
    assert!(repo.tip("broken").is_err() && repo.by_git().tip("broken").is_err());
    let nothing = Oid::parse(&"1".repeat(40)).unwrap();
    assert!(repo.is_ancestor(&nothing, &nothing).is_err());
    assert!(repo.ahead_behind(&nothing, &nothing).is_err() && repo.last_commit(&nothing).is_err());
}

#[test]
fn the_slug_is_the_url_as_written() {
    let world = World::new();
    let main = world.repo("shop.git");
    let slug = || world.found(&main).slug();
    assert_eq!(slug(), "local/shop");
    world.git(&main, &["remote", "add", "zeta", "gh:zeta/shop"]);
    assert_eq!(slug(), "zeta/shop");
    world.git(&main, &["remote", "add", "upstream", "gh:up/shop"]);
    assert_eq!(slug(), "up/shop");
    world.git(&main, &["remote", "add", "origin", "gh:acme/shop.git"]);
    world.git(&main, &["config", "url./srv/mirror/.insteadOf", "gh:"]);
    assert_eq!(slug(), "acme/shop");
    world.git(&main, &["config", "--add", "remote.origin.url", "gh:second/shop.git"]);
    assert_eq!(slug(), "acme/shop");
}

#[test]
fn the_default_branch_is_what_the_remote_says() {
    let world = World::new();
    let from = world.repo("from");
    world.git(&from, &["checkout", "-q", "-b", "dev/next"]);
    let main = world.path("clone");
    world.git(&from, &["clone", "-q", from.to_str().unwrap(), main.to_str().unwrap()]);
    let repo = world.found(&main);
    for repo in [&repo, &repo.by_git()] {
        let default = repo.default_branch().unwrap();
        assert_eq!((default.name.as_str(), default.via), ("dev/next", "remote-head"));
        assert_eq!(default.remote.unwrap().0, "refs/remotes/origin/dev/next");
        assert!(default.local.is_some());
    }
    world.git(&main, &["update-ref", "-d", "refs/remotes/origin/dev/next"]);
    let default = world.found(&main).default_branch().unwrap();
    assert_eq!((default.name.as_str(), default.via, default.local), ("main", "conventional", None));
}

#[test]
fn names_that_clash_are_named() {
    let world = World::new();
    let main = world.repo("main");
    world.git(&main, &["branch", "a/b"]);
    let repo = world.found(&main);
    for repo in [&repo, &repo.by_git()] {
        let clash = |name: &str| repo.name_clash(name).unwrap();
        assert_eq!(clash("a/b/c").as_deref(), Some("a/b"));
        assert_eq!(clash("a").as_deref(), Some("a/b"));
        assert_eq!(clash("main/x").as_deref(), Some("main"));
        assert_eq!((clash("a/c"), clash("ab"), clash("a/b")), (None, None, None));
    }
}

#[test]
fn what_is_typed_is_never_an_option() {
    let world = World::new();
    let main = world.repo("main");
    let repo = world.found(&main);
    for spec in ["--all", "-h", "", "nope", "main..side", "--output=/tmp/x", ":/one\0"] {
        assert_eq!(repo.commit_of(spec).unwrap_err().kind(), Kind::Precondition, "{spec:?}");
    }
    assert_eq!(repo.commit_of("HEAD^{commit}").unwrap(), world.oid(&main, "HEAD"));
}
