//! Gemini CLI: `~/.gemini/tmp/<short id of the directory>/chats/session-<time>-<start of id>.jsonl`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::files;
use crate::client::launch::{is_session, real};
use crate::ctx::Ctx;
use crate::lane::Situation;

/// The first line of a chat, or a whole older one.
#[derive(Deserialize)]
struct Chat {
    #[serde(rename = "sessionId")]
    session: String,
    #[serde(default)]
    kind: Value,
}

/// Gemini goes on only with the conversations of the directory it is started in.
pub(super) fn has(ctx: &Ctx, situation: &Situation, id: &str) -> Option<bool> {
    let chats = chats(ctx, &real(&situation.path))?;
    Some(list(&chats).iter().filter_map(|file| own(file)).any(|known| known == id))
}

pub(super) fn newest(ctx: &Ctx, situation: &Situation) -> Option<String> {
    let chats = chats(ctx, &real(&situation.path))?;
    list(&chats).iter().find_map(|file| own(file))
}

fn list(chats: &Path) -> Vec<PathBuf> {
    files::newest_first(chats, |name| name.starts_with("session-") && name.contains(".json"))
}

/// The id of a chat that a person had. A chat without a word in it is none to Gemini.
fn own(file: &Path) -> Option<String> {
    let chat = match files::json(file) {
        Some(whole) => serde_json::from_value(whole).ok()?,
        None => files::lines::<Chat>(file).next()?,
    };
    (chat.kind.as_str() != Some("subagent") && is_session(&chat.session)).then_some(chat.session)
}

/// The directory's chats, by the table in which Gemini keeps short names of directories.
fn chats(ctx: &Ctx, directory: &Path) -> Option<PathBuf> {
    let home = ctx.env.absolute("GEMINI_CLI_HOME").unwrap_or_else(|| ctx.paths.home.clone()).join(".gemini");
    let table = files::json(&home.join("projects.json"))?;
    let projects = table.get("projects")?.as_object()?;
    let (_, short) = projects.iter().find(|(path, _)| files::is_directory(path, directory))?;
    let short = short.as_str().filter(|short| is_session(short))?;
    Some(home.join("tmp").join(short).join("chats"))
}
