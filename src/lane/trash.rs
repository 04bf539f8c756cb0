//! Ignored files of a checkout that goes: those that are not cheap to make again are moved into
//! `<base>/.trash/<repo>/<lane>/<time>/`, and can be moved back.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::paths::make_private_dir;

/// Directories that a build makes again.
const REGENERABLE: [&str; 10] =
    ["node_modules", "target", ".venv", "venv", "__pycache__", "dist", "build", ".next", ".cache", "vendor"];

/// How deep a directory that a build makes again is searched for a repository.
const DEPTH: usize = 3;

/// The ignored paths that must not be lost, of `ignored`, which are relative to the checkout.
pub fn precious(ctx: &Ctx, checkout: &Path, ignored: Vec<PathBuf>) -> Vec<PathBuf> {
    let also = &ctx.config().trash.regenerable;
    let regenerable = |part: Component<'_>| {
        let name = part.as_os_str();
        REGENERABLE.iter().any(|known| name == OsStr::new(known))
            || also.iter().any(|known| name == OsStr::new(known))
    };
    let cheap =
        |path: &Path| path.components().any(regenerable) && !holds_repository(&checkout.join(path), DEPTH);
    ignored.into_iter().filter(|path| !cheap(path)).collect()
}

/// Whether a repository of its own lies in a directory: no build makes its commits again.
fn holds_repository(directory: &Path, depth: usize) -> bool {
    let entries = || fs::read_dir(directory).into_iter().flatten().flatten();
    let inside = |entry: fs::DirEntry| {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        entry.file_name() == ".git"
            || (is_directory && depth > 0 && holds_repository(&entry.path(), depth - 1))
    };
    entries().any(inside)
}

/// A new place in the trash for a lane.
pub fn place(ctx: &Ctx, repo: &str, lane: &str) -> PathBuf {
    let flat = |text: &str| text.replace('/', "-").trim_start_matches('.').to_owned();
    let stamp = ctx.clock.now().strftime("%Y%m%dT%H%M%S%.6f").to_string();
    ctx.paths.trash().join(flat(repo)).join(flat(lane)).join(stamp)
}

/// Moves `paths` of `checkout` to `place`, keeping their layout. Stops at the first failure, with
/// everything either where it was or in its new place.
pub fn put(ctx: &Ctx, checkout: &Path, paths: &[PathBuf], place: &Path) -> Result<()> {
    for path in paths {
        move_one(checkout, place, path)?;
        ctx.step("trash");
    }
    Ok(())
}

/// Moves everything in `place` back into `checkout`. What stands there already stays, and the
/// trashed one is left and named in the answer.
pub fn take_back(place: &Path, checkout: &Path) -> Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    bring_back(place, checkout, Path::new(""), &mut left)?;
    remove_empty(place);
    Ok(left)
}

fn bring_back(place: &Path, checkout: &Path, below: &Path, left: &mut Vec<PathBuf>) -> Result<()> {
    let directory = place.join(below);
    let entries = fs::read_dir(&directory).doing(|| format!("cannot read {}", directory.display()))?;
    for entry in entries {
        let entry = entry.doing(|| format!("cannot read {}", directory.display()))?;
        let path = below.join(entry.file_name());
        let target = checkout.join(&path);
        match target.symlink_metadata() {
            Err(_) => move_one(place, checkout, &path)?,
            Ok(meta) if meta.is_dir() && entry.path().symlink_metadata().is_ok_and(|meta| meta.is_dir()) => {
                bring_back(place, checkout, &path, left)?;
            }
            Ok(_) => left.push(path),
        }
    }
    Ok(())
}

fn move_one(from: &Path, to: &Path, path: &Path) -> Result<()> {
    let (source, target) = (from.join(path), to.join(path));
    let what = || format!("cannot move {} to {}", source.display(), target.display());
    if let Some(parent) = target.parent() {
        make_private_dir(parent)?;
    }
    if target.symlink_metadata().is_ok() {
        return Err(Error::precondition(format!("{} is there already", target.display())));
    }
    match fs::rename(&source, &target) {
        Ok(()) => Ok(()),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::XDEV.raw_os_error()) => {
            copy(&source, &target)?;
            remove(&source).doing(what)
        }
        Err(error) => Err(error).doing(what),
    }
}

/// Copies onto another file system: links as they are, modes kept, never into a link.
fn copy(source: &Path, target: &Path) -> Result<()> {
    let what = || format!("cannot copy {} to {}", source.display(), target.display());
    let meta = source.symlink_metadata().doing(what)?;
    let kind = meta.file_type();
    if kind.is_symlink() {
        let link = fs::read_link(source).doing(what)?;
        return std::os::unix::fs::symlink(link, target).doing(what);
    }
    if kind.is_dir() {
        make_private_dir(target)?;
        for entry in fs::read_dir(source).doing(what)? {
            let entry = entry.doing(what)?;
            copy(&entry.path(), &target.join(entry.file_name()))?;
        }
        return fs::set_permissions(target, fs::Permissions::from_mode(meta.permissions().mode()))
            .doing(what);
    }
    if kind.is_file() {
        return fs::copy(source, target).map(|_| ()).doing(what);
    }
    // Sockets and pipes hold nothing.
    debug_assert!(kind.is_socket() || kind.is_fifo() || kind.is_block_device() || kind.is_char_device());
    Ok(())
}

fn remove(path: &Path) -> std::io::Result<()> {
    if path.symlink_metadata()?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Removes a directory and its parents up to the trash, as far as they are empty.
pub fn remove_empty(place: &Path) {
    let mut stack = vec![place.to_owned()];
    let mut directories = Vec::new();
    while let Some(directory) = stack.pop() {
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        stack.extend(
            entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path()),
        );
        directories.push(directory);
    }
    for directory in directories.iter().rev() {
        let _ = fs::remove_dir(directory);
    }
    for parent in place.ancestors().skip(1).take(2) {
        if fs::remove_dir(parent).is_err() {
            break;
        }
    }
}
