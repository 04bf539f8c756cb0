//! `scruff doctor`

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Outcome;
use crate::client;
use crate::ctx::Ctx;
use crate::error::{Doing, Result};
use crate::git::{Repo, quirks};
use crate::mux::{self, Wish};
use crate::registry;

/// What is installed, what applies, what is odd. Changes nothing; exit status 0.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {}

/// One thing found: what it is, what was found, and whether it is odd.
struct Finding {
    about: &'static str,
    found: String,
    odd: Option<String>,
}

impl Finding {
    fn fine(about: &'static str, found: impl Into<String>) -> Self {
        Finding { about, found: found.into(), odd: None }
    }

    fn odd(about: &'static str, found: impl Into<String>, why: impl Into<String>) -> Self {
        Finding { about, found: found.into(), odd: Some(why.into()) }
    }
}

/// Runs it.
pub fn run(_args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let mut findings = vec![Finding::fine("scruff", env!("CARGO_PKG_VERSION"))];
    findings.extend(directories(ctx));
    findings.extend(programs(ctx));
    findings.extend(multiplexer(ctx));
    findings.extend(repository(ctx));
    findings.push(lanes(ctx));
    if ctx.json { as_json(ctx, &findings) } else { Ok(Outcome::text(as_text(&findings))) }
}

fn directories(ctx: &Ctx) -> Vec<Finding> {
    let config = ctx.paths.config.join("config.toml");
    let there = if config.is_file() { "" } else { " (not there: all defaults)" };
    vec![
        Finding::fine("base", ctx.paths.base.display().to_string()),
        Finding::fine("state", ctx.paths.state.display().to_string()),
        Finding::fine("configuration", format!("{}{there}", config.display())),
    ]
}

fn programs(ctx: &Ctx) -> Vec<Finding> {
    let needed = ["git"].into_iter();
    let useful = ["tmux", "wezterm", "gh", "trill"].into_iter();
    let clients = client::ids(ctx);
    let find = |name: &str| ctx.find(name).map(|path| path.display().to_string());
    let mut list: Vec<Finding> = needed
        .map(|name| match find(name) {
            Some(path) => Finding::fine("needed", format!("{name}: {path}")),
            None => {
                Finding::odd("needed", format!("{name}: not on PATH"), "scruff cannot make lanes without it")
            }
        })
        .collect();
    let found = |about, name: &str| {
        Finding::fine(about, format!("{name}: {}", find(name).unwrap_or_else(|| "not installed".to_owned())))
    };
    list.extend(useful.map(|name| found("useful", name)));
    list.extend(clients.iter().map(|id| found("client", id)));
    list
}

fn multiplexer(ctx: &Ctx) -> Vec<Finding> {
    match mux::choose(ctx, &Wish::default(), None) {
        Ok(choice) => {
            let name = choice.mux.as_ref().map_or("none", |mux| mux.kind().word());
            let chosen = Finding::fine("multiplexer", format!("{name}: {}", choice.reason));
            let rest = choice.considered.into_iter().map(|text| Finding::fine("considered", text));
            std::iter::once(chosen).chain(rest).collect()
        }
        Err(error) => vec![Finding::odd("multiplexer", "none", error.message())],
    }
}

fn repository(ctx: &Ctx) -> Vec<Finding> {
    let repo = match Repo::discover(ctx, &ctx.cwd) {
        Ok(repo) => repo,
        Err(error) => return vec![Finding::fine("repository", format!("none here: {error}"))],
    };
    let mut list = vec![Finding::fine("repository", format!("{} at {}", repo.slug(), repo.main().display()))];
    list.push(match repo.default_branch() {
        Some(base) => Finding::fine("default branch", format!("{}, by {}", base.name, base.via)),
        None => Finding::odd(
            "default branch",
            "none found",
            "lanes of this repository can never be seen to have landed",
        ),
    });
    if let Some(why) = quirks::why_not_libgit2(&repo) {
        list.push(Finding::odd(
            "libgit2",
            "cannot open this repository",
            format!("{why}; git is asked instead, which is slower"),
        ));
    }
    list
}

fn lanes(ctx: &Ctx) -> Finding {
    match registry::read(&ctx.paths) {
        Ok(table) if table.unread() > 0 => Finding::odd(
            "lanes",
            table.rows().count().to_string(),
            format!("{} lines of {} are not understood", table.unread(), ctx.paths.registry().display()),
        ),
        Ok(table) => Finding::fine("lanes", table.rows().count().to_string()),
        Err(error) => Finding::odd("lanes", "unknown", error.message()),
    }
}

fn as_text(findings: &[Finding]) -> String {
    findings.iter().fold(String::new(), |mut text, finding| {
        let _ = writeln!(text, "{:<15} {}", finding.about, finding.found);
        if let Some(why) = &finding.odd {
            let _ = writeln!(text, "{:<15} ! {why}", "");
        }
        text
    })
}

fn as_json(ctx: &Ctx, findings: &[Finding]) -> Result<Outcome> {
    let list: Vec<Value> = findings
        .iter()
        .map(|finding| json!({"about": finding.about, "found": finding.found, "odd": finding.odd}))
        .collect();
    let body = json!({"scruff": env!("CARGO_PKG_VERSION"), "warnings": ctx.ui.warnings(), "findings": list});
    let text = serde_json::to_string(&body).doing(|| "cannot write the answer as JSON".to_owned())?;
    Ok(Outcome::text(text + "\n"))
}
