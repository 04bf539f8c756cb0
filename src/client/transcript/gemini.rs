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
    Some(chats.iter().filter_map(|file| own(file)).any(|known| known == id))
}

pub(super) fn newest(ctx: &Ctx, situation: &Situation) -> Option<String> {
    let chats = chats(ctx, &real(&situation.path))?;
    chats.iter().find_map(|file| own(file))
}

/// The directory's chats, newest first, by the table in which Gemini keeps short names of
/// directories. `None` where there is no table.
fn chats(ctx: &Ctx, directory: &Path) -> Option<Vec<PathBuf>> {
    let home = ctx.env.absolute("GEMINI_CLI_HOME").unwrap_or_else(|| ctx.paths.home.clone()).join(".gemini");
    let table = files::json(&home.join("projects.json"))?;
    let mut projects = table.get("projects")?.as_object()?.iter();
    let short = projects.find(|(path, _)| files::is_directory(path, directory)).map(|(_, short)| short);
    let Some(short) = short.and_then(Value::as_str).filter(|short| is_session(short)) else {
        return Some(Vec::new());
    };
    let is_chat = |name: &str| name.starts_with("session-") && name.contains(".json");
    Some(files::newest_first(&home.join("tmp").join(short).join("chats"), is_chat))
}

/// The id of a chat that a person had.
fn own(file: &Path) -> Option<String> {
    let chat: Chat = match file.extension()?.to_str()? {
        "json" => serde_json::from_value(files::json(file)?).ok()?,
        _ => files::lines(file).next()?,
    };
    (chat.kind.as_str() != Some("subagent") && is_session(&chat.session)).then_some(chat.session)
}
