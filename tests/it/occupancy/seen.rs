//! What is seen, and what does not count.

use super::{Bystander, ask, assert_seen, ctx, lane};
use crate::world::{World, wait};
use scruff::occupancy::{self, Occupant, Occupied, Query};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

#[test]
fn an_empty_checkout_is_free_and_so_is_one_that_is_not_there() {
    let world = World::new();
    let lane = lane(&world, "fix");
    assert_eq!(ask(&world, &lane), Occupied::No);
    assert_eq!(ask(&world, &lane.join("gone")), Occupied::No);
}

#[test]
fn who_stands_in_it_is_named() {
    let world = World::new();
    let lane = lane(&world, "fix");
    let top = Bystander::at(&world, &lane);
    let seen = assert_seen(&ask(&world, &lane), &top);
    assert_eq!((seen.command.as_str(), seen.via, seen.path), ("sleep", "proc", lane.clone()));
    drop(top);
    let deep = Bystander::at(&world, &lane.join("src/deep"));
    let seen = assert_seen(&ask(&world, &lane), &deep);
    assert_eq!(seen.path, lane.join("src/deep"));
    let reason = Occupied::Yes(vec![seen]).reason().unwrap();
    assert!(
        reason.contains("something is standing here") && reason.contains(&deep.pid.to_string()),
        "{reason}"
    );
}

#[test]
fn one_question_answers_for_many_checkouts_in_their_order() {
    let world = World::new();
    let lanes: Vec<PathBuf> = ["a", "b", "ab", "a/inner"].map(|name| lane(&world, name)).into();
    let inner = Bystander::at(&world, &lanes[3].join("src"));
    let (first, second) = (Bystander::at(&world, &lanes[2]), Bystander::at(&world, &lanes[2]));
    let answers = occupancy::of(&ctx(&world), &Query::new(&lanes));
    assert_seen(&answers[0], &inner);
    assert_eq!(answers[1], Occupied::No);
    assert_seen(&answers[3], &inner);
    let Occupied::Yes(both) = &answers[2] else { panic!("{answers:?}") };
    let mut pids: Vec<u32> = both.iter().map(|occupant| occupant.pid).collect();
    pids.sort_unstable();
    let mut expected = [first.pid, second.pid];
    expected.sort_unstable();
    assert_eq!(pids, expected);
}

#[test]
fn names_do_not_matter() {
    let world = World::new();
    let odd = lane(&world, OsString::from_vec(b"\xff \n'x (deleted)".to_vec()));
    let link = world.root().join("link");
    symlink(&odd, &link).unwrap();
    let through = Bystander::at(&world, &link.join("src"));
    assert_seen(&ask(&world, &odd), &through);
    assert_seen(&ask(&world, &link), &through);
    // Renamed under its feet.
    let moved = odd.with_file_name("moved");
    std::fs::rename(&odd, &moved).unwrap();
    assert_seen(&ask(&world, &moved), &through);
    assert_eq!(ask(&world, &odd), Occupied::No);
}

#[test]
fn a_removed_directory_still_has_someone_in_it() {
    let world = World::new();
    let lane = lane(&world, "fix");
    let inside = Bystander::at(&world, &lane.join("src/deep"));
    std::fs::remove_dir(lane.join("src/deep")).unwrap();
    assert_seen(&ask(&world, &lane), &inside);
    std::fs::remove_dir(lane.join("src")).unwrap();
    assert_seen(&ask(&world, &lane), &inside);
}

#[test]
fn a_checkout_made_anew_is_not_the_one_that_was_removed() {
    let world = World::new();
    let lane = lane(&world, "fix");
    let before = Bystander::at(&world, &lane);
    let keep = std::fs::File::open(&lane).unwrap();
    std::fs::remove_dir_all(&lane).unwrap();
    assert_eq!(ask(&world, &lane), Occupied::No);
    std::fs::create_dir(&lane).unwrap();
    assert_eq!(ask(&world, &lane), Occupied::No);
    drop((before, keep));
}

#[test]
fn a_zombie_stands_nowhere() {
    let world = World::new();
    let lane = lane(&world, "fix");
    // The dead one's parent never asks about it.
    let script = r#"(cd "$1"; until read comm </proc/$$/comm && [ "$comm" = sleep ]; do :; done) &
        cd / && exec sleep 600"#;
    let parent = Bystander::of(&world, script, &[lane.as_os_str()]);
    let children = format!("/proc/{0}/task/{0}/children", parent.pid);
    let zombie = wait::within(wait::LIMIT, || {
        let child = std::fs::read_to_string(&children).ok()?.trim().to_owned();
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        stat.contains(") Z ").then_some(())
    });
    assert!(zombie.is_some(), "no zombie was made");
    assert_eq!(ask(&world, &lane), Occupied::No);
}

