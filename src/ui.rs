//! What a person sees: stdout is the answer, stderr the talk. The only place that prints.

use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The person's side of one call.
#[derive(Debug, Default)]
pub struct Ui {
    /// Say only what went wrong.
    pub quiet: bool,
    /// Colour on standard output.
    pub color: bool,
    warnings: RefCell<Vec<String>>,
}

impl Ui {
    /// The person's side of a call.
    pub fn new(quiet: bool, color: bool) -> Self {
        Ui { quiet, color, ..Ui::default() }
    }

    /// Says something on stderr, unless `-q`.
    pub fn note(&self, text: impl AsRef<str>) {
        if !self.quiet {
            say(text.as_ref());
        }
    }

    /// Says that something is amiss, and keeps it for `warnings[]` of `--json`.
    pub fn warn(&self, text: impl Into<String>) {
        let text = text.into();
        tracing::warn!("{text}");
        say(&format!("scruff: warning: {text}"));
        self.warnings.borrow_mut().push(text);
    }

    /// Everything warned of so far.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.borrow().clone()
    }
}

/// Writes one line to stderr. Nobody reading it is no reason to fail.
fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", plain(text));
}

/// "1 file", "2 files".
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Text that cannot move the cursor or turn its line around.
pub fn plain(text: &str) -> String {
    text.chars().filter(|c| !moves(*c) || matches!(c, '\n' | '\t')).collect()
}

/// The same for a name, which is one line.
pub fn shown(name: &str) -> String {
    name.chars().filter(|c| !moves(*c)).collect()
}

/// Whether a character is no text of its own and changes where or how other text is shown.
pub fn moves(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}')
}

/// Writes the answer to stdout. `false` when nobody takes it, such as a closed pipe.
pub fn answer(bytes: &[u8]) -> bool {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).is_ok()
}

/// Writes an error to stderr: what and why, then what to do.
pub fn complain(message: &str, hints: &[String]) {
    say(&format!("scruff: {message}"));
    for hint in hints {
        say(&format!("  {hint}"));
    }
}

/// Whether colour is wanted on stdout.
pub fn wants_color(choice: ColorChoice, no_color: bool) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => !no_color && io::stdout().is_terminal(),
    }
}

/// The width of the terminal on stdout in columns, `None` when it is no terminal.
pub fn width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

/// Text cut to display columns, never inside a character, with … where something is missing.
pub fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut width = 0;
    for c in text.chars() {
        width += c.width().unwrap_or(0);
        if width + 1 > columns {
            break;
        }
        kept.push(c);
    }
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_columns_and_never_inside_a_character() {
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("漢字漢字", 6), "漢字…");
        assert_eq!(cut("漢字漢字", 8), "漢字漢字");
        assert_eq!(cut("plain", 3), "pl…");
    }

    #[test]
    fn marks_that_turn_a_line_around_are_not_shown() {
        assert_eq!(shown("a\u{202e}b\u{1b}[31mc\n"), "ab[31mc");
    }
}
