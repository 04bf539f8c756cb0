//! The crash matrix: a command is killed (SIGKILL) at each of its steps, one world a step, and
//! after each kill nothing may be lost and the next run must end cleanly.
//!
//! `SCRUFF_TEST_LONG=1` also kills the next run at each of its steps, and runs once more.

mod creation;
mod full;
mod removal;
pub mod work;

use crate::world::{Call, Ran, World, is_long};

/// A command with more steps than this does not end.
const MAX_STEPS: usize = 200;

const SIGKILL: i32 = 128 + 9;

/// One command to be killed. `S` is what the world was built for: a repository, a lane, its work.
pub struct Matrix<'a, S> {
    /// Builds what the command acts on, in a fresh world.
    pub build: &'a dyn Fn(&World) -> S,
    /// The command that is killed.
    pub command: &'a dyn Fn(&World, &S) -> Call,
    /// Judges right after the kill, before anything else runs: nothing is lost.
    pub after_kill: &'a dyn Fn(&World, &S),
    /// The command that comes next: the same again, or another.
    pub next: &'a dyn Fn(&World, &S) -> Call,
    /// Judges how the next run ended and what there is now.
    pub at_last: &'a dyn Fn(&World, &S, &Ran),
}

impl<S> Matrix<'_, S> {
    /// Runs the matrix. Returns how often the command was killed, so that a caller who knows
    /// how many steps there must be can demand them.
    #[track_caller]
    pub fn run(&self) -> usize {
        let steps = every_step(|step| {
            let world = World::new();
            let scene = (self.build)(&world);
            let killed = self.kill(&world, &scene, step)?;
            let _place = Place(format!("killed at step {step}:\n{killed}"));
            (self.after_kill)(&world, &scene);
            (self.at_last)(&world, &scene, &(self.next)(&world, &scene).run());
            Some(())
        });
        assert!(steps > 0, "nothing was killed: the command has no steps");
        if is_long() {
            (1..=steps).for_each(|step| self.run_twice_killed(step));
        }
        steps
    }

    /// Killed at `first`, and the next run at each of its own steps.
    fn run_twice_killed(&self, first: usize) {
        every_step(|second| {
            let world = World::new();
            let scene = (self.build)(&world);
            self.kill(&world, &scene, first)?;
            let next = (self.next)(&world, &scene).env("SCRUFF_TEST_KILL_AT", second.to_string()).run();
            let _place = Place(format!("killed at step {first}, the next run at {second}:\n{next}"));
            (self.after_kill)(&world, &scene);
            if next.code() != SIGKILL {
                return None;
            }
            (self.at_last)(&world, &scene, &(self.next)(&world, &scene).run());
            Some(())
        });
    }

    /// Runs the command with a kill at a step; `None` when it has fewer.
    fn kill(&self, world: &World, scene: &S, step: usize) -> Option<Ran> {
        let ran = (self.command)(world, scene).env("SCRUFF_TEST_KILL_AT", step.to_string()).run();
        if ran.code() == SIGKILL {
            return Some(ran);
        }
        // Without a kill the command has to be one that works.
        assert!(matches!(ran.code(), 0 | 3), "the command fails by itself\n{ran}");
        None
    }
}

/// Counts from 1 until `at` says that there is no such step.
#[track_caller]
fn every_step(at: impl Fn(usize) -> Option<()>) -> usize {
    for step in 1..=MAX_STEPS {
        if at(step).is_none() {
            return step - 1;
        }
    }
    panic!("the command still has steps after {MAX_STEPS}");
}

/// Says where in the matrix a judge has panicked.
struct Place(String);

impl Drop for Place {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.0);
        }
    }
}
