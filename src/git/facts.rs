//! Facts from libgit2, without a process per question.

use git2::{Error, ErrorCode, Repository};
use jiff::Timestamp;

use super::Oid;
use super::repo::CommitLine;

type Fact<T> = Result<T, Error>;

fn none_if_missing<T>(fact: Fact<T>) -> Fact<Option<T>> {
    match fact {
        Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::UnbornBranch) => Ok(None),
        fact => fact.map(Some),
    }
}

/// The name of a commit that is there: libgit2 compares the names of absent ones without a word.
fn id(lib: &Repository, oid: &Oid) -> Fact<git2::Oid> {
    Ok(lib.find_commit(git2::Oid::from_str(oid.as_str())?)?.id())
}

/// What a reference points at, following symbolic ones.
pub(super) fn ref_oid(lib: &Repository, name: &str) -> Fact<Option<Oid>> {
    Ok(none_if_missing(lib.refname_to_id(name))?.map(Oid::from))
}

/// What a symbolic reference names, also when that does not exist.
pub(super) fn symbolic(lib: &Repository, name: &str) -> Fact<Option<String>> {
    let reference = none_if_missing(lib.find_reference(name))?;
    let target = reference.as_ref().and_then(git2::Reference::symbolic_target_bytes);
    Ok(target.and_then(|target| String::from_utf8(target.to_owned()).ok()))
}

pub(super) fn ahead_behind(lib: &Repository, tip: &Oid, base: &Oid) -> Fact<(usize, usize)> {
    lib.graph_ahead_behind(id(lib, tip)?, id(lib, base)?)
}

/// libgit2 says that a commit is no descendant of itself; git says that it is its own ancestor.
pub(super) fn is_ancestor(lib: &Repository, a: &Oid, b: &Oid) -> Fact<bool> {
    let (a, b) = (id(lib, a)?, id(lib, b)?);
    Ok(a == b || lib.graph_descendant_of(b, a)?)
}

pub(super) fn merge_base(lib: &Repository, a: &Oid, b: &Oid) -> Fact<Option<Oid>> {
    Ok(none_if_missing(lib.merge_base(id(lib, a)?, id(lib, b)?))?.map(Oid::from))
}

pub(super) fn last_commit(lib: &Repository, oid: &Oid) -> Fact<CommitLine> {
    let commit = lib.find_commit(id(lib, oid)?)?;
    let subject = String::from_utf8_lossy(commit.summary_bytes().unwrap_or_default()).into_owned();
    Ok(commit_line(subject, commit.author().when().seconds(), commit.time().seconds()))
}

/// A commit's line from its parts; a time that no clock can show is the epoch.
pub(super) fn commit_line(subject: String, author: i64, commit: i64) -> CommitLine {
    let time = |seconds| Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
    CommitLine { subject, author_time: time(author), commit_time: time(commit) }
}

/// The references below a prefix that ends in `/`, by full name.
pub(super) fn below(lib: &Repository, prefix: &str) -> Fact<Vec<(String, Oid)>> {
    let mut found = Vec::new();
    for reference in lib.references_glob(&format!("{prefix}*"))? {
        let reference = reference?;
        let target = none_if_missing(reference.resolve())?.and_then(|reference| reference.target());
        if let (Ok(name), Some(oid)) = (reference.name(), target) {
            found.push((name.to_owned(), Oid::from(oid)));
        }
    }
    Ok(found)
}
