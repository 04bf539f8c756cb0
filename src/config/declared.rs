//! What a repository declares in its own `.scruff.toml`. It comes with the repository, from
//! whoever wrote to it: only lists of patterns are read here, never anything that is run.

use std::path::Path;

use toml::{Table, Value};

use crate::paths;

/// The file in the root of a checkout.
pub const FILE: &str = ".scruff.toml";

/// A file larger than this is not read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// More patterns than this in one list are not used.
const MAX_PATTERNS: usize = 1000;

/// The declarative part of a `.scruff.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// Files that are never committed, as patterns of `.gitignore`.
    pub secrets: Vec<String>,
    /// Ignored files that a new checkout gets a copy of.
    pub copy: Vec<String>,
    /// Ignored files that a new checkout gets a link to.
    pub link: Vec<String>,
    /// Ignored files that a new checkout gets a clone of.
    pub reflink: Vec<String>,
}

impl Declared {
    /// Reads the file in `checkout`, with a warning for whatever cannot be used. A link is not followed.
    pub fn read(checkout: &Path) -> (Self, Vec<String>) {
        let file = checkout.join(FILE);
        let named = |warning| format!("{}: {warning}", file.display());
        let bytes = match paths::read_plain(&file, MAX_FILE) {
            Ok(None) => return Default::default(),
            Ok(Some(bytes)) => bytes,
            Err(why) => return (Declared::default(), vec![named(format!("{why}; not read"))]),
        };
        let (declared, warnings) = Self::parse(&String::from_utf8_lossy(&bytes));
        (declared, warnings.into_iter().map(named).collect())
    }

    fn parse(text: &str) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let table: Table = match toml::from_str(text) {
            Ok(table) => table,
            Err(error) => {
                let error: toml::de::Error = error;
                return (Declared::default(), vec![error.message().replace('\n', " ")]);
            }
        };
        let worktree = match table.get("worktree") {
            None | Some(Value::Table(_)) => table.get("worktree").and_then(Value::as_table),
            Some(_) => {
                warnings.push("worktree is no table".to_owned());
                None
            }
        };
        let mut list = |table: Option<&Table>, key: &str| match table.and_then(|table| table.get(key)) {
            None => Vec::new(),
            Some(value) => strings(value).unwrap_or_else(|| {
                warnings.push(format!("{key} is no list of at most {MAX_PATTERNS} strings"));
                Vec::new()
            }),
        };
        let declared = Declared {
            secrets: list(Some(&table), "secrets"),
            copy: list(worktree, "copy"),
            link: list(worktree, "link"),
            reflink: list(worktree, "reflink"),
        };
        (declared, warnings)
    }
}

fn strings(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array().filter(|list| list.len() <= MAX_PATTERNS)?;
    list.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_everything_else_is_passed_over() {
        let (declared, warnings) = Declared::parse(
            "secrets = ['.env']\nrun = 'rm -rf /'\n[worktree]\ncopy = ['a', 'b']\non_remove = 'discard'\n[x]\ny = 1\n",
        );
        assert_eq!((declared.secrets.as_slice(), declared.copy.len()), (&[".env".to_owned()][..], 2));
        assert!(warnings.is_empty(), "{warnings:?}");
    }

    #[test]
    fn a_wrong_list_costs_only_itself() {
        let (declared, warnings) =
            Declared::parse("secrets = 3\n[worktree]\ncopy = ['a', 1]\nlink = ['x']\n");
        assert_eq!(declared, Declared { link: vec!["x".to_owned()], ..Declared::default() });
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert_eq!(Declared::parse("worktree = 1").1.len(), 1);
        assert_eq!(Declared::parse("no toml").0, Declared::default());
    }

    #[test]
    fn a_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        crate::paths::write_whole(&dir.path().join("else"), b"secrets = ['x']").unwrap();
        std::os::unix::fs::symlink("else", dir.path().join(FILE)).unwrap();
        let (declared, warnings) = Declared::read(dir.path());
        assert_eq!((declared, warnings.len()), (Declared::default(), 1));
        assert_eq!(Declared::read(&dir.path().join("none")), (Declared::default(), vec![]));
    }
}
