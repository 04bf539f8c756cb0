//! What is shown over the panes: popups, and lines of text in the status line.

use std::ffi::OsString;

use tmux_interface::DisplayMessage;

use super::{Tmux, call, text};
use crate::mux::{MuxError, Size};

/// How long a message stays, in milliseconds: tmux's own 750 are not enough to read a hint.
const READING_TIME: usize = 5000;

impl Tmux {
    /// Runs a program in a popup, and waits for it as long as it takes. One that fails stays, so
    /// that it can be read. It starts in the root directory: tmux would choose its session's, which may
    /// be a checkout, and replaces one that is gone by another.
    pub(in crate::mux) fn popup(
        &self,
        client: Option<&str>,
        size: Size,
        argv: &[OsString],
    ) -> Result<(), MuxError> {
        let mut words = vec!["display-popup", "-EE", "-d", "/", "-w", size.width, "-h", size.height];
        words.extend(client.iter().flat_map(|client| ["-c", client]));
        words.push("--");
        let words = words.into_iter().map(OsString::from).chain(argv.iter().cloned());
        let cmd = call::on(&self.program, &self.socket).args(words.map(|word| call::argument(&word)));
        match cmd.max_output(1 << 16).run() {
            // The status is the program's own; only tmux itself says something.
            Ok(output) if output.ok() || output.stderr.is_empty() => Ok(()),
            Ok(output) => Err(MuxError::Failed(format!("tmux: {}", output.complaint()))),
            Err(failure) => Err(MuxError::Failed(format!("tmux: {failure}"))),
        }
    }

    /// Shows a line of text to a client, whatever is in it.
    pub(in crate::mux) fn say(&self, client: Option<&str>, line: &str) -> Result<(), MuxError> {
        let message = DisplayMessage::new().delay(READING_TIME).message(text::message(line));
        let message = client.iter().fold(message, |message, client| message.target_client(*client));
        self.run(&[message.build()]).map(drop)
    }
}
