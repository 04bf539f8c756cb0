//! Where this process is. `TMUX` and `WEZTERM_PANE` are inherited by accident, in both
//! directions: a terminal started from a pane, a server started from another server's pane, a
//! popup. So what they say is checked.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::{PaneId, PaneInfo};
use crate::env::Env;
use crate::proc::facts;

/// What `TMUX` and `TMUX_PANE` say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inherited {
    pub(super) socket: PathBuf,
    pub(super) pid: String,
    pub(super) session: Option<String>,
    pub(super) pane: Option<PaneId>,
}

/// Reads `TMUX`: `<socket>,<server's pid>,<session's number>`; the socket may hold commas.
pub(super) fn inherited(env: &Env) -> Option<Inherited> {
    let mut fields = env.get("TMUX")?.as_bytes().rsplitn(3, |byte| *byte == b',');
    let number = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse::<u32>().ok();
    let session = fields.next().and_then(number).map(|number| format!("${number}"));
    let pid = fields.next().and_then(number)?.to_string();
    let socket = fields.next().filter(|socket| !socket.is_empty())?;
    let socket = PathBuf::from(OsString::from_vec(socket.to_owned()));
    Some(Inherited { socket, pid, session, pane: env.text("TMUX_PANE").and_then(PaneId::tmux) })
}

/// Which of the two is nearest, where both speak.
pub(super) fn wezterm_is_nearest(env: &Env) -> bool {
    env.has("WEZTERM_PANE") && env.text("TERM_PROGRAM") == Some("WezTerm")
}

/// Whether this process has a terminal that a person reads and types at.
pub(super) fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Whether this process is in that pane: on its terminal, or below its first process.
pub(super) fn is_in(pane: &PaneInfo) -> bool {
    let tty = pane.tty.as_ref().map(|tty| tty.as_os_str().as_bytes());
    let on = |fd: &dyn AsFd| {
        let name = rustix::termios::ttyname(fd.as_fd(), Vec::new()).ok();
        name.is_some_and(|name| Some(name.to_bytes()) == tty)
    };
    if on(&io::stdin()) || on(&io::stdout()) || on(&io::stderr()) {
        return true;
    }
    pane.pid.is_none_or(is_below)
}

/// Whether a process is among the parents of this one. Where that cannot be seen: yes.
fn is_below(ancestor: u32) -> bool {
    let line = facts::line_of(std::process::id());
    let top = line.last().and_then(|pid| facts::of(*pid));
    line.contains(&ancestor) || top.is_none_or(|top| top.parent != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Env {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[test]
    fn the_socket_may_hold_commas_and_the_session_may_be_none() {
        let found = inherited(&env(&[("TMUX", "/tmp/a,b,77,3"), ("TMUX_PANE", "%4")])).unwrap();
        assert_eq!(found.socket, PathBuf::from("/tmp/a,b"));
        assert_eq!((found.pid.as_str(), found.session.as_deref()), ("77", Some("$3")));
        assert_eq!(found.pane, PaneId::tmux("%4"));
        let found = inherited(&env(&[("TMUX", "/tmp/a,77,-1"), ("TMUX_PANE", "x")])).unwrap();
        assert_eq!((found.session, found.pane), (None, None));
    }

    #[test]
    fn nonsense_is_not_a_place() {
        for text in ["", "/tmp/a", "/tmp/a,1", ",1,2", "/tmp/a,x,2"] {
            assert_eq!(inherited(&env(&[("TMUX", text)])), None, "{text}");
        }
    }

    #[test]
    fn this_process_is_below_its_parent_and_not_below_a_stranger() {
        let pid = std::process::id();
        assert!(is_below(pid));
        assert!(is_below(std::os::unix::process::parent_id()));
        assert!(!is_below(u32::MAX));
    }
}
