//! `scruff reaped`

use std::fmt::Write as _;

use serde_json::json;

use super::Outcome;
use crate::ctx::Ctx;
use crate::error::{Doing, Result};
use crate::lane::undo;
use crate::registry::ledger::{self, Taken};

/// What was taken and can be brought back, newest first: when, what, on what proof, where its
/// ignored files are.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let lanes = undo::takeable_back(ledger::read(&ctx.paths)?);
    if ctx.json {
        return as_json(ctx, &lanes);
    }
    let text = lanes.iter().fold(String::new(), |mut text, lines| {
        describe(&mut text, lines);
        text
    });
    if text.is_empty() {
        ctx.ui.note("nothing was taken");
    }
    Ok(Outcome::text(text))
}

fn describe(text: &mut String, lines: &[Taken]) {
    let Some(last) = lines.last() else { return };
    let sha = last.sha.get(..10).unwrap_or(&last.sha);
    let _ = writeln!(text, "{}  {}/{}  {}  by {}", last.time, last.repo, last.name, sha, last.via);
    for trash in lines.iter().map(|line| &line.trash).filter(|trash| trash.is_dir()) {
        let _ = writeln!(text, "    ignored files: {}", trash.display());
    }
}

fn as_json(ctx: &Ctx, lanes: &[Vec<Taken>]) -> Result<Outcome> {
    let one = |lines: &Vec<Taken>| {
        let last = lines.last()?;
        let trash: Vec<_> =
            lines.iter().map(|line| line.trash.to_string_lossy()).filter(|trash| !trash.is_empty()).collect();
        Some(json!({
            "time": last.time, "repo": last.repo, "name": last.name, "branch": last.branch, "sha": last.sha,
            "via": last.via, "pr": last.pr, "id": last.id, "main": last.main.to_string_lossy(),
            "path": last.path.to_string_lossy(), "agent": last.client, "trash": trash,
        }))
    };
    let list: Vec<_> = lanes.iter().filter_map(one).collect();
    let body = json!({"scruff": env!("CARGO_PKG_VERSION"), "warnings": ctx.ui.warnings(), "reaped": list});
    let text = serde_json::to_string(&body).doing(|| "cannot write the answer as JSON".to_owned())?;
    Ok(Outcome::text(text + "\n"))
}
