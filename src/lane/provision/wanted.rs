//! Who wants what: the configuration, the repository's `.scruff.toml`, its `.worktreeinclude`.

use std::path::Path;

use crate::config::declared::{self, Declared};
use crate::ctx::Ctx;
use crate::paths;

/// The file of patterns that clients read too.
const INCLUDE: &str = ".worktreeinclude";

/// A `.worktreeinclude` larger than this is not read, in bytes.
const MAX_INCLUDE: u64 = 1 << 20;

/// What is made of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Link,
    Clone,
    Copy,
}

/// Patterns of one place, and what is made of the files they match.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) way: Way,
    /// As in a `.gitignore`.
    pub(super) patterns: Vec<u8>,
    /// Where they come from, for messages.
    pub(super) named: String,
}

/// Every source that says something. An earlier one decides about a file that several name: the
/// person's configuration first, and in one place links, clones, copies.
pub(super) fn of(ctx: &Ctx, main: &Path) -> (Vec<Source>, Vec<String>) {
    let (declared, mut warnings) = Declared::read(main);
    let own = &ctx.config().worktree;
    let mut sources = Vec::new();
    let mut add = |way: Way, patterns: &[String], key: &str, file: &str| {
        let named = format!("[worktree] {key} of {file}");
        sources.extend(from_list(way, patterns, named, &mut warnings));
    };
    add(Way::Link, &own.link, "link", "config.toml");
    add(Way::Clone, &own.reflink, "reflink", "config.toml");
    add(Way::Copy, &own.copy, "copy", "config.toml");
    add(Way::Link, &declared.link, "link", declared::FILE);
    add(Way::Clone, &declared.reflink, "reflink", declared::FILE);
    add(Way::Copy, &declared.copy, "copy", declared::FILE);
    match paths::read_plain(&main.join(INCLUDE), MAX_INCLUDE) {
        Ok(None) => {}
        Ok(Some(patterns)) if says_nothing(&patterns) => {}
        Ok(Some(patterns)) => sources.push(Source { way: Way::Copy, patterns, named: INCLUDE.to_owned() }),
        Err(why) => warnings.push(format!("{}: {why}; not read", main.join(INCLUDE).display())),
    }
    (sources, warnings)
}

fn from_list(way: Way, list: &[String], named: String, warnings: &mut Vec<String>) -> Option<Source> {
    let mut patterns = Vec::new();
    for pattern in list {
        match objection(pattern) {
            None => {
                patterns.extend_from_slice(pattern.as_bytes());
                patterns.push(b'\n');
            }
            Some(why) => warnings.push(format!("{named}: {pattern:?} is not used: {why}")),
        }
    }
    (!says_nothing(&patterns)).then_some(Source { way, patterns, named })
}

/// git matches below the root only, so such a pattern matches nothing; better said than silent.
fn objection(pattern: &str) -> Option<&'static str> {
    if pattern.contains(['\n', '\0']) {
        return Some("it is more than one line");
    }
    let leaves = pattern.trim_start_matches('!').split('/').any(|part| part == "..");
    leaves.then_some("it leaves the checkout")
}

fn says_nothing(patterns: &[u8]) -> bool {
    let mut lines = patterns.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.all(|line| line.is_empty() || line.starts_with(b"#") || line.starts_with(b"!"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_patterns_that_can_match_are_asked_about() {
        for nothing in ["", "\n\n", "# .env\n", "!x\n", "  \n"] {
            assert!(says_nothing(nothing.as_bytes()), "{nothing:?}");
        }
        assert!(!says_nothing(b"# x\n.env\n"));
        for bad in ["../x", "a/../../x", "!../x", "a\nb", ".."] {
            assert!(objection(bad).is_some(), "{bad}");
        }
        for good in [".env", "/a/b", "**/..x", "a..b", "..."] {
            assert!(objection(good).is_none(), "{good}");
        }
    }
}
