//! OpenCode keeps a database, and lists what is in it.

use std::time::Duration;

use serde::Deserialize;

use super::{Newest, files};
use crate::client::launch::{is_session, real};
use crate::client::scrub::scrubbed;
use crate::ctx::Ctx;
use crate::lane::Situation;
use crate::proc::Cmd;

/// How long it may take: its start alone costs some three seconds of computing, on a machine that
/// may be busy with other agents. Giving up means a fresh session.
const LIMIT: Duration = Duration::from_secs(20);

/// The most of its list that is read, in bytes.
const MAX_LIST: usize = 16 << 20;

/// Sessions asked for: those of all checkouts of the repository come in one list.
const SESSIONS: &str = "2000";

#[derive(Deserialize)]
struct Session {
    id: String,
    directory: String,
    #[serde(default)]
    updated: f64,
}

pub(super) fn newest(ctx: &Ctx, situation: &Situation, program: &str) -> Newest {
    let lane = real(&situation.path);
    let Some(program) = ctx.find(program) else {
        return Newest::Unknown(format!("{program} is not on PATH"));
    };
    let cmd = Cmd::new(program)
        .args(["session", "list", "--format", "json", "--max-count", SESSIONS])
        .cwd(&lane)
        .env_exactly(&scrubbed(&ctx.env))
        .limit(LIMIT)
        .max_output(MAX_LIST);
    let output = match cmd.run() {
        Ok(output) if output.ok() => output.stdout,
        Ok(output) => return Newest::Unknown(output.complaint()),
        Err(failure) => return Newest::Unknown(failure.to_string()),
    };
    // It prints nothing where there is nothing.
    if output.trim_ascii().is_empty() {
        return Newest::Nothing;
    }
    let Ok(list) = serde_json::from_slice::<Vec<Session>>(&output) else {
        return Newest::Unknown("its list is not understood".to_owned());
    };
    let own = list.into_iter().filter(|session| files::is_directory(&session.directory, &lane));
    let newest = own.max_by(|one, other| one.updated.total_cmp(&other.updated));
    newest.map(|session| session.id).filter(|id| is_session(id)).into()
}
