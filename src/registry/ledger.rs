//! The ledger: what was taken, when, on what proof, and how to get it back.
//!
//! One line a lane in `$SCRUFF_STATE/reaped.log`, appended and flushed to disk before anything is
//! deleted.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::error::{Doing, Error, Result};
use crate::paths::{self, Paths};

/// A ledger larger than this is not one of ours, in bytes.
const MAX_FILE: u64 = 256 << 20;

/// One lane that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// When.
    pub time: Timestamp,
    /// `owner/name`, or `local/<basename>`.
    pub repo: String,
    /// The lane's name.
    pub name: String,
    /// Its branch.
    pub branch: String,
    /// The branch's tip.
    pub sha: String,
    /// The proof, or the word of the person who took it.
    pub via: String,
    /// The pull request's number, or empty.
    pub pr: String,
    /// The lane's id.
    pub id: String,
    /// The main checkout.
    pub main: PathBuf,
    /// Where the checkout was.
    pub path: PathBuf,
    /// The directory that spawned it, or empty.
    pub parent: PathBuf,
    /// The client.
    pub client: String,
    /// Where its ignored files are, or empty.
    pub trash: PathBuf,
}

fn place(paths: &Paths) -> PathBuf {
    paths.state.join("reaped.log")
}

/// Appends a line and flushes it to disk. A line that a crash cut short is ended first.
pub fn append(paths: &Paths, taken: &Taken) -> Result<()> {
    let file = place(paths);
    let what = || format!("cannot write the ledger {}", file.display());
    paths::make_private_dir(&paths.state)?;
    let no_follow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
    let mut options = OpenOptions::new();
    let mut handle = options
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(no_follow)
        .open(&file)
        .doing(what)?;
    let mut line = taken.line()?;
    if !ends_whole(&handle) {
        line.insert(0, b'\n');
    }
    handle.write_all(&line).doing(what)?;
    handle.sync_all().doing(what)?;
    paths::sync_dir(&paths.state);
    Ok(())
}

fn ends_whole(file: &File) -> bool {
    use std::os::unix::fs::FileExt;
    let Ok(length) = file.metadata().map(|meta| meta.len()) else { return true };
    let mut last = [b'\n'];
    length == 0 || file.read_exact_at(&mut last, length - 1).is_err() || last == [b'\n']
}

/// Every line that can be understood, oldest first.
pub fn read(paths: &Paths) -> Result<Vec<Taken>> {
    let file = place(paths);
    match std::fs::metadata(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Ok(meta) if meta.len() > MAX_FILE => {
            return Err(Error::precondition(format!("{} is larger than 256 MiB", file.display()))
                .hint("look at the file: something else wrote to it"));
        }
        _ => {}
    }
    let bytes = std::fs::read(&file).doing(|| format!("cannot read the ledger {}", file.display()))?;
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(Taken::parse).collect())
}

impl Taken {
    fn line(&self) -> Result<Vec<u8>> {
        let texts = |text: &str| text.as_bytes().to_owned();
        let path = |path: &Path| path.as_os_str().as_bytes().to_owned();
        let fields = [
            texts(&self.time.to_string()),
            texts(&self.repo),
            texts(&self.name),
            texts(&self.branch),
            texts(&self.sha),
            texts(&self.via),
            texts(&self.pr),
            texts(&self.id),
            path(&self.main),
            path(&self.path),
            path(&self.parent),
            texts(&self.client),
            path(&self.trash),
        ];
        if fields.iter().flatten().any(|byte| matches!(byte, b'\t' | b'\n')) {
            return Err(Error::precondition(format!(
                "{} cannot be written down: a tab or newline is in it",
                self.name
            )));
        }
        let mut line = fields.join(&b'\t');
        line.push(b'\n');
        Ok(line)
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b'\t').map(<[u8]>::to_owned);
        let mut next = || fields.next();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok();
        let path = |bytes: Vec<u8>| PathBuf::from(OsString::from_vec(bytes));
        Some(Taken {
            time: text(next()?)?.parse().ok()?,
            repo: text(next()?)?,
            name: text(next()?)?,
            branch: text(next()?)?,
            sha: text(next()?)?,
            via: text(next()?)?,
            pr: text(next()?)?,
            id: text(next()?)?,
            main: path(next()?),
            path: path(next()?),
            parent: path(next()?),
            client: text(next()?)?,
            trash: path(next()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(name: &str) -> Taken {
        Taken {
            time: Timestamp::from_second(1_700_000_000).unwrap(),
            repo: "a/b".to_owned(),
            name: name.to_owned(),
            branch: "worktree-x".to_owned(),
            sha: "0".repeat(40),
            via: "ancestry".to_owned(),
            pr: String::new(),
            id: "abcdefghijkm".to_owned(),
            main: "/m".into(),
            path: OsString::from_vec(b"/b/\xff".to_vec()).into(),
            parent: PathBuf::new(),
            client: "claude".to_owned(),
            trash: PathBuf::new(),
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths { state: dir.path().to_owned(), ..Paths::default() };
        append(&paths, &taken("x")).unwrap();
        append(&paths, &taken("y")).unwrap();
        assert_eq!(read(&paths).unwrap(), [taken("x"), taken("y")]);
    }

    #[test]
    fn a_line_cut_short_costs_only_itself() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths { state: dir.path().to_owned(), ..Paths::default() };
        append(&paths, &taken("x")).unwrap();
        let file = OpenOptions::new().append(true).open(dir.path().join("reaped.log"));
        file.unwrap().write_all(b"2023-11-14T22:13:20Z\ta/b\tz").unwrap();
        append(&paths, &taken("y")).unwrap();
        assert_eq!(read(&paths).unwrap(), [taken("x"), taken("y")]);
    }

    #[test]
    fn a_newline_is_never_written() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths { state: dir.path().to_owned(), ..Paths::default() };
        assert!(append(&paths, &taken("x\ny")).is_err());
    }
}
