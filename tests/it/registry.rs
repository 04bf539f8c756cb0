//! Many writers of one registry: no row is lost, and whoever has to wait is told for whom.

use crate::world::{Running, World, wait};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

fn names(world: &World) -> BTreeSet<String> {
    world.rows().into_iter().map(|row| row[0].clone()).collect()
}

/// Rows appear and vanish at the same time, from many repositories, so that no lock but the
/// registry's own orders them.
#[test]
fn twenty_writers_lose_nothing() {
    let world = World::new();
    let repos: Vec<_> = (0..20).map(|n| world.repo(&format!("r{n}"))).collect();
    let old = |n: usize| format!("old-{n}");
    for (n, repo) in repos.iter().enumerate().take(5) {
        world.call(["new", &old(n)]).cwd(repo.path()).run().ok();
    }
    // What nobody understands stays too, wherever it stands.
    let table = world.base().join("registry.tsv");
    let mut file = std::fs::OpenOptions::new().append(true).open(&table).unwrap();
    file.write_all(b"of a newer tool\nhalf a\trow\n\xff\xfe\t/x\n").unwrap();
    let mut running: Vec<Running> = Vec::new();
    for (n, repo) in repos.iter().enumerate() {
        running.push(world.call(["new", &format!("new-{n}")]).cwd(repo.path()).start());
        if n < 5 {
            running.push(world.call(["drop", &old(n)]).cwd(repo.path()).start());
        }
    }
    for one in running {
        one.finish().ok();
    }
    let bytes = std::fs::read(&table).unwrap();
    for line in ["of a newer tool\n", "half a\trow\n"] {
        assert!(bytes.windows(line.len()).any(|part| part == line.as_bytes()), "{line:?} is lost");
    }
    assert!(bytes.windows(5).any(|part| part == b"\xff\xfe\t/x"));
    let listed = world.scruff(["list", "--json"]).ok().json();
    let listed =
        listed["lanes"].as_array().unwrap().iter().map(|lane| lane["name"].as_str().unwrap().to_owned());
    assert_eq!(listed.collect::<BTreeSet<_>>(), (0..20).map(|n| format!("new-{n}")).collect());
}

/// Holds a lock as a scruff does that was stopped in the middle of it.
struct Holder {
    file: std::fs::File,
}

impl Holder {
    fn of(lock: &Path, signed: &str) -> Self {
        let mut file = std::fs::OpenOptions::new().write(true).truncate(true).open(lock).unwrap();
        file.lock().unwrap();
        file.write_all(signed.as_bytes()).unwrap();
        Holder { file }
    }
}

#[test]
fn a_held_registry_is_five_and_names_the_holder() {
    let world = World::new();
    let repo = world.repo("orchard");
    world.call(["new", "pears"]).cwd(repo.path()).run().ok();
    let before = world.rows();
    let holder = Holder::of(&world.base().join("registry.tsv.lock"), "4711 (reap)\n");
    let ran = world.call(["new", "plums"]).cwd(repo.path()).run();
    ran.exits(5).silent().warns("process 4711 (reap) holds").warns("registry.tsv.lock");
    let ran = world.call(["drop", "pears"]).run();
    ran.exits(5).warns("process 4711 (reap)");
    // A listing waits for nobody.
    world.scruff(["list", "--json"]).ok();
    assert_eq!(world.rows(), before);
    holder.file.unlock().unwrap();
    assert!(!repo.branches().contains(&"worktree-plums".to_owned()));
    world.call(["new", "plums"]).cwd(repo.path()).run().ok();
    assert_eq!(names(&world), ["pears", "plums"].map(str::to_owned).into());
}

/// A second operation on a lane is told which one is under way.
#[test]
fn a_lane_at_work_is_five_and_names_the_operation() {
    let world = World::new();
    let repo = world.repo("orchard");
    let gate = world.root().join("gate");
    let hook = format!(
        "#!/bin/sh\ntouch '{0}.reached'\nwhile [ ! -e '{0}' ]; do sleep 0.05; done\n",
        gate.display()
    );
    repo.hook(&world, "post-checkout", &hook);
    let making = world.call(["new", "pears"]).cwd(repo.path()).start();
    let pid = making.pid();
    wait::until("git makes the checkout", || gate.with_extension("reached").exists(), String::new);
    for verb in ["drop", "close"] {
        let ran = world.call([verb, "pears"]).run();
        ran.exits(5).silent().warns(&format!("process {pid} (create)"));
    }
    std::fs::write(&gate, "").unwrap();
    making.finish().ok();
    world.call(["drop", "pears"]).run().ok();
}
