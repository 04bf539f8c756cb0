//! What is under way in a checkout: a rebase, a merge, a bisect.

use std::fmt;
use std::path::{Path, PathBuf};

use super::admin::{self, DotGit};
use super::command;
use crate::ctx::Ctx;

/// Something that git has begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A rebase, and the branch it will go back to.
    Rebase {
        /// Without `refs/heads/`; `None` for a detached HEAD.
        branch: Option<String>,
    },
    /// `git am`.
    Am,
    /// A merge.
    Merge,
    /// A cherry-pick.
    CherryPick,
    /// A revert.
    Revert,
    /// A bisect, and the branch it will go back to.
    Bisect {
        /// Without `refs/heads/`; `None` for a detached HEAD.
        branch: Option<String>,
    },
    /// Several cherry-picks or reverts, between two of them.
    Sequence,
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Operation::Rebase { .. } => "a rebase",
            Operation::Am => "git am",
            Operation::Merge => "a merge",
            Operation::CherryPick => "a cherry-pick",
            Operation::Revert => "a revert",
            Operation::Bisect { .. } => "a bisect",
            Operation::Sequence => "a sequence of commits",
        })
    }
}

/// What is under way in a checkout, or in the checkout of a git directory. A `REBASE_HEAD` alone
/// lingers after a rebase and says nothing.
pub fn operation(ctx: &Ctx, place: &Path) -> Option<Operation> {
    let git_dir = git_dir_of(place);
    by_files(&git_dir).or_else(|| by_refs(ctx, &git_dir))
}

fn git_dir_of(place: &Path) -> PathBuf {
    match admin::dot_git(place) {
        DotGit::File(target) => target,
        DotGit::Dir => place.join(".git"),
        DotGit::None | DotGit::Odd(_) => place.to_owned(),
    }
}

fn by_files(git_dir: &Path) -> Option<Operation> {
    let has = |name: &str| git_dir.join(name).exists();
    let branch = |name: &str| branch_in(&git_dir.join(name));
    if has("rebase-merge") {
        return Some(Operation::Rebase { branch: branch("rebase-merge/head-name") });
    }
    if has("rebase-apply") {
        let am = has("rebase-apply/applying");
        let rebase = || Operation::Rebase { branch: branch("rebase-apply/head-name") };
        return Some(if am { Operation::Am } else { rebase() });
    }
    let signs = [
        ("MERGE_HEAD", Operation::Merge),
        ("CHERRY_PICK_HEAD", Operation::CherryPick),
        ("REVERT_HEAD", Operation::Revert),
        ("sequencer", Operation::Sequence),
    ];
    if let Some((_, operation)) = signs.into_iter().find(|(name, _)| has(name)) {
        return Some(operation);
    }
    has("BISECT_LOG").then(|| Operation::Bisect { branch: branch("BISECT_START") })
}

/// With a reference table, the heads of a cherry-pick and a revert are no files.
fn by_refs(ctx: &Ctx, git_dir: &Path) -> Option<Operation> {
    if !admin::common_of(git_dir).join("reftable").is_dir() {
        return None;
    }
    let signs = [("CHERRY_PICK_HEAD", Operation::CherryPick), ("REVERT_HEAD", Operation::Revert)];
    let there = |name: &str| {
        let cmd = command::read(ctx, git_dir).ok()?.arg("--git-dir").arg(git_dir);
        let output = cmd.args(["rev-parse", "--verify", "--quiet", name]).run().ok()?;
        output.ok().then_some(())
    };
    signs.into_iter().find(|(name, _)| there(name).is_some()).map(|(_, operation)| operation)
}

/// The branch that a rebase or bisect in this git directory will go back to.
pub(super) fn branch_under_way(git_dir: &Path) -> Option<String> {
    match by_files(git_dir)? {
        Operation::Rebase { branch } | Operation::Bisect { branch } => branch,
        _ => None,
    }
}

/// A rebase writes the full name; a bisect the short one, or a commit's.
fn branch_in(file: &Path) -> Option<String> {
    let text = String::from_utf8(admin::pointer(file).ok()??).ok()?;
    let text = text.trim().strip_prefix("refs/heads/").unwrap_or(text.trim()).to_owned();
    (text != "detached HEAD" && super::Oid::parse(&text).is_none()).then_some(text)
}
