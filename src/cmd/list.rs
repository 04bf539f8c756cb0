//! `scruff list`, and `scruff` alone

mod sweep;
mod table;

use serde_json::json;

use super::Outcome;
use crate::ctx::Ctx;
use crate::error::{Doing, Result};
use crate::lane::listing::{self, View};
use crate::lane::{determine, find};
use crate::registry::ledger;

/// The shape of `--json`. It changes only when a key goes or changes its meaning.
const SCHEMA: u32 = 2;

/// List the lanes of every repository.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Only the lanes of this repository: owner/name, or the name of its directory
    #[arg(long, value_name = "REPO")]
    pub repo: Option<String>,
    /// Also lanes that were taken and can be brought back
    #[arg(long)]
    pub all: bool,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let table = find::table(ctx)?;
    let mut views = listing::views(ctx, &table);
    if let Some(repo) = &args.repo {
        views.retain(|view| answers(view, repo));
    }
    if ctx.json {
        determine::determine(ctx, &mut views);
        determine::ask_forge(ctx, &mut views, true);
        return json_answer(ctx, &views);
    }
    determine::ask_forge(ctx, &mut views, false);
    views.retain(|view| !sweep::swept(ctx, view));
    let mut text = table::render(ctx, &views);
    if args.all {
        text.push_str(&table::reaped(ctx, &ledger::read(&ctx.paths)?));
    }
    Ok(Outcome::text(text))
}

fn answers(view: &View, repo: &str) -> bool {
    let base = view.main.file_name().unwrap_or_default().to_string_lossy();
    view.repo == repo
        || view.repo.replace('/', "-") == repo
        || view.repo.rsplit('/').next() == Some(repo)
        || base == repo
}

fn json_answer(ctx: &Ctx, views: &[View]) -> Result<Outcome> {
    let body = json!({
        "scruff": env!("CARGO_PKG_VERSION"),
        "schema": SCHEMA,
        "warnings": ctx.ui.warnings(),
        "lanes": views,
    });
    let mut bytes = serde_json::to_vec(&body).doing(|| "cannot write the answer as JSON".to_owned())?;
    bytes.push(b'\n');
    Ok(Outcome::text(bytes))
}
