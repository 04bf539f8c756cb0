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
    pub(super) pid: u32,
    pub(super) session: Option<String>,
    pub(super) pane: Option<PaneId>,
}

/// Reads `TMUX`: `<socket>,<server's pid>,<session's number>`; the socket may hold commas.
pub(super) fn inherited(env: &Env) -> Option<Inherited> {
    let mut fields = env.get("TMUX")?.as_bytes().rsplitn(3, |byte| *byte == b',');
    let number = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse::<u32>().ok();
    let session = fields.next().and_then(number).map(|number| format!("${number}"));
    let pid = fields.next().and_then(number)?;
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

/// Whether this process is in a server at all: a terminal that was started from a pane of it, and
/// has gone its own way, is not.
pub(super) fn is_inside(server: u32, panes: &[PaneInfo]) -> bool {
    let terminals = terminals();
    let known = |pane: &PaneInfo| pane.tty.as_ref().is_some_and(|tty| terminals.contains(tty));
    terminals.is_empty() || panes.iter().any(known) || is_below(server) != Some(false)
}

/// Whether this process is in that pane of a server: on its terminal, or below its first process.
/// One that is below the server and not below the pane is in a popup or was started by a key.
pub(super) fn is_in(pane: &PaneInfo, server: u32) -> bool {
    let terminals = terminals();
    if pane.tty.as_ref().is_some_and(|tty| terminals.contains(tty)) {
        return true;
    }
    match pane.pid.and_then(is_below) {
        Some(true) | None => true,
        Some(false) => terminals.is_empty() && is_below(server) != Some(true),
    }
}

/// The terminals on this process's standard streams.
fn terminals() -> Vec<PathBuf> {
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let streams = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
    let names = streams.into_iter().filter_map(|stream| rustix::termios::ttyname(stream, Vec::new()).ok());
    names.map(|name| PathBuf::from(OsString::from_vec(name.into_bytes()))).collect()
}

/// Whether a process is among the parents of this one; `None` where that cannot be seen.
fn is_below(ancestor: u32) -> Option<bool> {
    let line = facts::line_of(std::process::id());
    if line.contains(&ancestor) {
        return Some(true);
    }
    let top = line.last().and_then(|pid| facts::of(*pid))?;
    // Another name space of processes shows neither the pane nor its server.
    (top.parent == 0 && facts::of(ancestor).is_some()).then_some(false)
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
        assert_eq!((found.pid, found.session.as_deref()), (77, Some("$3")));
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
    fn this_process_is_below_its_parent_and_a_stranger_is_unknown() {
        let pid = std::process::id();
        assert_eq!(is_below(pid), Some(true));
        assert_eq!(is_below(std::os::unix::process::parent_id()), Some(true));
        assert_eq!(is_below(u32::MAX), None);
    }
}
