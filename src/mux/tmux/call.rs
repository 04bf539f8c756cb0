//! Running tmux: always one server by its socket, never a new one, with a limit.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use tmux_interface::TmuxCommand;

use super::text;
use crate::mux::MuxError;
use crate::proc::{Cmd, Failure, Output};

/// How long tmux may take to answer.
const LIMIT: Duration = Duration::from_secs(2);

/// tmux refuses arguments of more than 16 KB in all.
const MAX_ARGUMENTS: usize = 16_000;

/// An answer larger than this is none, in bytes.
const MAX_ANSWER: usize = 16 << 20;

/// Runs commands on the server, then `program` as the last command's trailing words.
pub(super) fn run(
    tmux: &Cmd,
    socket: &Path,
    commands: &[TmuxCommand<'_>],
    program: &[OsString],
) -> Result<Vec<u8>, MuxError> {
    let words = words(commands, program);
    if words.iter().map(|word| word.len() + 1).sum::<usize>() > MAX_ARGUMENTS {
        return Err(MuxError::Failed("the arguments for tmux exceed 16 KB".to_owned()));
    }
    let cmd = on(tmux, socket).args(words).limit(LIMIT).max_output(MAX_ANSWER);
    match cmd.run() {
        Ok(output) if output.ok() => Ok(output.stdout),
        Ok(output) => Err(refused(socket, &output)),
        Err(Failure::TimedOut(_)) => Err(MuxError::NotAnswering(format!(
            "the tmux server at {} did not answer within {} s",
            socket.display(),
            LIMIT.as_secs()
        ))),
        Err(failure) => Err(MuxError::Failed(format!("tmux: {failure}"))),
    }
}

/// tmux, told which server and that we read UTF-8.
pub(super) fn on(tmux: &Cmd, socket: &Path) -> Cmd {
    tmux.clone().args([OsStr::new("-u"), OsStr::new("-S"), socket.as_os_str()])
}

fn words(commands: &[TmuxCommand<'_>], program: &[OsString]) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    for command in commands {
        if !words.is_empty() {
            words.push(";".into());
        }
        words.extend(command.to_vec().iter().map(|word| text::argument(word).into()));
    }
    if !program.is_empty() {
        words.push("--".into());
    }
    words.extend(program.iter().map(|word| argument(word)));
    words
}

/// An argument of which a `;` at the end does not end the command.
pub(super) fn argument(word: &OsStr) -> OsString {
    match word.as_bytes().strip_suffix(b";") {
        Some(rest) => [OsStr::from_bytes(rest), OsStr::new("\\;")].iter().copied().collect(),
        None => word.to_owned(),
    }
}

/// tmux says "no server" in several ways; the socket decides.
fn refused(socket: &Path, output: &Output) -> MuxError {
    let complaint = output.complaint();
    if !alive(socket) {
        return MuxError::Gone(format!("no tmux server answers at {}", socket.display()));
    }
    if complaint.starts_with("can't find ") {
        return MuxError::NoPane(format!("tmux: {complaint}"));
    }
    MuxError::Failed(format!("tmux: {complaint}"))
}

/// Whether somebody listens at a socket. A server too busy to accept is there.
pub(in crate::mux) fn alive(socket: &Path) -> bool {
    let Ok(address) = SocketAddrUnix::new(socket) else { return false };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let Ok(fd) = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None) else { return true };
    matches!(connect(&fd, &address), Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tmux_interface::SetOption;

    #[test]
    fn no_argument_ends_the_command() {
        let commands =
            [SetOption::new().option("@x").value("a;").build(), SetOption::new().option(";").build()];
        let words = words(&commands, &["prog;".into(), ";".into()]);
        let expected = ["set-option", "@x", "a\\;", ";", "set-option", "\\;", "--", "prog\\;", "\\;"];
        assert_eq!(words, expected.map(OsString::from));
    }

    #[test]
    fn a_socket_nobody_listens_at_is_not_alive() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        assert!(!alive(&path));
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(alive(&path));
        drop(listener);
        assert!(!alive(&path));
    }
}
