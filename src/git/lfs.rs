//! Files that Git LFS has not fetched: a checkout holds a pointer instead.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::checkout::Checkout;
use super::command::run;
use crate::ctx::Ctx;
use crate::error::Result;

/// How every pointer begins.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// The tracked files of a checkout that are pointers, from its root.
pub fn pointers(ctx: &Ctx, place: &Path) -> Result<Vec<PathBuf>> {
    let checkout = Checkout::at(ctx, place)?;
    let cmd = checkout.read()?.args(["ls-files", "-z", "--", ":(attr:filter=lfs)"]);
    let output = run(&cmd, || checkout.what("git cannot list the files of Git LFS"))?;
    let paths = output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    let paths = paths.map(|path| PathBuf::from(OsStr::from_bytes(path)));
    Ok(paths.filter(|path| is_pointer(&place.join(path))).collect())
}

fn is_pointer(file: &Path) -> bool {
    let mut start = [0; POINTER.len()];
    let regular = file.symlink_metadata().is_ok_and(|meta| meta.is_file());
    let mut read = || std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    regular && read() && start == POINTER
}
