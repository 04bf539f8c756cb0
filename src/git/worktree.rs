//! Checkouts: which there are, whose they are, making and removing them.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::admin::{self, DotGit};
use super::command::{complained, failed, run, run_beside_others};
use super::operation::branch_under_way;
use super::{Oid, Repo};
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};

pub use super::creation::{AddRequest, Added, Start, add};
pub use super::removal::{is_half_made, remove, repair};

/// A checkout as git lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its root; for a bare repository the git directory.
    pub path: PathBuf,
    /// The branch it is on.
    pub branch: Option<String>,
    /// The commit it is at. `None`: none yet.
    pub head: Option<Oid>,
    /// Whether it is on no branch.
    pub detached: bool,
    /// Whether it is locked, and the reason, which may be empty.
    pub locked: Option<String>,
    /// Whether git would prune it: its directory is not there.
    pub prunable: bool,
    /// Whether it is the bare repository itself.
    pub bare: bool,
    /// The branch that a rebase or bisect under way will go back to; it is in use.
    pub rebasing: Option<String>,
    /// The administrative directory; `None` for the main checkout.
    pub admin: Option<PathBuf>,
}

impl Entry {
    /// Whether the branch is checked out here, or will be when the operation under way ends.
    pub fn uses(&self, branch: &str) -> bool {
        [&self.branch, &self.rebasing].into_iter().any(|used| used.as_deref() == Some(branch))
    }

    /// Whether it is at this path, by any spelling of it.
    pub fn is_at(&self, path: &Path) -> bool {
        self.path == path || admin::same(&self.path, path)
    }
}

/// Whose a directory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Belongs {
    /// A linked checkout of this repository; both say so.
    Ours {
        /// Its administrative directory.
        admin: PathBuf,
        /// The branch it is on; `None` for a detached HEAD.
        branch: Option<String>,
    },
    /// The main checkout.
    Main,
    /// It was moved by other means than git: its `.git` names us, our entry names `from`, where
    /// nothing is.
    Moved {
        /// Its administrative directory.
        admin: PathBuf,
        /// Where git believes it to be.
        from: PathBuf,
    },
    /// Something else; and what.
    Other(String),
    /// Nothing is there.
    Missing,
    /// It cannot be told; and why.
    Unknown(String),
}

/// Every checkout of the repository, the main one first.
pub fn list(_ctx: &Ctx, repo: &Repo) -> Result<Vec<Entry>> {
    let what = || format!("git cannot list the checkouts of {}", repo.main().display());
    let cmd = repo.read().args(["worktree", "list", "--porcelain"]);
    let output = run_beside_others(&cmd.clone().arg("-z")).map_err(|failure| failed(&what(), failure))?;
    let (bytes, end) = match output.status.code() {
        Some(0) => (output.stdout, 0),
        // git before 2.36 knows no -z.
        Some(129) => (run(&cmd, what)?.stdout, b'\n'),
        _ => return Err(complained(&what(), &output)),
    };
    let admins = Admins::read(repo)?;
    if end != 0 && admins.0.iter().any(|(root, _)| root.as_os_str().as_bytes().contains(&end)) {
        return Err(Error::failed(format!("{}: a path holds a newline", what()))
            .hint("git 2.36 or newer can list it"));
    }
    let entries: Option<Vec<Entry>> = blocks(&bytes, end).map(|block| parse(&block)).collect();
    let entries = entries.ok_or_else(|| Error::failed(format!("{}: it said something unknown", what())))?;
    Ok(entries.into_iter().enumerate().map(|(at, entry)| admins.complete(repo, entry, at == 0)).collect())
}

/// Lines end with `end`, blocks with an empty line.
fn blocks(bytes: &[u8], end: u8) -> impl Iterator<Item = Vec<&[u8]>> {
    let mut lines = bytes.split(move |byte| *byte == end);
    std::iter::from_fn(move || {
        let block: Vec<&[u8]> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        (!block.is_empty()).then_some(block)
    })
}

fn parse(block: &[&[u8]]) -> Option<Entry> {
    let path = block.first()?.strip_prefix(b"worktree ")?;
    let mut entry = Entry {
        path: PathBuf::from(OsStr::from_bytes(path)),
        branch: None,
        head: None,
        detached: false,
        locked: None,
        prunable: false,
        bare: false,
        rebasing: None,
        admin: None,
    };
    for line in &block[1..] {
        let text = String::from_utf8_lossy(line);
        let (key, value) = text.split_once(' ').unwrap_or((&text, ""));
        match key {
            "HEAD" => entry.head = Oid::parse(value).filter(|oid| !oid.is_zero()),
            "branch" => entry.branch = value.strip_prefix("refs/heads/").map(str::to_owned),
            "detached" => entry.detached = true,
            "bare" => entry.bare = true,
            "locked" => entry.locked = Some(value.to_owned()),
            "prunable" => entry.prunable = true,
            _ => {}
        }
    }
    Some(entry)
}

/// The administrative directories by the checkout that each names.
struct Admins(Vec<(PathBuf, PathBuf)>);

