//! Making a lane, killed at each step: by the next command there is a whole lane, or nothing.

use super::{Matrix, work::files_below};
use crate::world::{Call, Ran, Repo, Tmux, World, tmux::Pane};
use std::path::Path;

struct Scene {
    repo: Repo,
}

impl Scene {
    fn build(world: &World) -> Self {
        let repo = world.repo("orchard").with_origin("kim/orchard");
        std::fs::create_dir_all(world.base()).unwrap();
        Scene { repo }
    }

    /// The lane's path in the registry, if there is a row.
    fn row(&self, world: &World) -> Option<String> {
        let table = std::fs::read_to_string(world.base().join("registry.tsv")).unwrap_or_default();
        let rows: Vec<&str> = table.lines().collect();
        assert!(rows.len() < 2, "{table}");
        rows.first().map(|row| row.split('\t').nth(3).unwrap().to_owned())
    }

    /// Either everything there is to a lane, or nothing of it.
    #[track_caller]
    fn whole_or_nothing(&self, world: &World) -> bool {
        let branches = self.repo.branches();
        let checkouts = self.repo.worktrees();
        let records = files_below(&world.state().join("lanes"));
        let opening = files_below(&world.state().join("opening"));
        assert!(opening.is_empty(), "still being made: {opening:?}");
        let Some(path) = self.row(world) else {
            assert_eq!(branches, ["main"]);
            assert!(checkouts.is_empty(), "{checkouts:?}");
            assert!(records.is_empty(), "{records:?}");
            let left = files_below(&world.base().join("kim-orchard"));
            assert!(left.is_empty(), "{left:?}");
            return false;
        };
        assert_eq!(branches, ["main", "worktree-pears"]);
        assert_eq!(checkouts, [Path::new(&path)]);
        assert!(!records.is_empty());
        let head = self.repo.git_in(Path::new(&path), ["symbolic-ref", "HEAD"]);
        assert_eq!(head, "refs/heads/worktree-pears");
        assert_eq!(self.repo.git_in(Path::new(&path), ["status", "--porcelain"]), "");
        let text = std::fs::read_to_string(Path::new(&path).join("README.md")).unwrap();
        assert_eq!(text, "# orchard\n");
        true
    }
}

/// Killing leaves nothing that is in anybody's way: the main checkout is as it was.
fn after_kill(_: &World, scene: &Scene) {
    assert_eq!(scene.repo.git(["status", "--porcelain"]), "");
    assert_eq!(scene.repo.git(["symbolic-ref", "HEAD"]), "refs/heads/main");
    scene.repo.git(["fsck", "--no-progress"]);
}

#[test]
fn new_then_any_command() {
    let steps = Matrix {
        build: &Scene::build,
        command: &|world, scene: &Scene| world.call(["new", "pears"]).cwd(scene.repo.path()),
        after_kill: &after_kill,
        next: &|world, _| world.call(["list", "--json"]),
        at_last: &|world, scene, ran| {
            let listed = ran.ok().json()["lanes"].as_array().unwrap().len();
            assert_eq!(listed == 1, scene.whole_or_nothing(world));
        },
    }
    .run();
    assert!(steps >= 5, "only {steps} steps");
}

/// The one who made it calls again: it comes out as if nothing had happened, or the name is
/// taken by the lane that was completed.
#[test]
fn new_then_new_again() {
    Matrix {
        build: &Scene::build,
        command: &|world, scene: &Scene| world.call(["new", "pears"]).cwd(scene.repo.path()),
        after_kill: &after_kill,
        next: &|world, scene| world.call(["new", "pears"]).cwd(scene.repo.path()),
        at_last: &again,
    }
    .run();
}

fn again(world: &World, scene: &Scene, ran: &Ran) {
    assert!(scene.whole_or_nothing(world), "{ran}");
    if ran.code() != 0 {
        ran.exits(1).warns("already");
    }
}

struct Open {
    scene: Scene,
    tmux: Tmux,
    /// The panes that were there before.
    others: Vec<String>,
}

impl Open {
    /// A pane that was made says by itself whose it is, whatever became of its maker.
    fn settled(&self) {
        let mine = |pane: &Pane| self.others.contains(&pane.id) || pane.lane == "orchard/pears";
        self.tmux.wait_until("every pane is tagged", |tmux| tmux.panes().iter().all(mine));
    }

    fn call(&self, world: &World) -> Call {
        world.call(["open", "-b", "pears"]).cwd(self.scene.repo.path()).in_pane(&self.tmux, self.tmux.pane())
    }
}

#[test]
fn open_in_the_background() {
    Matrix {
        build: &|world| {
            let tmux = Tmux::start(world);
            let others = tmux.panes().into_iter().map(|pane| pane.id).collect();
            Open { scene: Scene::build(world), tmux, others }
        },
        command: &|world, open: &Open| open.call(world),
        after_kill: &|world, open| {
            after_kill(world, &open.scene);
            open.settled();
        },
        next: &|world, open| open.call(world),
        at_last: &|world, open, ran| {
            ran.ok();
            assert!(open.scene.whole_or_nothing(world));
            // One client runs in the lane, at whatever step the first call was killed.
            world.wait_for_launch();
        },
    }
    .run();
}
