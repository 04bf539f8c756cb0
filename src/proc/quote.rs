//! Quoting for `sh -c`, byte for byte.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// One word for a POSIX shell. A plain word stays as it is.
pub fn quote(word: &OsStr) -> OsString {
    let bytes = word.as_bytes();
    if !bytes.is_empty() && bytes.iter().all(|byte| is_plain(*byte)) {
        return word.to_owned();
    }
    let mut quoted = vec![b'\''];
    for byte in bytes {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            other => quoted.push(*other),
        }
    }
    quoted.push(b'\'');
    OsString::from_vec(quoted)
}

/// Words for a POSIX shell, one blank between two.
pub fn quote_all<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>) -> OsString {
    let quoted: Vec<OsString> = words.into_iter().map(|word| quote(word.as_ref())).collect();
    quoted.join(OsStr::new(" "))
}

/// Never `=` or `~`: at the front of a command they mean something.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_./,:@+%".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::proc::Cmd;

    fn word() -> impl Strategy<Value = OsString> {
        let any = prop::collection::vec(1u8..=255, 0..40);
        let nasty = "['\"\\\\$`!~=*?\\[\\](){}<>|&;# \n\t-]{0,12}";
        prop_oneof![any.prop_map(OsString::from_vec), nasty.prop_map(OsString::from)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_shell_reads_back_the_very_words(words in prop::collection::vec(word(), 1..8)) {
            let mut line = OsString::from("printf '%s\\0' ");
            line.push(quote_all(&words));
            let output = Cmd::new("/bin/sh").arg("-c").arg(&line).run().unwrap();
            let body = output.stdout.strip_suffix(b"\0").unwrap();
            let back: Vec<&[u8]> = body.split(|byte| *byte == 0).collect();
            let given: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
            prop_assert_eq!(back, given);
        }
    }

    #[test]
    fn plain_words_stay_readable() {
        let words = ["claude", "--session-id", "a-b", "it's", "", "a b", "~", "A=b"];
        assert_eq!(quote_all(words), "claude --session-id a-b 'it'\\''s' '' 'a b' '~' 'A=b'");
    }
}
