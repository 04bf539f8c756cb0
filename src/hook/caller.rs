//! Which process the client is that called this hook.

use crate::client;
use crate::ctx::Ctx;
use crate::lane::name;
use crate::proc::facts;

/// How far up the client is looked for: it runs a hook by a shell, perhaps by a wrapper.
const MAX_STEPS: usize = 4;

/// Linux keeps this much of a command's name.
const MAX_COMMAND: usize = 15;

/// The client's process, if it is certain. Only one that scruff descends from counts: a variable
/// may be inherited from another client, long gone.
pub(super) fn client(ctx: &Ctx) -> Option<u32> {
    let line = facts::line_of(std::process::id());
    let said = ctx.env.text("CLAUDE_PID").and_then(|pid| pid.parse().ok());
    if let Some(pid) = said.filter(|pid| *pid > 1 && line.contains(pid)) {
        return Some(pid);
    }
    let known = client::ids(ctx);
    let is_known = |command: &str| known.iter().any(|id| name::cut(id, MAX_COMMAND) == command);
    let mut above = line.into_iter().skip(1).take(MAX_STEPS).filter(|pid| *pid > 1);
    above.find(|pid| facts::of(*pid).is_some_and(|facts| is_known(&facts.command)))
}
