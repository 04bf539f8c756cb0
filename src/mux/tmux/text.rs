//! Names that are hostile: tmux expands formats in window and session names, `#(…)` there runs a
//! shell command, and `.` and `:` are rewritten or refused depending on the version.

use sha2::{Digest, Sha256};

use crate::ui::{moves, plain};

/// The longest name of a window or session, in bytes.
const MAX_NAME: usize = 80;

/// A name for a window or session. Different names stay different: whatever had to be changed
/// gets a short digest of the original.
pub(super) fn name(text: &str) -> String {
    let keep = |c: char| !matches!(c, '.' | ':') && !moves(c);
    let mut clean: String = text.chars().map(|c| if keep(c) { c } else { '_' }).collect();
    clean.truncate(clean.floor_char_boundary(MAX_NAME));
    if clean != text || clean.is_empty() {
        let digest = Sha256::digest(text.as_bytes());
        return format!("{clean}-{:02x}{:02x}", digest[0], digest[1]);
    }
    clean
}

/// Text that a format shows as it is: control characters dropped, every `#` doubled.
pub(super) fn literal(text: &str) -> String {
    plain(text).replace(['\n', '\t'], " ").replace('#', "##")
}

/// The same where tmux would also put the time in.
pub(super) fn message(text: &str) -> String {
    literal(text).replace('%', "%%")
}

/// One word of a line that tmux parses.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", plain(text).replace('\'', "'\\''"))
}

/// An argument as tmux's own parser must get it: a `;` at its end would end the command.
pub(super) fn argument(word: &str) -> String {
    match word.strip_suffix(';') {
        Some(rest) => format!("{rest}\\;"),
        None => word.to_owned(),
    }
}

/// Whether this version is older than 3.2. Versions read like `3.3a`, `next-3.7`, `master`.
pub(super) fn too_old(version: &str) -> bool {
    let number = version.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut parts = number.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) < (3, 2),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_tmux_would_change_stay_different() {
        assert_eq!(name("fix-auth"), "fix-auth");
        assert_eq!(name("fix/é"), "fix/é");
        assert!(name("a\u{202e}b").starts_with("a_b-"));
        assert_ne!(name("v1.2"), name("v1:2"));
        assert_ne!(name("v1.2"), name("v1_2"));
        assert!(!name("v1.2").contains('.'));
        let long = name(&"é".repeat(200));
        assert!(long.len() <= MAX_NAME + 5 && long != name(&"é".repeat(201)));
        assert!(!name("").is_empty());
    }

    #[test]
    fn a_format_cannot_run() {
        assert_eq!(literal("x#(touch /p)#{y}\u{1b}[1m\n"), "x##(touch /p)##{y}[1m ");
    }

    #[test]
    fn a_message_shows_what_it_says() {
        assert_eq!(message("50%H #{y}\n"), "50%%H ##{y} ");
        assert_eq!(quoted("it's\u{1b} $HOME ;"), "'it'\\''s $HOME ;'");
    }

    #[test]
    fn a_semicolon_at_the_end_is_text() {
        assert_eq!(argument("a;b;"), "a;b\\;");
        assert_eq!(argument(";"), "\\;");
        assert_eq!(argument("a;b"), "a;b");
    }

    #[test]
    fn versions_are_read_in_all_their_spellings() {
        for old in ["3.1c", "2.9a", "3.0", "next-3.1"] {
            assert!(too_old(old), "{old}");
        }
        for fine in ["3.2", "3.3a", "3.10", "next-3.7", "master", "openbsd-7.5", ""] {
            assert!(!too_old(fine), "{fine}");
        }
    }
}
