//! Walking by descriptors: whatever is swapped for a link meanwhile, nothing is read or written
//! through it.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fchmod, mkdirat, openat, statat};
use rustix::io::{Errno, Result};

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The root of a checkout, which is taken as it is named.
pub(super) fn open_root(path: &Path) -> Result<OwnedFd> {
    openat(CWD, path, DIRECTORY, Mode::empty())
}

/// A directory in a directory; a link is none.
pub(super) fn open_dir(parent: impl AsFd, name: &OsStr) -> Result<OwnedFd> {
    openat(parent, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
}

/// What there is under a name, links as they are. `None`: nothing.
pub(super) fn stat(parent: impl AsFd, name: &OsStr) -> Result<Option<Stat>> {
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A directory in a directory, made if it is missing. Says whether it was.
pub(super) fn make_dir(parent: impl AsFd, name: &OsStr) -> Result<(OwnedFd, bool)> {
    let made = match mkdirat(&parent, name, Mode::RWXU) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(error) => return Err(error),
    };
    open_dir(parent, name).map(|dir| (dir, made))
}

/// Whether a directory is a linked checkout or a submodule. git inside a copy of it would act on
/// the original.
pub(super) fn is_other_checkout(directory: &OwnedFd) -> Result<bool> {
    let dot_git = stat(directory, OsStr::new(".git"))?;
    Ok(dot_git.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) != FileType::Directory))
}

/// The permissions of a file, without set-user-id and its like.
pub(super) fn mode(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode) & Mode::from_bits_retain(0o777)
}

/// The directory that holds `path` below `target`, made like those below `source`, and its name there.
pub(super) fn parent_of<'a>(
    source: &OwnedFd,
    target: &OwnedFd,
    path: &'a Path,
) -> Result<(OwnedFd, &'a OsStr)> {
    let name = name(path)?;
    let (mut from, mut to) = (source.try_clone().map_err(io)?, target.try_clone().map_err(io)?);
    for part in path.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(part) = part else { return Err(Errno::INVAL) };
        from = open_dir(&from, part)?;
        let (dir, made) = make_dir(&to, part)?;
        if made && let Some(stat) = stat(&from, OsStr::new("."))? {
            fchmod(&dir, mode(&stat))?;
        }
        to = dir;
    }
    Ok((to, name))
}

/// The last component of a path.
pub(super) fn name(path: &Path) -> Result<&OsStr> {
    path.file_name().ok_or(Errno::INVAL)
}

/// The directory that holds `path` below `root`.
pub(super) fn open_parent(root: &OwnedFd, path: &Path) -> Result<OwnedFd> {
    let mut dir = root.try_clone().map_err(io)?;
    for part in path.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(part) = part else { return Err(Errno::INVAL) };
        dir = open_dir(&dir, part)?;
    }
    Ok(dir)
}

/// The number of an error.
pub(super) fn io(error: std::io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
