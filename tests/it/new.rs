//! `scruff new`: a path on stdout and a lane, or neither.

use crate::world::{Ran, Repo, World, wait};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

fn new(world: &World, repo: &Repo, name: &str) -> Ran {
    world.call(["new", name]).cwd(repo.path()).run()
}

/// The names in the listing.
fn lanes(world: &World) -> Vec<String> {
    let listed = world.scruff(["list", "--json"]).ok().json();
    let lanes = listed["lanes"].as_array().unwrap().iter();
    lanes.map(|lane| lane["name"].as_str().unwrap().to_owned()).collect()
}

/// Nothing of a lane is left: no branch, no checkout known to git, no row, no directory.
#[track_caller]
fn nothing_is_left(world: &World, repo: &Repo) {
    assert_eq!(repo.branches(), ["main"]);
    assert!(repo.worktrees().is_empty(), "{:?}", repo.worktrees());
    assert!(lanes(world).is_empty());
    let buckets =
        std::fs::read_dir(world.base()).into_iter().flatten().flatten().filter(|f| f.path().is_dir());
    for bucket in buckets.filter(|bucket| bucket.file_name() != ".trash") {
        let left: Vec<PathBuf> =
            std::fs::read_dir(bucket.path()).unwrap().map(|f| f.unwrap().path()).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn it_prints_the_checkout_and_makes_the_lane() {
    let world = World::new();
    let repo = world.repo("shop").with_origin("acme/shop");
    let ran = new(&world, &repo, "fix-auth");
    let path = Path::new(ran.ok().line());
    assert_eq!(path, world.base().join("acme-shop/fix-auth"));
    assert_eq!(repo.git_in(path, ["branch", "--show-current"]), "worktree-fix-auth");
    assert_eq!(repo.git_in(path, ["rev-parse", "HEAD"]), repo.git(["rev-parse", "HEAD"]));
    assert_eq!(repo.try_git(path, ["rev-parse", "@{upstream}"]).code(), 128, "it tracks nothing");
    assert_eq!(lanes(&world), ["fix-auth"]);
    assert!(ran.stderr.contains("main"), "the base is said\n{ran}");
}

#[test]
fn the_row_is_as_older_tools_read_it() {
    let world = World::new();
    let repo = world.repo("shop");
    let ran = new(&world, &repo, "one");
    let table = std::fs::read_to_string(world.base().join("registry.tsv")).unwrap();
    let row: Vec<&str> = table.lines().next_back().unwrap().split('\t').collect();
    let main = repo.path().to_str().unwrap();
    assert_eq!(row[..6], ["one", main, "worktree-one", ran.ok().line(), "", "claude"]);
}

#[test]
fn a_noisy_hook_does_not_reach_stdout() {
    let world = World::new();
    let repo = world.repo("shop");
    let noise = "#!/bin/sh\necho to stdout\necho to stderr >&2\nprintf 'no newline'\nexec 3<&0\nhead -c 100000 /dev/zero\n";
    repo.hook(&world, "post-checkout", noise);
    let ran = new(&world, &repo, "one");
    assert_eq!(Path::new(ran.ok().line()), repo.worktrees()[0]);
}

#[test]
fn a_hook_that_waits_for_input_gets_none() {
    let world = World::new();
    let repo = world.repo("shop");
    repo.hook(&world, "post-checkout", "#!/bin/sh\ncat\n");
    world.call(["new", "one"]).cwd(repo.path()).stdin_open().run().ok().line();
}

#[test]
fn a_hook_that_fails_costs_the_lane_whole_or_not_at_all() {
    let world = World::new();
    let repo = world.repo("shop");
    repo.hook(&world, "post-checkout", "#!/bin/sh\necho broken hook >&2\nexit 1\n");
    let ran = new(&world, &repo, "one");
    if ran.code() == 0 {
        assert_eq!(Path::new(ran.line()), repo.worktrees()[0]);
        ran.warns("broken hook");
    } else {
        ran.exits(1).silent().warns("broken hook");
        nothing_is_left(&world, &repo);
    }
}

#[test]
fn without_a_name_it_finds_two_words() {
    let world = World::new();
    let repo = world.repo("shop");
    let paths: Vec<PathBuf> =
        (0..5).map(|_| world.call(["new"]).cwd(repo.path()).run().ok().line().into()).collect();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(name.split('-').count(), 2, "{name}");
        assert!(name.chars().all(|c| c == '-' || c.is_ascii_lowercase()), "{name}");
    }
    assert_eq!(lanes(&world).len(), 5);
}

#[test]
fn a_taken_name_is_an_error() {
    let world = World::new();
    let repo = world.repo("shop");
    new(&world, &repo, "one").ok();
    let ran = new(&world, &repo, "one");
    ran.exits(1).silent().warns("one");
    assert!(ran.stderr.lines().count() >= 2, "{ran}");
    repo.git(["branch", "worktree-two"]);
    new(&world, &repo, "two").exits(1).silent().warns("worktree-two");
    assert_eq!(lanes(&world), ["one"]);
    assert_eq!(repo.branches(), ["main", "worktree-one", "worktree-two"], "what was there stays");
}

#[test]
fn names_that_cannot_be_are_refused_before_anything_is_made() {
    let world = World::new();
    let repo = world.repo("shop");
    let long = "x".repeat(300);
    let bad = [
        "a b", "a..b", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "a\tb", "a\nb", ".a", "_a", "/a", "a/",
        "a//b", "a.lock", "@{x", "a@{b", "a/.b", &long,
    ];
    for name in bad {
        let ran = new(&world, &repo, name);
        ran.exits(1).silent();
        assert!(ran.stderr.starts_with("scruff: ") && ran.stderr.lines().count() >= 2, "{name:?}\n{ran}");
    }
    nothing_is_left(&world, &repo);
}

#[test]
fn names_that_git_takes_are_taken() {
    let world = World::new();
    let repo = world.repo("shop");
    let good = [
        "2026", "a.b", "a_b", "a/b", "A-b", "x@y", "x'y", "x%y", "x#y", "list", "a=b", "x,y", "x;y", "x\"y",
        "x!y", "été",
    ];
    for name in good {
        let ran = new(&world, &repo, name);
        let path = Path::new(ran.ok().line());
        assert!(path.is_dir(), "{ran}");
        assert_eq!(path.parent(), Some(world.base().join("local-shop").as_path()), "one component\n{ran}");
        assert_eq!(repo.git_in(path, ["branch", "--show-current"]), format!("worktree-{name}"));
    }
    assert_eq!(lanes(&world).len(), good.len());
}

#[test]
fn a_name_that_would_run_something_runs_nothing() {
    let world = World::new();
    let repo = world.repo("shop");
    let name = world.evil_name("x");
    let ran = new(&world, &repo, &name);
    assert!(Path::new(ran.ok().line()).is_dir());
    assert_eq!(lanes(&world), [name]);
}

#[test]
fn names_that_would_share_a_directory_do_not() {
    let world = World::new();
    let repo = world.repo("shop");
    let names = ["a/b", "a-b", "A-B", &format!("l{}", "o".repeat(100)), &format!("l{}", "o".repeat(101))];
    let paths: Vec<String> =
        names.iter().map(|name| new(&world, &repo, name).ok().line().to_lowercase()).collect();
    for (at, path) in paths.iter().enumerate() {
        assert!(!paths[..at].contains(path), "{paths:#?}");
        assert!(Path::new(path).file_name().unwrap().len() <= 89, "{path}");
    }
}

#[test]
fn a_branch_below_another_branch_is_refused_naming_it() {
    let world = World::new();
    let repo = world.repo("shop");
    new(&world, &repo, "a").ok();
    new(&world, &repo, "a/b").exits(1).silent().warns("worktree-a");
    new(&world, &repo, "c/d").ok();
    new(&world, &repo, "c").exits(1).silent().warns("worktree-c/d");
    assert_eq!(lanes(&world).len(), 2);
}

#[test]
fn two_clones_of_one_repository_do_not_meet() {
    let world = World::new();
    let first = world.repo("shop").with_origin("acme/shop");
    let second = Repo::uncommitted(&world, "again/shop");
    second.git(["remote", "add", "origin", "git@example.com:acme/shop.git"]);
    second.commit("README.md", "again", "Start");
    let paths = [&first, &second].map(|repo| new(&world, repo, "one").ok().line().to_owned());
    assert_ne!(paths[0], paths[1]);
    assert_eq!(first.worktrees()[0], Path::new(&paths[0]));
    assert_eq!(second.worktrees()[0], Path::new(&paths[1]));
}

#[test]
fn outside_a_repository_it_says_so() {
    let world = World::new();
    let ran = world.scruff(["new", "one"]);
    ran.exits(1).silent();
    assert!(ran.stderr.lines().count() >= 2, "{ran}");
    assert!(!world.base().join("registry.tsv").exists());
}

#[test]
fn it_can_be_cut_from_a_ref() {
    let world = World::new();
    let repo = world.repo("shop");
    let old = repo.git(["rev-parse", "HEAD"]);
    repo.commit("more", "more", "More");
    let from = |name: &str, from: &str| world.call(["new", name, "--from", from]).cwd(repo.path()).run();
    let head = |path: &str| repo.git_in(Path::new(path), ["rev-parse", "HEAD"]);
    assert_eq!(head(from("one", "main~1").ok().line()), old);
    assert_eq!(head(from("two", &old).ok().line()), old);
    from("three", "no-such-ref").exits(1).silent().warns("no-such-ref");
    from("four", "--all").exits(1).silent();
    assert_eq!(lanes(&world), ["one", "two"]);
}

#[test]
fn it_can_be_called_from_inside_a_lane() {
    let world = World::new();
    let repo = world.repo("shop");
    let first = new(&world, &repo, "one");
    let inside = PathBuf::from(first.ok().line());
    repo.commit_in(&inside, "work", "work", "Work of the first lane");
    let second = world.call(["new", "two"]).cwd(&inside).run();
    assert_eq!(
        repo.git_in(Path::new(second.ok().line()), ["rev-parse", "HEAD"]),
        repo.git(["rev-parse", "HEAD"])
    );
    assert_eq!(repo.worktrees().len(), 2);
}

#[test]
fn a_repository_without_commits_gets_a_lane() {
    let world = World::new();
    let repo = Repo::uncommitted(&world, "fresh");
    let ran = new(&world, &repo, "one");
    let path = Path::new(ran.ok().line());
    assert_eq!(repo.git_in(path, ["branch", "--show-current"]), "worktree-one");
}

#[test]
fn a_path_that_is_not_utf_8_comes_out_as_it_is() {
    let world = World::new();
    let odd = world.work().join(OsStr::from_bytes(b"odd\xff base"));
    let repo = world.repo("shop");
    let ran = world.call(["new", "one"]).cwd(repo.path()).env("SCRUFF_BASE", &odd).run();
    let mut line = ran.ok().stdout.clone();
    assert_eq!(line.pop(), Some(b'\n'));
    let path = PathBuf::from(OsString::from_vec(line));
    assert_eq!(path, odd.join("local-shop/one"));
    assert!(path.is_dir());
}

#[test]
fn sixteen_at_once_all_succeed() {
    let world = World::new();
    let repo = world.repo("shop").with_origin("acme/shop");
    let running: Vec<_> = (0..16)
        .map(|n| world.call(["new", &format!("lane-{n}"), "--from", "origin/main"]).cwd(repo.path()).start())
        .collect();
    for one in running {
        assert!(Path::new(one.finish().ok().line()).is_dir());
    }
    assert_eq!(lanes(&world).len(), 16);
    assert_eq!(repo.worktrees().len(), 16);
}

#[test]
fn sixteen_without_a_name_in_two_repositories_do_not_collide() {
    let world = World::new();
    let repos = [world.repo("shop"), world.repo("bar")];
    let running: Vec<_> = (0..16).map(|n| world.call(["new"]).cwd(repos[n % 2].path()).start()).collect();
    running.into_iter().for_each(|one| {
        one.finish().ok().line();
    });
    assert_eq!(lanes(&world).len(), 16);
}

#[test]
fn a_held_registry_is_exit_five_for_new_and_a_warning_for_the_listing() {
    let world = World::new();
    let repo = world.repo("shop");
    new(&world, &repo, "one").ok();
    let lock = world.base().join("registry.tsv.lock");
    let file = std::fs::File::open(&lock).unwrap();
    file.lock().unwrap();
    new(&world, &repo, "two").exits(5).silent();
    assert_eq!(lanes(&world), ["one"]);
    file.unlock().unwrap();
    assert_eq!(repo.branches(), ["main", "worktree-one"]);
    new(&world, &repo, "two").ok();
}

#[test]
fn killed_at_every_step_the_next_command_completes_or_cleans_up() {
    let steps = (1..)
        .take_while(|step: &u32| {
            let world = World::new();
            let repo = world.repo("shop");
            let ran = world
                .call(["new", "one"])
                .cwd(repo.path())
                .env("SCRUFF_TEST_KILL_AT", step.to_string())
                .run();
            if ran.code() == 0 {
                return false;
            }
            ran.exits(137).silent();
            all_agree(&world, &repo);
            new(&world, &repo, "two").ok();
            all_agree(&world, &repo);
            true
        })
        .count();
    assert!(steps >= 3, "only {steps} steps");
}

#[test]
fn killed_while_git_works_the_next_command_completes_or_cleans_up() {
    for pause in [0, 20, 40, 80, 160, 320] {
        let world = World::new();
        let repo = world.repo("shop");
        repo.hook(&world, "post-checkout", "#!/bin/sh\nsleep 0.2\n");
        let running = world.call(["new", "one"]).cwd(repo.path()).start();
        std::thread::sleep(std::time::Duration::from_millis(pause));
        running.kill_alone();
        new(&world, &repo, "two").ok();
        all_agree(&world, &repo);
    }
}

/// Rows, branches and checkouts are of the same lanes. What git is still at, it may finish.
#[track_caller]
fn all_agree(world: &World, repo: &Repo) {
    let state = || {
        let (mut rows, mut branches, mut checkouts) = (lanes(world), repo.branches(), repo.worktrees());
        branches.retain(|branch| branch != "main");
        rows.sort();
        checkouts.sort();
        (rows, branches, checkouts)
    };
    let agree = || {
        let (rows, branches, checkouts) = state();
        let branch_of = |row: &String| format!("worktree-{row}");
        rows.iter().map(branch_of).eq(branches) && checkouts.len() == rows.len()
    };
    wait::until("rows, branches and checkouts agree", agree, || format!("{:#?}", state()));
}