impl Admins {
    fn read(repo: &Repo) -> Result<Self> {
        let what = || format!("cannot look at {}", repo.common().join("worktrees").display());
        let mut pairs = Vec::new();
        for dir in admin::all(repo.common()).doing(what)? {
            if let Some(root) = admin::back_pointer(&dir).ok().flatten().and_then(|file| checkout_of(&file)) {
                pairs.push((root, dir));
            }
        }
        Ok(Admins(pairs))
    }

    /// git's path is the one in the administrative directory, resolved where that can be done.
    fn complete(&self, repo: &Repo, mut entry: Entry, first: bool) -> Entry {
        if first {
            if !entry.bare {
                repo.main().clone_into(&mut entry.path);
            }
            entry.rebasing = branch_under_way(repo.common());
            return entry;
        }
        let exact = self.0.iter().find(|(root, _)| *root == entry.path);
        let found = exact.or_else(|| self.0.iter().find(|(root, _)| admin::same(root, &entry.path)));
        entry.admin = found.map(|(_, dir)| dir.clone());
        entry.rebasing = entry.admin.as_deref().and_then(branch_under_way);
        entry
    }
}

/// The checkout of a `.git` file.
pub(super) fn checkout_of(dot_git: &Path) -> Option<PathBuf> {
    Some(admin::lexical(dot_git.parent()?))
}

/// The administrative directories that name `path` as their checkout.
pub(super) fn admins_naming(repo: &Repo, path: &Path) -> Result<Vec<PathBuf>> {
    let pairs = Admins::read(repo)?.0.into_iter();
    Ok(pairs.filter(|(root, _)| root == path || admin::same(root, path)).map(|(_, dir)| dir).collect())
}

/// Checks both ways whether `path` is a linked checkout of this repository: its `.git` names an
/// administrative directory of ours, and that names it.
pub fn is_ours(_ctx: &Ctx, repo: &Repo, path: &Path) -> Result<Belongs> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Belongs::Missing),
        Err(error) => return Ok(Belongs::Unknown(format!("{}: {error}", path.display()))),
        Ok(meta) if meta.is_symlink() => return Ok(Belongs::Other("is a symbolic link".to_owned())),
        Ok(meta) if !meta.is_dir() => return Ok(Belongs::Other("is no directory".to_owned())),
        Ok(_) => {}
    }
    if admin::same(path, repo.main()) || admin::same(path, repo.common()) {
        return Ok(Belongs::Main);
    }
    Ok(match admin::dot_git(path) {
        DotGit::None => Belongs::Other("has no .git".to_owned()),
        DotGit::Dir => Belongs::Other("is a repository of its own".to_owned()),
        DotGit::Odd(why) => Belongs::Unknown(why),
        DotGit::File(target) => by_pointers(repo, path, &target),
    })
}

fn by_pointers(repo: &Repo, path: &Path, target: &Path) -> Belongs {
    let dir = match target.canonicalize() {
        Ok(dir) => dir,
        Err(error) => return Belongs::Unknown(format!("its .git names {}: {error}", target.display())),
    };
    if dir == repo.common() {
        return Belongs::Main;
    }
    if dir.parent() != Some(&repo.common().join("worktrees")) {
        return Belongs::Other(format!("belongs to {}", dir.display()));
    }
    match admin::back_pointer(&dir).map(|file| file.and_then(|file| checkout_of(&file))) {
        Ok(Some(root)) if admin::same(&root, path) && is_half_made(&dir) => {
            Belongs::Ours { branch: branch_of(repo, &dir).ok().flatten(), admin: dir }
        }
        Ok(Some(root)) if admin::same(&root, path) => match branch_of(repo, &dir) {
            Ok(branch) => Belongs::Ours { admin: dir, branch },
            Err(error) => Belongs::Unknown(error.message()),
        },
        Ok(Some(from)) if !from.exists() => Belongs::Moved { admin: dir, from },
        Ok(Some(root)) => Belongs::Other(format!("is a copy of the checkout {}", root.display())),
        Ok(None) => Belongs::Unknown(format!("{} names no checkout", dir.display())),
        Err(error) => Belongs::Unknown(format!("{}: {error}", dir.display())),
    }
}

/// The branch that a git directory's HEAD names.
fn branch_of(repo: &Repo, git_dir: &Path) -> Result<Option<String>> {
    let what = || format!("cannot tell the branch of {}", git_dir.display());
    let head = admin::pointer(&git_dir.join("HEAD")).doing(what)?.unwrap_or_default();
    let head = String::from_utf8_lossy(&head).into_owned();
    let full = match head.strip_prefix("ref: ").map(str::trim) {
        // With a reference table the file only says that it is not here.
        Some("refs/heads/.invalid") => {
            let cmd = repo.read().arg("--git-dir").arg(git_dir).args(["symbolic-ref", "--quiet", "HEAD"]);
            super::command::ask(&cmd, what)?.map(|output| super::command::line(&output))
        }
        Some(full) => Some(full.to_owned()),
        None if Oid::parse(head.trim()).is_some() => None,
        None => return Err(Error::failed(what())),
    };
    Ok(full.and_then(|full| full.strip_prefix("refs/heads/").map(str::to_owned)))
}
