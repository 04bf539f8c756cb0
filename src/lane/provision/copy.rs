//! Copies of files and directories, as they are: modes and times kept, links copied as links.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, Timespec, Timestamps};
use rustix::fs::{fchmod, fstat, futimens, linkat, openat, readlinkat, symlinkat, unlinkat};
use rustix::io::{Errno, Result};

use super::{Job, Said, fs};

/// More than this is not copied into one checkout, in bytes. Clones do not count.
const MAX_BYTES: u64 = 8 << 30;

/// More files than this are not copied into one checkout.
const MAX_FILES: u64 = 500_000;

/// Directories nested deeper than this are not copied.
const MAX_DEPTH: usize = 100;

/// How much is copied before the time is looked at, in bytes.
const CHUNK: u64 = 64 << 20;

/// Copies from the main checkout to a new one, within limits.
pub(super) struct Copier {
    main: PathBuf,
    source: OwnedFd,
    target: OwnedFd,
    until: Instant,
    /// Directories that are scruff's own, by device and inode.
    own: Vec<(u64, u64)>,
    bytes: u64,
    files: u64,
    over: Option<String>,
    /// Whether it was said that the file system cannot clone.
    fallback_said: bool,
}

impl Copier {
    pub(super) fn new(job: &Job<'_>) -> Result<Self> {
        let (paths, main) = (&job.ctx.paths, job.repo.main());
        let own = [&paths.base, &paths.state].into_iter().filter_map(|dir| dir.metadata().ok());
        Ok(Copier {
            main: main.to_owned(),
            source: fs::open_root(main)?,
            target: fs::open_root(job.checkout)?,
            until: job.until,
            own: own.map(|meta| (meta.dev(), meta.ino())).collect(),
            bytes: 0,
            files: 0,
            over: None,
            fallback_said: false,
        })
    }

    pub(super) fn main(&self) -> &Path {
        &self.main
    }

    /// Why nothing more is copied.
    pub(super) fn over(&self) -> Option<&str> {
        self.over.as_deref()
    }

    /// Copies one entry, with all that is in it. `Ok(false)`: it was there already.
    pub(super) fn entry(
        &mut self,
        path: &Path,
        clone: bool,
        said: &mut Said,
    ) -> std::result::Result<bool, String> {
        let text = |error: Errno| error.to_string();
        let from = fs::open_parent(&self.source, path).map_err(text)?;
        let (to, name) = fs::parent_of(&self.source, &self.target, path).map_err(text)?;
        let mut walk = Walk { copier: self, said, clone, any: false, path: path.to_owned() };
        walk.one(&from, &to, name, 0).map_err(text)?;
        Ok(walk.any)
    }

    /// Whether a directory is scruff's own.
    fn is_own(&self, directory: &OwnedFd) -> Result<bool> {
        let meta = directory.try_clone().map(File::from).and_then(|dir| dir.metadata()).map_err(fs::io)?;
        Ok(self.own.contains(&(meta.dev(), meta.ino())))
    }

    /// Whether another file of this size may be copied.
    fn allows(&mut self, size: u64) -> bool {
        let why = if self.files >= MAX_FILES {
            format!("setting up the new checkout stopped after {MAX_FILES} files")
        } else if self.bytes.saturating_add(size) > MAX_BYTES {
            format!("setting up the new checkout stopped at {} GiB", MAX_BYTES >> 30)
        } else if Instant::now() >= self.until {
            "setting up the new checkout took too long and was stopped".to_owned()
        } else {
            return true;
        };
        self.over.get_or_insert(why);
        false
    }
}

struct Walk<'a> {
    copier: &'a mut Copier,
    said: &'a mut Said,
    clone: bool,
    /// Whether anything was copied.
    any: bool,
    path: PathBuf,
}

