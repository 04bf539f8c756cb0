//! Asking programs, many at the same time, with limits.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::adapter::{Adapter, Keys};
use super::{Asked, cache};
use crate::ctx::Ctx;
use crate::proc::{self, Cmd, Failure, Output};
use crate::ui;

/// How long a question may take.
const LIMIT: Duration = Duration::from_secs(6);

/// How much an answer may be, in bytes.
const MAX_ANSWER: usize = 8 << 20;

/// How many programs run at the same time.
const AT_ONCE: usize = 8;

/// How much of a complaint is passed on, in characters.
const MAX_COMPLAINT: usize = 200;

/// A question about to be asked.
pub(super) struct Question {
    pub(super) cmd: Cmd,
    argv: Vec<OsString>,
    keys: Keys,
}

impl Question {
    /// Puts the program's call together: it may ask nobody for anything, and looks at no
    /// directory but the one it is given.
    pub(super) fn new(ctx: &Ctx, program: &Path, argv: Vec<OsString>, adapter: &Adapter) -> Self {
        let mut cmd = Cmd::new(program).args(argv.iter().skip(1));
        cmd = cmd.env_exactly(&ctx.env).env("PATH", ctx.path());
        for name in crate::git::LOCAL {
            cmd = cmd.env_remove(name);
        }
        for (name, value) in &adapter.env {
            cmd = if value.is_empty() { cmd.env_remove(name) } else { cmd.env(name, value) };
        }
        let cmd = cmd.cwd("/").limit(LIMIT).max_output(MAX_ANSWER);
        Question { cmd, argv, keys: adapter.keys.clone() }
    }
}

/// How an answer becomes a value.
pub(super) type Read<T> = fn(&[u8], &Keys) -> Result<T, String>;

/// Asks on behalf of one call. It remembers which program has timed out, so that a dead network
/// is waited for once.
pub(super) struct Asker<'a> {
    ctx: &'a Ctx,
    silent: RefCell<BTreeMap<OsString, String>>,
    left: Cell<Option<Duration>>,
}

impl<'a> Asker<'a> {
    pub(super) fn new(ctx: &'a Ctx, limit: Option<Duration>) -> Self {
        Asker { ctx, silent: RefCell::default(), left: Cell::new(limit) }
    }

    pub(super) fn ask<T>(&self, question: Asked<Question>, read: Read<T>) -> Asked<T> {
        let nothing = || Asked::Unknown("nothing was asked".to_owned());
        self.ask_all(vec![question], read).pop().unwrap_or_else(nothing)
    }

    /// Asks what neither a kept answer nor an earlier silence settles, all at the same time.
    pub(super) fn ask_all<T>(&self, questions: Vec<Asked<Question>>, read: Read<T>) -> Vec<Asked<T>> {
        let settled: Vec<Result<Asked<T>, Box<Question>>> =
            questions.into_iter().map(|question| self.settle(question, read)).collect();
        let open = settled.iter().filter_map(|one| one.as_ref().err());
        let cmds: Vec<Cmd> = open.map(|question| question.cmd.clone()).collect();
        let mut outputs = self.run(&cmds).into_iter();
        let mut take = |question: Box<Question>| match outputs.next() {
            Some(output) => self.take(&question, output, read),
            None => Asked::Unknown("nothing was asked".to_owned()),
        };
        settled.into_iter().map(|one| one.unwrap_or_else(&mut take)).collect()
    }

    /// `Err`: it has to be asked.
    fn settle<T>(&self, question: Asked<Question>, read: Read<T>) -> Result<Asked<T>, Box<Question>> {
        let question = match question {
            Asked::Known(question) => question,
            Asked::NoForge(why) => return Ok(Asked::NoForge(why)),
            Asked::Unknown(why) => return Ok(Asked::Unknown(why)),
        };
        let kept = cache::get(self.ctx, &question.argv).and_then(|bytes| read(&bytes, &question.keys).ok());
        if let Some(answer) = kept {
            return Ok(Asked::Known(answer));
        }
        if let Some(why) =
            question.argv.first().and_then(|program| self.silent.borrow().get(program).cloned())
        {
            return Ok(Asked::Unknown(why));
        }
        match self.left.get() {
            Some(Duration::ZERO) => Ok(Asked::Unknown("there was no time left to ask".to_owned())),
            _ => Err(Box::new(question)),
        }
    }

    fn run(&self, cmds: &[Cmd]) -> Vec<Result<Output, Failure>> {
        let begun = Instant::now();
        let outputs = at_once(cmds, self.left.get());
        self.left.set(self.left.get().map(|left| left.saturating_sub(begun.elapsed())));
        outputs
    }

    fn take<T>(&self, question: &Question, output: Result<Output, Failure>, read: Read<T>) -> Asked<T> {
        let program = question.argv.first().cloned().unwrap_or_default();
        let why = match output
            .map_err(|failure| (matches!(failure, Failure::TimedOut(_)), failure.to_string()))
        {
            Ok(output) if !output.ok() => complaint(&output),
            Ok(output) if output.stdout.len() >= MAX_ANSWER => "the answer is longer than 8 MiB".to_owned(),
            Ok(output) => match read(&output.stdout, &question.keys) {
                Ok(answer) => {
                    cache::put(self.ctx, &question.argv, &output.stdout);
                    return Asked::Known(answer);
                }
                Err(why) => why,
            },
            Err((timed_out, why)) => {
                let why = format!("{}: {why}", program.display());
                if timed_out {
                    self.silent.borrow_mut().insert(program, why.clone());
                }
                return Asked::Unknown(why);
            }
        };
        Asked::Unknown(format!("{}: {why}", program.display()))
    }
}

/// Runs programs at the same time, a few at once, each for as long as it may and all of them for
/// as long as is left.
fn at_once(cmds: &[Cmd], left: Option<Duration>) -> Vec<Result<Output, Failure>> {
    let deadline = left.map(|left| Instant::now() + left);
    let run = |cmd: &Cmd| {
        let Some(deadline) = deadline else { return cmd.run() };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(Failure::TimedOut(left)) } else { cmd.clone().limit(left.min(LIMIT)).run() }
    };
    if let [cmd] = cmds {
        return vec![run(cmd)];
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    let work = || {
        while let Some((index, cmd)) = cmds.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed)) {
            let output = run(cmd);
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(index, output);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..cmds.len().min(AT_ONCE) {
            scope.spawn(work);
        }
    });
    done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).into_values().collect()
}

/// The first line of what a failed program says, which names the cause; hints follow it.
pub(super) fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.map_or_else(|| proc::describe(output.status), ui::plain);
    line.chars().take(MAX_COMPLAINT).collect()
}
