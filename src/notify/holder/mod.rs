//! The banner holder: a process that stays behind while a lane's banner is up, because whoever
//! sent a banner must live for its click to arrive. Hooks only leave word for it.

mod pidfile;
mod queue;
mod run;
mod watch;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::markers;
use super::subject::Request;
use crate::ctx::Ctx;
use crate::env::Env;
use crate::error::{Doing, Error, Result};
use crate::paths::{self, Paths};
use crate::proc::{self, Cmd};

pub use run::{Alive, run};

/// How long a hook waits to see that the holder has started.
const START_LIMIT: Duration = Duration::from_millis(50);

/// What a holder is given of the environment: what reaching the desktop, the multiplexer and
/// scruff's own files takes, and nothing that may be a secret.
const PASSED: [&str; 20] = [
    "HOME",
    "PATH",
    "LANG",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "SWAYSOCK",
    "I3SOCK",
    "HYPRLAND_INSTANCE_SIGNATURE",
    "NIRI_SOCKET",
    "USER",
    "SHELL",
    "TMUX",
    "TMUX_TMPDIR",
    "TMUX_PANE",
    "SCRUFF_BASE",
    "SCRUFF_STATE",
    "SCRUFF_TRILL",
    "CLAUDE_CONFIG_DIR",
];
const PASSED_STARTS: [&str; 3] = ["XDG_", "LC_", "WEZTERM_"];

/// Meant for one program started by one click, not for later ones.
const ONCE: &str = "XDG_ACTIVATION_TOKEN";

/// Leaves word for a lane's holder, and starts one where none is.
pub fn post(ctx: &Ctx, request: &Request) -> Result<()> {
    let files = Files::of(&ctx.paths, &request.subject.id);
    let alone = {
        let _lock = markers::lock(&ctx.paths, &request.subject.id);
        queue::append(&files.queue, request)?;
        pidfile::holder(&files.pid).is_none()
    };
    if alone { start(ctx, &request.subject.id, &files) } else { Ok(()) }
}

/// Whether a banner is held.
pub fn is_alive(paths: &Paths, id: &str) -> bool {
    pidfile::holder(&Files::of(paths, id).pid).is_some()
}

/// The files of one holder.
#[derive(Debug)]
struct Files {
    queue: PathBuf,
    pid: PathBuf,
    log: PathBuf,
}

impl Files {
    fn of(paths: &Paths, id: &str) -> Self {
        let holders = paths.state.join("holders");
        Files {
            queue: holders.join(format!("{id}.queue")),
            pid: holders.join(format!("{id}.pid")),
            log: paths.state.join("logs").join(format!("holder-{id}.log")),
        }
    }
}

fn start(ctx: &Ctx, id: &str, files: &Files) -> Result<()> {
    let logs = files.log.parent().unwrap_or(&ctx.paths.state);
    paths::make_private_dir(logs)?;
    let log = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(&files.log);
    let log = log.doing(|| format!("cannot write {}", files.log.display()))?;
    let own = proc::own_program().doing(|| "cannot find this program".to_owned())?;
    let cmd = Cmd::new(own).args(["__holder", id]).env_exactly(&passed(&ctx.env)).cwd(&ctx.paths.home);
    cmd.detach(log).map_err(|failure| Error::failed(format!("cannot start the banner holder: {failure}")))?;
    let deadline = Instant::now() + START_LIMIT;
    while !files.pid.exists() && !files.queue_is_gone() {
        if Instant::now() >= deadline {
            tracing::info!(id, "the banner holder is slow to start");
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

impl Files {
    /// The holder has done all there was to do.
    fn queue_is_gone(&self) -> bool {
        !self.queue.exists()
    }
}

fn passed(env: &Env) -> Env {
    let mut env = env.clone();
    env.retain(|name| {
        let starts = PASSED_STARTS.iter().any(|start| name.as_bytes().starts_with(start.as_bytes()));
        let known = starts || PASSED.iter().any(|known| name == OsStr::new(known));
        known && name != OsStr::new(ONCE)
    });
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_and_no_token_reaches_a_holder() {
        let names = [
            "HOME",
            "LC_ALL",
            "XDG_RUNTIME_DIR",
            "XDG_ACTIVATION_TOKEN",
            "ANTHROPIC_API_KEY",
            "SCRUFF_AGENT",
        ];
        let env: Env = names.map(|name| (name.into(), "x".into())).into_iter().collect();
        let env = passed(&env);
        let left: Vec<&OsStr> = env.iter().map(|(name, _)| name).collect();
        assert_eq!(left, ["HOME", "LC_ALL", "XDG_RUNTIME_DIR"]);
    }
}
