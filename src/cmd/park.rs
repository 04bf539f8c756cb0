//! `scruff park`

use super::Outcome;
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::git::status::{self, Dirt};
use crate::git::{Repo, wip};
use crate::lane::{find, resolve::Match, secrets};
use crate::ui;

/// Set the uncommitted work of this checkout aside, as a commit on its branch.
///
/// Tracked and untracked files and deletions go into one `wip:` commit; ignored files stay where
/// they are, git's stash is never touched. `scruff unpark` brings it back. To park a whole lane:
/// `scruff close`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// What it is, for the commit's subject
    #[arg(default_value = "parked work")]
    pub label: String,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let repo = Repo::discover(ctx, &ctx.cwd)?;
    let top = top_level(ctx)?;
    let lane = find::holding(ctx, &top)?.filter(|lane| lane.row.path == top);
    let _lock = lane.as_ref().map(|lane| lane.lock(ctx, "park")).transpose()?;
    let changes = match status::of(ctx, &top) {
        Dirt::Clean => return nothing(args, ctx),
        Dirt::Dirty(changes) => changes,
        Dirt::Unknown(why) => {
            return Err(Error::refused(format!("it is not known what is uncommitted here: {why}"))
                .hint("nothing was changed; look with `git status`"));
        }
    };
    if lane.is_none() {
        ctx.ui.warn(format!(
            "{} is no lane's checkout; the work is parked on its branch all the same",
            top.display()
        ));
    }
    secrets::refuse(ctx, &top, repo.main(), &changes)?;
    if let Some(saved) = wip::save(ctx, &repo, &top, &args.label)? {
        ctx.ui.note(format!(
            "set aside on {}: {} ({})",
            saved.branch,
            ui::counted(saved.files, "file"),
            saved.oid.short()
        ));
        ctx.ui.note("`scruff unpark` brings it back");
    }
    Ok(Outcome::done())
}

/// A clean tree: done, unless the label was meant as a lane's name.
fn nothing(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    if let Ok(lane) = find::find(ctx, &args.label, Match::Exact) {
        return Err(Error::usage(format!(
            "nothing is uncommitted here, and {} is another lane's name",
            args.label
        ))
        .hint(format!("to go there: scruff {0}; to park the whole lane: scruff close {0}", lane.row.name)));
    }
    ctx.ui.note("nothing to park: the checkout is clean");
    Ok(Outcome::done())
}

/// The root of the checkout scruff was called in.
pub(super) fn top_level(ctx: &Ctx) -> Result<std::path::PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let cmd = crate::git::read(ctx, &ctx.cwd)?.args(["rev-parse", "--show-toplevel"]);
    let output =
        cmd.run().map_err(|failure| Error::failed("git cannot tell the checkout").caused_by(failure))?;
    let path = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout).to_owned();
    if !output.ok() || path.is_empty() {
        return Err(
            Error::precondition(format!("{} is in no checkout", ctx.cwd.display())).hint("cd into one")
        );
    }
    Ok(std::ffi::OsString::from_vec(path).into())
}
