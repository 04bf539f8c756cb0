//! Asking a client what its conversations do, where it can be asked.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::adapter;
use crate::ctx::Ctx;
use crate::paths;
use crate::proc::Cmd;

/// How long a client may take.
const LIMIT: Duration = Duration::from_secs(1);

/// How long its answer is believed.
const MEMORY: Duration = Duration::from_secs(5);

/// An answer larger than this is none, in bytes.
const MAX_ANSWER: usize = 1 << 20;

/// What a conversation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It waits for its user's answer.
    Waiting,
    /// It works.
    Busy,
    /// It rests.
    #[serde(alias = "shell")]
    Idle,
}

/// What a conversation does by its client's own word. `None`: the client can't be asked, doesn't
/// answer, or doesn't know.
pub fn status(ctx: &Ctx, client: &str, session: &str) -> Option<Status> {
    let argv = adapter(ctx, client).ok()?.status;
    let (program, args) = argv.split_first()?;
    let memory = ctx.paths.state.join("cache").join(format!("status-{client}.json"));
    if let Some(known) = remembered(&memory) {
        return known.get(session).copied();
    }
    let program = ctx.find(program)?;
    let known = ask(&Cmd::new(program).args(args).env_exactly(&ctx.env).cwd(&ctx.paths.home));
    // Also that it does not answer is remembered: a listing asks for every lane.
    if let Ok(text) = serde_json::to_vec(&known) {
        let _ = paths::write_cache(&memory, &text);
    }
    known.get(session).copied()
}

type Known = BTreeMap<String, Status>;

fn remembered(memory: &Path) -> Option<Known> {
    let age = memory.metadata().ok()?.modified().ok()?.elapsed().ok()?;
    (age < MEMORY)
        .then(|| std::fs::read(memory).ok())
        .flatten()
        .and_then(|text| serde_json::from_slice(&text).ok())
}

fn ask(cmd: &Cmd) -> Known {
    match cmd.clone().limit(LIMIT).max_output(MAX_ANSWER).run() {
        Ok(output) if output.ok() => parse(&output.stdout),
        Ok(output) => {
            tracing::info!(complaint = output.complaint(), "a client does not say what it does");
            Known::new()
        }
        Err(failure) => {
            tracing::info!(%failure, "a client does not say what it does");
            Known::new()
        }
    }
}

/// An array of objects with at least `sessionId` and `status`. Nothing else is kept of it.
fn parse(answer: &[u8]) -> Known {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Agent {
        session_id: String,
        status: Status,
    }
    let list: Vec<serde_json::Value> = serde_json::from_slice(answer).unwrap_or_default();
    let agents = list.into_iter().filter_map(|value| serde_json::from_value::<Agent>(value).ok());
    agents.map(|agent| (agent.session_id, agent.status)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_not_known() {
        let answer = br#"[{"pid":1,"sessionId":"a","name":"x","status":"waiting","waitingFor":"permission prompt"},
            {"sessionId":"b","status":"shell"},{"sessionId":"c","status":"busy"},{"sessionId":"d","status":"new"},
            {"sessionId":"e"},{"status":"idle"},3,null]"#;
        let expected = [("a", Status::Waiting), ("b", Status::Idle), ("c", Status::Busy)];
        assert_eq!(parse(answer), expected.map(|(id, status)| (id.to_owned(), status)).into());
        for nonsense in [&b""[..], b"{}", b"claude is here\n> ", b"null"] {
            assert!(parse(nonsense).is_empty());
        }
    }
}
