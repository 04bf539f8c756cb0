//! References: made and deleted only against an expected state, and their logs.

use std::path::Path;

use super::command::{line, run, waiting};
use super::{Oid, Repo, worktree};
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};

/// A log larger than this is not read, in bytes.
const MAX_LOG: u64 = 64 << 20;

/// One move of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// What it pointed at before; zeros when it was made.
    pub old: Oid,
    /// What it pointed at after.
    pub new: Oid,
    /// Why it moved.
    pub message: String,
    /// When, in seconds since 1970.
    pub time: i64,
}

/// Makes a reference that does not exist yet.
pub fn create(_ctx: &Ctx, repo: &Repo, full: &str, oid: &Oid) -> Result<()> {
    let message = format!("branch: Created from {oid}");
    let cmd =
        waiting(repo.command()).args(["update-ref", "--no-deref", "-m", &message, full, oid.as_str(), ""]);
    run(&cmd, || format!("git cannot make {full}")).map(drop)
}

/// Deletes a reference that points at exactly `expected`. A branch that a checkout uses, and the
/// default branch, are refused.
pub fn delete(ctx: &Ctx, repo: &Repo, full: &str, expected: &Oid) -> Result<()> {
    if let Some(branch) = full.strip_prefix("refs/heads/") {
        guard(ctx, repo, branch)?;
    }
    swap_out(repo, full, expected)
}

/// Takes back a branch that this call made and that no checkout uses.
pub(super) fn take_back(ctx: &Ctx, repo: &Repo, branch: &str, expected: &Oid) -> Result<()> {
    refuse_used(ctx, repo, branch)?;
    swap_out(repo, &format!("refs/heads/{branch}"), expected)
}

fn swap_out(repo: &Repo, full: &str, expected: &Oid) -> Result<()> {
    let cmd = waiting(repo.command()).args(["update-ref", "--no-deref", "-d", full, expected.as_str()]);
    run(&cmd, || format!("git cannot delete {full} at {}", expected.short())).map(drop)
}

/// `update-ref` itself would take the branch from under a checkout.
fn refuse_used(ctx: &Ctx, repo: &Repo, branch: &str) -> Result<()> {
    match worktree::list(ctx, repo)?.into_iter().find(|entry| entry.uses(branch)) {
        None => Ok(()),
        Some(entry) => {
            let place = entry.path.display();
            Err(Error::refused(format!("the branch {branch} is checked out in {place}")))
        }
    }
}

fn guard(ctx: &Ctx, repo: &Repo, branch: &str) -> Result<()> {
    refuse_used(ctx, repo, branch)?;
    match repo.default_branch() {
        Some(default) if default.name == branch => {
            Err(Error::refused(format!("{branch} is the default branch, which is never deleted")))
        }
        _ => Ok(()),
    }
}

/// The moves of a reference, newest first. `None`: it has no log.
pub fn reflog(repo: &Repo, full: &str) -> Result<Option<Vec<LogEntry>>> {
    let file = repo.common().join("logs").join(full);
    match std::fs::metadata(&file) {
        Ok(meta) if meta.is_file() && meta.len() <= MAX_LOG => parse_file(&file).map(Some),
        Ok(meta) if meta.is_file() => Err(Error::failed(format!("{} is too large to read", file.display()))),
        _ if repo.common().join("reftable").is_dir() => reflog_by_git(repo, full),
        _ => Ok(None),
    }
}

fn parse_file(file: &Path) -> Result<Vec<LogEntry>> {
    let what = || format!("cannot read {}", file.display());
    let bytes = std::fs::read(file).doing(what)?;
    let text = String::from_utf8_lossy(&bytes);
    let entries: Option<Vec<LogEntry>> = text.lines().rev().map(parse_line).collect();
    entries.ok_or_else(|| Error::failed(format!("{}: a line is no log entry", what())))
}

/// `<old> <new> <name> <<mail>> <time> <zone>\t<message>`.
fn parse_line(line: &str) -> Option<LogEntry> {
    let (head, message) = line.split_once('\t').unwrap_or((line, ""));
    let mut oids = head.splitn(3, ' ');
    let (old, new) = (Oid::parse(oids.next()?)?, Oid::parse(oids.next()?)?);
    let time = oids.next()?.rsplit(' ').nth(1)?.parse().ok()?;
    Some(LogEntry { old, new, message: message.to_owned(), time })
}

/// git shows where each move went; where it came from is the entry below.
fn reflog_by_git(repo: &Repo, full: &str) -> Result<Option<Vec<LogEntry>>> {
    let what = || format!("git cannot read the log of {full}");
    let exists = repo.read().args(["reflog", "exists", full]);
    if super::command::ask(&exists, what)?.is_none() {
        return Ok(None);
    }
    let format = "--format=%H%x00%gd%x00%gs";
    let output = run(&repo.read().args(["reflog", "show", "--date=unix", format, full, "--"]), what)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let bad = || Error::failed(format!("{}: it said {:?}", what(), line(&output)));
    let mut entries = Vec::new();
    for shown in text.lines().rev() {
        let mut parts = shown.splitn(3, '\0');
        let new = parts.next().and_then(Oid::parse).ok_or_else(bad)?;
        let at = parts.next().and_then(|at| at.rsplit_once("@{")?.1.strip_suffix('}')?.parse().ok());
        let message = parts.next().unwrap_or_default().to_owned();
        let zero = || Oid::parse(&"0".repeat(new.as_str().len()));
        let old = entries.last().map(|entry: &LogEntry| entry.new.clone()).or_else(zero).ok_or_else(bad)?;
        entries.push(LogEntry { old, new, message, time: at.ok_or_else(bad)? });
    }
    entries.reverse();
    Ok(Some(entries))
}
