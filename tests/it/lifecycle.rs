//! Park, unpark, close, drop, reap, undo, adopt: what they take, what they refuse, what comes back.

use crate::world::{Ran, Repo, Tmux, World};
use std::path::{Path, PathBuf};

struct Scene {
    world: World,
    repo: Repo,
}

impl Scene {
    fn new() -> Self {
        let world = World::new();
        let repo = world.repo("orchard").with_origin("kim/orchard");
        repo.commit(".gitignore", ".env\nnode_modules\n", "ignore");
        Scene { world, repo }
    }

    fn lane(&self, name: &str) -> PathBuf {
        PathBuf::from(self.run(["new", name]).ok().line())
    }

    /// A lane with a commit of its own.
    fn worked(&self, name: &str) -> PathBuf {
        let path = self.lane(name);
        self.repo.commit_in(&path, name, "ripe\n", name);
        path
    }

    fn run<const N: usize>(&self, args: [&str; N]) -> Ran {
        self.world.call(args).cwd(self.repo.path()).run()
    }

    fn in_lane<const N: usize>(&self, path: &Path, args: [&str; N]) -> Ran {
        self.world.call(args).cwd(path).run()
    }

    fn status(&self, path: &Path) -> String {
        self.repo.git_in(path, ["status", "--porcelain", "-uall"])
    }

    fn view(&self, name: &str) -> serde_json::Value {
        let all = self.run(["--json"]).ok().json();
        let lanes = all["lanes"].as_array().unwrap();
        lanes.iter().find(|lane| lane["name"] == name).unwrap_or_else(|| panic!("no {name} in {all}")).clone()
    }

    /// The lane is there, whole.
    #[track_caller]
    fn stands(&self, name: &str, path: &Path) {
        assert!(self.repo.branches().contains(&format!("worktree-{name}")));
        assert!(path.join(".git").exists());
    }
}

#[test]
fn parked_work_comes_back_as_it_was() {
    let scene = Scene::new();
    let path = scene.lane("pears");
    std::fs::write(path.join("README.md"), "changed\n").unwrap();
    std::fs::write(path.join("new file é"), "new\n").unwrap();
    std::fs::write(path.join(".env"), "KEY=1\n").unwrap();
    std::fs::write(path.join("staged"), "staged\n").unwrap();
    scene.repo.git_in(&path, ["add", "staged"]);
    let before = scene.status(&path);
    scene.in_lane(&path, ["park", "half way"]).ok().silent();
    assert_eq!(scene.status(&path), "");
    assert_eq!(scene.repo.git_in(&path, ["log", "-1", "--format=%s"]), "wip: half way");
    assert_eq!(scene.repo.git_in(&path, ["stash", "list"]), "", "the stash is not touched");
    assert!(path.join(".env").exists(), "ignored files are no part of it");
    scene.in_lane(&path, ["unpark"]).ok().silent();
    assert_eq!(scene.status(&path), before);
    scene.in_lane(&path, ["unpark"]).exits(2);
}

#[test]
fn two_parks_take_two_unparks() {
    let scene = Scene::new();
    let path = scene.lane("pears");
    std::fs::write(path.join("a"), "a\n").unwrap();
    scene.in_lane(&path, ["park"]).ok();
    std::fs::write(path.join("b"), "b\n").unwrap();
    scene.in_lane(&path, ["park"]).ok();
    scene.in_lane(&path, ["unpark"]).ok();
    assert_eq!(scene.status(&path), "?? b");
    scene.in_lane(&path, ["unpark"]).ok();
    assert_eq!(scene.status(&path), "?? a\n?? b");
}

#[test]
fn park_refuses_what_it_could_not_give_back() {
    let scene = Scene::new();
    let path = scene.lane("pears");
    scene.in_lane(&path, ["park"]).ok();
    scene.lane("plums");
    scene.in_lane(&path, ["park", "plums"]).exits(1).warns("scruff plums");
    scene.repo.git_in(&path, ["switch", "-q", "--detach"]);
    std::fs::write(path.join("a"), "a\n").unwrap();
    scene.in_lane(&path, ["park"]).exits(2);
    assert_eq!(scene.status(&path), "?? a");
}

