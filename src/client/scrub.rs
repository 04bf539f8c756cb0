//! The environment of a new pane: the caller's, less what belongs to the caller's place.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::env::Env;
use crate::git;
use crate::seam;

/// What clients tell the programs that they start. A client that inherits another's marks takes
/// itself for a part of it: Claude then keeps no transcript. What a user sets for good, such as
/// `CLAUDE_CONFIG_DIR` or `CLAUDE_CODE_USE_BEDROCK`, stays.
const CLIENTS: [&str; 20] = [
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_*",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_MESSAGING_*",
    "CLAUDE_CODE_SESSION_*",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PLUGIN_*",
    "CLAUDE_PROJECT_DIR",
    "CODEX_THREAD_ID",
    "GEMINI_CWD",
    "GEMINI_PLANS_DIR",
    "GEMINI_PROJECT_DIR",
    "GEMINI_SESSION_ID",
    "OPENCODE",
    "OPENCODE_PID",
];

/// The pane, and the directory, that the caller is in.
const PLACE: [&str; 5] = ["OLDPWD", "PWD", "TMUX*", "WEZTERM_*", "_"];

/// What scruff tells event scripts, and the override that is meant for one call.
const SCRUFF: [&str; 22] = [
    "SCRUFF_AGENT",
    "SCRUFF_ASK_SOCK",
    "SCRUFF_BASE_BRANCH",
    "SCRUFF_BIN",
    "SCRUFF_BRANCH",
    "SCRUFF_CLIENT_TTY",
    "SCRUFF_EVENT",
    "SCRUFF_EXEC",
    "SCRUFF_LANE_ID",
    "SCRUFF_PANE",
    "SCRUFF_PROJECT_DIR",
    "SCRUFF_SESSION_ID",
    "SCRUFF_SESSION_WORKTREE",
    "SCRUFF_START_POINT",
    "SCRUFF_TRIAL_WORKTREE",
    "SCRUFF_TURN_ID",
    "SCRUFF_WORKFLOW",
    "SCRUFF_WORKFLOW_RUN_ID",
    "SCRUFF_WORKFLOW_STATUS",
    "SCRUFF_WORKTREE",
    "SPWN_*",
    "XDG_ACTIVATION_TOKEN",
];

/// Where tmux keeps its sockets is the user's choice, not a place.
const KEPT: &str = "TMUX_TMPDIR";

/// What a pane that scruff opens gets of its caller's environment.
pub fn scrubbed(env: &Env) -> Env {
    let seams = seam::VARIABLES.map(|(variable, _)| variable);
    let tables: [&[&str]; 5] = [&git::LOCAL, &CLIENTS, &PLACE, &SCRUFF, &seams];
    let mut env = env.clone();
    // Claude puts this editor into its shells, where it makes every commit without a message fail.
    if env.has("CLAUDECODE") && env.get("GIT_EDITOR") == Some(OsStr::new("true")) {
        env.remove("GIT_EDITOR");
    }
    env.retain(|name| name == KEPT || !tables.iter().any(|table| matches_any(name, table.iter().copied())));
    env
}

/// Whether a name is one of the patterns: a name, or the beginning of one and `*`.
pub(super) fn matches_any<'a>(name: &OsStr, mut patterns: impl Iterator<Item = &'a str>) -> bool {
    let name = name.as_bytes();
    patterns.any(|pattern| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start.as_bytes()),
        None => name == pattern.as_bytes(),
    })
}
