//! Every process's directory, as `lsof` tells it: for systems without `/proc`.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Standing;
use super::places::Places;
use crate::proc::Cmd;

/// What lsof may say at most, in bytes.
const MAX_OUTPUT: usize = 16 << 20;

/// Asks lsof once for everybody.
pub(super) fn scan(lsof: &Path, places: &Places, limit: Duration) -> Result<Vec<Standing>, String> {
    let list = Cmd::new(lsof).args(["-a", "-d", "cwd", "-F", "pcn"]);
    let list = list.env("LC_ALL", "C").cwd("/").limit(limit).max_output(MAX_OUTPUT);
    let output = list.run().map_err(|failure| format!("lsof: {failure}"))?;
    let rows = parse(&output.stdout);
    // lsof complains of what it may not see and still tells the rest. An answer without scruff
    // itself in it is no answer.
    if output.stdout.len() >= MAX_OUTPUT || !rows.iter().any(|(pid, _)| *pid == std::process::id()) {
        return Err(format!("lsof did not list every process ({})", output.complaint()));
    }
    let mut known: HashMap<&[u8], Vec<usize>> = HashMap::new();
    let mut standing = Vec::new();
    for (pid, name) in rows {
        for place in known.entry(name).or_insert_with(|| held_by(places, name)) {
            standing.push(Standing { place: *place, pid, path: path(unescape(name)) });
        }
    }
    Ok(standing)
}

/// Pairs of process and directory. Each line is a field, its first letter says which.
fn parse(output: &[u8]) -> Vec<(u32, &[u8])> {
    let mut rows = Vec::new();
    let mut pid = None;
    for line in output.split(|byte| *byte == b'\n') {
        match line.split_first() {
            Some((b'p', rest)) => pid = std::str::from_utf8(rest).ok().and_then(|text| text.parse().ok()),
            Some((b'n', name)) => rows.extend(pid.map(|pid| (pid, name))),
            _ => {}
        }
    }
    rows
}

