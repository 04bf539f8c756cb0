//! A client's command, ready to be run in a pane or in place.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::adapter::Adapter;
use super::prompt::{self, Prompt};
use super::scrub;
use super::template::{Template, Values};
use crate::ctx::Ctx;
use crate::env::Env;
use crate::error::{Error, Result};
use crate::lane::Situation;
use crate::proc::{quote, quote_all};

/// What is to be run for a lane.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The program and its arguments; for a shell's command, that command alone.
    pub argv: Vec<OsString>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Variables set for it.
    pub env: Vec<(OsString, OsString)>,
    /// Variables taken from it: names, or `PREFIX_*`.
    pub unset: Vec<String>,
    /// The id of the conversation, where scruff chose or knows it.
    pub session: Option<String>,
    /// What to say aloud, such as that a fresh session begins.
    pub note: Option<String>,
    /// The file that holds a prompt too long for an argument. It goes at the lane's first
    /// session end.
    pub prompt_file: Option<PathBuf>,
    /// Whether `argv` is one command for the user's shell.
    pub shell: bool,
}

impl Launch {
    /// A command for the user's own shell.
    pub fn shell(command: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Launch { argv: vec![command.into()], cwd: cwd.into(), shell: true, ..Launch::default() }
    }

    /// The client's environment, from that of whoever called scruff.
    pub fn environment(&self, caller: &Env) -> Env {
        let mut env = scrub::scrubbed(caller);
        env.retain(|name| !scrub::matches_any(name, self.unset.iter().map(String::as_str)));
        for (name, value) in &self.env {
            env.set(name, value);
        }
        env
    }

    /// What an adapter's argv comes to for a lane.
    pub(super) fn of(adapter: &Adapter, argv: &[Template], values: &Values, cwd: &Path) -> Self {
        let pair = |(name, value): &(String, Template)| (name.into(), value.fill(values));
        Launch {
            argv: argv.iter().map(|word| word.fill(values)).collect(),
            cwd: cwd.to_owned(),
            env: adapter.env.iter().map(pair).collect(),
            unset: adapter.scrub.clone(),
            ..Launch::default()
        }
    }
}

/// A new conversation in a lane. A prompt too long for an argument is put in a file in
/// `git_dir`, the checkout's own git directory.
pub fn start(
    ctx: &Ctx,
    adapter: &Adapter,
    situation: &Situation,
    git_dir: &Path,
    given: Option<&Prompt>,
) -> Result<Launch> {
    let mut launch = fresh(adapter, situation, &situation.path)?;
    if let Some(given) = given {
        let session = launch.session.clone().unwrap_or_default();
        let values = Values::of(situation).with("Session", session);
        prompt::add(ctx, adapter, &values, git_dir, given, &mut launch)?;
    }
    Ok(launch)
}

/// A new conversation without a prompt.
pub(super) fn fresh(adapter: &Adapter, situation: &Situation, cwd: &Path) -> Result<Launch> {
    let session = adapter.chooses_session.then(uuid).transpose()?;
    let values = Values::of(situation).with("Session", session.clone().unwrap_or_default());
    Ok(Launch { session, ..Launch::of(adapter, &adapter.new, &values, cwd) })
}

/// The command as one string for `sh -c`, byte for byte. It runs where it is called.
pub fn command_line(launch: &Launch) -> OsString {
    let mut line = OsString::new();
    for (name, value) in &launch.env {
        line.push(name);
        line.push("=");
        line.push(quote(value));
        line.push(" ");
    }
    if launch.shell {
        line.push("\"${SHELL:-/bin/sh}\" -c ");
    }
    line.push(quote_all(&launch.argv));
    line
}

/// A random UUID.
fn uuid() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::failed(format!("no randomness: {error}")))?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = u128::from_be_bytes(bytes);
    let text = format!("{hex:032x}");
    let cuts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)];
    Ok(cuts.map(|(from, to)| &text[from..to]).join("-"))
}

/// Whether a word can be a conversation's id: it goes into an argument and a file's name.
pub(super) fn is_session(id: &str) -> bool {
    let plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    plain && !id.is_empty() && id.len() <= 200 && !id.starts_with(['-', '.'])
}

/// A lane's directory as a client that asks the system would name it.
pub(super) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
