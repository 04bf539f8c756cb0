//! Names of lanes, and of their directories and branches.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::git::Repo;

/// The longest directory name made from a lane's name, in bytes, before a digest is added.
const MAX_DIRECTORY: usize = 80;

/// The longest component of a branch name, in bytes: its loose ref is a file of that name plus `.lock`.
const MAX_COMPONENT: usize = 200;

const FIRST: [&str; 48] = [
    "amber", "ample", "brave", "brisk", "calm", "candid", "civil", "clear", "clever", "cosy", "crisp",
    "deft", "eager", "early", "fair", "fond", "fresh", "gentle", "glad", "grand", "happy", "hardy", "humble",
    "jolly", "keen", "kind", "light", "lively", "lucid", "mellow", "merry", "mild", "neat", "nimble",
    "noble", "plain", "polite", "proud", "quick", "quiet", "rapid", "ready", "sharp", "smart", "solid",
    "steady", "sunny", "warm",
];

const SECOND: [&str; 48] = [
    "acorn", "alder", "apple", "aspen", "badger", "beech", "birch", "brook", "cedar", "cherry", "clover",
    "coral", "crane", "daisy", "dune", "falcon", "fern", "finch", "fjord", "harbor", "hazel", "heron",
    "iris", "ivy", "juniper", "kestrel", "lark", "laurel", "lily", "linden", "maple", "meadow", "olive",
    "orchid", "otter", "pear", "pine", "plum", "poplar", "quince", "raven", "reef", "robin", "rowan",
    "sparrow", "tulip", "walnut", "willow",
];

/// Says why a typed name cannot be a lane's.
pub fn check(name: &str) -> Result<()> {
    let starts_well = name.chars().next().is_some_and(char::is_alphanumeric);
    if !starts_well {
        return Err(refusal(name, "it must start with a letter or a digit"));
    }
    if !Repo::valid_branch(name) {
        return Err(refusal(name, "git does not take it as a branch name"));
    }
    Ok(())
}

/// Says why a name that a client gave cannot be a lane's. It is never typed, so it may begin with
/// anything that git takes, `-` too; its directory is still one plain component.
pub fn check_given(name: &str) -> Result<()> {
    let odd = |part: &str| matches!(part, "" | "." | "..");
    if name.split('/').any(odd) {
        return Err(refusal(name, "a part of it is empty or only dots"));
    }
    // Some letter in front, as every branch of a lane has.
    if !Repo::valid_branch(&format!("x{name}")) {
        return Err(refusal(name, "git does not take it in a branch name"));
    }
    Ok(())
}

fn refusal(name: &str, why: &str) -> Error {
    Error::usage(format!("{name:?} cannot name a lane: {why}"))
        .hint("use letters, digits, '.', '_', '-' and '/', such as fix-auth")
}

/// The branch of a lane: the configured template with the name in it.
pub fn branch(template: &str, name: &str) -> Result<String> {
    let branch = template.replace("{{.Name}}", name);
    if branch.contains("{{") || !template.contains("{{.Name}}") {
        return Err(Error::precondition(format!("[lane] branch = {template:?} is no template for a branch"))
            .hint("use {{.Name}} in it, once, and nothing else in braces"));
    }
    if !Repo::valid_branch(&branch) {
        return Err(refusal(name, &format!("git does not take {branch:?} as a branch name")));
    }
    match branch.split('/').find(|component| component.len() > MAX_COMPONENT) {
        None => Ok(branch),
        Some(long) => Err(refusal(
            name,
            &format!("a part of its branch has {} bytes, more than {MAX_COMPONENT}", long.len()),
        )),
    }
}

/// Where a lane's checkout goes: one component below the repository's bucket. `taken` says
/// whether a directory is in use; names that differ only in case count as one.
pub fn directory(bucket: &Path, name: &str, taken: impl Fn(&Path) -> bool) -> PathBuf {
    let flat = name.replace('/', "-");
    let cut = cut(&flat, MAX_DIRECTORY);
    let plain = bucket.join(cut);
    if cut == name && !taken(&plain) {
        return plain;
    }
    let digest = &super::digest(Path::new(name))[..8];
    let with_digest = bucket.join(format!("{cut}-{digest}"));
    if !taken(&with_digest) {
        return with_digest;
    }
    (2..).map(|n| bucket.join(format!("{cut}-{digest}-{n}"))).find(|path| !taken(path)).unwrap_or(with_digest)
}

