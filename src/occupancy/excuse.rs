//! Who does not count: scruff, what it started, what started it, and whoever asks it to remove.

use crate::proc::facts;

/// Processes that never count as standing anywhere.
#[derive(Clone, Debug)]
pub(super) struct Excused {
    alone: Vec<u32>,
    trees: Vec<u32>,
}

impl Excused {
    /// scruff's own line and tree, and the trees of `more`. 0 and 1 have no tree of their own:
    /// everything is below them.
    pub(super) fn new(more: &[u32]) -> Self {
        let me = std::process::id();
        let trees = more.iter().copied().filter(|pid| *pid > 1).chain([me]).collect();
        Excused { alone: facts::line_of(me), trees }
    }

    pub(super) fn has(&self, pid: u32) -> bool {
        pid != 0
            && (self.alone.contains(&pid)
                || facts::line_of(pid).iter().any(|above| self.trees.contains(above)))
    }
}
