//! What can be known of a process that is not ours: its parent, its command, when it started.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;

use rustix::process::{Pid, test_kill_process};

/// How far a chain of parents is followed.
const MAX_DEPTH: usize = 1000;

/// One process, as it was when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The parent's id; 0 for none that can be seen.
    pub parent: u32,
    /// The command's short name.
    pub command: String,
    /// When it started, to be compared only: a process id is used again, this pair is not.
    pub start: String,
    /// Whether it has ended and only waits for its parent to notice.
    pub ended: bool,
}

/// Whether a process is there. One that may not be signalled is there; a zombie is not.
pub fn is_alive(pid: u32) -> bool {
    let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    let there = !matches!(test_kill_process(raw), Err(rustix::io::Errno::SRCH));
    there && !of(pid).is_some_and(|facts| facts.ended)
}

/// Whether `pid` is still the process that started at `start`. Where that cannot be compared, a
/// live process counts as the same one.
pub fn is_same(pid: u32, start: Option<&str>) -> bool {
    if !is_alive(pid) {
        return false;
    }
    match (start, of(pid)) {
        (Some(start), Some(now)) => start == now.start,
        _ => true,
    }
}

/// The process, its parent, and so on up, as far as can be seen.
pub fn line_of(pid: u32) -> Vec<u32> {
    let mut line = vec![pid];
    while let Some(parent) = line.last().and_then(|pid| of(*pid)).map(|facts| facts.parent) {
        if parent == 0 || line.len() > MAX_DEPTH || line.contains(&parent) {
            break;
        }
        line.push(parent);
    }
    line
}

/// The terminal of this user's that a process reads from; `None` where that cannot be known.
pub fn terminal(pid: u32) -> Option<PathBuf> {
    let path = std::fs::read_link(format!("/proc/{pid}/fd/0")).ok()?;
    let is_terminal = path.starts_with("/dev/pts") || path.to_string_lossy().starts_with("/dev/tty");
    let meta = path.symlink_metadata().ok().filter(|_| is_terminal)?;
    let ours = meta.file_type().is_char_device() && meta.uid() == rustix::process::geteuid().as_raw();
    ours.then_some(path)
}

/// What is known of a process; `None` when it is gone or hidden.
#[cfg(target_os = "linux")]
pub fn of(pid: u32) -> Option<Facts> {
    let bytes = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    linux::parse(&String::from_utf8_lossy(&bytes))
}

/// What is known of a process; `None` when it is gone or hidden.
#[cfg(not(target_os = "linux"))]
pub fn of(pid: u32) -> Option<Facts> {
    ps::of(pid)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::OnceLock;

    use super::Facts;

    /// `pid (command) state parent …`: the command may hold anything, also `)` and spaces.
    pub(super) fn parse(stat: &str) -> Option<Facts> {
        let open = stat.find('(')?;
        let close = stat.rfind(')')?;
        let command = stat.get(open + 1..close)?.to_owned();
        let rest: Vec<&str> = stat.get(close + 1..)?.split_whitespace().collect();
        let ended = matches!(*rest.first()?, "Z" | "X");
        let parent = rest.get(1)?.parse().ok()?;
        // Field 22 of the whole line: ticks since the machine started, so the machine's start
        // has to be named with it.
        let start = format!("{}.{}", boot(), rest.get(19)?);
        Some(Facts { parent, command, start, ended })
    }

    fn boot() -> &'static str {
        static BOOT: OnceLock<String> = OnceLock::new();
        BOOT.get_or_init(|| {
            let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
            id.chars().take(8).collect()
        })
    }
}

#[cfg(any(test, not(target_os = "linux")))]
mod ps {
    use std::time::Duration;

    use super::Facts;
    use crate::proc::Cmd;

    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "tried here, used elsewhere"))]
    pub(super) fn of(pid: u32) -> Option<Facts> {
        let list = ["-o", "ppid=,lstart=,state=,comm=", "-p"];
        let ps = Cmd::new("ps").args(list).arg(pid.to_string()).env("LC_ALL", "C");
        let output = ps.limit(Duration::from_secs(2)).run().ok()?;
        parse(String::from_utf8_lossy(&output.stdout).trim())
    }

    /// `4242 Mon Nov 30 20:13:23 2026 S /usr/bin/node`.
    pub(super) fn parse(line: &str) -> Option<Facts> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (head, command) = words.split_at_checked(7)?;
        let command = command.join(" ");
        let command = command.rsplit('/').next().unwrap_or_default().to_owned();
        let ended = head[6].starts_with('Z');
        Some(Facts { parent: head[0].parse().ok()?, command, start: head[1..6].join(" "), ended })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_may_hold_parentheses_and_line_breaks() {
        let stat = format!("7 (a) R (\nb) S 4 {} 900 0", ["0"; 17].join(" "));
        let facts = linux::parse(&stat).unwrap();
        assert_eq!((facts.parent, facts.command.as_str(), facts.ended), (4, "a) R (\nb", false));
        assert!(facts.start.ends_with(".900"), "{facts:?}");
    }

    #[test]
    fn this_process_is_alive_and_itself() {
        let me = std::process::id();
        let facts = of(me).unwrap();
        assert!(is_same(me, Some(&facts.start)) && is_same(me, None));
        assert!(!is_same(me, Some("another start")));
        let line = line_of(me);
        assert_eq!(line[0], me);
        assert_eq!(line.get(1), Some(&facts.parent).filter(|parent| **parent != 0));
    }

    #[test]
    fn nobody_is_not_alive() {
        assert!(!is_alive(0));
        assert!(!is_alive(u32::MAX));
        assert!(!is_alive(4_194_304), "above the largest id that Linux gives");
    }

    #[test]
    fn the_other_systems_way_sees_the_same_parent() {
        let me = std::process::id();
        match which::which("ps") {
            Ok(_) => assert_eq!(ps::of(me).unwrap().parent, of(me).unwrap().parent),
            Err(_) => assert_eq!(ps::of(me), None),
        }
        let facts = ps::parse("4242 Mon Nov 30 20:13:23 2026 Ss+ /opt/my app/node").unwrap();
        assert_eq!((facts.parent, facts.command.as_str()), (4242, "node"));
        assert_eq!(facts.start, "Mon Nov 30 20:13:23 2026");
        assert!(ps::parse("1 Mon").is_none());
    }
}
