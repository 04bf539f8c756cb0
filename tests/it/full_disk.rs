//! A full disk and a read-only one, wherever scruff writes: a small file system of its own is
//! mounted over that place, in a mount namespace that nobody else sees.

use crate::crash::{work::Work, work::files_below};
use crate::hook_create::lane;
use crate::world::{Ran, Repo, World};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Copies a directory into a small file system mounted over it, fills that or makes it read-only,
/// runs a command, undoes the filling, runs the command again, and gives the directory back.
const SCRIPT: &str = r#"
how=$1 dir=$2 payload=$3; shift 3
mkdir "$dir.copy" "$dir.after"
cp -a "$dir/." "$dir.copy/"
mount -t tmpfs -o size=6m tmpfs "$dir" || { echo "no mount"; exit; }
cp -a "$dir.copy/." "$dir/"
case $how in
full) dd if=/dev/zero of="$dir/.filler" bs=64k 2>/dev/null ;;
read-only) mount -o remount,ro "$dir" ;;
esac
printf %s "$payload" | "$@" >"$dir.out" 2>"$dir.err"
echo "first $?"
test -e "$LANE" && echo "first there"
sed 's/^/first says /' "$dir.out" "$dir.err"
case $how in
full) rm -f "$dir/.filler" ;;
read-only) mount -o remount,rw "$dir" ;;
esac
printf %s "$payload" | "$@" >"$dir.out" 2>"$dir.err"
echo "second $?"
test -e "$LANE" && echo "second there"
sed 's/^/second says /' "$dir.out" "$dir.err"
cp -a "$dir/." "$dir.after/"
"#;

/// What came of a command without space, and then with it.
struct Twice {
    ran: Ran,
}

impl Twice {
    /// `None` where nothing can be mounted.
    fn run(
        world: &World,
        how: &str,
        place: &Path,
        lane: &Path,
        payload: &str,
        args: &[&str],
    ) -> Option<Self> {
        let script =
            world.program("unshare").args(["--map-root-user", "--mount", "sh", "-c", SCRIPT, "sh", how]);
        let script = script.arg(place).arg(payload).arg("scruff").args(args).env("LANE", lane);
        let ran = script.cwd("/").run();
        if ran.code() != 0 || ran.out().contains("no mount") {
            eprintln!("skipped: no file system can be mounted here\n{ran}");
            return None;
        }
        for (from, to) in [("", ".gone"), (".after", "")] {
            let named = |end: &str| PathBuf::from(format!("{}{end}", place.display()));
            std::fs::rename(named(from), named(to)).unwrap();
        }
        Some(Twice { ran })
    }

    fn says(&self, line: &str) -> bool {
        self.ran.out().lines().any(|said| said == line)
    }
}

struct Scene {
    world: World,
    repo: Repo,
    path: PathBuf,
    work: Work,
}

fn scene(configuration: &str, dirty: bool) -> Scene {
    let world = World::new();
    let repo = world.repo("orchard");
    repo.commit(".gitignore", "*.db\n", "Ignore");
    world.file(world.config_file(), configuration);
    let path = lane(&world, &repo, "pears");
    let commit = repo.commit_in(&path, "pear", "one\n", "Pear");
    let work = Work::new().commit(commit).file(&path, "fruit.db", "mine");
    let work = match dirty {
        true => work.file(&path, "README.md", "changed\n").file(&path, "draft", "unsaved".repeat(10_000)),
        false => work,
    };
    Scene { world, repo, path, work }
}

fn places(scene: &Scene) -> [(&'static str, PathBuf); 3] {
    [
        ("state", scene.world.state()),
        ("base", scene.world.base()),
        ("repository", scene.repo.path().to_owned()),
    ]
}

/// What takes a checkout: either it is kept and said, or everything is safe. With space again it
/// ends cleanly.
fn takes(configuration: &str, dirty: bool, args: &[&str]) {
    for how in ["full", "read-only"] {
        for index in 0..3 {
            let scene = scene(configuration, dirty);
            let (name, place) = &places(&scene)[index];
            let payload = json!({"worktree_path": scene.path, "cwd": "/"}).to_string();
            let twice = Twice::run(&scene.world, how, place, &scene.path, &payload, args);
            let Some(twice) = twice else { return };
            let report = || format!("{how} {name}\n{}", twice.ran);
            assert!(!twice.says("first 101") && !twice.says("second 101"), "a panic: {}", report());
            if !twice.says("first 0") {
                assert!(twice.says("first there") || name == &"repository", "gone, and no 0: {}", report());
                assert!(twice.ran.out().contains("first says scruff: "), "{}", report());
            }
            let done = twice.says("first 0") || twice.says("second 0");
            assert!(done && !twice.says("second there"), "{}", report());
            scene.work.assert_safe(&scene.world, &scene.repo);
        }
    }
}

#[test]
fn the_remove_hook_loses_nothing_when_it_parks() {
    takes("", true, &["hook", "remove"]);
}

#[test]
fn the_remove_hook_loses_nothing_when_it_discards() {
    takes("[worktree]\non_remove = 'discard'\n", true, &["hook", "remove"]);
}

#[test]
fn close_loses_nothing() {
    takes("", true, &["close", "pears"]);
}

#[test]
fn drop_loses_nothing() {
    takes("", false, &["drop", "pears"]);
}

/// What makes a lane: without space there is a reason and nothing else, with it there is a lane.
#[test]
fn the_create_hook_leaves_nothing() {
    for how in ["full", "read-only"] {
        for index in 0..3 {
            let world = World::new();
            let repo = world.repo("orchard");
            repo.commit("large", &"x".repeat(100_000), "Large");
            std::fs::create_dir_all(world.base()).unwrap();
            std::fs::create_dir_all(world.state()).unwrap();
            let scene =
                Scene { path: world.base().join("local-orchard/pears"), work: Work::new(), world, repo };
            let (name, place) = &places(&scene)[index];
            let payload = json!({"name": "pears", "cwd": scene.repo.path()}).to_string();
            let twice = Twice::run(&scene.world, how, place, &scene.path, &payload, &["hook", "create"]);
            let Some(twice) = twice else { return };
            let report = || format!("{how} {name}\n{}", twice.ran);
            assert!(twice.says("first 1") && !twice.says("first there"), "{}", report());
            assert!(!twice.ran.out().contains("first says /"), "{}", report());
            assert!(twice.says("second 0"), "{}", report());
            assert!(twice.says(&format!("second says {}", scene.path.display())), "{}", report());
            assert_eq!(scene.world.rows().len(), 1);
            assert_eq!(scene.repo.git_in(&scene.path, ["status", "--porcelain"]), "");
            assert!(files_below(&scene.world.state().join("opening")).is_empty());
        }
    }
}
