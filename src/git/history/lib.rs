//! These facts from libgit2.

use git2::{Delta, Diff, DiffFormat, DiffOptions, Error, ErrorCode, Repository, Sort};

use super::{Commit, Patch, Step, Touched, patch, reverts};
use crate::git::Oid;

/// A patch larger than this is not compared, in bytes.
const MAX_PATCH: usize = 64 << 20;

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
    let diff = compare(lib, step, DiffOptions::new().context_lines(0))?;
    let mut touched = patch::Toucher::default();
    for delta in diff.deltas().filter(|delta| delta.status() != Delta::Unmodified) {
        let (old, new) = (delta.old_file(), delta.new_file());
        let path = new.path_bytes().or(old.path_bytes()).unwrap_or_default();
        touched.add(path, i32::from(old.mode()).cast_unsigned(), i32::from(new.mode()).cast_unsigned());
    }
    Ok(touched.end())
}

pub(super) fn patches(lib: &Repository, steps: &[Step]) -> Fact<Vec<Option<Patch>>> {
    steps.iter().map(|step| patch_of(lib, step)).collect()
}

fn patch_of(lib: &Repository, step: &Step) -> Fact<Option<Patch>> {
    let mut options = DiffOptions::new();
    options.context_lines(3).interhunk_lines(0).show_binary(true).id_abbrev(40);
    let diff = compare(lib, step, &mut options)?;
    let mut text = Vec::new();
    let printed = diff.print(DiffFormat::Patch, |_, _, line| {
        if let Some(mark) = [' ', '+', '-'].into_iter().find(|mark| *mark == line.origin()) {
            text.push(u8::try_from(mark).unwrap_or(b' '));
        }
        text.extend_from_slice(line.content());
        text.len() < MAX_PATCH
    });
    match printed {
        Ok(()) => Ok(Some(Patch::of(&text))),
        Err(_) if text.len() >= MAX_PATCH => Ok(None),
        Err(error) => Err(error),
    }
}

fn compare<'r>(lib: &'r Repository, step: &Step, options: &mut DiffOptions) -> Fact<Diff<'r>> {
    let tree = |oid: &Oid| lib.find_commit(id(oid)?)?.tree();
    options.ignore_submodules(false).include_typechange(true);
    lib.diff_tree_to_tree(Some(&tree(&step.from)?), Some(&tree(&step.to)?), Some(options))
}
