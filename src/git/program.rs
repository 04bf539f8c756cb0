//! The same facts as `facts`, asked of the `git` program: where libgit2 cannot open the
//! repository, and to confirm what deletes.

use std::io::ErrorKind;
use std::path::Path;

use super::command::{ask, line, run};
use super::repo::CommitLine;
use super::{Oid, facts};
use crate::error::{Error, Result};
use crate::proc::{Cmd, Output};

/// Questions to the program.
pub(super) struct Program<'a> {
    pub(super) read: Cmd,
    pub(super) common: &'a Path,
}

impl Program<'_> {
    fn cmd(&self, args: &[&str]) -> Cmd {
        self.read.clone().args(args)
    }

    fn cannot(&self, what: &str) -> String {
        format!("git cannot tell {what} of {}", self.common.display())
    }

    fn oid(&self, output: &Output, what: &str) -> Result<Oid> {
        let text = line(output);
        Oid::parse(&text).ok_or_else(|| Error::failed(format!("{}: it said {text:?}", self.cannot(what))))
    }

    /// What a reference points at, following symbolic ones. Its full name is never completed to
    /// another one, and a reference that is there and broken is an error, never "none".
    pub(super) fn ref_oid(&self, name: &str) -> Result<Option<Oid>> {
        if name == "HEAD" {
            let cmd = self.cmd(&["rev-parse", "--verify", "--quiet", name]);
            let output = ask(&cmd, || self.cannot(name))?;
            return output.map(|output| self.oid(&output, name)).transpose();
        }
        let listed = self.below(name)?.into_iter().find(|(listed, _)| listed == name);
        match listed {
            None if !self.is_surely_absent(name) => {
                Err(Error::failed(format!("{}: the reference is broken", self.cannot(name))))
            }
            listed => Ok(listed.map(|(_, oid)| oid)),
        }
    }

    /// git passes over a file that it cannot read or understand.
    fn is_surely_absent(&self, name: &str) -> bool {
        match std::fs::symlink_metadata(self.common.join(name)) {
            Ok(meta) => meta.is_dir(),
            Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        }
    }

    /// What a symbolic reference names, also when that does not exist.
    pub(super) fn symbolic(&self, name: &str) -> Result<Option<String>> {
        let output = ask(&self.cmd(&["symbolic-ref", "--quiet", name]), || self.cannot(name))?;
        Ok(output.map(|output| line(&output)))
    }

    pub(super) fn ahead_behind(&self, tip: &Oid, base: &Oid) -> Result<(usize, usize)> {
        let range = format!("{tip}...{base}");
        let cmd = self.cmd(&["rev-list", "--left-right", "--count", &range, "--"]);
        let text = line(&run(&cmd, || self.cannot("the distance"))?);
        let mut counts = text.split_whitespace().map(str::parse);
        match (counts.next(), counts.next()) {
            (Some(Ok(ahead)), Some(Ok(behind))) => Ok((ahead, behind)),
            _ => Err(Error::failed(format!("{}: it said {text:?}", self.cannot("the distance")))),
        }
    }

    pub(super) fn is_ancestor(&self, a: &Oid, b: &Oid) -> Result<bool> {
        let cmd = self.cmd(&["merge-base", "--is-ancestor", a.as_str(), b.as_str()]);
        Ok(ask(&cmd, || self.cannot("the ancestry"))?.is_some())
    }

    pub(super) fn merge_base(&self, a: &Oid, b: &Oid) -> Result<Option<Oid>> {
        let cmd = self.cmd(&["merge-base", a.as_str(), b.as_str()]);
        let output = ask(&cmd, || self.cannot("the merge base"))?;
        output.map(|output| self.oid(&output, "the merge base")).transpose()
    }

    pub(super) fn last_commit(&self, oid: &Oid) -> Result<CommitLine> {
        let format = "--format=%at%x00%ct%x00%s";
        let cmd = self.cmd(&["show", "-s", "--no-show-signature", format, oid.as_str(), "--"]);
        let output = run(&cmd, || self.cannot(oid.short()))?;
        let text = line(&output);
        let mut parts = text.splitn(3, '\0');
        let mut next = || parts.next().unwrap_or_default();
        let (author, commit) = (next().parse().unwrap_or(0), next().parse().unwrap_or(0));
        Ok(facts::commit_line(next().to_owned(), author, commit))
    }

    /// The references that are `prefix` or below it, by full name.
    pub(super) fn below(&self, prefix: &str) -> Result<Vec<(String, Oid)>> {
        let cmd = self.cmd(&["for-each-ref", "--format=%(objectname) %(refname)", prefix]);
        let output = run(&cmd, || self.cannot(prefix))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let pair = |line: &str| {
            let (oid, name) = line.split_once(' ')?;
            Some((name.to_owned(), Oid::parse(oid)?))
        };
        Ok(text.lines().filter_map(pair).collect())
    }
}
