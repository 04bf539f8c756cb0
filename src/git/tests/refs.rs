//! References against an expected state, and their logs.

use super::kinds;
use crate::error::Kind;
use crate::git::testing::World;
use crate::git::{Oid, refs};

#[test]
fn a_reference_is_made_once_and_deleted_only_where_it_was() {
    let world = World::new();
    for (at, args) in kinds(&world).iter().enumerate() {
        let main = world.repo_of(format!("r{at}"), args);
        let (repo, ctx) = (world.found(&main), &world.ctx);
        let one = world.oid(&main, "HEAD");
        let two = world.commit(&main, "two", "2");
        refs::create(ctx, &repo, "refs/heads/x", &one).unwrap();
        assert!(refs::create(ctx, &repo, "refs/heads/x", &two).is_err());
        assert!(refs::delete(ctx, &repo, "refs/heads/x", &two).is_err());
        assert_eq!(repo.tip("x").unwrap(), Some(one.clone()));
        refs::delete(ctx, &repo, "refs/heads/x", &one).unwrap();
        assert_eq!(repo.tip("x").unwrap(), None);
        assert!(refs::delete(ctx, &repo, "refs/heads/x", &one).is_err());
        refs::create(ctx, &repo, "refs/scruff/reaped/abc/1", &one).unwrap();
        assert_eq!(repo.ref_oid("refs/scruff/reaped/abc/1").unwrap(), Some(one));
    }
}

#[test]
fn a_branch_in_use_and_the_default_branch_are_not_deleted() {
    let world = World::new();
    let main = world.repo("main");
    let lane = world.path("lane");
    world.git(&main, &["worktree", "add", "-q", "-b", "x", lane.to_str().unwrap()]);
    let repo = world.found(&main);
    let at = world.oid(&main, "HEAD");
    let refused = |branch: &str| {
        let error = refs::delete(&world.ctx, &repo, &format!("refs/heads/{branch}"), &at).unwrap_err();
        assert_eq!(error.kind(), Kind::Refused, "{branch}: {error}");
    };
    refused("x");
    refused("main");
    world.git(&main, &["checkout", "-q", "--detach"]);
    refused("main");
}

#[test]
fn the_log_is_read_newest_first() {
    let world = World::new();
    for (at, args) in kinds(&world).iter().enumerate() {
        let main = world.repo_of(format!("r{at}"), args);
        let one = world.oid(&main, "HEAD");
        world.git(&main, &["branch", "x"]);
        world.git(&main, &["checkout", "-q", "x"]);
        let two = world.commit(&main, "second\tfile", "2");
        let log = refs::reflog(&world.found(&main), "refs/heads/x").unwrap().unwrap();
        assert_eq!(log.len(), 2, "{log:?}");
        assert_eq!((&log[0].old, &log[0].new), (&one, &two));
        assert!(log[0].message.starts_with("commit: second"), "{log:?}");
        assert!(log[1].old.is_zero() && log[1].new == one && log[1].message.starts_with("branch: Created"));
        assert!(log.iter().all(|entry| entry.time > 1_600_000_000), "{log:?}");
        assert_eq!(refs::reflog(&world.found(&main), "refs/heads/nope").unwrap(), None);
    }
}

#[test]
fn a_log_that_is_not_there_is_not_made() {
    let world = World::new();
    let main = world.repo("main");
    world.git(&main, &["config", "core.logAllRefUpdates", "false"]);
    let repo = world.found(&main);
    refs::create(&world.ctx, &repo, "refs/heads/x", &world.oid(&main, "HEAD")).unwrap();
    assert_eq!(refs::reflog(&repo, "refs/heads/x").unwrap(), None);
    assert!(!main.join(".git/logs/refs/heads/x").exists());
}

#[test]
fn a_log_that_cannot_be_understood_is_an_error() {
    let world = World::new();
    let main = world.repo("main");
    crate::git::testing::write(&main.join(".git/logs/refs/heads/main"), "garbage\n");
    assert!(refs::reflog(&world.found(&main), "refs/heads/main").is_err());
    assert!(Oid::parse("garbage").is_none());
}
