//! What a lane's pane shows.

use super::Wish;
use super::survey::Survey;
use crate::ctx::Ctx;
use crate::lane::Lane;

/// The screen of a lane's pane; `None` where it has none that can be asked.
pub fn capture_lane(ctx: &Ctx, lane: &Lane) -> Option<Vec<u8>> {
    let wish = Wish::default();
    let survey = Survey::new(ctx, &wish);
    let found = survey.find(lane, false).ok()?;
    let certain = found.certain(lane.id())?;
    let pane = certain.pane();
    survey.reach.at(&pane.server.socket).ok()?.capture(&pane.id).ok()
}
