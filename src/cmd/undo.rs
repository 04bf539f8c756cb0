//! `scruff undo`

use super::Outcome;
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::git::Repo;
use crate::lane::undo;
use crate::registry::ledger::{self, Taken};

/// Bring a lane back that was reaped, dropped or discarded: its branch, its checkout, its ignored files.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// The lane; without a name, the one of this repository that was taken last
    pub name: Option<String>,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let lanes = undo::takeable_back(ledger::read(&ctx.paths)?);
    let lines = match &args.name {
        Some(name) => named(&lanes, name)?,
        None => newest_here(ctx, &lanes)?,
    };
    let (lane, left) = undo::undo(ctx, lines)?;
    for path in left {
        ctx.ui.warn(format!("{} stands there already; the old one stays in the trash", path.display()));
    }
    ctx.ui.note(format!("{} is back: {}", lane.label(), lane.row.path.display()));
    Ok(Outcome::done())
}

fn named<'a>(lanes: &'a [Vec<Taken>], name: &str) -> Result<&'a Vec<Taken>> {
    let fits = |taken: &Taken| {
        let base = taken.main.file_name().unwrap_or_default().to_string_lossy();
        let repos = [taken.repo.clone(), taken.repo.replace('/', "-"), base.into_owned()];
        taken.name == name || repos.iter().any(|repo| format!("{repo}/{}", taken.name) == name)
    };
    let fitting: Vec<&Vec<Taken>> = lanes.iter().filter(|lines| lines.last().is_some_and(fits)).collect();
    let first = fitting.first().copied();
    let repos: std::collections::BTreeSet<_> =
        fitting.iter().filter_map(|lines| Some(&lines.last()?.main)).collect();
    match first {
        Some(_) if repos.len() > 1 => {
            Err(Error::usage(format!("{name} was taken in {} repositories", repos.len()))
                .hint("name it as <repo>/<name>; see `scruff reaped`"))
        }
        Some(lines) => Ok(lines),
        None => {
            Err(Error::precondition(format!("no lane called {name:?} was taken")).hint("see `scruff reaped`"))
        }
    }
}

fn newest_here<'a>(ctx: &Ctx, lanes: &'a [Vec<Taken>]) -> Result<&'a Vec<Taken>> {
    let repo = Repo::discover(ctx, &ctx.cwd)?;
    let here = |lines: &&Vec<Taken>| lines.last().is_some_and(|taken| taken.main == repo.main());
    lanes.iter().find(here).ok_or_else(|| {
        Error::precondition(format!("no lane of {} was taken", repo.slug())).hint("see `scruff reaped`")
    })
}
