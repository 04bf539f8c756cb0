//! The person's terminal, for what is asked of them key by key.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use crate::error::{Doing, Error, Result};

/// The other screen, so that what was on this one is there again afterwards; pastes are marked.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?2004h\x1b[H\x1b[2J";
const LEAVE: &[u8] = b"\x1b[?2004l\x1b[?1049l\x1b[?25h";

/// The terminal, taken over until this is dropped.
#[derive(Debug)]
pub struct Tty {
    file: File,
    before: Termios,
}

/// What came from the terminal.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    /// Bytes.
    Bytes(Vec<u8>),
    /// Nothing in the time given.
    Nothing,
    /// The terminal is gone.
    Gone,
}

impl Tty {
    /// Takes the terminal over: keys come as they are typed, on a screen of its own.
    pub fn open() -> Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(|error| {
            Error::precondition("there is no terminal to ask on")
                .caused_by(error)
                .hint("call this from a terminal")
        })?;
        let before = tcgetattr(&file).doing(|| "cannot ask the terminal for its settings".to_owned())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&file, OptionalActions::Now, &raw).doing(|| "cannot set the terminal".to_owned())?;
        let mut tty = Tty { file, before };
        tty.write(ENTER)?;
        Ok(tty)
    }

    /// Columns and rows.
    pub fn size(&self) -> (usize, usize) {
        let size = tcgetwinsize(&self.file).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or((80, 24), |size| (size.ws_col.into(), size.ws_row.into()))
    }

    /// Waits for keys, so long at most.
    pub fn read(&mut self, wait: Duration) -> Result<Typed> {
        let limit = Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        let mut ready = [PollFd::from_borrowed_fd(self.file.as_fd(), PollFlags::IN)];
        match poll(&mut ready, Some(&limit)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(Typed::Nothing),
            outcome => outcome.doing(|| "cannot wait for the terminal".to_owned())?,
        };
        let mut bytes = vec![0; 4096];
        match self.file.read(&mut bytes) {
            Ok(0) => Ok(Typed::Gone),
            Ok(length) => {
                bytes.truncate(length);
                Ok(Typed::Bytes(bytes))
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Typed::Nothing),
            Err(_) => Ok(Typed::Gone),
        }
    }

    /// Shows these lines from the top, and the cursor at a row and column of them, or no cursor.
    pub fn show(&mut self, lines: &[String], cursor: Option<(usize, usize)>) -> Result<()> {
        let mut frame = String::from("\x1b[?25l\x1b[H");
        let (_, rows) = self.size();
        // Cleared before it is written: after its last column a line's end is not yet behind it.
        for row in 0..rows {
            frame.push_str(if row > 0 { "\r\n\x1b[K" } else { "\x1b[K" });
            frame.push_str(lines.get(row).map_or("", String::as_str));
            frame.push_str("\x1b[m");
        }
        self.write(frame.as_bytes())?;
        match cursor {
            Some((row, column)) => {
                self.write(format!("\x1b[{};{}H\x1b[?25h", row + 1, column + 1).as_bytes())
            }
            None => Ok(()),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).doing(|| "cannot write to the terminal".to_owned())
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        let _ = self.file.write_all(LEAVE);
        let _ = tcsetattr(&self.file, OptionalActions::Drain, &self.before);
    }
}
