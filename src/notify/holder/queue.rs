//! What a lane's banner shall be, in the order it was asked for: lines appended by hooks, read by
//! the holder.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Doing, Result};
use crate::notify::subject::Request;
use crate::paths::make_private_dir;

/// What is read of a queue at once, in bytes.
const MAX_READ: u64 = 1 << 20;

/// Appends a request.
pub(super) fn append(path: &Path, request: &Request) -> Result<()> {
    let what = || format!("cannot write {}", path.display());
    make_private_dir(path.parent().unwrap_or(Path::new("/")))?;
    let mut line = serde_json::to_vec(request).doing(what)?;
    line.push(b'\n');
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(&line)).doing(what)
}

/// The holder's side of a queue.
#[derive(Debug)]
pub(super) struct Queue {
    path: PathBuf,
    read: u64,
}

impl Queue {
    pub(super) fn open(path: PathBuf) -> Self {
        Queue { path, read: 0 }
    }

    /// The requests that have come since the last time.
    pub(super) fn take(&mut self) -> Vec<Request> {
        let bytes = self.rest().unwrap_or_default();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.read += whole as u64;
        let lines = bytes[..whole].split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// Whether there is nothing that was not read.
    pub(super) fn is_read(&self) -> bool {
        self.path.metadata().map_or(0, |meta| meta.len()) <= self.read
    }

    /// Whether it has been taken away, with the directory it was in.
    pub(super) fn is_gone(&self) -> bool {
        !self.path.exists()
    }

    pub(super) fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }

    fn rest(&self) -> std::io::Result<Vec<u8>> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        file.take(MAX_READ).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::subject::{Subject, Word};
    use crate::session::SessionId;

    #[test]
    fn requests_come_once_and_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("holders/x.queue");
        let id = SessionId::parse("s").unwrap();
        let subject = Subject::of_session(id, Path::new("/tmp/a\nb"), "claude".to_owned());
        let request = |word| Request { subject: subject.clone(), word };
        let mut queue = Queue::open(path.clone());
        assert!(queue.is_gone() && queue.is_read() && queue.take().is_empty());
        append(&path, &request(Word::Ask)).unwrap();
        append(&path, &request(Word::Down)).unwrap();
        assert!(!queue.is_read());
        assert_eq!(queue.take(), [request(Word::Ask), request(Word::Down)]);
        assert!(queue.is_read() && queue.take().is_empty());
        append(&path, &request(Word::Done)).unwrap();
        File::options().append(true).open(&path).unwrap().write_all(b"{\"half").unwrap();
        assert_eq!(queue.take(), [request(Word::Done)]);
        queue.remove();
        assert!(queue.is_gone());
    }
}
