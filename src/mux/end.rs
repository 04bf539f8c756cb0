//! Ending a lane's pane, only where it certainly is the lane's.

use super::survey::Survey;
use super::{Certain, PaneRecord, Wish};
use crate::ctx::Ctx;
use crate::error::Result;
use crate::lane::Lane;

/// A lane's pane that may be ended, with the process it was started with.
#[derive(Debug)]
pub struct Pane {
    certain: Certain,
    /// The process it was started with.
    pub pid: Option<u32>,
}

/// The lane's pane, on the rungs that are certain. A guess is no pane.
pub fn certain_pane(ctx: &Ctx, lane: &Lane, wish: &Wish) -> Result<Option<Pane>> {
    let survey = Survey::new(ctx, wish);
    let found = survey.find(lane, false)?;
    let Some(certain) = found.certain(lane.id()) else { return Ok(None) };
    let pid = survey.info(certain.pane()).and_then(|info| info.pid);
    Ok(Some(Pane { certain, pid }))
}

/// Ends the pane: its programs are hung up on.
pub fn end_pane(ctx: &Ctx, pane: &Pane, wish: &Wish) -> Result<()> {
    let survey = Survey::new(ctx, wish);
    survey.reach.at(&pane.certain.pane().server.socket)?.close(&pane.certain)?;
    PaneRecord::remove(&ctx.paths, pane.certain.lane());
    Ok(())
}
