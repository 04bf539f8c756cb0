//! Which files patterns name. git itself does the matching, with its own syntax, and has the last
//! word: only what it ignores, in the main checkout and in the new one, is ever set up.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use super::wanted::{Source, Way};
use super::{Job, Said};
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::git;
use crate::paths::make_private_dir;
use crate::proc::{Cmd, Output};

/// How long git may take over one question.
const LIMIT: Duration = Duration::from_secs(30);

/// Directories that are looked into one by one; more are not.
const MAX_DIRECTORIES: usize = 2000;

/// A file, or a directory that is ignored as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    /// Its path in the main checkout.
    pub(super) path: PathBuf,
    /// Whether it is a directory.
    pub(super) is_dir: bool,
}

impl Entry {
    /// From git's answer, in which a directory ends in `/`. `None` for what leaves the checkout.
    fn of(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(b"./").unwrap_or(bytes);
        let plain = bytes.strip_suffix(b"/");
        let path = PathBuf::from(OsStr::from_bytes(plain.unwrap_or(bytes)));
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        (inside && !path.as_os_str().is_empty()).then_some(Entry { path, is_dir: plain.is_some() })
    }

    /// As git is asked about it: a name that begins with `:` would be something else to it.
    fn asked(&self) -> Vec<u8> {
        let slash: &[u8] = if self.is_dir { b"/" } else { b"" };
        [b"./", self.path.as_os_str().as_bytes(), slash].concat()
    }
}

/// What a source names and may be set up, whole directories as one. What an earlier source has
/// taken is passed over.
pub(super) fn entries(
    job: &Job<'_>,
    source: &Source,
    taken: &[PathBuf],
    said: &mut Said,
) -> Result<Vec<Entry>> {
    let Job { ctx, repo, checkout, until } = *job;
    make_private_dir(&ctx.paths.state)?;
    let mut file =
        tempfile::Builder::new().prefix("patterns-").tempfile_in(&ctx.paths.state).doing(cannot_ask)?;
    file.write_all(&source.patterns).doing(cannot_ask)?;
    let git = Git { ctx, main: repo.main(), patterns: file.path(), until };
    let mut ignored = git.ignored_in_main()?;
    ignored.retain(|entry| !taken.iter().any(|taken| entry.path.starts_with(taken)));
    let without_links = ignored.into_iter().filter(|entry| {
        let link = link_above(checkout, &entry.path);
        if let Some(link) = &link {
            let path = entry.path.display();
            said.add(format!(
                "{path} is not set up: {} is a symbolic link in the new checkout",
                link.display()
            ));
        }
        link.is_none()
    });
    let without_links: Vec<Entry> = without_links.collect();
    let here = git.check_ignore(checkout, &without_links)?;
    let mut good = Vec::new();
    for entry in without_links {
        if here.contains(&entry) {
            good.push(entry);
        } else {
            let path = entry.path.display();
            said.add(format!("{path} is not set up: git does not ignore it on this branch"));
        }
    }
    if source.way != Way::Link {
        return Ok(good);
    }
    good.retain(|entry| !checkout.starts_with(repo.main().join(&entry.path)));
    Ok(good)
}

fn cannot_ask() -> String {
    "cannot ask git which files the patterns name".to_owned()
}

/// The first directory above a path that is a link in the checkout: nothing is written through it.
fn link_above(checkout: &Path, path: &Path) -> Option<PathBuf> {
    let mut above = PathBuf::new();
    for part in path.parent()?.components() {
        above.push(part);
        match checkout.join(&above).symlink_metadata() {
            Ok(meta) if meta.is_symlink() => return Some(above),
            Ok(_) => {}
            Err(_) => return None,
        }
    }
    None
}

struct Git<'a> {
    ctx: &'a Ctx,
    main: &'a Path,
    patterns: &'a Path,
    until: Instant,
}

impl Git<'_> {
    /// What the patterns match among the files that git does not track, and ignores.
    fn ignored_in_main(&self) -> Result<BTreeSet<Entry>> {
        let named = self.list(&["--directory"], &[])?;
        let mut ignored = self.check_ignore(self.main, &named)?;
        // A directory that is not ignored itself may hold files that are.
        let open: Vec<&Entry> =
            named.iter().filter(|entry| entry.is_dir && !ignored.contains(entry)).collect();
        if open.len() > MAX_DIRECTORIES {
            return Err(Error::failed(format!("the patterns match {} directories", open.len())));
        }
        if !open.is_empty() {
            let inside = self.list(&[], &open)?;
            ignored.extend(self.check_ignore(self.main, &inside)?);
        }
        // What lies in a directory that goes as a whole goes with it.
        let whole: Vec<PathBuf> =
            ignored.iter().filter(|entry| entry.is_dir).map(|entry| entry.path.clone()).collect();
        ignored.retain(|entry| !whole.iter().any(|dir| *dir != entry.path && entry.path.starts_with(dir)));
        Ok(ignored)
    }

    fn list(&self, options: &[&str], below: &[&Entry]) -> Result<Vec<Entry>> {
        let mut from = std::ffi::OsString::from("--exclude-from=");
        from.push(self.patterns);
        let cmd = self.git(self.main)?.args(["ls-files", "-z", "--others", "--ignored"]).arg(from);
        let cmd = cmd
            .env("GIT_LITERAL_PATHSPECS", "1")
            .args(options)
            .arg("--")
            .args(below.iter().map(|entry| &entry.path));
        let output = run(&cmd, &[0])?;
        Ok(split(&output.stdout).filter_map(Entry::of).collect())
    }

    /// Those of `entries` that git ignores in a checkout.
    fn check_ignore(&self, checkout: &Path, entries: &[Entry]) -> Result<BTreeSet<Entry>> {
        if entries.is_empty() {
            return Ok(BTreeSet::new());
        }
        let input = entries.iter().flat_map(|entry| [entry.asked(), vec![0]]).flatten().collect::<Vec<u8>>();
        let cmd = self.git(checkout)?.args(["check-ignore", "-z", "--stdin"]).input(input);
        // 1 is "none of them".
        let output = run(&cmd, &[0, 1])?;
        Ok(split(&output.stdout).filter_map(Entry::of).collect())
    }

    fn git(&self, checkout: &Path) -> Result<Cmd> {
        let left = self.until.saturating_duration_since(Instant::now());
        Ok(git::read(self.ctx, checkout)?.limit(left.min(LIMIT)))
    }
}

fn run(cmd: &Cmd, fine: &[i32]) -> Result<Output> {
    let output = cmd.run().doing(cannot_ask)?;
    match output.status.code() {
        Some(code) if fine.contains(&code) => Ok(output),
        _ => Err(Error::failed(format!("{}: {}", cannot_ask(), output.complaint()))),
    }
}

fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}
