//! The files that tie a checkout to its repository: `.git` files and administrative directories.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A file larger than this is not one of git's pointers, in bytes.
const MAX: u64 = 64 << 10;

/// What stands at `<checkout>/.git`.
#[derive(Debug)]
pub(super) enum DotGit {
    /// Nothing.
    None,
    /// A directory: a repository of its own.
    Dir,
    /// A file that names a git directory, as written but absolute.
    File(PathBuf),
    /// It could not be read, or is no such file.
    Odd(String),
}

/// Reads `<checkout>/.git`.
pub(super) fn dot_git(checkout: &Path) -> DotGit {
    let place = checkout.join(".git");
    match std::fs::metadata(&place) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => DotGit::None,
        Err(error) => DotGit::Odd(format!("{}: {error}", place.display())),
        Ok(meta) if meta.is_dir() => DotGit::Dir,
        Ok(_) => match pointer(&place) {
            Ok(Some(text)) => match text.strip_prefix(b"gitdir: ") {
                Some(target) => DotGit::File(checkout.join(OsStr::from_bytes(target))),
                None => DotGit::Odd(format!("{} names no git directory", place.display())),
            },
            Ok(None) => DotGit::None,
            Err(error) => DotGit::Odd(format!("{}: {error}", place.display())),
        },
    }
}

/// The contents of a one-line file without the newline at its end; `None` when it is not there.
pub(super) fn pointer(file: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let open = match std::fs::File::open(file) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        open => open?,
    };
    if !open.metadata()?.is_file() {
        return Err(std::io::Error::other("is no regular file"));
    }
    let mut bytes = Vec::new();
    open.take(MAX).read_to_end(&mut bytes)?;
    while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
        bytes.pop();
    }
    Ok(Some(bytes))
}

/// Whether a directory looks like a git directory, by git's own three signs.
pub(super) fn is_git_dir(dir: &Path) -> bool {
    let common = common_of(dir);
    std::fs::symlink_metadata(dir.join("HEAD")).is_ok()
        && common.join("objects").is_dir()
        && common.join("refs").is_dir()
}

/// The common directory of a git directory: what its `commondir` names, else itself.
pub(super) fn common_of(git_dir: &Path) -> PathBuf {
    match pointer(&git_dir.join("commondir")) {
        Ok(Some(text)) => git_dir.join(OsStr::from_bytes(&text)),
        _ => git_dir.to_owned(),
    }
}

/// Which `.git` file an administrative directory belongs to, as its `gitdir` says. A relative one
/// counts from the directory itself.
pub(super) fn back_pointer(admin: &Path) -> std::io::Result<Option<PathBuf>> {
    Ok(pointer(&admin.join("gitdir"))?.map(|text| admin.join(OsStr::from_bytes(&text))))
}

/// The administrative directories of all linked worktrees.
pub(super) fn all(common: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(common.join("worktrees")) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    entries.map(|entry| Ok(entry?.path())).collect()
}

/// Whether two paths are one place, also where nothing is there.
pub(super) fn same(one: &Path, other: &Path) -> bool {
    one == other || resolved(one) == resolved(other)
}

/// The path with links followed as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let beyond = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(beyond).unwrap_or_else(|| lexical(path))
}

/// A path without `.` and `..`, as text only.
pub(super) fn lexical(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}
