//! Leases, and the command that takes them.

use super::{Bystander, ask, assert_seen, ctx, lane};
use crate::world::{World, wait};
use scruff::occupancy::{self, Occupied, Query};
use std::path::{Path, PathBuf};

/// A file of a lease on this path, as another tool might write it.
fn lease_file(world: &World, lane: &Path, content: &str) -> PathBuf {
    let ctx = ctx(world);
    occupancy::hold(&ctx, lane, std::process::id()).unwrap();
    let file = std::fs::read_dir(world.state().join("live")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&file, content).unwrap();
    file
}

#[test]
fn a_lease_says_yes_as_long_as_its_process_lives() {
    let world = World::new();
    let (lane, other) = (lane(&world, "fix"), lane(&world, "other"));
    let elsewhere = Bystander::at(&world, &world.home());
    occupancy::hold(&ctx(&world), &lane, elsewhere.pid).unwrap();
    let seen = assert_seen(&ask(&world, &lane), &elsewhere);
    assert_eq!((seen.via, seen.command.as_str(), &seen.path), ("leases", "sleep", &lane));
    assert_eq!(ask(&world, &other), Occupied::No);
    let pid = elsewhere.pid;
    drop(elsewhere);
    wait::until("the holder is gone", || ask(&world, &lane) == Occupied::No, || pid.to_string());
    let left = std::fs::read_dir(world.state().join("live")).unwrap().count();
    assert_eq!(left, 0, "a dead lease is removed on sight");
}

#[test]
fn two_holders_of_one_checkout_do_not_replace_each_other() {
    let world = World::new();
    let lane = lane(&world, "fix");
    let (one, two) = (Bystander::at(&world, &world.home()), Bystander::at(&world, &world.home()));
    let ctx = ctx(&world);
    occupancy::hold(&ctx, &lane, one.pid).unwrap();
    occupancy::hold(&ctx, &lane, two.pid).unwrap();
    occupancy::hold(&ctx, &lane, two.pid).unwrap();
    occupancy::release(&ctx, &lane, Some(two.pid)).unwrap();
    assert_seen(&ask(&world, &lane), &one);
    occupancy::hold(&ctx, &lane, two.pid).unwrap();
    drop(one);
    wait::until("one is gone", || ask(&world, &lane).known() == Some(true), String::new);
    assert_seen(&ask(&world, &lane), &two);
    occupancy::release(&ctx, &lane, None).unwrap();
    occupancy::release(&ctx, &lane, None).unwrap();
    assert_eq!(ask(&world, &lane), Occupied::No);
}

#[test]
fn a_reused_process_id_is_not_the_holder() {
    let world = World::new();
    let lane = lane(&world, "fix");
    let now = Bystander::at(&world, &world.home());
    let file = lease_file(&world, &lane, &format!("{}\n{}\nanother start\n", now.pid, lane.display()));
    assert_eq!(ask(&world, &lane), Occupied::No);
    assert!(!file.exists());
    // Of a lease that says no start, the live process is the holder.
    lease_file(&world, &lane, &format!("{}\n{}\n", now.pid, lane.display()));
    assert_seen(&ask(&world, &lane), &now);
}

#[test]
fn a_lease_without_a_process_runs_out() {
    let world = World::new();
    let lane = lane(&world, "fix");
    occupancy::hold(&ctx(&world), &lane.join("src"), 0).unwrap();
    let Occupied::Yes(there) = ask(&world, &lane) else { panic!() };
    assert_eq!((there.len(), there[0].pid), (1, 0));
    let mut later = ctx(&world);
    let after = later.clock.now() + std::time::Duration::from_secs(91);
    later.clock = scruff::clock::Clock::fixed(after);
    assert_eq!(occupancy::of(&later, &Query::new(&[lane])), [Occupied::No]);
}

#[test]
fn the_lease_of_who_asks_for_the_removal_does_not_count() {
    let world = World::new();
    let lane = lane(&world, "fix");
    let client = Bystander::at(&world, &world.home());
    occupancy::hold(&ctx(&world), &lane, client.pid).unwrap();
    let paths = [lane];
    let query = Query { excuse: vec![client.pid], ..Query::new(&paths) };
    assert_eq!(occupancy::of(&ctx(&world), &query), [Occupied::No]);
}

#[test]
fn a_lease_on_nobody_is_refused() {
    let world = World::new();
    let lane = lane(&world, "fix");
    let error = occupancy::hold(&ctx(&world), &lane, 4_194_304).unwrap_err();
    assert!(error.message().contains("4194304"), "{error}");
    assert_eq!(ask(&world, &lane), Occupied::No);
}

#[test]
fn heartbeat_holds_the_checkout_for_who_calls() {
    let world = World::new();
    let repo = world.repo("shop");
    std::fs::create_dir_all(repo.path().join("src")).unwrap();
    let main = repo.path().to_owned();
    // The caller is a shell that stands elsewhere and lives on.
    let script = r#"scruff heartbeat "$1/src"; exec sleep 600"#;
    let caller = Bystander::of(&world, script, &[main.as_os_str()]);
    let seen = assert_seen(&ask(&world, &main), &caller);
    assert_eq!((seen.via, seen.path), ("leases", main.clone()));
    world.call(["heartbeat", "--release", "--pid", "1"]).cwd(&main).run().ok().silent().calm();
    assert_seen(&ask(&world, &main), &caller);
    world.call(["heartbeat", "--release"]).cwd(main.join("src")).run().ok().silent().calm();
    assert_eq!(ask(&world, &main), Occupied::No);
    world.call(["heartbeat", "--release"]).cwd(&main).run().ok().silent().calm();
}

#[test]
fn heartbeat_without_a_process_is_for_ninety_seconds() {
    let world = World::new();
    let lane = lane(&world, "fix");
    world.scruff(["heartbeat".as_ref(), lane.as_os_str(), "--pid".as_ref(), "0".as_ref()]).ok().silent();
    assert_eq!(ask(&world, &lane).known(), Some(true));
}

#[test]
fn heartbeat_refuses_what_is_not_there() {
    let world = World::new();
    let gone = world.home().join("gone");
    let file = world.file(world.home().join("file"), "");
    for path in [&gone, &file] {
        let ran = world.scruff(["heartbeat".as_ref(), path.as_os_str()]);
        assert!(ran.exits(1).stderr.contains(path.file_name().unwrap().to_str().unwrap()), "{ran}");
        world.scruff(["heartbeat".as_ref(), "--release".as_ref(), path.as_os_str()]).exits(1);
    }
    world.scruff(["heartbeat", "--pid", "4194304"]).exits(1).warns("no process 4194304").warns("--pid 0");
    world.scruff(["heartbeat", "--pid", "-1"]).exits(1);
    world.scruff(["heartbeat", "--pid", "me"]).exits(1);
}
