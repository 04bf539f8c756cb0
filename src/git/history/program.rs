//! These facts from the `git` program.

use super::patch::Toucher;
use super::{Commit, Patch, Step, Touched, reverts};
use crate::error::{Error, Result};
use crate::git::Oid;
use crate::git::command::{ask, run};
use crate::git::program::Program;
use crate::proc::Cmd;

/// What one answer may be, in bytes. A larger one is asked for in parts.
const MAX_ANSWER: usize = 64 << 20;

/// How every comparison is made, whatever is configured.
const PLAIN: [&str; 8] = [
    "--no-renames",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--ignore-submodules=none",
    "--root",
    "--always",
];

/// How patches are made: so that equal ones are equal texts.
const PATCH: [&str; 12] = [
    "-p",
    "--binary",
    "--full-index",
    "--submodule=short",
    "--diff-algorithm=myers",
    "--no-indent-heuristic",
    "--unified=3",
    "--inter-hunk-context=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--encoding=UTF-8",
    "--format=%x00%H",
];

impl Program<'_> {
    /// git that believes neither replacements nor grafts.
    pub(super) fn plain(&self) -> Cmd {
        self.read.clone().env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_GRAFT_FILE", "/dev/null")
    }

    pub(super) fn unable(&self, what: &str) -> String {
        format!("git cannot tell {what} in {}", self.common.display())
    }

    pub(super) fn is_held(&self, tip: &Oid, base: &Oid) -> Result<bool> {
        Ok(self.only_in(tip, &[base], 0)?.is_some())
    }

    pub(super) fn knows(&self, commit: &Oid) -> Result<bool> {
        let object = format!("{commit}^{{commit}}");
        let cmd = self.plain().args(["rev-parse", "--verify", "--quiet", "--end-of-options", &object]);
        Ok(ask(&cmd, || self.unable("whether a commit is there"))?.is_some())
    }

    pub(super) fn only_in(&self, tip: &Oid, without: &[&Oid], max: usize) -> Result<Option<Vec<Commit>>> {
        let count = format!("--max-count={}", max.saturating_add(1));
        let cmd = self.plain().args([
            "rev-list",
            "--topo-order",
            &count,
            "--encoding=UTF-8",
            "--format=%x00%H %P%x00%B",
        ]);
        let cmd = cmd.arg(tip.as_str()).args(without.iter().map(|oid| format!("^{oid}"))).arg("--");
        let output = run(&cmd.max_output(MAX_ANSWER), || self.unable("what a branch holds"))?;
        let bad =
            || Error::failed(format!("{}: the answer makes no sense", self.unable("what a branch holds")));
        let mut parts = output.stdout.split(|byte| *byte == 0);
        let mut commits = Vec::new();
        // Before the first mark there is a line that says the same.
        parts.next();
        while let Some(names) = parts.next() {
            let names = String::from_utf8_lossy(names);
            let names: Option<Vec<Oid>> = names.split_whitespace().map(Oid::parse).collect();
            let mut names = names.ok_or_else(bad)?.into_iter();
            let message = String::from_utf8_lossy(parts.next().ok_or_else(bad)?).into_owned();
            let oid = names.next().ok_or_else(bad)?;
            commits.push(Commit { oid, parents: names.collect(), reverts: reverts(&message) });
        }
        let whole = output.stdout.len() < MAX_ANSWER && commits.len() <= max;
        Ok(whole.then_some(commits))
    }

    pub(super) fn touched(&self, steps: &[Step]) -> Result<Vec<Touched>> {
        let Some(answer) = self.compare(&["--raw", "-r", "-z", "--no-abbrev"], steps)? else {
            let (first, second) = self.halves(steps, "what a commit touches")?;
            return Ok([self.touched(first)?, self.touched(second)?].concat());
        };
        let mut touched: Vec<Toucher> = Vec::new();
        let mut parts = answer.split(|byte| *byte == 0);
        while let Some(part) = parts.next().filter(|part| !part.is_empty()) {
            match (part.strip_prefix(b":"), touched.last_mut()) {
                (None, _) => touched.push(Toucher::default()),
                (Some(modes), Some(last)) => {
                    let (before, after) = two_modes(modes).unwrap_or_default();
                    last.add(parts.next().unwrap_or_default(), before, after);
                }
                (Some(_), None) => {}
            }
        }
        self.all(touched.into_iter().map(Toucher::end).collect(), steps)
    }

    pub(super) fn patches(&self, steps: &[Step]) -> Result<Vec<Option<Patch>>> {
        let Some(answer) = self.compare(&PATCH, steps)? else {
            if steps.len() == 1 {
                return Ok(vec![None]);
            }
            let (first, second) = self.halves(steps, "a patch")?;
            return Ok([self.patches(first)?, self.patches(second)?].concat());
        };
        self.all(texts(&answer).into_iter().map(Patch::of).map(Some).collect(), steps)
    }

    /// Compares both ends of each step, all in one process. `None`: the answer is too large.
    fn compare(&self, how: &[&str], steps: &[Step]) -> Result<Option<Vec<u8>>> {
        if steps.is_empty() {
            return Ok(Some(Vec::new()));
        }
        // "commit parent": the parent that is named counts, whatever the commit's own is.
        let input: String = steps.iter().map(|step| format!("{} {}\n", step.to, step.from)).collect();
        let cmd = self.plain().args(["diff-tree", "--stdin"]).args(PLAIN).args(how);
        let output = run(&cmd.input(input).max_output(MAX_ANSWER), || self.unable("what a commit changes"))?;
        Ok((output.stdout.len() < MAX_ANSWER).then_some(output.stdout))
    }

    fn halves<'s>(&self, steps: &'s [Step], what: &str) -> Result<(&'s [Step], &'s [Step])> {
        match steps.len() {
            0 | 1 => Err(Error::failed(format!("{}: there is too much of it", self.unable(what)))),
            count => Ok(steps.split_at(count / 2)),
        }
    }

    /// One answer a step, or the answer is none.
    fn all<T>(&self, answers: Vec<T>, steps: &[Step]) -> Result<Vec<T>> {
        if answers.len() == steps.len() {
            return Ok(answers);
        }
        let what = self.unable("what a commit changes");
        Err(Error::failed(format!("{what}: asked for {}, answered {}", steps.len(), answers.len())))
    }
}

/// `100644 100755 …`.
fn two_modes(text: &[u8]) -> Option<(u32, u32)> {
    let text = std::str::from_utf8(text).ok()?;
    let mut modes = text.split(' ').map(|mode| u32::from_str_radix(mode, 8).ok());
    Some((modes.next()??, modes.next()??))
}

/// The patches of an answer. A line that begins with a null begins the next one: every line of a
/// patch has another mark in front.
fn texts(answer: &[u8]) -> Vec<&[u8]> {
    let is_start = |at: &usize| answer[*at] == 0 && (*at == 0 || answer[at - 1] == b'\n');
    let starts: Vec<usize> = (0..answer.len()).filter(is_start).collect();
    let ends = starts.iter().skip(1).copied().chain([answer.len()]);
    let text = |(start, end): (&usize, usize)| {
        let record = &answer[*start..end];
        let name = record.iter().position(|byte| *byte == b'\n').map_or(record.len(), |at| at + 1);
        &record[name..]
    };
    starts.iter().zip(ends).map(text).collect()
}
