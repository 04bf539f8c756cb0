//! What a program that acts for a lane is told: seams and client templates use the same words.

use std::ffi::OsString;
use std::path::PathBuf;

use super::Lane;
use crate::ctx::Ctx;
use crate::git::Repo;

/// What there is of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A branch and a checkout.
    Live,
    /// A branch and no checkout.
    Parked,
    /// A directory under the base that git no longer knows.
    Stray,
}

impl State {
    /// The word of the contract.
    pub fn word(self) -> &'static str {
        match self {
            State::Live => "live",
            State::Parked => "parked",
            State::Stray => "stray",
        }
    }
}

/// The facts of one lane.
#[derive(Clone, Debug)]
pub struct Situation {
    /// The checkout.
    pub path: PathBuf,
    /// The main checkout.
    pub main: PathBuf,
    /// `owner/name`, or `local/<basename>`.
    pub repo: String,
    /// The lane's name.
    pub name: String,
    /// The full branch name.
    pub branch: String,
    /// The default branch.
    pub base: String,
    /// The directory that spawned it, or empty.
    pub parent: PathBuf,
    /// Where scruff was called.
    pub cwd: PathBuf,
    /// The client recorded for the lane.
    pub agent: String,
    /// What there is of it.
    pub state: State,
    /// Where the conversation lives.
    pub chat: PathBuf,
}

impl Situation {
    /// The facts of a lane in its repository.
    pub fn of(ctx: &Ctx, lane: &Lane, repo: &Repo, state: State) -> Self {
        let base = lane.record.base.clone().or_else(|| repo.default_branch().map(|default| default.name));
        Situation {
            path: lane.row.path.clone(),
            main: lane.row.main.clone(),
            repo: repo.slug(),
            name: lane.row.name.clone(),
            branch: lane.row.branch.clone(),
            base: base.unwrap_or_default(),
            parent: lane.row.parent.clone(),
            cwd: ctx.cwd.clone(),
            agent: lane.row.client.clone(),
            state,
            chat: lane.chat(),
        }
    }

    /// Every fact with its key, in the order of the documentation.
    pub fn facts(&self) -> Vec<(&'static str, OsString)> {
        vec![
            ("path", self.path.clone().into()),
            ("main", self.main.clone().into()),
            ("repo", self.repo.clone().into()),
            ("name", self.name.clone().into()),
            ("branch", self.branch.clone().into()),
            ("base", self.base.clone().into()),
            ("parent", self.parent.clone().into()),
            ("cwd", self.cwd.clone().into()),
            ("agent", self.agent.clone().into()),
            ("state", self.state.word().into()),
            ("chat", self.chat.clone().into()),
        ]
    }
}
