//! The pane that this process is in becomes a lane's.

use super::reach::Reach;
use super::{MuxError, PaneRecord, PaneRef, Tag, Wish};
use crate::ctx::Ctx;
use crate::error::Result;
use crate::lane::LaneId;

/// The pane that this process is in; `None` outside of any multiplexer.
pub fn this_pane(ctx: &Ctx) -> Result<Option<PaneRef>, MuxError> {
    let wish = Wish::default();
    let reach = Reach::new(ctx, &wish);
    let Some(server) = reach.inside()? else { return Ok(None) };
    let pane = reach.asker(&server)?.pane;
    let server = server.probe()?;
    Ok(pane.map(|id| PaneRef { server, id }))
}

/// Records and tags a pane as a lane's. With `ended` its client has ended there; a lane that has
/// another pane by now keeps that one on record.
pub fn claim(ctx: &Ctx, pane: &PaneRef, lane: &LaneId, label: &str, ended: bool) -> Result<()> {
    let others = || PaneRecord::read(&ctx.paths, lane).is_some_and(|record| record.pane != *pane);
    if !(ended && others()) {
        PaneRecord { pane: pane.clone(), ended }.write(&ctx.paths, lane)?;
    }
    let wish = Wish::default();
    Reach::new(ctx, &wish).at(&pane.server.socket)?.tag(&pane.id, &Tag { lane, label, ended })?;
    Ok(())
}
