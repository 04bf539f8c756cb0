//! Tests with real repositories.
#![allow(clippy::disallowed_methods, reason = "tests write files as they please")]

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::testing::World;

mod checkouts;
mod creation;
mod facts;
mod refs;
mod status;
mod wip;

/// Arguments of `git init` for a repository that libgit2 opens, and for those that it does not and
/// this git can make: reference tables need git 2.45.
fn kinds(world: &World) -> Vec<&'static [&'static str]> {
    let all: [&[&str]; 3] = [&[], &["--object-format=sha256"], &["--ref-format=reftable"]];
    let (place, name) = (world.path(""), world.path("probe"));
    let can = |args: &&[&str]| {
        let made = world.try_git(&place, &[&["init", "-q"], *args, &[name.to_str().unwrap()]].concat()).ok();
        let _ = std::fs::remove_dir_all(&name);
        made
    };
    all.into_iter().filter(can).collect()
}

/// Changes a file so that only its contents tell: the index holds just what the file system says of
/// it, as if it had been written in the same tick of the clock.
fn change_within_a_tick(world: &World, index: &Path, root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    let before = std::fs::metadata(&path).unwrap().len();
    std::fs::write(&path, text).unwrap();
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    std::fs::File::open(&path).unwrap().set_modified(then).unwrap();
    let meta = std::fs::metadata(&path).unwrap();
    assert_eq!(meta.len(), before, "another size would tell");
    let mut open = git2::Index::open(index).unwrap();
    let mut entry = open.get_path(Path::new(file), 0).unwrap();
    let time = |seconds: i64, nanos: i64| {
        git2::IndexTime::new(i32::try_from(seconds).unwrap(), u32::try_from(nanos).unwrap())
    };
    (entry.ctime, entry.mtime) = (time(meta.ctime(), meta.ctime_nsec()), time(meta.mtime(), 0));
    entry.ino = u32::try_from(meta.ino() & 0xffff_ffff).unwrap();
    open.add(&entry).unwrap();
    open.write().unwrap();
    world.git(root, &["write-tree"]);
    std::fs::File::open(index).unwrap().set_modified(then).unwrap();
}
