//! `scruff demo`

mod client;
mod script;
mod stage;

use std::io::IsTerminal;

use super::Outcome;
use crate::ctx::Ctx;
use crate::error::{Error, Result};

pub use client::main as client_main;
use stage::Stage;

/// Try everything safely: a private tmux server, a scratch repository, three lanes, a stand-in client.
///
/// Nothing outside a temporary directory is touched, and nothing is left running.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Play it without a person: say what is done, show the screens, check them
    #[arg(long)]
    pub script: bool,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let stage = Stage::build(ctx)?;
    if args.script {
        return script::play(ctx, &stage);
    }
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(
            Error::precondition("the demo needs a terminal").hint("without one: scruff demo --script")
        );
    }
    stage.open_lanes(ctx)?;
    stage.attach(ctx)?;
    ctx.ui.note("the demo is over; everything of it is gone");
    Ok(Outcome::done())
}
