//! Parks a lane: its work becomes a commit, its ignored files go to the trash, its checkout goes,
//! its branch stays.

use std::path::PathBuf;

use super::guard::{self, Kept, Standing};
use super::{Lane, secrets, take, trash};
use crate::ctx::Ctx;
use crate::error::{Error, Kind, Result};
use crate::git::status::Change;
use crate::git::{Repo, wip};
use crate::ui;

/// The label of the commit that parking a lane makes. `resume` takes such a commit back.
pub const LABEL: &str = "set aside when the lane was closed";

/// What becomes of uncommitted work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// It becomes a `wip:` commit on the lane's branch.
    Commit,
    /// Untracked files go to the trash like ignored ones. Changes of tracked files are committed all
    /// the same: no answer ever removes unsaved bytes.
    Trash,
}

/// What parking did.
#[derive(Debug, Default)]
pub struct Parked {
    /// Whether there was a checkout.
    pub had_checkout: bool,
    /// How many paths the `wip:` commit holds; `None` without one.
    pub committed: Option<usize>,
    /// Where ignored files are, or empty.
    pub trash: PathBuf,
    /// The reference that keeps commits which no branch had.
    pub detached: Option<String>,
}

/// Sets the uncommitted work of a lane aside as a `wip:` commit. Secrets are refused.
pub fn save(ctx: &Ctx, repo: &Repo, lane: &Lane, dirt: &[Change], label: &str) -> Result<Option<wip::Saved>> {
    secrets::refuse(ctx, &lane.row.path, &lane.row.main, dirt)?;
    wip::save(ctx, repo, &lane.row.path, label)
}

/// Parks a lane whose lock is held. Who calls has looked at who stands in it. Nothing goes unless
/// it is saved; a failure leaves the checkout as it was.
pub fn put_away(ctx: &Ctx, repo: &Repo, lane: &mut Lane, work: Work) -> Result<Parked> {
    let standing = guard::standing(ctx, repo, lane).map_err(|why| kept(lane, &why))?;
    let Standing::Checkout { dirt, detached } = standing else { return Ok(Parked::default()) };
    let mut parked = Parked { had_checkout: true, ..Parked::default() };
    if let Some(oid) = &detached {
        guard::clean(&dirt)
            .map_err(|why| kept(lane, &format!("its HEAD is detached, and there is {why}")))?;
        parked.detached = Some(take::keep_commit(ctx, repo, lane, "detached", oid)?);
    }
    let mut untracked = Vec::new();
    match work {
        Work::Commit if !dirt.is_empty() => {
            parked.committed = save(ctx, repo, lane, &dirt, LABEL)?.map(|saved| saved.files);
            ctx.step("saved");
        }
        Work::Commit => {}
        // Only whole files can go to the trash: a change of a tracked file is saved as a commit.
        Work::Trash => match guard::only_untracked(&dirt) {
            Ok(files) => untracked = files,
            Err(_) => parked.committed = save(ctx, repo, lane, &dirt, LABEL)?.map(|saved| saved.files),
        },
    }
    let gone = remove(ctx, repo, lane, untracked);
    if let Err(error) = gone {
        if parked.committed.is_some() && wip::take_back(ctx, &lane.row.path).is_err() {
            ctx.ui.warn(format!(
                "the work of {} is in its newest commit; `scruff unpark` there takes it back",
                lane.label()
            ));
        }
        return Err(error);
    }
    parked.trash.clone_from(&lane.record.trash);
    Ok(parked)
}

fn remove(ctx: &Ctx, repo: &Repo, lane: &mut Lane, untracked: Vec<PathBuf>) -> Result<()> {
    take::put_aside(ctx, repo, lane, untracked)?;
    take::remove_checkout(ctx, repo, lane).inspect_err(|_| take::put_back(ctx, lane))
}

/// Why a lane is kept, as an error.
pub fn kept(lane: &Lane, why: &Kept) -> Error {
    Error::new(Kind::Refused, format!("{} is kept: {why}", lane.label()))
}

/// Gives a lane whose checkout is back what was set aside when it was parked.
pub fn unpack(ctx: &Ctx, repo: &Repo, lane: &mut Lane) -> Result<()> {
    if let Ok(Some((oid, label))) = wip::newest(ctx, &lane.row.path)
        && label == LABEL
    {
        // A save that was killed half-way is completed first.
        let taken = wip::take_back(ctx, &lane.row.path).or_else(|_| {
            wip::save(ctx, repo, &lane.row.path, LABEL)?;
            wip::take_back(ctx, &lane.row.path)
        });
        match taken {
            Ok(back) => {
                ctx.ui.note(format!("its uncommitted work is back: {}", ui::counted(back.files, "file")));
            }
            Err(error) => ctx.ui.note(format!("its uncommitted work stays in {}: {error}", oid.short())),
        }
    }
    if lane.record.trash.as_os_str().is_empty() {
        return Ok(());
    }
    if lane.record.trash.is_dir() {
        let left = trash::take_back(&lane.record.trash, &lane.row.path)?;
        for path in &left {
            ctx.ui.warn(format!(
                "{} is there already; the old one is in {}",
                path.display(),
                lane.record.trash.display()
            ));
        }
    }
    lane.record.trash = PathBuf::new();
    lane.record.write(&ctx.paths)
}