/// The bucket of a repository: its slug as two components that cannot leave the base.
pub fn bucket(base: &Path, slug: &str) -> PathBuf {
    let safe: String = slug
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
        .collect();
    let safe = safe.trim_start_matches(['.', '-']);
    base.join(if safe.is_empty() { "repo" } else { cut(safe, MAX_DIRECTORY) })
}

/// Two random words.
pub fn random() -> Result<String> {
    let mut bytes = [0; 2];
    getrandom::fill(&mut bytes).map_err(|error| Error::failed(format!("no randomness: {error}")))?;
    let word = |list: &[&'static str], byte: u8| list[usize::from(byte) % list.len()];
    Ok(format!("{}-{}", word(&FIRST, bytes[0]), word(&SECOND, bytes[1])))
}

/// A name that `taken` does not have: the name itself, else with `-2`, `-3` and so on.
pub fn free(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_owned();
    }
    (2..).map(|n| format!("{name}-{n}")).find(|name| !taken(name)).unwrap_or_default()
}

/// The first `max` bytes of text, never inside a character.
pub fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never(_: &Path) -> bool {
        false
    }

    #[test]
    fn names_that_git_takes_are_taken() {
        for good in ["fix-auth", "2026", "feat/pears", "Feat_X.1", "é", "x#(touch${IFS}/tmp/p)", "a@b"] {
            check(good).unwrap_or_else(|error| panic!("{good}: {error}"));
        }
        for bad in ["", "-x", ".x", "/x", "a b", "a..b", "a.lock", "a/", "a//b", "a~1", "a\tb", "_x", "@{-1}"]
        {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_clients_name_may_begin_with_anything_that_git_takes() {
        for good in ["feat/pears", "-x", "--force", "Feat_X.1", "agent-a1b2", "_x", ".x", "a/-b"] {
            check_given(good).unwrap_or_else(|error| panic!("{good}: {error}"));
        }
        for bad in ["", ".", "..", "a/..", "../a", "/a", "a/", "a//b", "a b", "a\tb", "a\nb", "a/.b", "a:b"] {
            assert!(check_given(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_directory_is_one_component_and_never_shared() {
        let bucket = Path::new("/b");
        assert_eq!(directory(bucket, "fix", never), Path::new("/b/fix"));
        let slash = directory(bucket, "feat/foo", never);
        let dash = directory(bucket, "feat-foo", never);
        assert_eq!(dash, Path::new("/b/feat-foo"));
        assert!(slash.starts_with("/b/") && slash != dash, "{slash:?}");
        assert_eq!(slash.components().count(), 3);
        let taken = directory(bucket, "fix", |path| path == Path::new("/b/fix"));
        assert_ne!(taken, Path::new("/b/fix"));
        let long = directory(bucket, &"é".repeat(90), never);
        assert!(long.file_name().unwrap().len() <= MAX_DIRECTORY + 9, "{long:?}");
    }

    #[test]
    fn a_bucket_stays_in_the_base() {
        for slug in ["..", "../../etc", "/", "a/b", ".trash", "-x/y"] {
            let bucket = bucket(Path::new("/base"), slug);
            assert_eq!(bucket.parent(), Some(Path::new("/base")), "{slug}");
            assert!(!bucket.file_name().unwrap().to_string_lossy().starts_with('.'), "{slug}");
        }
    }

    #[test]
    fn a_branch_comes_from_the_template() {
        assert_eq!(branch("worktree-{{.Name}}", "a/b").unwrap(), "worktree-a/b");
        assert!(branch("lane", "a").is_err());
        assert!(branch("{{.Nom}}-{{.Name}}", "a").is_err());
        assert!(branch("{{.Name}}", &"x".repeat(201)).is_err());
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        assert_eq!(free("x", |name| matches!(name, "x" | "x-2")), "x-3");
    }
}
