//! The environment of a new pane: the caller's, less what belongs to the caller's place.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::env::Env;
use crate::git;
use crate::seam;

/// What clients tell the programs that they start. A client that inherits another's marks takes
/// itself for a part of it: Claude then keeps no transcript. What a user sets for good, such as
/// `CLAUDE_CONFIG_DIR` or `CLAUDE_CODE_USE_BEDROCK`, stays.
const CLIENTS: [&str; 34] = [
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
    "CODEX_CI",
    "CODEX_MANAGED_*",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_TOOL_CALL_ID",
    "CODEX_VERSION",
    "GEMINI_CLI",
    "GEMINI_CLI_NO_RELAUNCH",
    "GEMINI_CWD",
    "GEMINI_PLANS_DIR",
    "GEMINI_PROJECT_DIR",
    "GEMINI_SESSION_ID",
    "GIT_CONFIG_KEY_*",
    "GIT_CONFIG_VALUE_*",
    "OPENCODE",
    "OPENCODE_PID",
    "PI_CODING_AGENT",
    "PI_MODEL",
    "PI_PROVIDER",
    "PI_REASONING_LEVEL",
    "PI_SESSION_*",
];

/// How clients tame the programs that they start: the client's mark, the variable and its value.
/// A person's own pane would lose its pager, its colours, even its git configuration by these.
const TAMED: [(&str, &str, &str); 19] = [
    ("CLAUDECODE", "GIT_EDITOR", "true"),
    ("CODEX_CI", "GH_PAGER", "cat"),
    ("CODEX_CI", "GIT_PAGER", "cat"),
    ("CODEX_CI", "NO_COLOR", "1"),
    ("CODEX_CI", "PAGER", "cat"),
    ("GEMINI_CLI", "DBUS_SESSION_BUS_ADDRESS", ""),
    ("GEMINI_CLI", "DISPLAY", ""),
    ("GEMINI_CLI", "GCM_INTERACTIVE", "never"),
    ("GEMINI_CLI", "GH_PROMPT_DISABLED", "1"),
    ("GEMINI_CLI", "GIT_ASKPASS", ""),
    ("GEMINI_CLI", "GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GEMINI_CLI", "GIT_CONFIG_NOSYSTEM", "1"),
    ("GEMINI_CLI", "GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GEMINI_CLI", "GIT_PAGER", "cat"),
    ("GEMINI_CLI", "GIT_TERMINAL_PROMPT", "0"),
    ("GEMINI_CLI", "PAGER", "cat"),
    ("GEMINI_CLI", "SSH_ASKPASS", ""),
    ("OPENCODE", "AGENT", "1"),
    ("PI_CODING_AGENT", "PI_SKIP_VERSION_CHECK", "1"),
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
    let tamed = |name: &OsStr| TAMED.iter().any(|row| name == row.1 && is_tamed(env, *row));
    let mut left = env.clone();
    left.retain(|name| {
        let placed = tables.iter().any(|table| matches_any(name, table.iter().copied()));
        name == KEPT || !(placed || tamed(name))
    });
    left
}

/// Whether the client has been here, and this is still the value that it set.
fn is_tamed(env: &Env, (mark, name, value): (&str, &str, &str)) -> bool {
    env.has(mark) && env.iter().any(|pair| pair == (OsStr::new(name), OsStr::new(value)))
}

/// Whether a name is one of the patterns: a name, or the beginning of one and `*`.
pub(super) fn matches_any<'a>(name: &OsStr, mut patterns: impl Iterator<Item = &'a str>) -> bool {
    let name = name.as_bytes();
    patterns.any(|pattern| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start.as_bytes()),
        None => name == pattern.as_bytes(),
    })
}
