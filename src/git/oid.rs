//! Names of git objects.

use std::fmt;

/// The full name of a git object: 40 or 64 lower-case hexadecimal characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Oid(String);

impl Oid {
    /// Reads a full name; anything shorter, longer or not hexadecimal is none.
    pub fn parse(text: &str) -> Option<Self> {
        let whole = matches!(text.len(), 40 | 64);
        let hex = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        (whole && hex).then(|| Oid(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first ten characters, for people.
    pub fn short(&self) -> &str {
        &self.0[..10]
    }

    /// Whether it is the name of nothing: all zeros.
    pub fn is_zero(&self) -> bool {
        self.0.bytes().all(|byte| byte == b'0')
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<git2::Oid> for Oid {
    fn from(oid: git2::Oid) -> Self {
        Oid(oid.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_names_are_read() {
        let sha1 = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(Oid::parse(sha1).unwrap().short(), "0123456789");
        assert!(Oid::parse(&format!("{sha1}0123456789abcdef01234567")).is_some());
        for bad in ["", "0123", "g123456789abcdef0123456789abcdef01234567", &format!("{sha1}0"), "HEAD"] {
            assert!(Oid::parse(bad).is_none(), "{bad}");
        }
        assert!(Oid::parse(&sha1.to_uppercase()).is_none());
    }
}
