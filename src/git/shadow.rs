//! Seeing through marks in the index that tell git not to look at a file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;

use super::checkout::Checkout;
use super::command::run;
use crate::error::{Doing, Result};
use crate::proc::Cmd;

/// The marked files that are there, each path with a NUL behind it. Marked and absent are the
/// files that a sparse checkout leaves out.
#[derive(Debug, Default)]
pub(super) struct Marks {
    assumed: Vec<u8>,
    skipped: Vec<u8>,
}

impl Marks {
    pub(super) fn of(checkout: &Checkout<'_>) -> Result<Self> {
        let cmd = checkout.read()?.args(["ls-files", "-v", "-z"]);
        let output = run(&cmd, || checkout.what("git cannot list the files"))?;
        let mut marks = Marks::default();
        for entry in output.stdout.split(|byte| *byte == 0) {
            let [tag, b' ', path @ ..] = entry else { continue };
            let (assumed, skipped) = (tag.is_ascii_lowercase(), tag.eq_ignore_ascii_case(&b's'));
            let there = || checkout.root.join(OsStr::from_bytes(path)).symlink_metadata().is_ok();
            if !(assumed || skipped) || !there() {
                continue;
            }
            for list in [(assumed, &mut marks.assumed), (skipped, &mut marks.skipped)] {
                if list.0 {
                    list.1.extend_from_slice(path);
                    list.1.push(0);
                }
            }
        }
        Ok(marks)
    }

    fn is_empty(&self) -> bool {
        self.assumed.is_empty() && self.skipped.is_empty()
    }

    fn clear(&self, checkout: &Checkout<'_>, shadow: &Shadow) -> Result<()> {
        for (option, paths) in
            [("--no-assume-unchanged", &self.assumed), ("--no-skip-worktree", &self.skipped)]
        {
            if !paths.is_empty() {
                let cmd = shadow.used_by(checkout.acting()?).args(["update-index", "-z", option, "--stdin"]);
                run(&cmd.input(paths.as_slice()), || checkout.what("git cannot look at marked files"))?;
            }
        }
        Ok(())
    }

    /// Sets the marks in the index itself.
    pub(super) fn set_again(&self, checkout: &Checkout<'_>) -> Result<()> {
        for (option, paths) in [("--assume-unchanged", &self.assumed), ("--skip-worktree", &self.skipped)] {
            if !paths.is_empty() {
                let cmd = checkout.acting()?.args(["update-index", "-z", option, "--stdin"]);
                run(&cmd.input(paths.as_slice()), || checkout.what("git cannot mark files again"))?;
            }
        }
        Ok(())
    }
}

/// The time goes along: a file that is as new as the index may have changed in the same tick of the
/// clock, and git compares its contents only as long as the index looks no newer.
fn copy(mut index: &File, copy: &mut File) -> std::io::Result<()> {
    std::io::copy(&mut index, copy)?;
    copy.set_modified(index.metadata()?.modified()?)
}

/// Whether libgit2 can read the index and finds no mark. It cannot read one that is split, sparse
/// or of a sha256 repository.
pub(super) fn is_plainly_unmarked(checkout: &Checkout<'_>) -> bool {
    let unmarked = |entry: git2::IndexEntry| {
        let assumed = entry.flags & git2::IndexEntryFlag::VALID.bits() != 0;
        let skipped = entry.flags_extended & git2::IndexEntryExtendedFlag::SKIP_WORKTREE.bits() != 0;
        !assumed && !skipped
    };
    git2::Index::open(&checkout.git_dir.join("index")).is_ok_and(|index| index.iter().all(unmarked))
}

/// A copy of the index in which no file that is there is marked.
pub(super) struct Shadow {
    file: tempfile::NamedTempFile,
}

impl Shadow {
    /// `None` where nothing is marked, and the index itself will do.
    pub(super) fn unless_plain(checkout: &Checkout<'_>) -> Result<Option<Self>> {
        let marks = Marks::of(checkout)?;
        if marks.is_empty() { Ok(None) } else { Self::clearing(checkout, &marks).map(Some) }
    }

    /// A copy in any case.
    pub(super) fn new(checkout: &Checkout<'_>) -> Result<Self> {
        Self::clearing(checkout, &Marks::of(checkout)?)
    }

    fn clearing(checkout: &Checkout<'_>, marks: &Marks) -> Result<Self> {
        let what = || checkout.what("cannot copy the index");
        let mut file =
            tempfile::Builder::new().prefix("scruff-index-").tempfile_in(&checkout.git_dir).doing(what)?;
        match File::open(checkout.git_dir.join("index")) {
            Ok(index) => copy(&index, file.as_file_mut()).doing(what)?,
            // A checkout without a commit has none, and git takes an empty file for a broken one.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                std::fs::remove_file(file.path()).doing(what)?;
            }
            Err(error) => return Err(error).doing(what),
        }
        let shadow = Shadow { file };
        marks.clear(checkout, &shadow)?;
        Ok(shadow)
    }

    pub(super) fn used_by(&self, cmd: Cmd) -> Cmd {
        cmd.env("GIT_INDEX_FILE", self.file.path())
    }
}
