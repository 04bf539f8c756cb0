//! Which lanes there are, and which one is meant.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::resolve::{Known, Match, resolve};
use super::{Lane, Phase, Record, recover};
use crate::ctx::Ctx;
use crate::error::Result;
use crate::git::Repo;
use crate::registry::{self, Table};

/// The registry for reading, with lanes settled whose making was cut short.
pub fn table(ctx: &Ctx) -> Result<Table> {
    recover::recover(ctx);
    let table = registry::read(&ctx.paths)?;
    if table.rows().next().is_none() {
        warn_of_records(ctx);
    }
    if table.unread() > 0 {
        let file = ctx.paths.registry();
        ctx.ui.warn(format!(
            "{}: {} lines are not understood and kept as they are",
            file.display(),
            table.unread()
        ));
    }
    Ok(table)
}

/// A registry without rows beside records of lanes was emptied by something else.
fn warn_of_records(ctx: &Ctx) {
    let known = Record::all(&ctx.paths);
    let there = known.iter().filter(|record| record.phase == Phase::Made && record.path.is_dir());
    if let Some(first) = there.clone().next() {
        ctx.ui.warn(format!(
            "{} has no lanes, but {} of them left records; `scruff adopt {}` takes one in again",
            ctx.paths.registry().display(),
            there.count(),
            first.path.display()
        ));
    }
}

/// The lane that `word` names.
pub fn find(ctx: &Ctx, word: &str, reach: Match) -> Result<Lane> {
    let table = table(ctx)?;
    let mut exact = table.rows().filter(|row| row.name == word);
    // A whole name that only one lane has needs no look at any repository.
    if let (Some(row), None) = (exact.next(), exact.next()) {
        return Ok(Lane::of(ctx, row.clone()));
    }
    let here = Repo::discover(ctx, &ctx.cwd).ok().map(|repo| repo.common().to_owned());
    resolve(&known(ctx, &table), word, here.as_deref(), reach).map(|known| known.lane.clone())
}

/// The lane called exactly `name` in this repository.
pub fn in_repo(ctx: &Ctx, repo: &Repo, name: &str) -> Result<Option<Lane>> {
    let table = table(ctx)?;
    let row = table.rows().find(|row| row.name == name && row.main == repo.main());
    Ok(row.map(|row| Lane::of(ctx, row.clone())))
}

/// The lane whose checkout holds `directory`.
pub fn holding(ctx: &Ctx, directory: &Path) -> Result<Option<Lane>> {
    Ok(table(ctx)?.holding(directory).map(|row| Lane::of(ctx, row.clone())))
}

/// Every lane with its repository's words; each repository is looked at once.
pub fn known(ctx: &Ctx, table: &Table) -> Vec<Known> {
    let mut repos: HashMap<PathBuf, (String, Option<PathBuf>)> = HashMap::new();
    let lanes = table.rows().map(|row| {
        let (slug, common) =
            repos.entry(row.main.clone()).or_insert_with(|| identity(ctx, &row.main)).clone();
        Known { lane: Lane::of(ctx, row.clone()), slug, common }
    });
    lanes.collect()
}

fn identity(ctx: &Ctx, main: &Path) -> (String, Option<PathBuf>) {
    match Repo::at_main(ctx, main) {
        Ok(repo) => (repo.slug(), Some(repo.common().to_owned())),
        Err(_) => (format!("local/{}", main.file_name().unwrap_or_default().to_string_lossy()), None),
    }
}
