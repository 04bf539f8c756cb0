//! Work that must not be lost, and whether it is still to be had.

use crate::world::{Repo, World};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files and commits.
#[derive(Clone, Debug, Default)]
pub struct Work {
    files: Vec<(PathBuf, Vec<u8>)>,
    commits: Vec<String>,
}

impl Work {
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a file into a checkout, and counts it.
    #[must_use]
    pub fn file(mut self, checkout: &Path, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        let place = checkout.join(&path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, &content).unwrap();
        self.files.push((path.as_ref().to_owned(), content.as_ref().to_owned()));
        self
    }

    /// Counts a commit.
    #[must_use]
    pub fn commit(mut self, oid: impl Into<String>) -> Self {
        self.commits.push(oid.into());
        self
    }

    /// Demands that every file is, with its contents, in some checkout, in the trash, or in a
    /// commit that a reference keeps, and that every commit is kept by a reference or a checkout.
    #[track_caller]
    pub fn assert_safe(&self, world: &World, repo: &Repo) {
        let trees = trees(repo);
        let on_disk = files_below(&world.base());
        for (path, content) in &self.files {
            let blob = blob(repo, content);
            let committed = trees.contains(&format!("{blob}\t{}", path.display()));
            let lies = |file: &&PathBuf| file.ends_with(path) && std::fs::read(file).unwrap() == *content;
            let lying = on_disk.iter().any(|file| lies(&file));
            assert!(committed || lying, "{} is lost; there is\n{on_disk:#?}\n{trees:#?}", path.display());
        }
        let reached = reached(repo);
        for oid in &self.commits {
            assert!(reached.contains(oid), "the commit {oid} is reachable from nothing");
        }
    }
}

/// The blobs of every file in the commits that references point at, each with its path.
fn trees(repo: &Repo) -> BTreeSet<String> {
    let tips = repo.git(["for-each-ref", "--format=%(objectname)"]);
    let mut trees = BTreeSet::new();
    for tip in tips.lines() {
        let listed = repo.git(["ls-tree", "-r", "-z", "--format=%(objectname)%x09%(path)", tip]);
        trees.extend(listed.split('\0').filter(|entry| !entry.is_empty()).map(str::to_owned));
    }
    trees
}

fn blob(repo: &Repo, content: &[u8]) -> String {
    let call = repo.call(["hash-object", "--stdin"]).stdin(content);
    call.run().ok().out().trim().to_owned()
}

/// The commits that references hold, or a checkout that is still there.
fn reached(repo: &Repo) -> BTreeSet<String> {
    let mut reached: BTreeSet<String> = repo.git(["rev-list", "--all"]).lines().map(str::to_owned).collect();
    for checkout in repo.worktrees().iter().filter(|checkout| checkout.is_dir()) {
        let ran = repo.try_git(checkout, ["rev-list", "HEAD"]);
        reached.extend(ran.out().lines().map(str::to_owned));
    }
    reached
}

/// Every file below a directory, links not followed.
pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => files.extend(files_below(&entry.path())),
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    files
}

#[test]
fn what_is_lost_is_noticed() {
    let world = World::new();
    let repo = world.repo("orchard");
    let base = world.base();
    let work = Work::new().file(&base, ".trash/x/a/.env", "k=1\n").file(repo.path(), "b", "two\n");
    let work = work.commit(repo.git(["rev-parse", "HEAD"]));
    let safe = |work: &Work| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work.assert_safe(&world, &repo))).is_ok()
    };
    assert!(!safe(&work), "b is neither committed nor below the base");
    repo.git(["add", "b"]);
    repo.git(["commit", "-q", "-m", "b"]);
    assert!(safe(&work));
    world.file(base.join(".trash/x/a/.env"), "k=2\n");
    assert!(!safe(&work), "other contents are not the file");
    world.file(base.join(".trash/x/a/.env"), "k=1\n");
    let amended = work.clone().commit(repo.git(["rev-parse", "HEAD"]));
    assert!(safe(&amended));
    repo.git(["commit", "-q", "--amend", "-m", "c"]);
    assert!(!safe(&amended), "the reflog alone keeps the commit");
    assert!(safe(&work));
}
