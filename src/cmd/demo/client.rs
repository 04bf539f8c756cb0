//! The demo's stand-in for a coding agent: a short scripted conversation, then an echo.

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::thread::sleep;
use std::time::Duration;

use crate::exit::Exit;
use crate::ui;

/// Runs it: `scruff __demo-client new|resume [PROMPT]`.
pub fn main(args: &[OsString]) -> Exit {
    match talk(args) {
        Ok(()) => Exit::Done,
        Err(_) => Exit::Failed,
    }
}

fn talk(args: &[OsString]) -> io::Result<()> {
    let resumed = args.first().is_some_and(|word| word == "resume");
    let prompt = args.get(1).map(|prompt| ui::plain(&prompt.to_string_lossy()));
    say("This is a stand-in for a coding agent. It only plays a conversation.\n\n")?;
    match prompt.filter(|prompt| !prompt.is_empty()) {
        Some(prompt) => {
            say(&format!("> {prompt}\n"))?;
            for step in ["reading the code", "changing two files", "running the tests"] {
                sleep(Duration::from_millis(300));
                say(&format!("  … {step}\n"))?;
            }
            say("Done. Shall I commit it? (this is where a real agent would wait for you)\n")?;
        }
        None if resumed => say("Here we are again: this conversation goes on in its own checkout.\n")?,
        None => say("What shall I do?\n")?,
    }
    say("Type anything; \"exit\" ends the conversation.\n\n> ")?;
    for line in io::stdin().lock().lines() {
        if line?.trim() == "exit" {
            break;
        }
        say("Noted.\n> ")?;
    }
    say("Goodbye.\n")
}

/// Onto the pane. Nobody there is the end of the conversation.
fn say(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
