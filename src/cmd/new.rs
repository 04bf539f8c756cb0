//! `scruff new`

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::making::Making;
use super::placing::Placing;
use super::{Outcome, open};
use crate::ctx::Ctx;
use crate::error::Result;
use crate::git::Repo;

/// New lane on this repository. Prints the path of its checkout, and nothing else on stdout.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The lane's name; two random words without one
    pub name: Option<String>,
    /// Start its client in a pane too, perhaps another than the default one
    #[arg(long, value_name = "CLIENT", num_args = 0..=1, default_missing_value = "")]
    pub open: Option<String>,
    /// What the lane is made of
    #[command(flatten)]
    pub making: Making,
    /// Where its pane goes
    #[command(flatten)]
    pub placing: Placing,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let repo = Repo::discover(ctx, &ctx.cwd)?;
    let prompt = args.making.prompt(ctx)?;
    let mut making = args.making.clone();
    if let Some(client) = args.open.as_deref().filter(|client| !client.is_empty()) {
        making.agent = Some(client.to_owned());
    }
    let made = making.make(ctx, &repo, args.name.as_deref(), prompt.as_ref())?;
    let path = line(made.lane.row.path.as_os_str());
    if args.open.is_none() && prompt.is_none() && making.cmd.is_none() {
        return Ok(Outcome::text(path));
    }
    let outcome = open::start_new(ctx, &repo, made, &making, prompt.as_ref(), &args.placing)?;
    Ok(Outcome { stdout: path, ..outcome })
}

fn line(path: &std::ffi::OsStr) -> Vec<u8> {
    let mut line = OsString::from(path);
    line.push("\n");
    line.as_bytes().to_owned()
}
