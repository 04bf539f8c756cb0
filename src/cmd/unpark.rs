//! `scruff unpark`

use super::Outcome;
use super::park::top_level;
use crate::ctx::Ctx;
use crate::error::Result;
use crate::git::wip;
use crate::lane::find;
use crate::ui;

/// Bring back what `scruff park` set aside in this checkout.
///
/// The newest `wip:` commit becomes uncommitted work again. Two parks take two unparks. Refused
/// when HEAD is no `wip:` commit, or is on a remote already.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {}

/// Runs it.
pub fn run(_args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let top = top_level(ctx)?;
    let lane = find::holding(ctx, &top)?.filter(|lane| lane.row.path == top);
    let _lock = lane.as_ref().map(|lane| lane.lock(ctx, "unpark")).transpose()?;
    let back = wip::take_back(ctx, &top)?;
    ctx.ui.note(format!("back: {}, {}", ui::counted(back.files, "file"), back.label));
    Ok(Outcome::done())
}
