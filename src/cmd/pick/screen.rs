//! The person's terminal while it shows the picker. It is put back in order however that ends.

use std::fs::File;
use std::io::Write;

use crossterm::{cursor, event, execute, terminal};

use crate::error::{Doing, Error, Result};

/// The terminal itself: stdout is for the answer.
pub(super) struct Screen {
    tty: File,
}

impl Screen {
    /// Takes the terminal.
    pub(super) fn open() -> Result<Self> {
        let tty = std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty");
        let mut tty = tty.map_err(|error| {
            Error::precondition("there is no terminal to choose on")
                .caused_by(error)
                .hint("see `scruff list`")
        })?;
        terminal::enable_raw_mode().doing(|| "cannot take the terminal".to_owned())?;
        let shown = execute!(tty, terminal::EnterAlternateScreen, event::EnableBracketedPaste, cursor::Hide);
        let screen = Screen { tty };
        shown.doing(|| "cannot take the terminal".to_owned())?;
        Ok(screen)
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (usize, usize) {
        let size = rustix::termios::tcgetwinsize(&self.tty).ok();
        let size = size.filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or((80, 24), |size| (size.ws_col.into(), size.ws_row.into()))
    }

    /// Shows a whole frame in one write.
    pub(super) fn show(&mut self, frame: &str) -> Result<()> {
        self.tty.write_all(frame.as_bytes()).doing(|| "the terminal is gone".to_owned())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ =
            execute!(self.tty, cursor::Show, event::DisableBracketedPaste, terminal::LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}
