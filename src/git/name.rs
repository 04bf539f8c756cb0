//! Which names a branch may have.

/// Whether git takes `refs/heads/<branch>`, and no command line takes it for something else.
pub(super) fn valid_branch(branch: &str) -> bool {
    !matches!(branch, "" | "@" | "HEAD")
        && !branch.starts_with('-')
        && !branch.ends_with('.')
        && !branch.contains("..")
        && !branch.contains("@{")
        && branch.split('/').all(valid_component)
}

#[expect(clippy::case_sensitive_file_extension_comparisons, reason = "git's rule is about these bytes")]
fn valid_component(component: &str) -> bool {
    let forbidden =
        |byte: u8| byte <= b' ' || matches!(byte, b'~' | b'^' | b':' | b'?' | b'*' | b'[' | b'\\' | 0x7f);
    !component.is_empty()
        && !component.starts_with('.')
        && !component.ends_with(".lock")
        && !component.bytes().any(forbidden)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::World;

    #[test]
    fn the_rules_are_git_s() {
        let world = World::new();
        let names = [
            "a",
            "a/b",
            "é",
            "worktree-x",
            "x#(touch y)",
            "x#(touch${IFS}/p)",
            "a b",
            "a..b",
            "a/.b",
            ".a",
            "a.lock",
            "a.lock/b",
            "a.",
            "a/",
            "/a",
            "a//b",
            "a@{b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[b",
            "a\\b",
            "a\tb",
            "a\x7fb",
            "a;b",
            "$(a)",
            "a@b",
            "a.b",
            "{a}",
            "@a",
        ];
        for name in names {
            let git = world.git_status(&["check-ref-format", &format!("refs/heads/{name}")]);
            assert_eq!(valid_branch(name), git, "{name:?}");
        }
        for name in ["", "-a", "HEAD", "@"] {
            assert!(!valid_branch(name), "{name:?}");
        }
        assert!(valid_branch("a/-b") && valid_branch("a/HEAD"));
    }
}
