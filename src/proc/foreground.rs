//! A child in the foreground of this process's terminal, in a process group of its own: what a
//! shell does for a job. The terminal then shows the child's name, and its keys reach only it.

use std::io;
use std::os::unix::process::CommandExt;
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};
use rustix::process::{Pid, WaitOptions, WaitStatus, getpgid, getpgrp, kill_process_group, waitpid};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr, tcsetpgrp};

use super::{Cmd, Failure, started};

/// How a child stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// It ended with this status.
    Exit(u8),
    /// It was killed by this signal.
    Killed(i32),
    /// It stopped itself, as Ctrl-Z does. [`Foreground::go_on`] continues it.
    Stopped,
}

/// A child in the foreground.
#[derive(Debug)]
pub struct Foreground {
    child: Pid,
    before: Option<Termios>,
    stopped: Option<Termios>,
}

impl Foreground {
    /// Starts a child and gives it the terminal.
    pub fn start(cmd: &Cmd) -> Result<Self, Failure> {
        let before = tcgetattr(io::stdin()).ok();
        let child = cmd.command().process_group(0).spawn().map_err(started)?;
        let child = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(Failure::NotFound)?;
        let mut foreground = Foreground { child, before, stopped: None };
        foreground.go_on();
        Ok(foreground)
    }

    /// Gives the child the terminal, and continues it: it may have stopped because it had touched
    /// the terminal before that was its own.
    pub fn go_on(&mut self) {
        if let Some(modes) = self.stopped.take() {
            set_modes(&modes);
        }
        let group = getpgid(Some(self.child)).unwrap_or(self.child);
        give_terminal(group);
        let _ = kill_process_group(group, rustix::process::Signal::CONT);
    }

    /// Waits until the child ends or stops itself, and takes the terminal back.
    pub fn wait(&mut self) -> Halt {
        loop {
            let status = match waitpid(Some(self.child), WaitOptions::UNTRACED) {
                Ok(Some((_, status))) => status,
                Err(rustix::io::Errno::INTR) | Ok(None) => continue,
                Err(_) => return Halt::Exit(0),
            };
            if let Some(halt) = halt(status) {
                if halt == Halt::Stopped {
                    self.stopped = tcgetattr(io::stdin()).ok();
                }
                give_terminal(getpgrp());
                if let Some(modes) = &self.before {
                    set_modes(modes);
                }
                return halt;
            }
            sleep(Duration::from_millis(1));
            self.go_on();
        }
    }
}

/// `None`: it stopped only because the terminal was not its own yet.
fn halt(status: WaitStatus) -> Option<Halt> {
    if let Some(signal) = status.stopping_signal() {
        let early = [Signal::SIGTTIN, Signal::SIGTTOU].map(|signal| signal as i32);
        return (!early.contains(&signal)).then_some(Halt::Stopped);
    }
    match status.terminating_signal() {
        Some(signal) => Some(Halt::Killed(signal)),
        None => Some(Halt::Exit(u8::try_from(status.exit_status().unwrap_or(0)).unwrap_or(1))),
    }
}

fn give_terminal(group: Pid) {
    from_behind(|| tcsetpgrp(io::stdin(), group).is_ok());
}

fn set_modes(modes: &Termios) {
    from_behind(|| tcsetattr(io::stdin(), OptionalActions::Now, modes).is_ok());
}

/// A process that is not in the foreground is stopped for touching the terminal, unless it blocks
/// that signal. Children would inherit the block, so it does not last.
fn from_behind(deed: impl Fn() -> bool) {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTTOU);
    let blocked = signals.thread_block();
    if !deed() {
        tracing::debug!("the terminal could not be touched");
    }
    if blocked.is_ok() {
        let _ = signals.thread_unblock();
    }
}
