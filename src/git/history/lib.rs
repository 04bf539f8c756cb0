//! These facts from libgit2.

use git2::{Delta, DiffOptions, Error, ErrorCode, Repository, Sort};

use super::{Commit, Step, Touched, reverts};
use crate::git::Oid;
use crate::git::history::patch;

type Fact<T> = Result<T, Error>;

fn id(oid: &Oid) -> Fact<git2::Oid> {
    git2::Oid::from_str(oid.as_str())
}

pub(super) fn knows(lib: &Repository, commit: &Oid) -> Fact<bool> {
    match lib.find_commit(id(commit)?) {
        Ok(_) => Ok(true),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

pub(super) fn only_in(
    lib: &Repository,
    tip: &Oid,
    without: &[&Oid],
    max: usize,
) -> Fact<Option<Vec<Commit>>> {
    let mut walk = lib.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL)?;
    walk.push(id(tip)?)?;
    for oid in without {
        walk.hide(id(oid)?)?;
    }
    let mut commits = Vec::new();
    for oid in walk {
        if commits.len() >= max {
            return Ok(None);
        }
        let commit = lib.find_commit(oid?)?;
        let message = String::from_utf8_lossy(commit.message_bytes());
        let parents = commit.parent_ids().map(Oid::from).collect();
        commits.push(Commit { oid: commit.id().into(), parents, reverts: reverts(&message) });
    }
    Ok(Some(commits))
}

pub(super) fn touched(lib: &Repository, steps: &[Step]) -> Fact<Vec<Touched>> {
    steps.iter().map(|step| touched_by(lib, step)).collect()
}

fn touched_by(lib: &Repository, step: &Step) -> Fact<Touched> {
    let tree = |oid: &Oid| lib.find_commit(id(oid)?)?.tree();
    let mut options = DiffOptions::new();
    options.ignore_submodules(false).include_typechange(true).context_lines(0);
    let diff = lib.diff_tree_to_tree(Some(&tree(&step.from)?), Some(&tree(&step.to)?), Some(&mut options))?;
    let mut touched = patch::Toucher::default();
    for delta in diff.deltas().filter(|delta| delta.status() != Delta::Unmodified) {
        let (old, new) = (delta.old_file(), delta.new_file());
        let path = new.path_bytes().or(old.path_bytes()).unwrap_or_default();
        touched.add(path, i32::from(old.mode()).cast_unsigned(), i32::from(new.mode()).cast_unsigned());
    }
    Ok(touched.end())
}