#[test]
fn a_rejecting_hook_and_a_missing_identity_do_not_matter_and_a_lock_keeps_everything() {
    let scene = Scene::new();
    let path = scene.lane("pears");
    scene.repo.hook(&scene.world, "pre-commit", "exit 1");
    scene.repo.hook(&scene.world, "commit-msg", "exit 1");
    scene.repo.git(["config", "user.useConfigOnly", "true"]);
    scene.repo.git(["config", "commit.gpgSign", "true"]);
    std::fs::write(path.join("a"), "a\n").unwrap();
    scene.in_lane(&path, ["park"]).ok();
    scene.in_lane(&path, ["unpark"]).ok();
    let git_dir = scene.repo.git_in(&path, ["rev-parse", "--absolute-git-dir"]);
    std::fs::write(Path::new(&git_dir).join("index.lock"), "").unwrap();
    assert_ne!(scene.run(["close", "pears"]).code(), 0);
    assert_eq!(std::fs::read_to_string(path.join("a")).unwrap(), "a\n");
}

#[test]
fn secrets_are_never_committed() {
    let scene = Scene::new();
    let path = scene.lane("pears");
    scene.world.file(scene.world.config_file(), "[park]\nsecrets = ['*.pem']\n");
    std::fs::write(path.join("key.pem"), "secret\n").unwrap();
    scene.in_lane(&path, ["park"]).exits(2).warns("key.pem");
    scene.run(["close", "pears"]).exits(2).warns("key.pem");
    assert_eq!(scene.status(&path), "?? key.pem");
    std::fs::remove_file(path.join("key.pem")).unwrap();
    std::fs::write(path.join(".scruff.toml"), "secrets = ['token*']\n").unwrap();
    std::fs::write(path.join("token.txt"), "secret\n").unwrap();
    scene.in_lane(&path, ["park"]).exits(2).warns("token.txt");
}

#[test]
fn a_closed_lane_comes_back_with_everything() {
    let scene = Scene::new();
    let path = scene.worked("pears");
    std::fs::write(path.join("pears"), "over-ripe\n").unwrap();
    std::fs::create_dir_all(path.join("node_modules/x")).unwrap();
    std::fs::write(path.join("node_modules/x/y"), "cheap\n").unwrap();
    std::fs::write(path.join(".env"), "KEY=1\n").unwrap();
    let before = scene.status(&path);
    scene.run(["close", "pears"]).ok().silent().warns(".trash");
    assert!(!path.exists());
    assert_eq!(scene.view("pears")["state"], "parked");
    scene.run(["close", "pears"]).ok().warns("parked already");
    let ran = scene.world.call(["resume", "--here", "pears"]).cwd(scene.repo.path()).stdin("exit\n").run();
    ran.ok().warns("uncommitted work is back: 1 file");
    assert_eq!(scene.status(&path), before);
    assert_eq!(std::fs::read_to_string(path.join(".env")).unwrap(), "KEY=1\n");
    assert!(!path.join("node_modules").exists(), "what is cheap to make again is not kept");
}

#[test]
fn what_is_in_the_way_is_named_and_kept() {
    let scene = Scene::new();
    let path = scene.worked("pears");
    std::fs::write(path.join("a"), "a\n").unwrap();
    scene.run(["drop", "pears"]).exits(2).warns("uncommitted work: a");
    scene.in_lane(&path, ["close", "pears"]).exits(2).warns("inside it");
    scene.repo.git_in(&path, ["add", "a"]);
    scene.repo.git_in(&path, ["commit", "-qm", "a"]);
    let mut sleeper = scene.world.program("sleep").arg("600").cwd(&path).start();
    let ran = scene.run(["drop", "pears"]);
    ran.exits(2).warns("something is standing here").warns(&sleeper.pid().to_string());
    assert!(!sleeper.ended());
    sleeper.kill();
    scene.repo.git(["worktree", "lock", "--reason", "on a stick", path.to_str().unwrap()]);
    scene.run(["drop", "pears"]).exits(2).warns("on a stick");
    scene.repo.git(["worktree", "unlock", path.to_str().unwrap()]);
    scene.stands("pears", &path);
}

