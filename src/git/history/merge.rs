//! What a merge would come to, in memory.

use std::collections::HashSet;

use git2::{Delta, DiffOptions, MergeOptions, Repository};

use crate::error::{Doing, Error, Result};
use crate::git::Oid;
use crate::git::command::{complained, failed, run};
use crate::git::program::Program;

/// What merging one commit into another would come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merged {
    /// Nothing would change.
    Same,
    /// It would go through, and change something.
    Changes,
    /// It would not go through. `beyond`: something that does not conflict would change, too.
    Conflicts {
        /// Whether a path without a conflict would change.
        beyond: bool,
    },
}

impl Merged {
    fn of(conflicts: bool, changes: bool) -> Self {
        match (conflicts, changes) {
            (true, beyond) => Merged::Conflicts { beyond },
            (false, true) => Merged::Changes,
            (false, false) => Merged::Same,
        }
    }
}

pub(super) fn by_lib(lib: &Repository, base: &Oid, tip: &Oid) -> std::result::Result<Merged, git2::Error> {
    let commit = |oid: &Oid| lib.find_commit(git2::Oid::from_str(oid.as_str())?);
    let (ours, theirs) = (commit(base)?, commit(tip)?);
    let index = lib.merge_commits(&ours, &theirs, Some(&MergeOptions::new()))?;
    let mut conflicts: HashSet<Vec<u8>> = HashSet::new();
    for conflict in index.conflicts()? {
        let conflict = conflict?;
        let sides = [conflict.ancestor, conflict.our, conflict.their];
        conflicts.extend(sides.into_iter().flatten().map(|entry| entry.path));
    }
    let mut options = DiffOptions::new();
    options.ignore_submodules(false).include_typechange(true);
    let diff = lib.diff_tree_to_index(Some(&ours.tree()?), Some(&index), Some(&mut options))?;
    let changes = diff.deltas().any(|delta| {
        let path = delta.new_file().path_bytes().or(delta.old_file().path_bytes()).unwrap_or_default();
        delta.status() != Delta::Unmodified && !conflicts.contains(path)
    });
    Ok(Merged::of(!conflicts.is_empty(), changes))
}

impl Program<'_> {
    /// The objects of the merge go to a directory that is gone afterwards.
    pub(super) fn merged(&self, base: &Oid, tip: &Oid) -> Result<Merged> {
        let what = || self.unable("what a merge would come to");
        let scratch = tempfile::tempdir().doing(what)?;
        let objects = self.common.join("objects");
        let git = self.plain().env("GIT_OBJECT_DIRECTORY", scratch.path());
        let git = git.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(&objects));
        let merge = git.clone().args(["merge-tree", "--write-tree", "-z", "--no-messages", "--name-only"]);
        let output =
            merge.args([base.as_str(), tip.as_str()]).run().map_err(|error| failed(&what(), error))?;
        if !matches!(output.status.code(), Some(0 | 1)) {
            return Err(complained(&what(), &output));
        }
        let mut parts = output.stdout.split(|byte| *byte == 0);
        let tree = parts.next().and_then(|tree| Oid::parse(&String::from_utf8_lossy(tree)));
        let tree = tree.ok_or_else(|| Error::failed(format!("{}: it names no tree", what())))?;
        let conflicts: HashSet<&[u8]> = parts.filter(|path| !path.is_empty()).collect();
        let compare = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none"];
        let differs = run(&git.args(compare).args([base.as_str(), tree.as_str()]), what)?;
        let mut paths = differs.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let changes = paths.any(|path| !conflicts.contains(path));
        Ok(Merged::of(output.status.code() == Some(1), changes))
    }
}

/// A path for a list of paths: quoted, since a colon would end it.
fn quoted(path: &std::path::Path) -> std::ffi::OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let mut bytes = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => bytes.extend([b'\\', *byte]),
            b'\n' => bytes.extend(b"\\n"),
            _ => bytes.push(*byte),
        }
    }
    bytes.push(b'"');
    std::ffi::OsString::from_vec(bytes)
}