#[test]
fn a_thread_that_outlives_the_first_one_stands_where_it_is() {
    let world = World::new();
    let lane = lane(&world, "fix");
    if which::which("python3").is_err() {
        return eprintln!("skipped: no python3 here");
    }
    let body = "import ctypes, threading, time\n\
        threading.Thread(target=time.sleep, args=(600,)).start()\n\
        ctypes.CDLL(None).pthread_exit(None)";
    let script = r#"cd "$1" && exec python3 -c "$2""#;
    let threads = Bystander::of(&world, script, &[lane.as_os_str(), body.as_ref()]);
    let stat = format!("/proc/{}/stat", threads.pid);
    let first_is_gone = || std::fs::read_to_string(&stat).unwrap().contains(") Z ").then_some(());
    assert!(wait::within(wait::LIMIT, first_is_gone).is_some());
    assert_seen(&ask(&world, &lane), &threads);
}

#[test]
fn scruff_its_children_and_its_ancestors_do_not_count() {
    let world = World::new();
    let lane = lane(&world, "fix");
    // This test is "scruff": what it starts is its child.
    let child = world.program("sleep").arg("600").cwd(&lane).start();
    assert_eq!(ask(&world, &lane), Occupied::No);
    child.kill();
}

#[test]
fn the_tree_of_who_asks_for_the_removal_does_not_count() {
    let world = World::new();
    let lane = lane(&world, "fix");
    let script = r#"cd "$1"; sh -c 'sleep 600; :' & exec sleep 600"#;
    let client = Bystander::of(&world, script, &[lane.as_os_str()]);
    let ask = |excuse: Vec<u32>| {
        let paths = [lane.clone()];
        let query = Query { excuse, ..Query::new(&paths) };
        occupancy::of(&ctx(&world), &query).remove(0)
    };
    let tree = || match ask(vec![]) {
        Occupied::Yes(there) if there.len() == 3 => Some(there),
        _ => None,
    };
    let there = wait::within(wait::LIMIT, tree).expect("client, shell and its child");
    assert_eq!(ask(vec![client.pid]), Occupied::No);
    let other = Bystander::at(&world, &lane);
    assert_seen(&ask(vec![client.pid]), &other);
    // Nobody's tree is everybody's.
    let Occupied::Yes(all) = ask(vec![0, 1]) else { panic!() };
    assert_eq!(all.len(), 4);
    for occupant in there.iter().filter(|occupant| occupant.pid != client.pid) {
        drop(Bystander { pid: occupant.pid });
    }
}

#[test]
fn panes_may_say_yes_and_never_no() {
    let world = World::new();
    let lane = lane(&world, "fix");
    let paths = [lane.clone()];
    let pane = Occupant { pid: 0, command: "claude".into(), path: lane.clone(), via: "mux" };
    let there = |path: &Path| if path == lane { vec![pane.clone()] } else { vec![] };
    let with_pane = Query { panes: Some(&there), ..Query::new(&paths) };
    assert_eq!(occupancy::of(&ctx(&world), &with_pane), [Occupied::Yes(vec![pane.clone()])]);
    let bystander = Bystander::at(&world, &lane);
    let nobody = |_: &Path| vec![];
    let without = Query { panes: Some(&nobody), ..Query::new(&paths) };
    assert_seen(&occupancy::of(&ctx(&world), &without)[0], &bystander);
}

#[test]
fn the_checkout_a_command_is_typed_in_is_known() {
    let world = World::new();
    let lane = lane(&world, "fix");
    let mut ctx = ctx(&world);
    assert!(!occupancy::stands_here(&ctx, &lane));
    for inside in [lane.clone(), lane.join("src/deep"), lane.join("src/../src")] {
        ctx.cwd = inside;
        assert!(occupancy::stands_here(&ctx, &lane), "{}", ctx.cwd.display());
    }
    ctx.cwd = lane.with_file_name("fix-2");
    assert!(!occupancy::stands_here(&ctx, &lane));
    let here = std::path::absolute(".").unwrap();
    assert!(occupancy::stands_here(&ctx, &here), "whatever -C says");
}
