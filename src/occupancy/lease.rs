//! Leases: someone says that they are at work in a checkout, where nobody can be seen in it.
//!
//! `$SCRUFF_STATE/live/<sha256(path)[:12]>` holds three lines a holder: process id, path, and when
//! the process started. A holder without a process (0) has the time of its last word instead.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::places::Places;
use super::{Occupant, Said};
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::lane::digest;
use crate::lock::Lock;
use crate::paths::{self, Paths};
use crate::proc::facts;

/// How long a lease lives that no process holds, in seconds.
const WORD: i64 = 90;

/// A lease file larger than this is not one of ours, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// How long a change waits for another one.
const LIMIT: Duration = Duration::from_secs(2);

/// Someone who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Holder {
    pid: u32,
    path: PathBuf,
    /// Start of the process, or for 0 the time of its last word in seconds.
    since: Option<String>,
}

impl Holder {
    fn is_live(&self, now: Timestamp, written: Option<i64>) -> bool {
        if self.pid != 0 {
            return facts::is_same(self.pid, self.since.as_deref());
        }
        let word = self.since.as_deref().and_then(|text| text.parse().ok()).or(written);
        word.is_some_and(|word| now.as_second().saturating_sub(word) < WORD)
    }

    fn occupant(&self) -> Occupant {
        let command = match self.pid {
            0 => "lease".to_owned(),
            pid => facts::of(pid).map_or_else(String::new, |facts| facts.command),
        };
        Occupant { pid: self.pid, command, path: self.path.clone(), via: "leases" }
    }
}

/// Says that `pid` is at work in `path`; 0: someone is, for the next 90 seconds.
pub fn hold(ctx: &Ctx, path: &Path, pid: u32) -> Result<()> {
    if path.as_os_str().as_bytes().contains(&b'\n') {
        return Err(Error::precondition(format!("{} has a line break in its name", path.display())));
    }
    let since = match pid {
        0 => Some(ctx.clock.now().as_second().to_string()),
        _ if !facts::is_alive(pid) => {
            return Err(Error::precondition(format!("there is no process {pid}"))
                .hint("name a live process with --pid, or --pid 0 for a lease of 90 seconds"));
        }
        _ => facts::of(pid).map(|facts| facts.start),
    };
    change(ctx, path, |holders| {
        holders.retain(|holder| holder.pid != pid);
        holders.push(Holder { pid, path: path.to_owned(), since });
    })
}

/// Takes back what `pid` said of `path`; without one, what anybody said.
pub fn release(ctx: &Ctx, path: &Path, pid: Option<u32>) -> Result<()> {
    if !file(&ctx.paths, path).exists() {
        return Ok(());
    }
    change(ctx, path, |holders| holders.retain(|holder| pid.is_some_and(|pid| pid != holder.pid)))
}

/// Changes the holders of one path, the dead ones taken out.
fn change(ctx: &Ctx, path: &Path, how: impl FnOnce(&mut Vec<Holder>)) -> Result<()> {
    let lock = Lock::acquire(&lock_path(&ctx.paths), LIMIT, "heartbeat", |_| ())?;
    let file = file(&ctx.paths, path);
    let mut holders = read(&file).map(|lease| lease.live(ctx.clock.now())).unwrap_or_default();
    how(&mut holders);
    let done = write(&file, &holders);
    drop(lock);
    done
}

fn write(file: &Path, holders: &[Holder]) -> Result<()> {
    if !holders.is_empty() {
        return paths::write_whole(file, &bytes(holders));
    }
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).doing(|| format!("cannot remove {}", file.display()))
        }
        _ => Ok(()),
    }
}

fn directory(paths: &Paths) -> PathBuf {
    paths.state.join("live")
}

fn file(paths: &Paths, path: &Path) -> PathBuf {
    directory(paths).join(digest(path))
}

fn lock_path(paths: &Paths) -> PathBuf {
    paths.locks().join("live.lock")
}

