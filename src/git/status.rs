//! What in a checkout is not committed, and what is under way in it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::checkout::Checkout;
use super::command::run;
use super::shadow::{self, Shadow};
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::proc::Output;

pub use super::operation::{Operation, operation};

/// One path that differs from the last commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// git's two letters: index, working tree.
    pub code: [u8; 2],
    /// The path, from the root of the checkout. A repository inside ends in `/`.
    pub path: PathBuf,
    /// What it was renamed or copied from.
    pub from: Option<PathBuf>,
}

impl Change {
    /// Whether git does not track it.
    pub fn is_untracked(&self) -> bool {
        &self.code == b"??"
    }

    /// Whether it waits for somebody to resolve a conflict.
    pub fn is_unmerged(&self) -> bool {
        self.code.contains(&b'U') || matches!(&self.code, b"AA" | b"DD")
    }

    /// Whether it is an untracked repository, which no commit can hold.
    pub fn is_repository(&self) -> bool {
        self.is_untracked() && self.path.as_os_str().as_bytes().ends_with(b"/")
    }
}

/// Whether a checkout holds work that no commit has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dirt {
    /// Nothing.
    Clean,
    /// These paths.
    Dirty(Vec<Change>),
    /// It cannot be told, which is dirty to whatever removes; and why.
    Unknown(String),
}

/// Looks at everything but ignored files, whatever the configuration hides.
pub fn of(ctx: &Ctx, place: &Path) -> Dirt {
    Dirt::from(Checkout::at(ctx, place).and_then(|checkout| {
        let index = Shadow::unless_plain(&checkout)?;
        changes(&checkout, index.as_ref())
    }))
}

/// The same for what is only shown: where libgit2 can read the index and sees no mark in it, git is
/// not asked for marks, which saves a process.
pub fn glance(ctx: &Ctx, place: &Path) -> Dirt {
    Dirt::from(Checkout::at(ctx, place).and_then(|checkout| {
        let plain = shadow::is_plainly_unmarked(&checkout);
        let index = if plain { None } else { Shadow::unless_plain(&checkout)? };
        changes(&checkout, index.as_ref())
    }))
}

impl From<Result<Vec<Change>>> for Dirt {
    fn from(changes: Result<Vec<Change>>) -> Self {
        match changes {
            Ok(changes) if changes.is_empty() => Dirt::Clean,
            Ok(changes) => Dirt::Dirty(changes),
            Err(error) => Dirt::Unknown(error.message()),
        }
    }
}

fn changes(checkout: &Checkout<'_>, index: Option<&Shadow>) -> Result<Vec<Change>> {
    let cmd = checkout.seeing_all(checkout.read()?);
    let cmd = cmd.args(["status", "--porcelain=v1", "-z", "--untracked-files=all"]);
    let cmd = cmd.args(["--ignore-submodules=none", "--find-renames"]);
    let cmd = index.into_iter().fold(cmd, |cmd, index| index.used_by(cmd));
    let output = run(&cmd, || checkout.what("git cannot tell what is uncommitted"))?;
    blind_spot(&output)?;
    parse(&output.stdout).ok_or_else(|| Error::failed(checkout.what("git status said something unknown")))
}

/// Files and directories that git ignores, from the root of the checkout, a directory that a
/// pattern names as one. Those in submodules are among them.
pub fn ignored(ctx: &Ctx, place: &Path) -> Result<Vec<PathBuf>> {
    let checkout = Checkout::at(ctx, place)?;
    let cmd = checkout.seeing_all(checkout.read()?);
    let cmd = cmd.args(["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"]);
    let cmd = cmd.args(["--ignored=matching", "--ignore-submodules=all"]);
    let output = run(&cmd, || checkout.what("git cannot tell what is ignored"))?;
    blind_spot(&output)?;
    let changes = parse(&output.stdout)
        .ok_or_else(|| Error::failed(checkout.what("git status said something unknown")))?;
    let mut paths: Vec<PathBuf> =
        changes.into_iter().filter(|change| &change.code == b"!!").map(|change| change.path).collect();
    for submodule in super::submodule::present(ctx, place)? {
        let inside = ignored(ctx, &place.join(&submodule))?;
        paths.extend(inside.into_iter().map(|path| submodule.join(path)));
    }
    Ok(paths)
}

/// A directory that git could not open is passed over with a warning and status 0.
pub(super) fn blind_spot(output: &Output) -> Result<()> {
    let text = String::from_utf8_lossy(&output.stderr);
    let blind =
        |line: &&str| line.starts_with("warning: could not open directory") || line.starts_with("error:");
    match text.lines().find(blind) {
        Some(line) => Err(Error::failed(format!("git could not see everything: {line}"))),
        None => Ok(()),
    }
}

/// `XY path NUL`, and for a rename or copy `from NUL` after it.
fn parse(bytes: &[u8]) -> Option<Vec<Change>> {
    let mut parts = bytes.split(|byte| *byte == 0);
    let mut changes = Vec::new();
    while let Some(part) = parts.next() {
        if part.is_empty() {
            return parts.next().is_none().then_some(changes);
        }
        let [x, y, b' ', path @ ..] = part else { return None };
        let renamed = [x, y].iter().any(|letter| matches!(letter, b'R' | b'C'));
        let from = if renamed { Some(to_path(parts.next()?)) } else { None };
        changes.push(Change { code: [*x, *y], path: to_path(path), from });
    }
    None
}

fn to_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
