//! Taking, parking and bringing back, killed at each step: nothing that was there is gone, and the
//! next run ends cleanly.

use super::{Matrix, work::Work};
use crate::world::{Repo, World};
use std::path::PathBuf;

struct Scene {
    repo: Repo,
    path: PathBuf,
    work: Work,
}

impl Scene {
    fn lane(world: &World) -> (Repo, PathBuf) {
        let repo = world.repo("orchard").with_origin("kim/orchard");
        repo.commit(".gitignore", ".env\nnode_modules\n", "ignore");
        let ran = world.call(["new", "pears"]).cwd(repo.path()).run();
        let path = PathBuf::from(ran.ok().line());
        (repo, path)
    }

    /// A lane with a commit of its own and an ignored file.
    fn clean(world: &World) -> Self {
        let (repo, path) = Self::lane(world);
        let work = Work::new().commit(repo.commit_in(&path, "pear", "ripe\n", "pears"));
        let work = work.file(&path, ".env", "KEY=1\n");
        Scene { repo, path, work }
    }

    /// The same, merged into main.
    fn landed(world: &World) -> Self {
        let scene = Self::clean(world);
        scene.repo.git(["merge", "-q", "--ff-only", "worktree-pears"]);
        scene
    }

    /// The same with staged, changed and untracked work on top.
    fn dirty(world: &World) -> Self {
        let Scene { repo, path, work } = Self::clean(world);
        let work = work.file(&path, "pear", "over-ripe\n").file(&path, "deep/down/new", "leaf\n");
        let work = work.file(&path, "staged", "twig\n");
        repo.git_in(&path, ["add", "staged"]);
        Scene { repo, path, work }
    }

    /// A landed lane that was taken.
    fn taken(world: &World) -> Self {
        let scene = Self::landed(world);
        world.call(["reap", "pears"]).cwd(scene.repo.path()).run().ok();
        scene
    }

    fn gone(&self) -> bool {
        self.repo.branches() == ["main"] && !self.path.exists()
    }

    fn ignored_is_back(&self) {
        assert_eq!(std::fs::read_to_string(self.path.join(".env")).unwrap(), "KEY=1\n");
    }
}

fn after_kill(world: &World, scene: &Scene) {
    scene.work.assert_safe(world, &scene.repo);
    scene.repo.git(["fsck", "--no-progress"]);
}

/// Whatever the next run left, `undo` brings everything back, also after a garbage collection.
fn undone(world: &World, scene: &Scene) {
    assert!(scene.gone());
    scene.work.assert_safe(world, &scene.repo);
    scene.repo.git(["reflog", "expire", "--expire=now", "--all"]);
    scene.repo.git(["gc", "-q", "--prune=now"]);
    world.call(["undo"]).cwd(scene.repo.path()).run().ok();
    scene.work.assert_safe(world, &scene.repo);
    assert_eq!(scene.repo.git_in(&scene.path, ["branch", "--show-current"]), "worktree-pears");
    scene.ignored_is_back();
}

#[test]
fn reap_then_reap_then_undo() {
    let steps = Matrix {
        build: &Scene::landed,
        command: &|world, scene: &Scene| world.call(["reap"]).cwd(scene.repo.path()),
        after_kill: &after_kill,
        next: &|world, scene| world.call(["reap"]).cwd(scene.repo.path()),
        at_last: &|world, scene, ran| {
            ran.ok();
            undone(world, scene);
        },
    }
    .run();
    assert!(steps >= 7, "{steps}");
}

#[test]
fn drop_then_reap_dead_or_drop_again() {
    Matrix {
        build: &Scene::clean,
        command: &|world, scene: &Scene| world.call(["drop", "pears"]).cwd(scene.repo.path()),
        after_kill: &after_kill,
        next: &|world, scene| world.call(["drop", "pears"]).cwd(scene.repo.path()),
        at_last: &|world, scene, ran| {
            // Where only the row was left, it goes with the next look: there is no lane to drop.
            if ran.code() != 0 {
                world.call(["reap"]).cwd(scene.repo.path()).run().ok();
            }
            undone(world, scene);
        },
    }
    .run();
}

