//! Building calls of the `git` program: absolute path, clean environment, a limit.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ctx::Ctx;
use crate::env::Env;
use crate::error::{Error, Result};
use crate::proc::{Cmd, Failure, Output};

/// How long git may take unless a caller says otherwise.
const LIMIT: Duration = Duration::from_secs(30);

/// How long and how often to wait for a checkout that another git is making.
const NAP: Duration = Duration::from_millis(20);
const NAPS: usize = 100;

/// What `git rev-parse --local-env-vars` names, in this and older gits: where git looks instead of
/// in the directory it is given. A hook or an alias leaks these.
pub const LOCAL: [&str; 17] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_QUARANTINE_PATH",
];

/// What changes the meaning of our arguments or the text of reflogs.
const MEANING: [&str; 6] = [
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_REFLOG_ACTION",
    "GIT_NAMESPACE",
];

/// `git -C dir`, untranslated, in a clean environment, with a limit of 30 s.
pub fn command(ctx: &Ctx, dir: &Path) -> Result<Cmd> {
    Ok(Launcher::new(ctx)?.command(dir))
}

/// The same for a question: takes no optional lock, so it never gets in the way of the person.
pub fn read(ctx: &Ctx, dir: &Path) -> Result<Cmd> {
    Ok(Launcher::new(ctx)?.read(dir))
}

/// A call that runs the person's hooks and filters: their locale stays, because a hook may read
/// files in it; only git's own messages are untranslated.
pub(super) fn acting(ctx: &Ctx, dir: &Path) -> Result<Cmd> {
    let launcher = Launcher::new(ctx)?;
    Ok(launcher.bare_command(dir).env("LANGUAGE", "C"))
}

/// The program and its environment, for whoever outlives the [`Ctx`].
#[derive(Clone, Debug)]
pub(super) struct Launcher {
    program: PathBuf,
    env: Env,
}

impl Launcher {
    pub(super) fn new(ctx: &Ctx) -> Result<Self> {
        let mut env = ctx.env.clone();
        for name in LOCAL.iter().chain(&MEANING) {
            env.remove(name);
        }
        env.set("PATH", ctx.path());
        env.set("GIT_TERMINAL_PROMPT", "0");
        Ok(Launcher { program: ctx.need("git")?, env })
    }

    pub(super) fn command(&self, dir: &Path) -> Cmd {
        self.bare_command(dir).env("LC_ALL", "C").env_remove("LANGUAGE")
    }

    pub(super) fn read(&self, dir: &Path) -> Cmd {
        self.command(dir).env("GIT_OPTIONAL_LOCKS", "0")
    }

    fn bare_command(&self, dir: &Path) -> Cmd {
        Cmd::new(&self.program).env_exactly(&self.env).limit(LIMIT).arg("-C").arg(dir)
    }
}

/// Lets git wait for another git's lock on references; by itself it gives up after 0.1 s.
pub(super) fn waiting(cmd: Cmd) -> Cmd {
    ["core.filesRefLockTimeout=5000", "core.packedRefsTimeout=5000", "reftable.lockTimeout=5000"]
        .into_iter()
        .fold(cmd, |cmd, setting| cmd.args(["-c", setting]))
}

/// Runs a call that looks at all checkouts. While another git makes one, such a call may read its
/// files half-written and die of it; that passes.
pub(super) fn run_beside_others(cmd: &Cmd) -> Result<Output, Failure> {
    let mut naps = NAPS;
    loop {
        let output = cmd.run()?;
        let complaint = if output.ok() { String::new() } else { complaint(&output) };
        if naps == 0 || !is_half_read(&complaint) {
            return Ok(output);
        }
        naps -= 1;
        std::thread::sleep(NAP);
    }
}

fn is_half_read(complaint: &str) -> bool {
    complaint.contains("worktrees/") && complaint.contains("failed to read")
}

/// Runs a call that must end with 0. `what` is what was being done, as in "git cannot read x".
pub(super) fn run(cmd: &Cmd, what: impl Fn() -> String) -> Result<Output> {
    let output = cmd.run().map_err(|failure| failed(&what(), failure))?;
    if output.ok() { Ok(output) } else { Err(complained(&what(), &output)) }
}

/// Runs a call whose status 1 means "no": `None`.
pub(super) fn ask(cmd: &Cmd, what: impl Fn() -> String) -> Result<Option<Output>> {
    let output = cmd.run().map_err(|failure| failed(&what(), failure))?;
    match output.status.code() {
        Some(0) => Ok(Some(output)),
        Some(1) => Ok(None),
        _ => Err(complained(&what(), &output)),
    }
}

/// The error for a git that gave no status.
pub(super) fn failed(what: &str, failure: Failure) -> Error {
    match failure {
        Failure::TimedOut(limit) => {
            let limit = limit.as_secs();
            Error::failed(format!("{what}: git gave no answer within {limit} s and was stopped"))
                .hint("look for a hook, a filter or a slow disk that holds it up")
        }
        other => Error::failed(what).caused_by(other),
    }
}

/// The error for a git that ended with a complaint.
pub(super) fn complained(what: &str, output: &Output) -> Error {
    let complaint = complaint(output);
    let error = Error::failed(format!("{what}: {complaint}"));
    if is_ownership(&complaint) {
        return error
            .hint("the repository belongs to another user; if you trust it, add it to safe.directory");
    }
    error
}

/// What git says when it will not touch another user's repository.
pub(super) fn is_ownership(complaint: &str) -> bool {
    complaint.contains("dubious ownership") || complaint.contains("unsafe repository")
}

/// The line of standard error that says why: git puts advice after it.
pub(super) fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let told = ["fatal: ", "error: "].iter().find_map(|mark| {
        text.lines().find_map(|line| line.strip_prefix(mark).map(|line| line.trim().to_owned()))
    });
    told.unwrap_or_else(|| output.complaint())
}

/// The first line of standard output as text.
pub(super) fn line(output: &Output) -> String {
    let line = output.stdout.split(|byte| *byte == b'\n').next().unwrap_or_default();
    String::from_utf8_lossy(line).into_owned()
}
