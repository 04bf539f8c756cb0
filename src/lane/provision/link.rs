//! Links to the main checkout's own files.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::select::Entry;
use super::{Job, fs};
use crate::ctx::Ctx;
use crate::git::{self, Repo};

/// Makes a link. `Ok(false)`: something is there already.
pub(super) fn make(job: &Job<'_>, entry: &Entry) -> Result<bool, String> {
    let Job { ctx, repo, checkout, .. } = *job;
    let text = |error: rustix::io::Errno| error.to_string();
    let main = fs::open_root(repo.main()).map_err(text)?;
    let root = fs::open_root(checkout).map_err(text)?;
    if entry.is_dir {
        let dir =
            fs::open_parent(&main, &entry.path).and_then(|dir| fs::open_dir(&dir, fs::name(&entry.path)?));
        if fs::is_other_checkout(&dir.map_err(text)?).map_err(text)? {
            return Ok(false);
        }
    }
    let (parent, name) = fs::parent_of(&main, &root, &entry.path).map_err(text)?;
    match rustix::fs::symlinkat(repo.main().join(&entry.path), &parent, name) {
        Ok(()) => {}
        Err(rustix::io::Errno::EXIST) => return Ok(false),
        Err(error) => return Err(error.to_string()),
    }
    // `node_modules/` in a .gitignore is about directories, and a link is none.
    if entry.is_dir && !is_ignored(ctx, checkout, &entry.path) {
        let pattern = pattern(&entry.path);
        exclude(repo, &pattern).map_err(|error| format!("the link shows as uncommitted: {error}"))?;
        ctx.ui.note(format!(
            "added {} to info/exclude, so that the link does not show as uncommitted",
            pattern.escape_ascii()
        ));
    }
    Ok(true)
}

fn is_ignored(ctx: &Ctx, checkout: &Path, path: &Path) -> bool {
    let asked = git::read(ctx, checkout).map(|cmd| cmd.args(["check-ignore", "-q", "--"]).arg(path).run());
    matches!(asked, Ok(Ok(output)) if output.ok())
}

/// A pattern that matches exactly this path, from the root on.
fn pattern(path: &Path) -> Vec<u8> {
    let mut pattern = vec![b'/'];
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'*' | b'?' | b'[' | b'\\' | b' ' | b'#' | b'!') {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
    pattern
}

/// Adds a pattern to the repository's own list of what git ignores, unless it is in it.
pub fn exclude(repo: &Repo, pattern: &[u8]) -> std::io::Result<()> {
    append_line(&repo.common().join("info/exclude"), pattern)
}

/// Appends a line to a file of patterns, unless it has that line.
fn append_line(file: &Path, line: &[u8]) -> std::io::Result<()> {
    if line.contains(&b'\n') {
        return Err(std::io::Error::other("a name with a newline cannot be written there"));
    }
    let before = match std::fs::read(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        before => before?,
    };
    if before.split(|byte| *byte == b'\n').any(|known| known == line) {
        return Ok(());
    }
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut text = Vec::new();
    if before.last().is_some_and(|byte| *byte != b'\n') {
        text.push(b'\n');
    }
    text.extend_from_slice(line);
    text.push(b'\n');
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true).mode(0o644).open(file)?.write_all(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_its_path_alone() {
        assert_eq!(pattern(Path::new("a b/[x]*")), b"/a\\ b/\\[x]\\*");
    }

    #[test]
    fn a_line_is_added_once_and_never_to_half_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("info/exclude");
        append_line(&file, b"/a").unwrap();
        append_line(&file, b"/a").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"/a\n");
        crate::paths::write_whole(&file, b"# x").unwrap();
        append_line(&file, b"/b").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"# x\n/b\n");
        assert!(append_line(&file, b"/b\n*").is_err());
    }
}
