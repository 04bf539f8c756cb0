//! Questions that nobody answers any more: Escape and a refused permission fire no hook in some
//! clients. Where a client can be asked what it does, a question that has stood for a moment is
//! checked before someone acts on it.

use std::time::Duration;

use super::markers::{self, Marks};
use super::subject::Subject;
use super::take;
use super::turn::Event;
use crate::client::{self, Status};
use crate::ctx::Ctx;
use crate::lane::Lane;
use crate::registry;
use crate::session::{Session, SessionId};

/// A question younger than this is believed.
const YOUNG: Duration = Duration::from_secs(2);

/// Checks every question that is up.
pub fn all(ctx: &Ctx) {
    for id in asking(ctx) {
        if let Some(subject) = Session::read(&ctx.paths, &id).and_then(|session| found(ctx, session)) {
            self::subject(ctx, &subject);
        }
    }
}

/// Checks the question of one lane or conversation.
pub fn subject(ctx: &Ctx, subject: &Subject) {
    let (session, lane) = (&subject.session, subject.lane.as_ref());
    let marks = Marks { paths: &ctx.paths, session, key: &subject.key, lane };
    let old = marks.since().and_then(|since| since.elapsed().ok()).is_some_and(|age| age > YOUNG);
    if !old {
        return;
    }
    let busy = match client::status(ctx, &subject.client, session.as_str()) {
        None | Some(Status::Waiting) => return,
        Some(Status::Busy) => true,
        Some(Status::Idle) => false,
    };
    tracing::info!(key = subject.key, busy, "asked, the client says that it does not wait");
    if let Err(error) = take(ctx, subject, &Event::Found { busy }, None, false) {
        tracing::warn!("{error}");
    }
}

fn asking(ctx: &Ctx) -> Vec<SessionId> {
    let entries = std::fs::read_dir(ctx.paths.state.join(markers::ASKING)).into_iter().flatten().flatten();
    entries.filter_map(|entry| SessionId::parse(entry.file_name().to_str()?)).collect()
}

fn found(ctx: &Ctx, session: Session) -> Option<Subject> {
    let Some(id) = &session.lane else {
        return Some(Subject::of_session(session.id, &session.cwd, session.client));
    };
    let table = registry::read(&ctx.paths).ok()?;
    let lane = table.rows().map(|row| Lane::of(ctx, row.clone())).find(|lane| lane.id() == id)?;
    Some(Subject { client: session.client, ..Subject::of_lane(&table, &lane, session.id) })
}
