//! The cheap gate: what can be told without configuration, registry, git or any other program.
//! A tool call comes many times a minute in every pane, and nearly always nothing is outstanding.

use std::path::Path;

use super::event::Kind;
use super::payload::Payload;
use crate::notify::markers;

/// Whether there is certainly nothing to do. Looks at two paths at most.
pub(super) fn is_closed(state: &Path, kind: Kind, payload: &Payload) -> bool {
    match (kind, payload.session()) {
        (Kind::Other, _) => true,
        (Kind::Tool, Some(session)) => !markers::is_outstanding(state, &session, payload.agent().is_some()),
        _ => false,
    }
}
