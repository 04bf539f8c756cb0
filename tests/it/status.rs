//! `scruff status`: three directories, four readers.

use crate::world::World;
use serde_json::json;

/// Lanes as hooks leave them: an empty file for each, named after the lane's id.
fn record(world: &World, activity: &str, ids: &[&str]) {
    for id in ids {
        world.file(world.state().join("activity").join(activity).join(id), "");
    }
}

fn busy() -> World {
    let world = World::new();
    record(&world, "waiting", &["aaaaaaaaaaaa", "bbbbbbbbbbbb"]);
    record(&world, "working", &["cccccccccccc"]);
    world
}

#[test]
fn every_reader_gets_the_counts() {
    let world = busy();
    world.scruff(["status"]).ok().calm().says("2 waiting, 1 working, 0 done\n");
    let expected = json!({"waiting": 2, "working": 1, "done": 0});
    assert_eq!(world.scruff(["status", "--format", "json"]).ok().json(), expected);
    assert_eq!(world.scruff(["status", "--json"]).ok().json(), expected);
    assert_eq!(world.scruff(["--json", "status"]).ok().json(), expected);
    let tmux = "#[fg=yellow,bold]!2#[default] #[fg=cyan]~1#[default]";
    assert_eq!(world.scruff(["status", "--format=tmux"]).ok().line(), tmux);
    assert_eq!(world.scruff(["-q", "status", "--format=tmux"]).ok().line(), tmux);
    let wezterm = "\x1b[1;33m!2\x1b[0m \x1b[36m~1\x1b[0m";
    assert_eq!(world.scruff(["status", "--format", "wezterm"]).ok().line(), wezterm);
}

#[test]
fn nobody_at_work_is_an_answer_too() {
    let world = World::new();
    world.scruff(["status"]).ok().calm().says("0 waiting, 0 working, 0 done\n");
    assert_eq!(world.scruff(["status", "--format", "tmux"]).ok().calm().out(), "\n");
    assert!(!world.state().exists(), "looking made something");
}

#[test]
fn a_wrong_word_is_wrong_usage_and_help_is_help() {
    let world = World::new();
    world.scruff(["status", "--format", "yaml"]).exits(1).silent().warns("yaml");
    world.scruff(["status", "--nope"]).exits(1).silent();
    world.scruff(["status", "x"]).exits(1).silent();
    world.scruff(["status", "--help"]).ok().says("--format");
}

#[test]
fn a_directory_that_cannot_be_read_is_no_zero() {
    let world = World::new();
    world.file(world.state().join("activity/waiting"), "not a directory");
    world.scruff(["status"]).exits(1).silent().warns("activity/waiting");
}

#[test]
fn it_reads_three_directories_and_starts_nothing() {
    if which::which("strace").is_err() {
        return;
    }
    let world = busy();
    let log = world.root().join("trace");
    let strace =
        world.program("strace").args(["-f", "-e", "trace=execve,open,openat,connect", "-o"]).arg(&log);
    strace.arg(env!("CARGO_BIN_EXE_scruff")).args(["status", "--format", "tmux"]).run().ok();
    let log = std::fs::read_to_string(log).unwrap();
    let calls = |name: &str| log.lines().filter(|line| line.contains(name)).count();
    assert_eq!(calls("execve("), 1, "{log}");
    assert_eq!(calls("connect("), 0, "{log}");
    let opened: Vec<&str> = log.lines().filter(|line| line.contains("/home/.")).collect();
    let directories = opened.iter().filter(|line| line.contains("/activity/")).count();
    assert_eq!((opened.len(), directories), (3, 3), "{log}");
}
