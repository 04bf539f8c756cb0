//! A client is done with a checkout: its work is saved, the checkout goes, the branch only if its
//! work has landed. Whatever is not certain keeps it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::time::{Duration, Instant};

use super::caller;
use crate::config::OnRemove;
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::forge::Forge;
use crate::git::Repo;
use crate::git::status::Change;
use crate::landed::{Landed, Verdict};
use crate::lane::guard::{self, Standing};
use crate::lane::park::{self, Parked, Work, kept};
use crate::lane::take::{self, Grounds};
use crate::lane::{self, Lane, Situation, State, judge, recover};
use crate::lock::Lock;
use crate::proc;
use crate::registry::ledger::Taken;
use crate::registry::{self, Row, Table};
use crate::seam::{self, Answer, Seam};
use crate::ui;

/// How long all of it may take: the client gives up after a minute.
const BUDGET: Duration = Duration::from_secs(55);

/// How long another operation on the lane is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How much of the budget must be left to ask whether the branch has landed.
const JUDGING: Duration = Duration::from_secs(15);

/// Removes the checkout at `path`, or keeps it. An error means that it is kept.
pub fn remove(ctx: &Ctx, path: Option<&Path>) -> Result<()> {
    let until = Instant::now() + BUDGET;
    let Some(path) = path else {
        ctx.ui.warn("the payload names no checkout: nothing is removed");
        return Ok(());
    };
    recover::recover(ctx);
    let table = registry::read(&ctx.paths)?;
    let row = find(&table, path);
    if ctx.config().worktree.on_remove == OnRemove::Keep {
        keep(ctx, path, row);
        return Ok(());
    }
    let Some(row) = row else { return no_lane(ctx, &table, path) };
    leave(&row.main);
    let told = |holder: &str| ctx.ui.note(format!("waiting for {holder}"));
    let lane = Lane::of(ctx, row.clone());
    let _lock = Lock::acquire(&lane::lock_path(ctx, lane.id()), PATIENCE, "remove", told)?;
    // Whoever held it may have taken the lane.
    match registry::read(&ctx.paths)?.find(&lane.row.path) {
        Some(row) => Removal { ctx, until }.run(Lane::of(ctx, row.clone())),
        None => {
            gone(ctx, path);
            Ok(())
        }
    }
}

/// The row of a checkout, however the path is spelled.
fn find<'t>(table: &'t Table, path: &Path) -> Option<&'t Row> {
    let same = |row: &&Row| {
        let real = |path: &Path| path.canonicalize().ok();
        real(path).is_some_and(|path| real(&row.path) == Some(path))
    };
    table.find(path).or_else(|| table.rows().find(same))
}

fn keep(ctx: &Ctx, path: &Path, row: Option<&Row>) {
    ctx.ui.note(format!("kept: {}", path.display()));
    if let Some(row) = row {
        let words = ["scruff", "-C"].map(OsString::from).into_iter();
        let words: Vec<OsString> =
            words.chain([row.main.clone().into(), "close".into(), row.name.clone().into()]).collect();
        ctx.ui.note(format!("to remove it: {}", proc::quote_all(&words).display()));
    }
}

fn gone(ctx: &Ctx, path: &Path) {
    ctx.ui.note(format!("{} is gone already", path.display()));
}

/// A path that no row names: nothing there, or nothing of ours.
fn no_lane(ctx: &Ctx, table: &Table, path: &Path) -> Result<()> {
    if path.symlink_metadata().is_err() {
        gone(ctx, path);
        return Ok(());
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let what = match table.holding(&real) {
        Some(row) => format!("it is inside the checkout of the lane {}, not the checkout", row.name),
        None if table.rows().any(|row| row.main == real) => "it is a main checkout".to_owned(),
        None => "no lane has it".to_owned(),
    };
    Err(Error::refused(format!("{} is kept: {what}", path.display()))
        .hint("scruff removes only the checkouts of lanes; `scruff adopt` makes one a lane"))
}

/// Nobody, scruff neither, stands in a checkout that goes.
fn leave(main: &Path) {
    if std::env::set_current_dir(main).is_err() {
        let _ = std::env::set_current_dir("/");
    }
}

struct Removal<'a> {
    ctx: &'a Ctx,
    until: Instant,
}