/// Which checkouts a name leads into. Versions of lsof differ in what they escape, and `^A` may
/// be two letters or one: whatever is there counts.
fn held_by(places: &Places, name: &[u8]) -> Vec<usize> {
    let plain = unescape(name);
    let mut found: Vec<usize> = [name.to_vec(), without_carets(&plain), plain]
        .into_iter()
        .flat_map(|bytes| places.holding(&path(bytes)))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn path(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

/// `\\`, `\n`, `\xff` and their like.
fn unescape(name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, after)) = rest.split_first() {
        let (byte, length) = match (first, after) {
            (b'\\', [b'x', high, low, ..]) => (hex(*high, *low), 4),
            (b'\\', [letter, ..]) => (named(*letter), 2),
            _ => (None, 1),
        };
        bytes.push(byte.unwrap_or(*first));
        rest = &rest[byte.map_or(1, |_| length)..];
    }
    bytes
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

fn named(letter: u8) -> Option<u8> {
    match letter {
        b'\\' => Some(b'\\'),
        b'b' => Some(8),
        b'f' => Some(12),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        _ => None,
    }
}

/// `^A` as the control character it may stand for.
fn without_carets(name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let [first, after @ ..] = rest {
        let (byte, after) = match (first, after) {
            (b'^', [letter @ b'@'..=b'_', after @ ..]) => (letter - b'@', after),
            _ => (*first, after),
        };
        bytes.push(byte);
        rest = after;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt;
    use std::time::Instant;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    struct Fixture {
        dir: tempfile::TempDir,
        lane: PathBuf,
    }

    impl Fixture {
        fn new(name: &[u8]) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let lane = dir.path().join(path(name.to_vec()));
            std::fs::create_dir_all(lane.join("src")).unwrap();
            Fixture { dir, lane }
        }

        /// A program that stands in for lsof. Another process writes it: a file that this one,
        /// of many threads, has open cannot be executed.
        fn fake(&self, body: &str) -> PathBuf {
            let file = self.dir.path().join("lsof");
            let write = Cmd::new("/bin/sh").args(["-c", "cat >\"$1\" && chmod 755 \"$1\"", "sh"]).arg(&file);
            assert!(write.input(format!("#!/bin/sh\n{body}\n")).run().unwrap().ok());
            file
        }

        fn scan(&self, lsof: &Path, limit: Duration) -> Result<Vec<u32>, String> {
            let places = Places::of(std::slice::from_ref(&self.lane));
            scan(lsof, &places, limit).map(|found| found.iter().map(|standing| standing.pid).collect())
        }

        /// What is found when lsof says that 77 is at this name.
        fn when_at(&self, name: &str) -> Vec<u32> {
            let mut body = format!("cat <<'END'\np{}\ncscruff\nfcwd\nn/\n", std::process::id());
            let _ = write!(body, "p77\ncnode\nfcwd\nn{name}\np78\ncother\nfcwd\nn/nowhere\nEND");
            self.scan(&self.fake(&body), LIMIT).unwrap()
        }
    }

    #[test]
    fn who_stands_at_the_top_or_below_is_found() {
        let at = Fixture::new(b"lane");
        let lane = at.lane.to_str().unwrap();
        assert_eq!(at.when_at(lane), [77]);
        assert_eq!(at.when_at(&format!("{lane}/src")), [77]);
        assert!(at.when_at(&format!("{lane}-2")).is_empty());
        assert!(at.when_at("/proc/1/cwd (readlink: Permission denied)").is_empty());
    }

    #[test]
    fn escaped_names_are_the_bytes_they_stand_for() {
        let at = Fixture::new(b"a b\\c\td\xffe^Af\x01");
        let top = at.dir.path().to_str().unwrap();
        assert!(at.when_at(&format!("{top}/a b\\\\c\\td\\xffe^Af^A")).is_empty());
        let at = Fixture::new(b"a b\\c\td\xffe");
        let top = at.dir.path().to_str().unwrap();
        assert_eq!(at.when_at(&format!("{top}/a b\\\\c\\td\\xffe")), [77]);
        let at = Fixture::new(b"a\x01b");
        let top = at.dir.path().to_str().unwrap();
        assert_eq!(at.when_at(&format!("{top}/a^Ab")), [77]);
    }

    #[test]
    fn an_answer_without_scruff_itself_is_none() {
        let at = Fixture::new(b"lane");
        for body in ["", "exit 1", "echo p1; echo n/", "echo garbage", "head -c 100000 /dev/zero"] {
            assert!(at.scan(&at.fake(body), LIMIT).is_err(), "{body}");
        }
        assert!(at.scan(Path::new("/no/such/lsof"), LIMIT).is_err());
    }

    #[test]
    fn complaints_do_not_hide_the_answer() {
        let at = Fixture::new(b"lane");
        let (me, lane) = (std::process::id(), at.lane.display());
        let body = format!("echo 'lsof: WARNING' >&2; printf 'p{me}\\nn/\\np77\\nn{lane}\\n'; exit 1");
        assert_eq!(at.scan(&at.fake(&body), LIMIT).unwrap(), [77]);
    }

    #[test]
    fn a_hanging_lsof_is_given_up() {
        let at = Fixture::new(b"lane");
        let begun = Instant::now();
        let error = at.scan(&at.fake("sleep 60"), Duration::from_millis(200)).unwrap_err();
        assert!(error.contains("no answer"), "{error}");
        assert!(begun.elapsed() < LIMIT);
    }

    #[test]
    fn the_real_one_finds_a_real_process() {
        let Ok(lsof) = which::which("lsof") else { return };
        let at = Fixture::new("ä \\ b".as_bytes());
        // The path goes by an argument: `sh` keeps it as bytes.
        let script = "cd \"$1\" && { sleep 60 >&2 & } && echo $!";
        let child = Cmd::new("/bin/sh").args(["-c", script, "sh"]).arg(at.lane.join("src").as_os_str());
        let pid: u32 = String::from_utf8(child.run().unwrap().stdout).unwrap().trim().parse().unwrap();
        let found = at.scan(&lsof, LIMIT);
        let raw = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
        rustix::process::kill_process(raw, rustix::process::Signal::KILL).unwrap();
        assert_eq!(found.unwrap(), [pid], "{}", at.lane.as_os_str().as_bytes().escape_ascii());
    }
}
