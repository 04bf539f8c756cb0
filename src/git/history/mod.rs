//! What one line of history has that another has not: commits, what they touch, their patches,
//! and what a merge would come to. Replacements and grafts are not believed: they change what
//! history looks like, not what is in it.

mod lib;
mod merge;
mod patch;
mod program;

use super::{Oid, Repo};
use crate::error::Result;

pub use merge::Merged;

/// A commit of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its name.
    pub oid: Oid,
    /// Its parents.
    pub parents: Vec<Oid>,
    /// The names of the commits that its message says it reverts, whole or shortened.
    pub reverts: Vec<String>,
}

impl Commit {
    /// From its only parent to it; `None` for a merge or a first commit.
    pub fn step(&self) -> Option<Step> {
        match self.parents.as_slice() {
            [parent] => Some(Step { from: parent.clone(), to: self.oid.clone() }),
            _ => None,
        }
    }
}

/// From one commit to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Before.
    pub from: Oid,
    /// After.
    pub to: Oid,
}

impl Step {
    /// The way back.
    #[must_use]
    pub fn back(&self) -> Self {
        Step { from: self.to.clone(), to: self.from.clone() }
    }
}

/// Which paths a step touches, and their modes before and after; not what is in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Touched([u8; 32]);

impl Touched {
    /// Whether nothing is touched.
    pub fn is_nothing(&self) -> bool {
        self.0 == [0; 32]
    }
}

/// A patch, byte for byte but for line numbers: equal ones do the same to the same lines, white
/// space, modes and binary contents included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Patch([u8; 32]);

impl Repo {
    /// Whether `base` holds all of `tip`.
    pub fn is_held(&self, tip: &Oid, base: &Oid) -> Result<bool> {
        self.fact(|lib| super::facts::is_ancestor(lib, tip, base), |git| git.is_held(tip, base))
    }

    /// Whether a commit is in this repository at all.
    pub fn knows(&self, commit: &Oid) -> Result<bool> {
        self.fact(|git| lib::knows(git, commit), |git| git.knows(commit))
    }

    /// The commits that `tip` holds and none of `without` does, newest first. `None`: more than `max`.
    pub fn only_in(&self, tip: &Oid, without: &[&Oid], max: usize) -> Result<Option<Vec<Commit>>> {
        self.fact(|git| lib::only_in(git, tip, without, max), |git| git.only_in(tip, without, max))
    }

    /// What each step touches. To be compared only with what the same repository value says.
    pub fn touched(&self, steps: &[Step]) -> Result<Vec<Touched>> {
        self.fact(|git| lib::touched(git, steps), |git| git.touched(steps))
    }

    /// The patch of each step, by git itself. `None`: too large to compare.
    pub fn patches(&self, steps: &[Step]) -> Result<Vec<Option<Patch>>> {
        self.program().patches(steps)
    }

    /// What merging `tip` into `base` would come to. Nothing is written.
    pub fn merged(&self, base: &Oid, tip: &Oid) -> Result<Merged> {
        self.fact(|git| merge::by_lib(git, base, tip), |git| git.merged(base, tip))
    }
}

/// The commits that a message says it reverts: `This reverts commit <name>`.
fn reverts(message: &str) -> Vec<String> {
    let names = message.split("his reverts commit ").skip(1);
    let name = |rest: &str| -> String { rest.chars().take_while(char::is_ascii_hexdigit).collect() };
    names.map(name).filter(|name| name.len() >= 7).collect()
}

#[cfg(test)]
mod tests;