impl Walk<'_> {
    fn one(&mut self, from: &OwnedFd, to: &OwnedFd, name: &OsStr, depth: usize) -> Result<()> {
        let Some(stat) = fs::stat(from, name)? else { return Ok(()) };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => self.directory(from, to, name, depth),
            FileType::Symlink => self.link(from, to, name),
            FileType::RegularFile => self.file(from, to, name),
            _ => {
                self.skip("it is a socket, a pipe or a device");
                Ok(())
            }
        }
    }

    fn skip(&mut self, why: &str) {
        self.said.add(format!("{} is not set up in the new checkout: {why}", self.path.display()));
    }

    fn directory(&mut self, from: &OwnedFd, to: &OwnedFd, name: &OsStr, depth: usize) -> Result<()> {
        let source = fs::open_dir(from, name)?;
        if fs::is_other_checkout(&source)? || self.copier.is_own(&source)? {
            return Ok(());
        }
        if depth > MAX_DEPTH {
            self.skip("it is nested too deep");
            return Ok(());
        }
        let stat = fstat(&source)?;
        let (target, made) = fs::make_dir(to, name)?;
        for name in names(&source)? {
            if self.copier.over.is_some() {
                break;
            }
            self.path.push(&name);
            if let Err(error) = self.one(&source, &target, &name, depth + 1) {
                self.skip(&error.to_string());
            }
            self.path.pop();
        }
        if made {
            self.any = true;
            fchmod(&target, fs::mode(&stat))?;
            futimens(&target, &times(&stat))?;
        }
        Ok(())
    }

    fn link(&mut self, from: &OwnedFd, to: &OwnedFd, name: &OsStr) -> Result<()> {
        match symlinkat(readlinkat(from, name, Vec::new())?, to, name) {
            Ok(()) => self.any = true,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn file(&mut self, from: &OwnedFd, to: &OwnedFd, name: &OsStr) -> Result<()> {
        if fs::stat(to, name)?.is_some() {
            return Ok(());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let source = File::from(openat(from, name, flags, Mode::empty())?);
        let stat = fstat(&source)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Errno::INVAL);
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        if !self.copier.allows(if self.clone { 0 } else { size }) {
            return Ok(());
        }
        let fresh = Fresh::open(to, name)?;
        let filled = self.fill(source, &fresh.file, &stat);
        if !matches!(filled, Ok(true)) {
            fresh.discard(to);
            return filled.map(drop);
        }
        self.copier.files += 1;
        self.any |= fresh.publish(to, name)?;
        Ok(())
    }

    /// `Ok(false)`: the limits are reached.
    fn fill(&mut self, source: File, target: &File, stat: &Stat) -> Result<bool> {
        if !(self.clone && self.cloned(&source, target)) {
            let size = u64::try_from(stat.st_size).unwrap_or(0);
            if !self.copier.allows(size) {
                return Ok(false);
            }
            self.contents(source, target)?;
            self.copier.bytes = self.copier.bytes.saturating_add(size);
        }
        fchmod(target, fs::mode(stat))?;
        futimens(target, &times(stat))?;
        Ok(self.copier.over.is_none())
    }

    /// Shares the blocks of the source. `false`: this file system cannot, which is said once.
    fn cloned(&mut self, source: &File, target: &File) -> bool {
        if clone(source, target) {
            return true;
        }
        if !self.copier.fallback_said {
            self.copier.fallback_said = true;
            self.said.add(format!("{} is copied: the file system cannot clone it", self.path.display()));
        }
        false
    }

    fn contents(&mut self, mut source: File, mut target: &File) -> Result<()> {
        while std::io::copy(&mut (&mut source).take(CHUNK), &mut target).map_err(fs::io)? == CHUNK {
            if !self.copier.allows(0) {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn clone(source: &File, target: &File) -> bool {
    rustix::fs::ioctl_ficlone(target, source).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn clone(_: &File, _: &File) -> bool {
    false
}

/// A file that is not there before it is whole.
struct Fresh {
    file: File,
    /// Its name meanwhile, where the file system has no files without one.
    named: Option<OsString>,
}

impl Fresh {
    fn open(directory: &OwnedFd, name: &OsStr) -> Result<Self> {
        #[cfg(target_os = "linux")]
        {
            let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
            if let Ok(file) = openat(directory, ".", flags, Mode::RUSR | Mode::WUSR) {
                return Ok(Fresh { file: file.into(), named: None });
            }
        }
        Self::named(directory, name)
    }

    /// Under a name that follows from the final one, so that what a crash left is found and replaced.
    fn named(directory: &OwnedFd, name: &OsStr) -> Result<Self> {
        let meanwhile = OsString::from(format!(".scruff-{}", crate::lane::digest(Path::new(name))));
        let _ = unlinkat(directory, &meanwhile, AtFlags::empty());
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(directory, &meanwhile, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(Fresh { file: file.into(), named: Some(meanwhile) })
    }

    /// Gives it its name. `Ok(false)`: somebody else was faster.
    fn publish(&self, directory: &OwnedFd, name: &OsStr) -> Result<bool> {
        let linked = match &self.named {
            Some(meanwhile) => linkat(directory, meanwhile, directory, name, AtFlags::empty()),
            None => {
                let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                linkat(CWD, own, directory, name, AtFlags::SYMLINK_FOLLOW)
            }
        };
        self.discard(directory);
        match linked {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Lets go of what it is called meanwhile.
    fn discard(&self, directory: &OwnedFd) {
        if let Some(meanwhile) = &self.named {
            let _ = unlinkat(directory, meanwhile, AtFlags::empty());
        }
    }
}

fn names(directory: impl AsFd) -> Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(directory)? {
        let name = entry?.file_name().to_bytes().to_owned();
        if !matches!(name.as_slice(), b"." | b"..") {
            names.push(OsString::from_vec(name));
        }
    }
    names.sort_by(|one, other| one.as_bytes().cmp(other.as_bytes()));
    Ok(names)
}

fn times(stat: &Stat) -> Timestamps {
    let time =
        |seconds, nanoseconds| Timespec { tv_sec: seconds, tv_nsec: i64::try_from(nanoseconds).unwrap_or(0) };
    Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    }
}
