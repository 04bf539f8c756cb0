//! What a new pane is to run: a 0600 file that the pane shim reads and deletes.
//!
//! It keeps a long prompt, quotes, newlines and secrets out of argument lists, and gives the
//! client the same environment whatever the multiplexer passes on. The file's name holds the
//! lane's id, so that a pane whose request is gone still knows its lane.

use std::ffi::OsString;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::PaneLaunch;
use crate::config::After;
use crate::ctx::Ctx;
use crate::env::Env;
use crate::error::{Doing, Error, Result};
use crate::lane::{Lane, LaneId};
use crate::paths::{self, json_bytes};

/// A request larger than this is refused, in bytes.
const MAX_FILE: u64 = 8 << 20;

/// A request that nobody has fetched for so long is nobody's.
const MAX_AGE: Duration = Duration::from_secs(600);

/// Text of the system: argument, variable or path.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Word(#[serde(with = "json_bytes")] PathBuf);

impl From<OsString> for Word {
    fn from(text: OsString) -> Self {
        Word(text.into())
    }
}

#[derive(Serialize, Deserialize)]
struct File {
    label: String,
    argv: Vec<Word>,
    cwd: Word,
    env: Vec<(Word, Word)>,
    shell: bool,
    after: After,
}

/// What a pane is to run.
#[derive(Clone, Debug)]
pub struct Request {
    /// What people call the lane.
    pub label: String,
    /// What to run, where, and in which environment.
    pub launch: PaneLaunch,
    /// What happens at its end.
    pub after: After,
}

impl Request {
    /// Leaves the request for a lane's pane to find.
    pub fn leave(ctx: &Ctx, lane: &Lane, launch: &PaneLaunch, after: After) -> Result<PathBuf> {
        let random = LaneId::random()?;
        let path = ctx.paths.state.join("requests").join(format!("{}-{random}.json", lane.id()));
        let words =
            |pair: (&std::ffi::OsStr, &std::ffi::OsStr)| (pair.0.to_owned().into(), pair.1.to_owned().into());
        let file = File {
            label: lane.label(),
            argv: launch.argv.iter().cloned().map(Word::from).collect(),
            cwd: Word(launch.cwd.clone()),
            env: launch.env.iter().map(words).collect(),
            shell: launch.shell,
            after,
        };
        let bytes = serde_json::to_vec(&file).doing(|| format!("cannot write {}", path.display()))?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(Error::precondition("the client's arguments and environment exceed 8 MiB")
                .hint("give the prompt with --prompt-file, or a shorter one"));
        }
        sweep(path.parent());
        paths::write_whole(&path, &bytes)?;
        Ok(path)
    }

    /// Reads the request. `None` when it was taken before.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let what = || format!("cannot read {}", path.display());
        let mut bytes = Vec::new();
        match std::fs::File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).doing(what),
            Ok(file) => file.take(MAX_FILE + 1).read_to_end(&mut bytes).doing(what)?,
        };
        if bytes.len() as u64 > MAX_FILE {
            return Err(Error::failed(format!("{} exceeds 8 MiB", path.display())));
        }
        let file: File = serde_json::from_slice(&bytes).doing(what)?;
        Ok(Some(file.into()))
    }

    /// Takes the request away, so that it is never run twice.
    pub fn taken(path: &Path) -> Result<()> {
        std::fs::remove_file(path).doing(|| format!("cannot remove {}", path.display()))
    }

    /// The lane that a request's file is named after.
    pub fn lane(path: &Path) -> Option<LaneId> {
        LaneId::parse(path.file_name()?.to_str()?.split('-').next()?)
    }
}

/// Requests whose pane never came, because scruff or the server was killed in between.
fn sweep(directory: Option<&Path>) {
    let files = directory.and_then(|directory| std::fs::read_dir(directory).ok()).into_iter().flatten();
    for file in files.flatten() {
        let age = file.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > MAX_AGE) {
            let _ = std::fs::remove_file(file.path());
        }
    }
}

impl From<File> for Request {
    fn from(file: File) -> Self {
        let text = |word: Word| word.0.into_os_string();
        let env: Env = file.env.into_iter().map(|(name, value)| (text(name), text(value))).collect();
        let argv = file.argv.into_iter().map(text).collect();
        let launch = PaneLaunch { argv, cwd: file.cwd.0, env, shell: file.shell };
        Request { label: file.label, launch, after: file.after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn a_request_comes_back_byte_for_byte() {
        let raw = |text: &[u8]| OsString::from_vec(text.to_owned());
        let file = File {
            label: "shop/é".to_owned(),
            argv: vec![raw(b"claude").into(), raw(b"a\n'\"$\xff;").into(), raw(b"").into()],
            cwd: raw(b"/tmp/\xfe x").into(),
            env: vec![(raw(b"A\xff").into(), raw(b"=\n\x01").into())],
            shell: false,
            after: After::Hold,
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("abcdefghijkm-abcdefghijkm.json");
        paths::write_whole(&path, &serde_json::to_vec(&file).unwrap()).unwrap();
        let request = Request::read(&path).unwrap().unwrap();
        let expected = [raw(b"claude"), raw(b"a\n'\"$\xff;"), raw(b"")];
        assert_eq!(request.launch.argv, expected);
        assert_eq!(request.launch.cwd.into_os_string(), raw(b"/tmp/\xfe x"));
        assert_eq!(
            request.launch.env.iter().next().unwrap(),
            (raw(b"A\xff").as_ref(), raw(b"=\n\x01").as_ref())
        );
        assert_eq!(request.after, After::Hold);
        Request::taken(&path).unwrap();
        assert!(Request::read(&path).unwrap().is_none());
    }

    #[test]
    fn the_file_names_its_lane() {
        let lane = |name: &str| Request::lane(Path::new(name)).map(|id| id.to_string());
        assert_eq!(lane("/s/requests/abcdefghijkm-x.json").as_deref(), Some("abcdefghijkm"));
        assert_eq!(lane("/s/requests/x.json"), None);
        assert_eq!(lane("/"), None);
    }

    #[test]
    fn old_requests_are_swept_and_new_ones_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("old"), dir.path().join("new"));
        for path in [&old, &new] {
            paths::write_whole(path, b"x").unwrap();
        }
        let long_ago = std::time::SystemTime::now() - MAX_AGE * 2;
        std::fs::File::open(&old).unwrap().set_modified(long_ago).unwrap();
        sweep(Some(dir.path()));
        assert!(!old.exists() && new.exists());
    }
}
