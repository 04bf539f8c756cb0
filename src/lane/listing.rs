//! What there is to see of every lane: the one view that list, JSON, picker and status share.

use std::collections::HashMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

use super::resolve::Known;
use super::{Lane, State, find, rebuild};
use crate::activity;
use crate::ctx::Ctx;
use crate::error::Result;
use crate::forge;
use crate::git::{Oid, Repo};
use crate::landed::{PostMerge, Verdict};
use crate::mux::{self, PaneSeen};
use crate::occupancy::Occupant;
use crate::paths::json_bytes;
use crate::registry::Table;

/// One lane as it is shown. `None` means "not determined", never "no".
#[derive(Debug, Serialize)]
pub struct View {
    /// The lane's name.
    pub name: String,
    /// `owner/name`, or `local/<basename>`.
    pub repo: String,
    /// The main checkout.
    #[serde(with = "json_bytes")]
    pub main: PathBuf,
    /// The branch.
    pub branch: String,
    /// The branch it was cut from, or the default branch.
    pub base: Option<String>,
    /// The checkout; empty when parked.
    #[serde(with = "json_bytes")]
    pub path: PathBuf,
    /// The directory that spawned it, or empty.
    #[serde(with = "json_bytes")]
    pub parent: PathBuf,
    /// Where the conversation lives.
    #[serde(with = "json_bytes")]
    pub chat: PathBuf,
    /// The client.
    pub agent: String,
    /// live, parked or stray; `None` when its repository cannot be asked.
    pub state: Option<&'static str>,
    /// Whether somebody stands in the checkout.
    pub occupied: Option<bool>,
    /// Who stands there; absent when nobody does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub occupied_by: Vec<Occupant>,
    /// Whether the checkout holds uncommitted work.
    pub dirty: Option<bool>,
    /// Commits that the base does not have.
    pub ahead: Option<usize>,
    /// Commits of the base that the lane does not have.
    pub behind: Option<usize>,
    /// Whether the work is in the default branch.
    pub landed: Option<LandedView>,
    /// What came after the merge.
    pub post_merge_ahead: Option<PostMerge>,
    /// The newest pull request.
    pub pr: Option<PrView>,
    /// The subject of the newest commit.
    pub last_commit: Option<String>,
    /// When the lane was made.
    pub created: Option<Timestamp>,
    /// What the client is doing.
    pub activity: Option<ActivityView>,
    /// The pane it runs in.
    pub pane: Option<PaneSeen>,
    /// When the newest commit was made.
    #[serde(skip)]
    pub committed: Option<Timestamp>,
    /// The lane itself.
    #[serde(skip)]
    pub lane: Lane,
}

/// What a lane's client is doing.
#[derive(Debug, Serialize)]
pub struct ActivityView {
    /// working, waiting or done.
    pub state: &'static str,
    /// Since when.
    pub since: Option<Timestamp>,
}

/// The verdict on a lane's work.
#[derive(Debug, Serialize)]
pub struct LandedView {
    /// yes, no, fresh or contained.
    pub verdict: Verdict,
    /// The rung that answered.
    pub via: Option<String>,
    /// How sure it is.
    pub confidence: String,
}

/// A pull request as it is listed.
#[derive(Debug, Serialize)]
pub struct PrView {
    /// Its number.
    pub number: u64,
    /// OPEN, MERGED or CLOSED.
    pub state: forge::State,
    /// Where to look at it.
    pub url: String,
    /// How its checks are.
    pub checks: Option<forge::Checks>,
}

/// Every lane, in the registry's order.
pub fn views(ctx: &Ctx, table: &Table) -> Vec<View> {
    let known = find::known(ctx, table);
    let mut repos: HashMap<PathBuf, Option<Repo>> = HashMap::new();
    let mut panes = mux::seen(ctx, known.iter().map(|known| known.lane.id()));
    let views = known.into_iter().map(|known| {
        let main = &known.lane.row.main;
        let repo = repos.entry(main.clone()).or_insert_with(|| reached(ctx, main));
        let pane = panes.remove(known.lane.id());
        view(ctx, known, repo.as_ref(), pane)
    });
    views.collect()
}

fn reached(ctx: &Ctx, main: &std::path::Path) -> Option<Repo> {
    match Repo::at_main(ctx, main) {
        Ok(repo) => Some(repo),
        Err(error) => {
            ctx.ui.warn(format!("{}: {error}; its lanes are kept as they are", main.display()));
            None
        }
    }
}

fn view(ctx: &Ctx, known: Known, repo: Option<&Repo>, pane: Option<PaneSeen>) -> View {
    let Known { lane, slug, .. } = known;
    let state = repo.and_then(|repo| rebuild::state(ctx, repo, &lane).ok());
    let facts = repo.and_then(|repo| facts(repo, &lane).ok().flatten());
    let counts = facts.as_ref().and_then(|facts| facts.counts);
    let base = lane.record.base.clone().or_else(|| repo?.default_branch().map(|base| base.name));
    View {
        name: lane.row.name.clone(),
        repo: slug,
        main: lane.row.main.clone(),
        branch: lane.row.branch.clone(),
        base,
        path: if state == Some(State::Parked) { PathBuf::new() } else { lane.row.path.clone() },
        parent: lane.row.parent.clone(),
        chat: lane.chat(),
        agent: lane.row.client.clone(),
        state: state.map(State::word),
        occupied: None,
        occupied_by: Vec::new(),
        dirty: None,
        ahead: counts.map(|counts| counts.0),
        behind: counts.map(|counts| counts.1),
        landed: None,
        post_merge_ahead: None,
        pr: None,
        last_commit: facts.as_ref().map(|facts| facts.subject.clone()),
        created: lane.record.created,
        activity: doing(ctx, &lane),
        pane,
        committed: facts.and_then(|facts| facts.time),
        lane,
    }
}

fn doing(ctx: &Ctx, lane: &Lane) -> Option<ActivityView> {
    let (activity, since) = activity::of(&ctx.paths, lane.id())?;
    Some(ActivityView { state: activity.word(), since: in_seconds(since) })
}

fn in_seconds(time: std::time::SystemTime) -> Option<Timestamp> {
    let time = Timestamp::try_from(time).ok()?;
    Timestamp::from_second(time.as_second()).ok()
}

struct Facts {
    counts: Option<(usize, usize)>,
    subject: String,
    time: Option<Timestamp>,
}

fn facts(repo: &Repo, lane: &Lane) -> Result<Option<Facts>> {
    let Some(tip) = repo.tip(&lane.row.branch)? else { return Ok(None) };
    let commit = repo.last_commit(&tip)?;
    let base = base_oid(repo, lane)?;
    let counts = base.map(|base| repo.ahead_behind(&tip, &base)).transpose()?;
    Ok(Some(Facts { counts, subject: commit.subject, time: Some(commit.commit_time) }))
}

fn base_oid(repo: &Repo, lane: &Lane) -> Result<Option<Oid>> {
    let own = lane.record.base.as_deref().map(|base| repo.tip(base)).transpose()?.flatten();
    let default = || repo.default_branch().and_then(|base| base.local.or(base.remote.map(|(_, oid)| oid)));
    Ok(own.or_else(default))
}