#[test]
fn close_then_resume() {
    Matrix {
        build: &Scene::dirty,
        command: &|world, scene: &Scene| world.call(["close", "pears"]).cwd(scene.repo.path()),
        after_kill: &after_kill,
        next: &|world, scene| {
            world.call(["resume", "--here", "pears"]).cwd(scene.repo.path()).stdin("exit\n")
        },
        at_last: &|world, scene, ran| {
            ran.ok();
            scene.work.assert_safe(world, &scene.repo);
            scene.ignored_is_back();
            let status = scene.repo.git_in(&scene.path, ["status", "--porcelain", "-uall"]);
            let lines: Vec<&str> = status.lines().map(|line| line.get(3..).unwrap_or(line)).collect();
            assert!(lines.contains(&"deep/down/new") && lines.contains(&"staged"), "{status}");
        },
    }
    .run();
}

#[test]
fn close_then_close_again() {
    Matrix {
        build: &Scene::dirty,
        command: &|world, scene: &Scene| world.call(["close", "pears"]).cwd(scene.repo.path()),
        after_kill: &after_kill,
        next: &|world, scene| world.call(["close", "pears"]).cwd(scene.repo.path()),
        at_last: &|world, scene, ran| {
            ran.ok();
            assert!(!scene.path.exists());
            scene.work.assert_safe(world, &scene.repo);
        },
    }
    .run();
}

#[test]
fn park_then_unpark_as_often_as_it_goes() {
    Matrix {
        build: &Scene::dirty,
        command: &|world, scene: &Scene| world.call(["park", "pits"]).cwd(&scene.path),
        after_kill: &after_kill,
        next: &|world, scene| world.call(["park", "pits"]).cwd(&scene.path),
        at_last: &|world, scene, ran| {
            ran.ok();
            world.call(["unpark"]).cwd(&scene.path).run().ok();
            scene.work.assert_safe(world, &scene.repo);
            assert_eq!(std::fs::read_to_string(scene.path.join("pear")).unwrap(), "over-ripe\n");
        },
    }
    .run();
}

#[test]
fn unpark_then_unpark_gives_back_what_was_staged() {
    Matrix {
        build: &|world| {
            let scene = Scene::clean(world);
            std::fs::write(scene.path.join("only"), "staged\n").unwrap();
            std::fs::write(scene.path.join("pear"), "staged\n").unwrap();
            scene.repo.git_in(&scene.path, ["add", "only", "pear"]);
            std::fs::write(scene.path.join("pear"), "lies there\n").unwrap();
            std::fs::remove_file(scene.path.join("only")).unwrap();
            world.call(["park"]).cwd(&scene.path).run().ok();
            scene
        },
        command: &|world, scene: &Scene| world.call(["unpark"]).cwd(&scene.path),
        after_kill: &after_kill,
        next: &|world, scene| world.call(["unpark"]).cwd(&scene.path),
        at_last: &|_, scene, ran| {
            // Killed after all was done there is nothing left to take back.
            assert!(ran.code() == 0 || ran.code() == 2, "{ran}");
            assert_eq!(scene.repo.git_in(&scene.path, ["show", ":only"]), "staged");
            assert_eq!(scene.repo.git_in(&scene.path, ["show", ":pear"]), "staged");
            assert_eq!(std::fs::read_to_string(scene.path.join("pear")).unwrap(), "lies there\n");
        },
    }
    .run();
}

#[test]
fn undo_then_undo() {
    Matrix {
        build: &Scene::taken,
        command: &|world, scene: &Scene| world.call(["undo"]).cwd(scene.repo.path()),
        after_kill: &after_kill,
        next: &|world, scene| world.call(["undo"]).cwd(scene.repo.path()),
        at_last: &|world, scene, ran| {
            assert!(ran.code() == 0 || ran.stderr.contains("was taken"), "{ran}");
            scene.work.assert_safe(world, &scene.repo);
            scene.ignored_is_back();
        },
    }
    .run();
}
