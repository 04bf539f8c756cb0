//! Bounded looks into other programs' files.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The most that is read of one file, in bytes.
const MAX_READ: u64 = 8 << 20;

/// A directory with more entries than this is looked at in part.
const MAX_ENTRIES: usize = 100_000;

/// Plain files of a directory for which `keep` says so, the last written first.
pub(super) fn newest_first(directory: &Path, keep: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut files: Vec<(SystemTime, PathBuf)> = entries(directory)
        .filter(|path| name(path).is_some_and(&keep))
        .filter_map(|path| Some((written(&path)?, path)))
        .collect();
    files.sort_by(|one, other| other.cmp(one));
    files.into_iter().map(|(_, path)| path).collect()
}

/// When a plain file was last written.
pub(super) fn written(path: &Path) -> Option<SystemTime> {
    let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    meta.modified().ok()
}

/// What is in a directory; nothing where it cannot be read.
pub(super) fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let list = fs::read_dir(directory).into_iter().flatten().flatten();
    list.take(MAX_ENTRIES).map(|entry| entry.path())
}

/// A file's name, if it is text.
pub(super) fn name(path: &Path) -> Option<&str> {
    path.file_name().and_then(OsStr::to_str)
}

/// The lines of a file that parse, up to `MAX_READ` bytes of it.
pub(super) fn lines<T: DeserializeOwned>(path: &Path) -> impl Iterator<Item = T> + use<T> {
    let reader = File::open(path).ok().map(|file| BufReader::new(file.take(MAX_READ)));
    let lines = reader.into_iter().flat_map(|reader| reader.split(b'\n').map_while(Result::ok));
    lines.filter_map(|line| serde_json::from_slice(&line).ok())
}

/// A whole JSON file, if it is one and not too large.
pub(super) fn json(path: &Path) -> Option<Value> {
    let meta = fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > MAX_READ {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_READ).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Whether the text that a client wrote names this directory. Clients replace bytes that are not
/// UTF-8.
pub(super) fn is_directory(text: &str, directory: &Path) -> bool {
    text == directory.to_string_lossy() || Path::new(text).canonicalize().is_ok_and(|path| path == directory)
}
