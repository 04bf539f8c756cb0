//! `scripts/install-needs`, on machines that have only what a test gives them.

use crate::world::{Call, World};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/install-needs");

/// A PATH of its own: the script's own tools, and stand-ins for the programs it looks for.
struct Machine<'a> {
    world: &'a World,
    bin: PathBuf,
}

impl<'a> Machine<'a> {
    fn new(world: &'a World) -> Self {
        let machine = Self { world, bin: world.root().join("machine") };
        std::fs::create_dir(&machine.bin).unwrap();
        for tool in ["bash", "sh", "sed", "dirname", "cat", "env", "chmod"] {
            symlink(which::which(tool).unwrap(), machine.bin.join(tool)).unwrap();
        }
        let machine = machine.has("uname", "echo Linux").has("id", "echo 0").has("make", "").has("tmux", "");
        let machine = machine
            .has("git", "")
            .has("cc", "case $1 in -dumpmachine) echo x86_64-linux-gnu;; *) echo /lib/libc.a;; esac");
        machine.has("cargo", "echo 'cargo 1.99.0 (0000000 2027-01-01)'")
    }

    fn has(self, program: &str, body: &str) -> Self {
        self.put(program, body);
        self
    }

    fn put(&self, program: &str, body: &str) {
        self.world.script(self.bin.join(program), &format!("#!/bin/sh\n{body}\n"));
    }

    fn lacks(self, program: &str) -> Self {
        std::fs::remove_file(self.bin.join(program)).unwrap();
        self
    }

    /// An apt that writes down what it is asked for and, asked to install, brings this program.
    fn with_apt(self, brings: &str) -> Self {
        let bin = self.bin.display();
        let log = self.log().display().to_string();
        let bring = format!("printf '#!/bin/sh\\n' >{bin}/{brings} && chmod 755 {bin}/{brings}");
        self.put("apt-get", &format!("echo \"$@\" >>{log}; case \"$*\" in *install*) {bring};; esac"));
        self
    }

    fn log(&self) -> PathBuf {
        self.world.root().join("apt.log")
    }

    fn script(&self) -> Call {
        self.world.program(self.bin.join("bash")).arg(SCRIPT).env("PATH", self.bin.as_os_str())
    }
}

#[test]
fn where_everything_is_there_it_says_and_does_nothing() {
    let world = World::new();
    Machine::new(&world).with_apt("x").script().arg("demo").run().ok().silent().calm();
    assert!(!world.root().join("apt.log").exists());
}

#[test]
fn on_a_system_it_does_not_know_it_names_what_is_missing() {
    let world = World::new();
    let ran = Machine::new(&world).lacks("tmux").script().arg("demo").run();
    let first = ran.exits(1).silent().stderr.lines().next().unwrap();
    assert!(first.contains("tmux"), "{ran}");
    assert!(!first.contains("git") && !first.contains("cargo"), "{ran}");
}

#[test]
fn on_debian_it_installs_what_is_missing_and_nothing_else() {
    let world = World::new();
    let machine = Machine::new(&world).lacks("tmux").with_apt("tmux");
    machine.script().arg("demo").run().ok().silent().warns("tmux");
    let asked = read(&machine.log());
    let install = asked.lines().last().unwrap();
    assert!(asked.lines().next().unwrap().ends_with("update"), "{asked}");
    assert!(install.ends_with("--no-install-recommends tmux"), "{asked}");
}

#[test]
fn what_an_installation_did_not_bring_is_named() {
    let world = World::new();
    let machine = Machine::new(&world).lacks("tmux").with_apt("something-else");
    machine.script().arg("demo").run().exits(1).warns("still").warns("tmux");
}

#[test]
fn an_old_cargo_counts_as_missing_and_rustups_is_left_to_its_owner() {
    let world = World::new();
    let old = Machine::new(&world).has("cargo", "echo 'cargo 1.63.0'").has("rustup", "").with_apt("cargo");
    old.script().arg("demo").run().exits(1).warns("cargo must be").warns("rustup update");
    assert!(!old.log().exists());
}

#[test]
fn of_debians_toolchains_the_one_that_is_new_enough_is_taken() {
    let world = World::new();
    let policy =
        "case $2 in cargo) v=0.66.0+ds1-1;; cargo-web) v=1.99.0+dfsg1-1;; esac; echo \"  Candidate: $v\"";
    let machine = Machine::new(&world).has("cargo", "exit 1").has("apt-cache", policy).with_apt("cargo");
    // What the stand-in brings is no cargo, which is noticed.
    machine.script().arg("demo").run().exits(1);
    assert!(read(&machine.log()).trim_end().ends_with(" cargo-web rustc-web"));
}

#[test]
fn without_a_goal_it_says_how_it_is_used() {
    let world = World::new();
    Machine::new(&world).script().run().exits(1).warns("usage");
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
