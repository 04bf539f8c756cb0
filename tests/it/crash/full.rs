//! No room to write, and a state directory that cannot be written: whatever was there is still there,
//! and once there is room again the same command ends cleanly.

use super::work::Work;
use crate::world::{Call, Ran, Repo, World};
use std::path::PathBuf;

const SCRUFF: &str = env!("CARGO_BIN_EXE_scruff");

/// The sizes that a file may have, in blocks of 512 bytes: from nothing to enough for some of it.
const ROOM: [&str; 5] = ["0", "1", "2", "8", "64"];

struct Scene {
    world: World,
    repo: Repo,
    path: PathBuf,
    work: Work,
}

impl Scene {
    /// A lane that landed, with uncommitted work on top if it is to be dirty.
    fn new(dirty: bool) -> Self {
        let world = World::new();
        let repo = world.repo("orchard").with_origin("kim/orchard");
        repo.commit(".gitignore", ".env\n", "ignore");
        let path = PathBuf::from(world.call(["new", "pears"]).cwd(repo.path()).run().ok().line());
        let mut work = Work::new().commit(repo.commit_in(&path, "pear", "ripe\n", "pears"));
        repo.git(["merge", "-q", "--ff-only", "worktree-pears"]);
        work = work.file(&path, ".env", "KEY=1\n".repeat(400));
        if dirty {
            work = work.file(&path, "pear", "over-ripe\n").file(&path, "new", "leaf\n".repeat(9000));
        }
        Scene { world, repo, path, work }
    }

    fn sh(&self, script: &str, args: &[&str]) -> Call {
        let call = self.world.program("sh").args(["-c", script, "sh"]).args(args.iter().copied());
        call.cwd(self.repo.path())
    }

    fn without_room(&self, blocks: &str, command: &[&str]) -> Ran {
        // Without the signal a write fails as it does on a full disk.
        let script = "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"";
        self.sh(script, &[&[blocks, SCRUFF], command].concat()).run()
    }

    /// `None` where no file system can be mounted.
    fn with_state_read_only(&self, command: &[&str]) -> Option<Ran> {
        let state = self.world.state();
        let script =
            "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" || exit 99; shift; exec \"$@\"";
        let root = rustix::process::geteuid().is_root();
        let flags = if root { "-m" } else { "-rm" };
        let inner = [&["sh", "-c", script, "sh", state.to_str().unwrap(), SCRUFF], command].concat();
        let call = self.world.program("unshare").arg(flags).args(inner).cwd(self.repo.path());
        let ran = call.run();
        (ran.status.code() != Some(99) && !ran.stderr.contains("unshare failed")).then_some(ran)
    }

    fn plainly(&self, command: &[&str]) -> Ran {
        self.world.call(command.iter().copied()).cwd(self.repo.path()).run()
    }

    #[track_caller]
    fn is_safe(&self) {
        self.work.assert_safe(&self.world, &self.repo);
        self.repo.git(["fsck", "--no-progress"]);
    }
}

#[test]
fn a_full_disk_costs_nothing_and_the_next_run_ends() {
    for (dirty, command) in
        [(false, &["reap", "pears"][..]), (false, &["drop", "pears"]), (true, &["close", "pears"])]
    {
        for blocks in ROOM {
            let scene = Scene::new(dirty);
            let ran = scene.without_room(blocks, command);
            scene.is_safe();
            let again = scene.plainly(command);
            let done = again.status.code() == Some(0) || ran.status.code() == Some(0);
            // A row alone may be left: it goes with the next look.
            assert!(done || scene.plainly(&["reap"]).status.code() == Some(0), "{blocks}\n{ran}\n{again}");
            assert!(!scene.path.exists(), "{blocks}\n{ran}\n{again}");
            scene.is_safe();
        }
    }
}

#[test]
fn a_full_disk_while_a_lane_is_made_leaves_it_whole_or_not_at_all() {
    for blocks in ROOM {
        let scene = Scene::new(true);
        scene.without_room(blocks, &["new", "plums"]);
        scene.is_safe();
        scene.plainly(&["list", "--json"]).ok();
        let there = scene.repo.branches().contains(&"worktree-plums".to_owned());
        let path = scene.path.with_file_name("plums");
        assert_eq!(there, path.join(".git").exists(), "{blocks}");
        if !there {
            scene.plainly(&["new", "plums"]).ok();
        }
    }
}

#[test]
fn a_state_directory_that_cannot_be_written_keeps_everything() {
    for (dirty, command) in
        [(false, &["reap", "pears"][..]), (false, &["drop", "pears"]), (true, &["close", "pears"])]
    {
        let scene = Scene::new(dirty);
        let Some(ran) = scene.with_state_read_only(command) else {
            eprintln!("skipped: nothing can be mounted here");
            return;
        };
        assert_ne!(ran.status.code(), Some(0), "{ran}");
        assert!(scene.path.join(".git").exists(), "{ran}");
        scene.is_safe();
        scene.plainly(command).ok();
        scene.is_safe();
    }
}