/// What leases say of each checkout. Whether their "nobody" counts is for the one who asks.
pub(super) fn ask(ctx: &Ctx, paths: &[PathBuf], places: &Places) -> Vec<Said> {
    let mut said = vec![Said::default(); paths.len()];
    let files = match fs::read_dir(directory(&ctx.paths)) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return said,
        Err(error) => return vec![Said::unknown(format!("leases cannot be read: {error}")); paths.len()],
    };
    let digests: Vec<String> = paths.iter().map(|path| digest(path)).collect();
    for file in files {
        let by_name = digests.iter().position(|digest| file.ends_with(digest));
        let Some(lease) = read(&file) else {
            if let Some(index) = by_name {
                said[index].unknown = Some(format!("the lease {} cannot be read", file.display()));
            }
            continue;
        };
        let live = lease.live(ctx.clock.now());
        if live.len() < lease.holders.len() {
            bury(ctx, &file, &lease);
        }
        for holder in live {
            for index in places.holding(&holder.path).into_iter().chain(by_name) {
                said[index].there.push(holder.occupant());
            }
        }
    }
    said
}

/// Takes the dead out of a lease, unless somebody is just changing it.
fn bury(ctx: &Ctx, file: &Path, seen: &Lease) {
    let Ok(_lock) = Lock::acquire(&lock_path(&ctx.paths), Duration::ZERO, "leases", |_| ()) else { return };
    let Some(lease) = read(file).filter(|lease| lease == seen) else { return };
    let _ = write(file, &lease.live(ctx.clock.now()));
}

/// One lease file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lease {
    holders: Vec<Holder>,
    written: Option<i64>,
}

impl Lease {
    fn live(&self, now: Timestamp) -> Vec<Holder> {
        self.holders.iter().filter(|holder| holder.is_live(now, self.written)).cloned().collect()
    }
}

/// Reads a lease; `None` when it is not one.
fn read(file: &Path) -> Option<Lease> {
    let meta = fs::symlink_metadata(file).ok().filter(|meta| meta.is_file() && meta.len() <= MAX_FILE)?;
    let written = meta.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    let holders = parse(&fs::read(file).ok()?)?;
    Some(Lease { holders, written: written.map(Timestamp::as_second) })
}

/// Three lines a holder. The last may be missing, as where another tool wrote the file.
fn parse(bytes: &[u8]) -> Option<Vec<Holder>> {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let holders: Option<Vec<Holder>> = lines.chunks(3).map(holder).collect();
    holders.filter(|holders| !holders.is_empty())
}

fn holder(lines: &[&[u8]]) -> Option<Holder> {
    let pid = std::str::from_utf8(lines.first()?).ok()?.trim().parse().ok()?;
    let path = PathBuf::from(OsString::from_vec(lines.get(1)?.to_vec()));
    let since = lines.get(2).map(|line| String::from_utf8_lossy(line).trim().to_owned());
    path.is_absolute().then_some(Holder { pid, path, since: since.filter(|text| !text.is_empty()) })
}

fn bytes(holders: &[Holder]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for holder in holders {
        let since = holder.since.as_deref().unwrap_or_default();
        bytes.extend_from_slice(format!("{}\n", holder.pid).as_bytes());
        bytes.extend_from_slice(holder.path.as_os_str().as_bytes());
        bytes.extend_from_slice(format!("\n{since}\n").as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let path = PathBuf::from(OsString::from_vec(b"/a \xff/b".to_vec()));
        let one = Holder { pid: 0, path: path.clone(), since: Some("1".into()) };
        let two = Holder { pid: 7, path, since: None };
        let both = [one, two];
        assert_eq!(parse(&bytes(&both)).unwrap(), both);
    }

    #[test]
    fn a_file_of_two_lines_is_a_lease_too() {
        let holders = parse(b"12\n/lane\n").unwrap();
        assert_eq!((holders[0].pid, holders[0].since.as_deref()), (12, None));
        for garbage in [&b""[..], b"x\n/lane", b"12", b"12\nlane", b"-1\n/lane", b"\0"] {
            assert!(parse(garbage).is_none(), "{garbage:?}");
        }
    }

    #[test]
    fn a_word_without_a_process_lives_ninety_seconds() {
        let now = Timestamp::from_second(1000).unwrap();
        let word = |since: &str| Holder { pid: 0, path: "/l".into(), since: Some(since.into()) };
        assert!(word("911").is_live(now, None));
        assert!(!word("910").is_live(now, None));
        assert!(word("2000").is_live(now, None), "not known to be over");
        assert!(word("nonsense").is_live(now, Some(950)));
        assert!(!word("nonsense").is_live(now, None));
    }
}
