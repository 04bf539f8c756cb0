//! What a new pane is to run: a 0600 file that the pane shim reads and deletes.
//!
//! It keeps a long prompt, quotes, newlines and secrets out of argument lists, and gives the
//! client the same environment whatever the multiplexer passes on. The file's name holds the
//! lane's id, so that a pane whose request is gone still knows its lane.

use std::ffi::OsString;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

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

impl From<File> for Request {
    fn from(file: File) -> Self {
        let text = |word: Word| word.0.into_os_string();
        let env: Env = file.env.into_iter().map(|(name, value)| (text(name), text(value))).collect();
        let argv = file.argv.into_iter().map(text).collect();
        let launch = PaneLaunch { argv, cwd: file.cwd.0, env, shell: file.shell };
        Request { label: file.label, launch, after: file.after }
    }
}
