//! Other users' processes. Asked as somebody who is not root, since root sees them all.

use super::{Bystander, ask, lane};
use crate::world::World;
use scruff::ctx::Ctx;
use scruff::occupancy::{self, Occupied, Query};
use scruff::ui::Ui;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Asking as another user, with everything that user needs.
struct As<'a> {
    world: &'a World,
    uid: u32,
    groups: String,
    home: PathBuf,
}

impl<'a> As<'a> {
    /// `None` where this user may not become another one.
    fn new(world: &'a World, uid: u32, groups: &[u32]) -> Option<Self> {
        if rustix::process::geteuid().as_raw() != 0 || which::which("setpriv").is_err() {
            eprintln!("skipped: another user is needed");
            return None;
        }
        let groups = match groups {
            [] => "--clear-groups".to_owned(),
            list => format!("--groups={}", list.iter().map(u32::to_string).collect::<Vec<_>>().join(",")),
        };
        let home = world.root().join(format!("home-{uid}"));
        let it = As { world, uid, groups, home };
        std::fs::create_dir(&it.home).unwrap();
        it.owns(&it.home, uid);
        std::fs::set_permissions(world.root(), PermissionsExt::from_mode(0o755)).unwrap();
        Some(it)
    }

    fn owns(&self, path: &Path, gid: u32) {
        self.world.program("chown").arg("-R").arg(format!("{}:{gid}", self.uid)).arg(path).run().ok();
    }

    /// A checkout of this user's, open to everyone.
    fn lane(&self, name: &str) -> PathBuf {
        let lane = self.world.root().join(name);
        std::fs::create_dir_all(lane.join("src")).unwrap();
        self.owns(&lane, self.uid);
        lane
    }

    fn script(&self, command: &str) -> String {
        format!("exec setpriv --reuid={0} --regid={0} {1} sh -c '{command}' sh \"$@\"", self.uid, self.groups)
    }

    fn bystander(&self, directory: &Path) -> Bystander {
        let script = self.script(r#"cd "$1" && exec sleep 600"#);
        Bystander::of(self.world, &script, &[directory.as_os_str()])
    }

    /// Asks in a process of this user's: this very program, by a descriptor, since its own path
    /// need not be open to them.
    fn ask(&self, lane: &Path) -> String {
        self.ask_with(lane, "")
    }

    /// The same with this value of `SCRUFF_OCCUPANCY`.
    fn ask_with(&self, lane: &Path, occupancy: &str) -> String {
        let inner = "exec /proc/self/fd/9 --exact occupancy::users::asked_by_another_user --nocapture";
        let script = format!("exec 9<\"$1\"; {}", self.script(inner));
        let call = self.world.program("sh").args(["-c", &script, "sh"]).arg(std::env::current_exe().unwrap());
        let call = call.env("SCRUFF_OCCUPANCY", occupancy);
        let ran = call.env("HOME", &self.home).env("SCRUFF_TEST_ASK", lane).cwd("/").run();
        let answer = ran.ok().out().lines().find_map(|line| line.split_once("answer: "));
        answer.unwrap_or_else(|| panic!("{ran}")).1.to_owned()
    }
}

/// What [`As::ask`] runs; by itself it has nothing to say.
#[test]
fn asked_by_another_user() {
    let Some(lane) = std::env::var_os("SCRUFF_TEST_ASK") else { return };
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    let env = std::env::vars_os().filter(|(key, _)| key == "HOME" || key == "SCRUFF_OCCUPANCY").collect();
    let ctx = Ctx::new(env, home, Ui::default(), false).unwrap();
    writeln!(std::io::stdout(), "\nanswer: {:?}", occupancy::of(&ctx, &Query::new(&[lane.into()]))[0])
        .unwrap();
}

#[test]
fn another_users_process_counts_only_where_it_could_be() {
    let world = World::new();
    let Some(asker) = As::new(&world, 4242, &[5151]) else { return };
    let lane = asker.lane("open");
    let stranger = As::new(&world, 4343, &[]).unwrap().bystander(Path::new("/"));
    let answer = asker.ask(&lane);
    assert!(answer.starts_with("Unknown") && answer.contains("another user"), "{answer}");
    // A directory that only one group may pass, with nobody of it about but the asker.
    asker.owns(&lane, 5151);
    std::fs::set_permissions(&lane, PermissionsExt::from_mode(0o750)).unwrap();
    assert_eq!(asker.ask(&lane), "No");
    let member = As::new(&world, 4444, &[5151]).unwrap().bystander(Path::new("/"));
    let answer = asker.ask(&lane);
    assert!(answer.starts_with("Unknown"), "{answer}");
    std::fs::set_permissions(&lane, PermissionsExt::from_mode(0o700)).unwrap();
    assert_eq!(asker.ask(&lane), "No");
    drop((stranger, member));
}

#[test]
fn ones_own_unreadable_process_and_roots_are_passed_over() {
    let world = World::new();
    let Some(asker) = As::new(&world, 4252, &[5252]) else { return };
    let lane = asker.lane("group");
    asker.owns(&lane, 5252);
    std::fs::set_permissions(&lane, PermissionsExt::from_mode(0o750)).unwrap();
    // A program that may be run and not read cannot be looked into, as with ssh-agent.
    let copy = world.root().join("sleep");
    std::fs::copy(which::which("sleep").unwrap(), &copy).unwrap();
    std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o711)).unwrap();
    let script = asker.script(r#"cd / && exec "$1" 600"#);
    let agent = Bystander::of(&world, &script, &[copy.as_os_str()]);
    let root = Bystander::at(&world, &lane);
    assert_eq!(asker.ask(&lane), "No");
    drop((agent, root));
}

#[test]
fn a_directory_that_cannot_be_walked_up_from_is_known_by_its_name() {
    let world = World::new();
    let lane = lane(&world, "fix");
    let asker = As::new(&world, 4242, &[]);
    if asker.is_none() {
        return;
    }
    let asker = asker.unwrap();
    let own = asker.lane("walk");
    // Someone of the same user walked in before the door was closed.
    let inside = asker.bystander(&own.join("src"));
    std::fs::set_permissions(own.join("src"), PermissionsExt::from_mode(0o000)).unwrap();
    let answer = asker.ask(&own);
    std::fs::set_permissions(own.join("src"), PermissionsExt::from_mode(0o755)).unwrap();
    assert!(answer.starts_with("Yes") && answer.contains(&inside.pid.to_string()), "{answer}");
    assert_eq!(ask(&world, &lane), Occupied::No);
}

#[test]
fn leases_say_nobody_only_where_that_is_wanted() {
    let world = World::new();
    let Some(asker) = As::new(&world, 4262, &[5262]) else { return };
    let lane = asker.lane("lane");
    asker.owns(&lane, 5262);
    std::fs::set_permissions(&lane, PermissionsExt::from_mode(0o750)).unwrap();
    let stranger = As::new(&world, 4272, &[5262]).unwrap().bystander(Path::new("/"));
    assert!(asker.ask(&lane).starts_with("Unknown"));
    assert_eq!(asker.ask_with(&lane, "lease"), "No");
    // An unreadable lease is no "nobody".
    let live = asker.home.join(".local/state/scruff/live");
    std::fs::create_dir_all(&live).unwrap();
    std::fs::write(live.join(scruff::lane::digest(&lane)), "garbage").unwrap();
    asker.owns(&asker.home, 4262);
    assert!(asker.ask_with(&lane, "lease").starts_with("Unknown"));
    drop(stranger);
}
