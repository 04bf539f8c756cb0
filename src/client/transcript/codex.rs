//! Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, whatever the directory.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::files;
use crate::client::launch::{is_session, real};
use crate::ctx::Ctx;
use crate::lane::Situation;

/// A rollout's name ends with a UUID of this many characters.
const ID: usize = 36;

/// How many rollouts are opened in search of the lane's. A first line has some 20 KB.
const MAX_OPENED: usize = 2_000;

#[derive(Deserialize)]
struct First {
    payload: Meta,
}

#[derive(Deserialize)]
struct Meta {
    id: String,
    cwd: String,
    #[serde(default)]
    source: Value,
    #[serde(default)]
    thread_source: Value,
}

impl Meta {
    /// Sub-agents and `codex exec` leave rollouts too; those cannot be gone on with.
    fn is_persons_own(&self) -> bool {
        let source = self.source.as_str().unwrap_or(if self.source.is_null() { "" } else { "subagent" });
        let thread = self.thread_source.as_str().unwrap_or_default();
        !["exec", "subagent", "mcp"].contains(&source) && thread != "subagent"
    }
}

pub(super) fn has(ctx: &Ctx, id: &str) -> Option<bool> {
    let sessions = sessions(ctx);
    if !sessions.is_dir() {
        return None;
    }
    Some(rollouts(&sessions).any(|file| files::name(&file).and_then(id_of) == Some(id)))
}

pub(super) fn newest(ctx: &Ctx, situation: &Situation) -> Option<String> {
    let lane = real(&situation.path);
    let mut list: Vec<_> =
        rollouts(&sessions(ctx)).filter_map(|file| Some((files::written(&file)?, file))).collect();
    list.sort_by(|one, other| other.cmp(one));
    list.into_iter().take(MAX_OPENED).find_map(|(_, file)| own(&file, &lane))
}

/// The id of a rollout that a person had in this directory.
fn own(file: &Path, lane: &Path) -> Option<String> {
    let meta = files::lines::<First>(file).next()?.payload;
    let fits = meta.is_persons_own() && files::is_directory(&meta.cwd, lane) && is_session(&meta.id);
    fits.then_some(meta.id)
}

fn sessions(ctx: &Ctx) -> PathBuf {
    let home = ctx.env.absolute("CODEX_HOME").unwrap_or_else(|| ctx.paths.home.join(".codex"));
    home.join("sessions")
}

/// Year, month and day are three levels of directories.
fn rollouts(sessions: &Path) -> impl Iterator<Item = PathBuf> {
    let days = files::entries(sessions)
        .flat_map(|year| files::entries(&year))
        .flat_map(|month| files::entries(&month));
    days.flat_map(|day| files::entries(&day)).filter(|file| files::name(file).and_then(id_of).is_some())
}

fn id_of(name: &str) -> Option<&str> {
    let stem = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
    stem.get(stem.len().checked_sub(ID)?..)
}
