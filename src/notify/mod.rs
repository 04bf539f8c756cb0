//! Telling a person what lanes do: banners, and the marks that say why one is up.

pub mod attention;
mod desktop;
pub mod holder;
pub mod markers;
mod mux;
pub mod recheck;
pub mod subject;
mod trill;
pub mod turn;

use std::time::SystemTime;

use crate::activity::{self, Activity};
use crate::config::WhenVisible;
use crate::ctx::Ctx;
use crate::error::Result;
use crate::lane::LaneId;
use crate::mux::{Report, Seen};

use markers::Marks;
use subject::{Request, Subject, Word};
use turn::{Event, Sign, Turn};

/// Why a banner could not be shown or taken down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unshown {
    /// There is nothing that could show it: the next way may.
    NotThere(String),
    /// It is there and did not.
    Failed(String),
}

/// Whether whoever showed a banner must stay while it is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It must.
    Yes,
    /// It need not.
    No,
}

/// A way to show a banner. Another one is one file, and one row where the ways are listed.
pub trait Notifier {
    /// Shows a banner, in place of the one that this has shown before.
    fn show(&mut self, request: &Request) -> Result<Held, Unshown>;
    /// Takes the banner down.
    fn take_down(&mut self, request: &Request) -> Result<(), Unshown>;
    /// Its hour is over: nobody will hear a click on it any more.
    fn let_go(&mut self);
}

/// What a holder is woken by. The number says which of its banners it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Word has been left for it.
    Word,
    /// The banner was clicked; the desktop may have given a token that lets a window come to the front.
    Clicked(u32, Option<String>),
    /// The banner is gone.
    Closed(u32),
}

/// Takes in what a client reported about a lane or a conversation: marks, activity, the pane's
/// state, the banner. `turn` is the id of the turn that it belongs to; `claim` says that this runs
/// in the client's own pane.
pub fn take(ctx: &Ctx, subject: &Subject, event: &Event, turn: Option<&str>, claim: bool) -> Result<()> {
    let (sign, after, changed) = settle(ctx, subject, event, turn)?;
    let news = matches!(sign, Some(Sign::Ask | Sign::Done | Sign::Failed));
    if news {
        markers::expire(&ctx.paths);
    }
    let seen = if changed || news { tell_pane(ctx, subject, &after, claim) } else { None };
    match sign {
        Some(sign) => signal(ctx, subject, sign, seen.as_ref()),
        None => Ok(()),
    }
}

/// Marks and activity, with other hooks kept out.
fn settle(
    ctx: &Ctx,
    subject: &Subject,
    event: &Event,
    turn: Option<&str>,
) -> Result<(Option<Sign>, Turn, bool)> {
    let _lock = markers::lock(&ctx.paths, &subject.id);
    let (session, lane) = (&subject.session, subject.lane.as_ref());
    let marks = Marks { paths: &ctx.paths, session, key: &subject.key, lane };
    let before = marks.read();
    let mut after = before.clone();
    let sign = after.take(event, turn);
    if matches!(event, Event::Stops { in_flight: true }) {
        marks.hold()?;
    }
    let changed = marks.write(&before, &after)?;
    Ok((sign, after, changed))
}

/// Since when a lane waits for its user's answer.
pub fn waits_since(ctx: &Ctx, lane: &LaneId) -> Option<SystemTime> {
    activity::of(&ctx.paths, lane)
        .filter(|(activity, _)| *activity == Activity::Waiting)
        .map(|(_, since)| since)
}

fn tell_pane(ctx: &Ctx, subject: &Subject, after: &Turn, claim: bool) -> Option<Seen> {
    let lane = subject.lane.as_ref()?;
    let report = Report { lane, label: &subject.label, activity: after.activity, claim };
    crate::mux::report(ctx, &report)
}

/// Leaves word for the lane's banner holder, where there is something to show or to take down.
fn signal(ctx: &Ctx, subject: &Subject, sign: Sign, seen: Option<&Seen>) -> Result<()> {
    let held = || holder::is_alive(&ctx.paths, &subject.id);
    let watched = || {
        let watched = seen.is_some_and(|seen| attention::is_watched(&ctx.paths, seen));
        watched && ctx.config().notify.when_visible == WhenVisible::Skip
    };
    let word = match sign {
        Sign::Ask => (!watched()).then_some(Word::Ask),
        Sign::Done if !watched() => Some(Word::Done),
        Sign::Failed if !watched() => Some(Word::Failed),
        Sign::Done | Sign::Failed | Sign::Stale => held().then_some(Word::Down),
        Sign::Down => (held() || trill::find(ctx).is_some()).then_some(Word::Down),
    };
    match word {
        Some(word) => holder::post(ctx, &Request { subject: subject.clone(), word }),
        None => Ok(()),
    }
}