impl Removal<'_> {
    fn run(&self, mut lane: Lane) -> Result<()> {
        let ctx = self.ctx;
        ctx.step("locked");
        let repo = Repo::at_main(ctx, &lane.row.main).map_err(|error| kept(&lane, &error.message()))?;
        let dirt = match guard::standing(ctx, &repo, &lane).map_err(|why| kept(&lane, &why))? {
            Standing::Parked => {
                gone(ctx, &lane.row.path);
                return Ok(());
            }
            Standing::Checkout { dirt, .. } => dirt,
        };
        let client: Vec<u32> = caller::client(ctx).into_iter().collect();
        guard::free_of_others(ctx, &lane, client).map_err(|why| kept(&lane, &why))?;
        let work = self.work(&repo, &lane, &dirt)?;
        let parked = park::put_away(ctx, &repo, &mut lane, work)?;
        match self.grounds(&repo, &lane, &parked) {
            None => self.say_parked(&lane, &parked),
            Some(grounds) => match take::take(ctx, &repo, &mut lane, &grounds, Vec::new()) {
                Ok(taken) => self.say_taken(&lane, &parked, &taken),
                // The checkout is gone and everything is on the branch: that much was asked for.
                Err(error) => {
                    ctx.ui.warn(format!("the branch {} stays: {}", lane.row.branch, error.message()));
                    self.say_parked(&lane, &parked);
                }
            },
        }
        Ok(())
    }

    /// What becomes of uncommitted work: the seam's word, else a commit, unless it is only new
    /// files on a branch that had commits of its own and has landed.
    fn work(&self, repo: &Repo, lane: &Lane, dirt: &[Change]) -> Result<Work> {
        if dirt.is_empty() {
            return Ok(Work::Commit);
        }
        let situation = Situation::of(self.ctx, lane, repo, State::Live);
        let porcelain = OsString::from_vec(porcelain(dirt));
        match seam::ask(self.ctx, Seam::Preserve, &situation, &[("porcelain", porcelain)]) {
            Answer::Yes(_) => Ok(Work::Commit),
            Answer::No(_) => Ok(Work::Trash),
            Answer::Refused(_) => Err(kept(lane, &"the preserve hook refuses".to_owned())
                .hint("see [hooks] preserve in config.toml")),
            Answer::NoOpinion | Answer::Broken => Ok(self.built_in(repo, lane, dirt)),
        }
    }

    fn built_in(&self, repo: &Repo, lane: &Lane, dirt: &[Change]) -> Work {
        if guard::only_untracked(dirt).is_err() {
            return Work::Commit;
        }
        match self.judge(repo, lane) {
            Some(Landed { verdict: Verdict::Yes, own_commits: true, .. }) => Work::Trash,
            _ => Work::Commit,
        }
    }

    /// git's own verdict; `None` where there is no time left to ask.
    fn judge(&self, repo: &Repo, lane: &Lane) -> Option<Landed> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left < JUDGING {
            self.ctx.ui.note("there was no time left to ask whether the branch has landed");
            return None;
        }
        let forge = Forge::within(self.ctx, left.saturating_sub(JUDGING));
        Some(judge::judge(self.ctx, &repo.by_git(), lane, &judge::exactly(&forge, repo, lane)))
    }

    /// Why the branch goes too, if it does.
    fn grounds(&self, repo: &Repo, lane: &Lane, parked: &Parked) -> Option<Grounds> {
        if self.ctx.config().worktree.on_remove == OnRemove::Discard {
            return Some(Grounds { via: "discard".to_owned(), pr: String::new() });
        }
        // What was uncommitted a moment ago is nowhere else.
        if parked.committed.is_some() || parked.detached.is_some() {
            return None;
        }
        let landed = self.judge(repo, lane)?;
        landed.missing().for_each(|signal| self.ctx.ui.note(signal));
        (landed.verdict == Verdict::Yes).then(|| Grounds {
            via: landed.via.unwrap_or_else(|| "landed".to_owned()),
            pr: landed.pr.map(|number| number.to_string()).unwrap_or_default(),
        })
    }

    fn say_saved(&self, parked: &Parked) {
        let ui = &self.ctx.ui;
        if let Some(files) = parked.committed {
            ui.note(format!("{} of uncommitted work became a commit", ui::counted(files, "file")));
        }
        if !parked.trash.as_os_str().is_empty() {
            ui.note(format!("files that no commit holds are in {}", parked.trash.display()));
        }
        if let Some(name) = &parked.detached {
            ui.note(format!("its HEAD was detached; that commit is kept as {name}"));
        }
    }

    fn say_parked(&self, lane: &Lane, parked: &Parked) {
        self.ctx.ui.note(format!("{} is parked on {}", lane.label(), lane.row.branch));
        self.say_saved(parked);
        self.ctx.ui.note(format!("`scruff {}` brings it all back", lane.row.name));
    }

    fn say_taken(&self, lane: &Lane, parked: &Parked, taken: &Taken) {
        let why = if taken.via == "discard" { "discarded" } else { "landed" };
        let (sha, via) = (taken.sha.get(..10).unwrap_or(&taken.sha), &taken.via);
        self.ctx.ui.note(format!(
            "{} is {why} ({via}): branch {} at {sha} is gone",
            lane.label(),
            taken.branch
        ));
        self.say_saved(parked);
        self.ctx.ui.note(format!("to get it back: scruff undo {}/{}", taken.repo, taken.name));
    }
}

/// The changes as `git status --porcelain=v1 -z` has them.
fn porcelain(dirt: &[Change]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for change in dirt {
        bytes.extend(change.code);
        bytes.push(b' ');
        bytes.extend_from_slice(change.path.as_os_str().as_bytes());
        bytes.push(0);
        if let Some(from) = &change.from {
            bytes.extend_from_slice(from.as_os_str().as_bytes());
            bytes.push(0);
        }
    }
    bytes
}
