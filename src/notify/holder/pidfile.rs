//! Who holds a lane's banner: at most one process, written down with the time it started.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Doing, Result};
use crate::paths::make_private_dir;
use crate::session::Process;

/// A pidfile that is this process's. Dropping it removes the file.
#[derive(Debug)]
pub(super) struct PidFile {
    path: PathBuf,
}

impl PidFile {
    /// Takes the file, unless a live process has it. One of a dead process is replaced.
    pub(super) fn take(path: &Path) -> Result<Option<Self>> {
        make_private_dir(path.parent().unwrap_or(Path::new("/")))?;
        let what = || format!("cannot write {}", path.display());
        for _ in 0..2 {
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
                Ok(mut file) => {
                    let held = PidFile { path: path.to_owned() };
                    let me = Process::of(std::process::id());
                    file.write_all(&serde_json::to_vec(&me).doing(what)?).doing(what)?;
                    return Ok(Some(held));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if holder(path).is_some() {
                        return Ok(None);
                    }
                    let _ = std::fs::remove_file(path);
                }
                Err(error) => return Err(error).doing(what),
            }
        }
        Ok(None)
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The live process that has the file.
pub(super) fn holder(path: &Path) -> Option<Process> {
    let process: Process = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    Some(process).filter(Process::is_alive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_holds_it_and_a_dead_ones_is_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("holders/x.pid");
        let held = PidFile::take(&path).unwrap().unwrap();
        assert_eq!(holder(&path).unwrap().pid, std::process::id());
        assert!(PidFile::take(&path).unwrap().is_none());
        drop(held);
        assert!(!path.exists());
        let dead = r#"{"pid":4194300,"start":"x"}"#;
        let reused = format!(r#"{{"pid":{},"start":"another"}}"#, std::process::id());
        for text in ["", "nonsense", dead, &reused] {
            crate::paths::write_whole(&path, text.as_bytes()).unwrap();
            assert!(PidFile::take(&path).unwrap().is_some(), "{text}");
        }
    }
}
