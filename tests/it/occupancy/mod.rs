//! Who is standing in a checkout: real processes, real namespaces, real other users.

mod contained;
mod leases;
mod seen;
mod users;

use crate::world::{World, wait};
use scruff::ctx::Ctx;
use scruff::occupancy::{self, Occupant, Occupied, Query};
use scruff::ui::Ui;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

fn ctx(world: &World) -> Ctx {
    let env = world.env().iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    Ctx::new(env, world.home(), Ui::default(), false).unwrap()
}

fn lane(world: &World, name: impl AsRef<Path>) -> PathBuf {
    let lane = world.base().join("acme-shop").join(name);
    std::fs::create_dir_all(lane.join("src/deep")).unwrap();
    lane
}

fn ask(world: &World, lane: &Path) -> Occupied {
    occupancy::of(&ctx(world), &Query::new(&[lane.to_owned()])).remove(0)
}

/// A process that is nobody's child, so that it counts.
struct Bystander {
    pid: u32,
}

impl Bystander {
    /// `sleep` in a directory.
    fn at(world: &World, directory: &Path) -> Self {
        Self::of(world, r#"cd "$1" && exec sleep 600"#, &[directory.as_os_str()])
    }

    /// A shell script that ends by becoming `sleep` or `python3`.
    fn of(world: &World, script: &str, args: &[&OsStr]) -> Self {
        Self::start(world, script, args).unwrap_or_else(|why| panic!("{script}: {why}"))
    }

    fn start(world: &World, script: &str, args: &[&OsStr]) -> Result<Self, String> {
        let log = world.root().join("bystander.log");
        let outer = r#"PATH=$PATH:/usr/sbin:/sbin script=$1 log=$2; shift 2; sh -c "$script" sh "$@" </dev/null >"$log" 2>&1 & echo $!"#;
        let call = world.program("sh").args(["-c", outer, "sh", script]).arg(&log).args(args);
        let it = Self { pid: call.run().line().parse().unwrap() };
        let comm = || std::fs::read_to_string(format!("/proc/{}/comm", it.pid)).unwrap_or_default();
        let asleep = wait::within(wait::LIMIT, || match comm().trim() {
            "sleep" | "python3" => Some(true),
            "" => Some(false),
            _ => None,
        });
        match asleep {
            Some(true) => Ok(it),
            _ => Err(std::fs::read_to_string(log).unwrap_or_default()),
        }
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_raw(self.pid.cast_signed()).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

#[track_caller]
fn assert_seen(answer: &Occupied, bystander: &Bystander) -> Occupant {
    match answer {
        Occupied::Yes(there) if there.len() == 1 && there[0].pid == bystander.pid => there[0].clone(),
        _ => panic!("expected {} only: {answer:?}", bystander.pid),
    }
}
