//! What a test leaves behind is its failure: processes, files.

use super::{World, wait};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Ends the world's tmux servers, then whatever else of it still runs; the latter are named.
pub fn end_all(world: &World) -> Vec<String> {
    for socket in sockets(&world.root().join("t")) {
        let _ = world.program("tmux").arg("-S").arg(socket).arg("kill-server").run();
    }
    let gone = || processes(&world.canary()).is_empty().then_some(());
    if wait::within(Duration::from_secs(5), gone).is_some() {
        return Vec::new();
    }
    processes(&world.canary()).into_iter().map(end).collect()
}

fn end(pid: i32) -> String {
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    if let Some(pid) = rustix::process::Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    format!("left running: {pid} {command}")
}

fn sockets(tmux_dir: &Path) -> Vec<PathBuf> {
    let Ok(users) = std::fs::read_dir(tmux_dir) else {
        return Vec::new();
    };
    let dirs = users.flatten().filter_map(|user| std::fs::read_dir(user.path()).ok());
    let files = dirs.flat_map(|dir| dir.flatten());
    files.filter(|f| f.file_type().is_ok_and(|t| t.is_socket())).map(|f| f.path()).collect()
}

/// The processes started with this world's environment, by the one variable no other world has.
/// Where there is no `/proc` this sees none.
fn processes(canary: &Path) -> Vec<i32> {
    let mark = format!("CANARY={}", canary.display());
    let Ok(all) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = all.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| has_mark(*pid, mark.as_bytes())).collect()
}

fn has_mark(pid: i32, mark: &[u8]) -> bool {
    let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environ.split(|byte| *byte == 0).any(|var| var == mark)
}

/// Removes the world's directory, also where a test made parts of it read-only.
pub fn remove(temp: tempfile::TempDir) -> Option<String> {
    let root = temp.keep();
    if std::fs::remove_dir_all(&root).is_err() {
        make_writable(&root);
        if let Err(e) = std::fs::remove_dir_all(&root) {
            return Some(format!("left behind: {}: {e}", root.display()));
        }
    }
    None
}

fn make_writable(dir: &Path) {
    let _ = std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700));
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            make_writable(&entry.path());
        }
    }
}
