//! A session begins and ends.

use super::Call;
use super::notify;
use super::who::Who;
use crate::activity;
use crate::ctx::Ctx;
use crate::error::Result;
use crate::mux::{self, Report};

/// Writes down the conversation, its lane, its pane and its process.
pub(super) fn start(ctx: &Ctx, call: &Call) -> Result<()> {
    let Some(who) = Who::find(ctx, call)? else { return Ok(()) };
    if let Some(lane) = who.subject.lane.as_ref().filter(|_| who.counts) {
        let activity = activity::of(&ctx.paths, lane).map(|(activity, _)| activity);
        mux::report(ctx, &Report { lane, label: &who.subject.label, activity, claim: who.is_in_pane() });
    }
    who.register(ctx, call)
}

/// Takes down what is up and forgets the conversation.
pub(super) fn end(ctx: &Ctx, call: &Call) -> Result<()> {
    let Some(who) = Who::find(ctx, call)? else { return Ok(()) };
    who.forget(ctx);
    match notify::event(call.kind, &call.payload, ctx.config().notify.idle) {
        Some(event) if who.counts => crate::notify::take(ctx, &who.subject, &event, None, who.is_in_pane()),
        _ => Ok(()),
    }
}