#[test]
fn in_the_middle_of_an_operation_is_busy() {
    let scene = Scene::new();
    let path = scene.worked("pears");
    scene.repo.commit("pears", "unripe\n", "pears on main");
    assert_ne!(scene.repo.try_git(&path, ["merge", "main"]).code(), 0);
    for command in ["drop", "close"] {
        scene.run([command, "pears"]).exits(2).warns("merge");
    }
    scene.run(["reap"]).ok().says_nothing_taken();
    scene.in_lane(&path, ["park"]).exits(2).warns("merge");
    scene.repo.git_in(&path, ["merge", "--abort"]);
    assert_ne!(scene.repo.try_git(&path, ["rebase", "main"]).code(), 0);
    scene.run(["drop", "pears"]).exits(2).warns("rebase");
    scene.stands("pears", &path);
}

#[test]
fn landed_work_is_reaped_and_undone() {
    let scene = Scene::new();
    let path = scene.worked("pears");
    let kept = scene.worked("plums");
    std::fs::write(path.join(".env"), "KEY=1\n").unwrap();
    std::fs::write(path.join("notes"), "untracked\n").unwrap();
    let tip = scene.repo.git(["rev-parse", "worktree-pears"]);
    scene.repo.git(["merge", "-q", "--no-ff", "-m", "merge", "worktree-pears"]);
    let plan = scene.run(["reap", "--dry-run"]);
    assert!(plan.ok().out().contains("would take") && path.exists());
    let ran = scene.run(["reap"]);
    let lines: Vec<&str> = ran.ok().out().lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("taken") && lines[1].starts_with("kept"), "{ran}");
    assert!(!path.exists() && !scene.repo.branches().contains(&"worktree-pears".to_owned()));
    scene.stands("plums", &kept);
    assert!(scene.run(["reaped"]).ok().out().contains(&tip[..10]));
    scene.repo.git(["gc", "-q", "--prune=now"]);
    scene.run(["undo", "pears"]).ok();
    assert_eq!(scene.repo.git(["rev-parse", "worktree-pears"]), tip);
    assert_eq!(std::fs::read_to_string(path.join(".env")).unwrap(), "KEY=1\n");
    assert_eq!(std::fs::read_to_string(path.join("notes")).unwrap(), "untracked\n");
    assert_eq!(scene.run(["reaped"]).ok().out(), "");
    scene.run(["undo", "pears"]).exits(1);
}

#[test]
fn a_fresh_lane_goes_only_when_asked() {
    let scene = Scene::new();
    let path = scene.lane("pears");
    scene.run(["reap"]).ok().says_nothing_taken();
    scene.run(["reap", "pears"]).exits(2);
    std::fs::write(path.join("a"), "untracked\n").unwrap();
    scene.run(["reap", "--fresh"]).ok().says_nothing_taken();
    std::fs::remove_file(path.join("a")).unwrap();
    scene.run(["reap", "--fresh"]).ok();
    assert!(!path.exists());
}

#[test]
fn the_listing_sweeps_parked_lanes_that_landed_and_nothing_else() {
    let scene = Scene::new();
    let live = scene.worked("live");
    scene.worked("parked");
    scene.worked("unlanded");
    scene.run(["close", "parked"]).ok();
    scene.run(["close", "unlanded"]).ok();
    scene.repo.git(["merge", "-q", "-m", "merge", "worktree-live", "worktree-parked"]);
    for n in 0..101 {
        scene.repo.git(["branch", &format!("worktree-mine-{n}")]);
    }
    scene.run(["--json"]).ok();
    assert!(scene.repo.branches().contains(&"worktree-parked".to_owned()), "--json changes nothing");
    scene.run(["list"]).ok().warns("scruff undo kim/orchard/parked");
    let branches = scene.repo.branches();
    assert!(!branches.contains(&"worktree-parked".to_owned()));
    assert!(branches.contains(&"worktree-unlanded".to_owned()));
    assert_eq!(branches.iter().filter(|branch| branch.starts_with("worktree-mine-")).count(), 101);
    scene.stands("live", &live);
}

#[test]
fn a_repository_that_cannot_be_asked_keeps_its_lanes() {
    let scene = Scene::new();
    scene.worked("pears");
    let elsewhere = scene.repo.path().with_extension("moved");
    std::fs::rename(scene.repo.path(), &elsewhere).unwrap();
    let list = scene.world.scruff(["list"]);
    assert!(list.ok().out().contains("pears"), "{list}");
    scene.world.scruff(["reap"]).exits(3).says_nothing_taken();
    std::fs::rename(&elsewhere, scene.repo.path()).unwrap();
    assert_eq!(scene.view("pears")["state"], "live");
}

