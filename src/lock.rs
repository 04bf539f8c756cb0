//! File locks that have a limit and name their holder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::{Doing, Error, Result};
use crate::paths::make_private_dir;

/// A held lock. Dropping it, or the end of the process in any way, releases it. The file stays:
/// removing it would let two processes hold two files of one name.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock, waiting up to `limit`. `what` is what is being done, for whoever waits
    /// meanwhile. `waiting` is called once when it must wait.
    pub fn acquire(path: &Path, limit: Duration, what: &str, waiting: impl Fn(&str)) -> Result<Self> {
        let file = open(path)?;
        let deadline = Instant::now() + limit;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self::signed(file, what)),
                Err(TryLockError::Error(error)) => {
                    return Err(error).doing(|| format!("cannot lock {}", path.display()));
                }
                Err(TryLockError::WouldBlock) => {}
            }
            if Instant::now() >= deadline {
                return Err(held(&file, path, limit));
            }
            if !told {
                waiting(&holder(&file));
                told = true;
            }
            sleep(Duration::from_millis(5));
        }
    }

    /// The lock as a file that a child may hold too: as long as it lives, the lock is held.
    pub fn share(&self) -> Result<File> {
        self.file.try_clone().doing(|| "cannot share a lock".to_owned())
    }

    /// Whether nobody holds the lock at `path` right now.
    pub fn is_free(path: &Path) -> bool {
        match File::open(path) {
            Ok(file) => !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
            Err(_) => true,
        }
    }

    /// Leaves the holder's name in the file. Only a courtesy: the lock itself is the kernel's.
    fn signed(mut file: File, what: &str) -> Self {
        let _ = file.set_len(0);
        let _ = file.rewind();
        let _ = writeln!(file, "{} ({what})", std::process::id());
        Lock { file }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

fn open(path: &Path) -> Result<File> {
    make_private_dir(path.parent().unwrap_or(Path::new("/")))?;
    let no_follow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(no_follow)
        .open(path)
        .doing(|| format!("cannot open the lock {}", path.display()))
}

fn holder(file: &File) -> String {
    let mut text = String::new();
    let mut file = file;
    let _ = file.rewind();
    let _ = file.take(200).read_to_string(&mut text);
    match text.trim() {
        "" => "another process".to_owned(),
        holder => format!("process {holder}"),
    }
}

fn held(file: &File, path: &Path, limit: Duration) -> Error {
    let waited =
        if limit < Duration::from_secs(1) { String::new() } else { format!(" for {}s", limit.as_secs()) };
    Error::busy(format!("{} holds {}{waited}", holder(file), path.display()))
        .hint("wait for it to finish and call again")
}

/// Where a lock that belongs beside `path` goes: beside it, or, on a network file system where
/// locks hang or do nothing, in the run-time directory.
pub fn place(path: &Path, runtime: Option<&Path>) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    let mut lock = name.to_owned();
    lock.push(".lock");
    match runtime {
        Some(runtime) if path.parent().is_some_and(on_network) => {
            runtime.join("scruff").join(format!("{}-{}", crate::lane::digest(path), lock.display()))
        }
        _ => path.with_file_name(lock),
    }
}

#[cfg(target_os = "linux")]
fn on_network(directory: &Path) -> bool {
    // NFS, SMB, SMB2, CIFS, FUSE (sshfs among others), 9P, AFS.
    const NETWORK: [i64; 7] =
        [0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x6573_5546, 0x0102_1997, 0x5346_414F];
    let existing = directory.ancestors().find(|directory| directory.exists());
    existing
        .and_then(|directory| rustix::fs::statfs(directory).ok())
        .is_some_and(|fs| NETWORK.contains(&fs.f_type))
}

#[cfg(not(target_os = "linux"))]
fn on_network(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_taker_is_told_who_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.lock");
        let first = Lock::acquire(&path, Duration::ZERO, "reap", |_| ()).unwrap();
        let error = Lock::acquire(&path, Duration::ZERO, "open", |_| ()).unwrap_err();
        assert_eq!(error.exit(), crate::exit::Exit::Busy);
        assert!(error.message().contains(&format!("{} (reap)", std::process::id())), "{error}");
        assert!(!Lock::is_free(&path));
        drop(first);
        assert!(Lock::is_free(&path));
        Lock::acquire(&path, Duration::ZERO, "open", |_| ()).unwrap();
    }

    #[test]
    fn a_symlink_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), dir.path().join("x.lock")).unwrap();
        assert!(Lock::acquire(&dir.path().join("x.lock"), Duration::ZERO, "x", |_| ()).is_err());
        assert!(!dir.path().join("elsewhere").exists());
    }
}
