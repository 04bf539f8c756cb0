//! What a seam's program says by its exit status and on its standard output.

use std::process::ExitStatus;

use serde_json::{Map, Value};

use crate::proc::describe;

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Exit 0.
    Yes(Said),
    /// Exit 1.
    No(Said),
    /// Exit 2: no, refused for safety.
    Refused(Said),
    /// Exit 3, or no program is configured: the built-in answers.
    NoOpinion,
    /// Anything else. It has been warned of; the built-in answers.
    Broken,
}

/// What an action came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acted {
    /// Exit 0: scruff does nothing more.
    Handled,
    /// Exit 1: scruff exits 1.
    Failed,
    /// Exit 2: scruff exits 2.
    Refused,
    /// The built-in runs: exit 3, no program configured, or a broken one that has been warned of.
    Declined,
}

/// What a program printed beside its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Said {
    /// Nothing, or nothing that scruff understands.
    #[default]
    Nothing,
    /// One word.
    Word(String),
    /// One JSON object.
    Object(Map<String, Value>),
}

impl Said {
    /// Reads a program's output: the trimmed text is a JSON object or one word, or is ignored.
    pub fn parse(stdout: &[u8]) -> Self {
        let Ok(text) = std::str::from_utf8(stdout) else { return Said::Nothing };
        let text = text.trim();
        if let Ok(Value::Object(object)) = serde_json::from_str(text) {
            return Said::Object(object);
        }
        let is_word = !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        if is_word { Said::Word(text.to_owned()) } else { Said::Nothing }
    }

    /// The bare word.
    pub fn word(&self) -> Option<&str> {
        match self {
            Said::Word(word) => Some(word),
            Said::Nothing | Said::Object(_) => None,
        }
    }

    /// A key of the object that holds a string which is not empty.
    pub fn field(&self, key: &str) -> Option<&str> {
        match self {
            Said::Object(object) => object.get(key)?.as_str().filter(|text| !text.is_empty()),
            Said::Nothing | Said::Word(_) => None,
        }
    }
}

/// What an exit status means, for questions and actions alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Yes,
    No,
    Refused,
    NoOpinion,
    Broken(String),
}

impl Verdict {
    pub(super) fn of(status: ExitStatus) -> Self {
        match status.code() {
            Some(0) => Verdict::Yes,
            Some(1) => Verdict::No,
            Some(2) => Verdict::Refused,
            Some(3) => Verdict::NoOpinion,
            _ => Verdict::Broken(describe(status)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn every_row_of_the_exit_table() {
        let of = |code: i32| Verdict::of(ExitStatus::from_raw(code << 8));
        assert_eq!(
            [of(0), of(1), of(2), of(3)],
            [Verdict::Yes, Verdict::No, Verdict::Refused, Verdict::NoOpinion]
        );
        for code in 4..=255 {
            assert_eq!(of(code), Verdict::Broken(format!("exit status {code}")));
        }
        assert_eq!(Verdict::of(ExitStatus::from_raw(15)), Verdict::Broken("killed by signal 15".to_owned()));
    }

    #[test]
    fn output_is_an_object_or_a_word_or_nothing() {
        let object = Said::parse(b" \n{\"agent\": \"codex\", \"n\": 1, \"empty\": \"\"}\n");
        assert_eq!(object.field("agent"), Some("codex"));
        assert_eq!((object.field("n"), object.field("empty"), object.field("x")), (None, None, None));
        assert_eq!(object.word(), None);
        assert_eq!(Said::parse(b"  codex\n").word(), Some("codex"));
        let ignored: [&[u8]; 8] =
            [b"", b"\n", b"two words", b"a\nb", b"a\x1b[31m", b"\xff", b"{\"a\":1} {\"b\":2}", b"[1, 2]"];
        for other in ignored {
            assert_eq!(Said::parse(other), Said::Nothing, "{other:?}");
        }
    }
}
