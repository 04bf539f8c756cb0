//! Why a checkout must stay. Everything here must say "nothing" before a checkout goes; what
//! cannot be determined is a reason.

use std::path::PathBuf;

use super::Lane;
use crate::ctx::Ctx;
use crate::git::status::{self, Change, Dirt};
use crate::git::worktree::{self, Belongs, Entry};
use crate::git::{Oid, Repo, submodule};
use crate::occupancy::{self, Query};

/// What there is to take of a lane.
#[derive(Debug)]
pub enum Standing {
    /// A branch alone.
    Parked,
    /// A checkout of the lane with nothing under way in it.
    Checkout {
        /// What is not committed.
        dirt: Vec<Change>,
        /// The commit it is at, where that is on no branch.
        detached: Option<Oid>,
    },
}

/// Why a lane is kept: one line that names pid, file, operation or rung.
pub type Kept = String;

/// Looks at everything but occupancy.
pub fn standing(ctx: &Ctx, repo: &Repo, lane: &Lane) -> Result<Standing, Kept> {
    not_the_main_line(repo, lane)?;
    match belongs(ctx, repo, lane)? {
        None => alone(ctx, repo, lane).map(|()| Standing::Parked),
        Some(entry) => {
            let detached = on_its_branch(ctx, lane, entry.branch.as_deref())?;
            alone(ctx, repo, lane)?;
            let dirt = match status::of(ctx, &lane.row.path) {
                Dirt::Clean => Vec::new(),
                Dirt::Dirty(changes) => changes,
                Dirt::Unknown(why) => return Err(format!("it is not known whether it is clean: {why}")),
            };
            no_work_in_submodules(ctx, lane)?;
            Ok(Standing::Checkout { dirt, detached })
        }
    }
}

struct Ours {
    branch: Option<String>,
}

fn belongs(ctx: &Ctx, repo: &Repo, lane: &Lane) -> Result<Option<Ours>, Kept> {
    match worktree::is_ours(ctx, repo, &lane.row.path).map_err(|error| error.message())? {
        Belongs::Ours { branch, .. } => Ok(Some(Ours { branch })),
        Belongs::Missing => Ok(None),
        Belongs::Main => Err("its path is the main checkout".to_owned()),
        Belongs::Moved { from, .. } => Err(format!(
            "its checkout was moved here from {}; `git worktree repair` mends it",
            from.display()
        )),
        Belongs::Other(why) => Err(format!("its path is no checkout of this lane: {why}")),
        Belongs::Unknown(why) => Err(format!("it is not known what its path is: {why}")),
    }
}

/// The default branch and what the main checkout has checked out are never lanes.
pub fn not_the_main_line(repo: &Repo, lane: &Lane) -> Result<(), Kept> {
    let branch = &lane.row.branch;
    if repo.default_branch().is_some_and(|default| default.name == *branch) {
        return Err(format!("{branch} is the default branch"));
    }
    if repo.head_branch().as_deref() == Some(branch) {
        return Err(format!("{branch} is checked out in the main checkout"));
    }
    if lane.row.path == lane.row.main || lane.row.main.starts_with(&lane.row.path) {
        return Err("its path holds the main checkout".to_owned());
    }
    Ok(())
}

fn on_its_branch(ctx: &Ctx, lane: &Lane, branch: Option<&str>) -> Result<Option<Oid>, Kept> {
    if let Some(operation) = status::operation(ctx, &lane.row.path) {
        return Err(format!("{operation} is under way in it"));
    }
    match branch {
        Some(branch) if branch == lane.row.branch => Ok(None),
        Some(other) => Err(format!("{other} is checked out there, not its own branch")),
        None => detached(ctx, lane).map(Some),
    }
}

fn detached(ctx: &Ctx, lane: &Lane) -> Result<Oid, Kept> {
    let read = crate::git::read(ctx, &lane.row.path).map_err(|error| error.message())?;
    let output =
        read.args(["rev-parse", "--verify", "HEAD^{commit}"]).run().map_err(|failure| failure.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    Oid::parse(text.trim())
        .ok_or_else(|| format!("it is not known where its HEAD is: {}", output.complaint()))
}

/// Neither locked nor on a branch that another checkout has too.
fn alone(ctx: &Ctx, repo: &Repo, lane: &Lane) -> Result<(), Kept> {
    let entries = worktree::list(ctx, repo).map_err(|error| error.message())?;
    let real = lane.row.path.canonicalize().unwrap_or_else(|_| lane.row.path.clone());
    let own = |entry: &&Entry| entry.path == real || entry.path == lane.row.path;
    if let Some(other) = entries.iter().find(|entry| !own(entry) && entry.uses(&lane.row.branch)) {
        return Err(format!("its branch is checked out in {} too", other.path.display()));
    }
    match entries.iter().find(own).and_then(|entry| entry.locked.as_deref()) {
        None => Ok(()),
        Some("") => Err("its worktree is locked".to_owned()),
        Some(why) => Err(format!("its worktree is locked: {why}")),
    }
}

fn no_work_in_submodules(ctx: &Ctx, lane: &Lane) -> Result<(), Kept> {
    let kept = submodule::work(ctx, &lane.row.path).map_err(|error| error.message())?;
    match kept.first() {
        None => Ok(()),
        Some(first) => Err(format!("the submodule {} has {}", first.path.display(), first.why)),
    }
}

/// Whether nobody stands in the checkout. `excuse` are processes that do not count, with their trees.
pub fn unoccupied(ctx: &Ctx, lane: &Lane, excuse: Vec<u32>) -> Result<(), Kept> {
    if occupancy::stands_here(ctx, &lane.row.path) {
        return Err("the command was given from inside it".to_owned());
    }
    free_of_others(ctx, lane, excuse)
}

/// [`unoccupied`] for whoever may have been called from inside it, and has left.
pub fn free_of_others(ctx: &Ctx, lane: &Lane, excuse: Vec<u32>) -> Result<(), Kept> {
    let paths = [lane.row.path.clone()];
    let query = Query { excuse, ..Query::new(&paths) };
    occupancy::of(ctx, &query).into_iter().next().and_then(|answer| answer.reason()).map_or(Ok(()), Err)
}

/// A clean checkout, or why it is not one.
pub fn clean(dirt: &[Change]) -> Result<(), Kept> {
    match dirt.first() {
        None => Ok(()),
        Some(first) if dirt.len() == 1 => Err(format!("uncommitted work: {}", first.path.display())),
        Some(first) => Err(format!("uncommitted work: {} and {} more", first.path.display(), dirt.len() - 1)),
    }
}

/// The untracked files of a dirt that has nothing else, else why it is work.
pub fn only_untracked(dirt: &[Change]) -> Result<Vec<PathBuf>, Kept> {
    let tracked: Vec<Change> =
        dirt.iter().filter(|change| !change.is_untracked() || change.is_repository()).cloned().collect();
    clean(&tracked).map(|()| dirt.iter().map(|change| change.path.clone()).collect())
}