#[test]
fn a_branch_or_worktree_of_ones_own_is_adopted() {
    let scene = Scene::new();
    scene.repo.git(["branch", "feat/plums"]);
    scene.run(["adopt", "feat/plums"]).ok();
    assert_eq!(scene.view("feat/plums")["state"], "parked");
    let tree = scene.world.work().join("by hand");
    scene.repo.git(["worktree", "add", "-q", "-b", "figs", tree.to_str().unwrap()]);
    scene.run(["adopt", tree.to_str().unwrap()]).ok();
    assert_eq!(scene.view("figs")["path"], tree.to_str().unwrap());
    scene.run(["adopt", "main"]).exits(2);
    scene.run(["adopt", "nothing"]).exits(1);
    scene.run(["adopt", "figs"]).ok().warns("already");
}

#[test]
fn json_says_what_is_true() {
    let scene = Scene::new();
    let path = scene.worked("pears");
    let view = scene.view("pears");
    let expected =
        [("state", "live".into()), ("dirty", false.into()), ("occupied", false.into()), ("ahead", 1.into())];
    for (key, value) in expected {
        let value: serde_json::Value = value;
        assert_eq!(view[key], value, "{key} in {view}");
    }
    assert_eq!(view["landed"]["verdict"], "no");
    std::fs::write(path.join("a"), "a\n").unwrap();
    let sleeper = scene.world.program("sleep").arg("600").cwd(&path).start();
    let view = scene.view("pears");
    assert_eq!(view["dirty"], true);
    assert_eq!(view["occupied_by"][0]["pid"], sleeper.pid());
    sleeper.kill();
    assert_eq!(scene.run(["--json"]).ok().stdout, scene.run(["list", "--json"]).ok().stdout);
}

#[test]
fn a_key_pressed_in_the_lanes_pane_parks_it_from_its_own_directory() {
    let scene = Scene::new();
    let tmux = Tmux::start(&scene.world);
    let home = tmux.panes()[0].id.clone();
    scene.world.call(["open", "pears", "-b"]).cwd(scene.repo.path()).in_pane(&tmux, &home).run().ok();
    let path = scene.world.base().join("kim-orchard/pears");
    std::fs::write(path.join("a"), "a\n").unwrap();
    let pane = tmux.panes_of("orchard/pears").remove(0).id;
    let other = scene.worked("plums");
    let key = |pane: &str| {
        let call = scene.world.call(["close", "--pane-id", pane]).cwd(&path);
        call.in_pane(&tmux, &home).env_remove("TMUX_PANE").run()
    };
    key(&pane).ok();
    assert!(!path.exists() && tmux.panes_of("orchard/pears").is_empty());
    scene.stands("plums", &other);
    assert!(tmux.panes().iter().any(|pane| pane.id == home));
}

#[test]
fn an_opening_that_fails_takes_the_lane_back() {
    let scene = Scene::new();
    let tmux = Tmux::start(&scene.world);
    let home = tmux.panes()[0].id.clone();
    let call = scene.world.call(["open", "pears", "--os-window"]).cwd(scene.repo.path());
    call.in_pane(&tmux, &home).run().exits(1).warns("no terminal is configured");
    assert_eq!(scene.repo.branches(), ["main"]);
    assert!(!scene.world.base().join("kim-orchard/pears").exists());
    assert_eq!(scene.run(["--json"]).ok().json()["lanes"].as_array().unwrap().len(), 0);
}

#[test]
fn what_a_new_checkout_lacks_is_mentioned() {
    let scene = Scene::new();
    let inner = scene.world.repo("inner");
    let url = inner.path().to_str().unwrap();
    scene.repo.git(["-c", "protocol.file.allow=always", "submodule", "add", "-q", url, "sub"]);
    scene.repo.commit(".gitattributes", "*.bin filter=lfs\n", "attributes");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    scene.repo.commit("big.bin", pointer, "big");
    scene.run(["new", "pears"]).ok().warns("not filled: 1 submodule").warns("pointer of Git LFS: 1 file");
}

trait TakesNothing {
    fn says_nothing_taken(&self) -> &Self;
}

impl TakesNothing for Ran {
    #[track_caller]
    fn says_nothing_taken(&self) -> &Self {
        assert!(!self.out().contains("taken"), "{self}");
        self
    }
}
