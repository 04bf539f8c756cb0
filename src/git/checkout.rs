//! Calls bound to one checkout: never to a repository around it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command;
use super::discover::{self, Found};
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::proc::Cmd;

/// How long a call that writes a working tree or its index may take.
pub(super) const LONG: Duration = Duration::from_mins(10);

/// What makes git see less than there is, turned off. It reaches submodules too.
const SEE_ALL: [&str; 9] = [
    "status.showUntrackedFiles=all",
    "diff.ignoreSubmodules=none",
    "core.fsmonitor=",
    "core.untrackedCache=false",
    "core.ignoreStat=false",
    "core.checkStat=default",
    "core.trustctime=true",
    "sparse.expectFilesOutsideOfPatterns=false",
    #[cfg(target_os = "linux")]
    "core.ignoreCase=false",
    #[cfg(not(target_os = "linux"))]
    "core.checkStat=default",
];

/// A checkout with a `.git` of its own.
pub(super) struct Checkout<'a> {
    ctx: &'a Ctx,
    pub(super) root: PathBuf,
    pub(super) git_dir: PathBuf,
}

impl<'a> Checkout<'a> {
    pub(super) fn at(ctx: &'a Ctx, place: &Path) -> Result<Self> {
        match discover::at(place)? {
            Some(Found { root: Some(root), git_dir, .. }) => Ok(Checkout { ctx, root, git_dir }),
            _ => Err(Error::failed(format!("{} is no checkout of a git repository", place.display()))),
        }
    }

    /// A question. Its `.git` is named outright, so that where it vanishes git does not answer for
    /// a repository further up.
    pub(super) fn read(&self) -> Result<Cmd> {
        Ok(bound(command::read(self.ctx, &self.root)?))
    }

    /// A call that runs filters and hooks.
    pub(super) fn acting(&self) -> Result<Cmd> {
        Ok(bound(command::acting(self.ctx, &self.root)?).limit(LONG))
    }

    /// Adds the settings without which git may not see everything.
    pub(super) fn seeing_all(&self, cmd: Cmd) -> Cmd {
        let mode = keeps_modes(&self.root).then_some("core.fileMode=true");
        SEE_ALL.into_iter().chain(mode).fold(cmd, |cmd, setting| cmd.args(["-c", setting]))
    }

    pub(super) fn what(&self, doing: &str) -> String {
        format!("{doing} in {}", self.root.display())
    }
}

fn bound(cmd: Cmd) -> Cmd {
    cmd.arg("--git-dir=.git")
}

/// Whether the file system keeps the executable bit, asked with a file that has no name.
/// `core.fileMode=false` there only hides changes; elsewhere it is right.
#[cfg(target_os = "linux")]
fn keeps_modes(dir: &Path) -> bool {
    use rustix::fs::{Mode, OFlags, fchmod, fstat, open};
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let Ok(file) = open(dir, flags, Mode::RUSR | Mode::WUSR) else { return false };
    let mode = || fstat(&file).map(|stat| stat.st_mode & 0o100);
    mode() == Ok(0) && fchmod(&file, Mode::RWXU).is_ok() && mode() == Ok(0o100)
}

#[cfg(not(target_os = "linux"))]
fn keeps_modes(_: &Path) -> bool {
    false
}
