//! Whether the person looks at a pane already.
//!
//! tmux takes every terminal to have the focus until it says otherwise, and many never do. So a
//! terminal's focus counts once it has been seen without.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::subject::Subject;
use crate::activity;
use crate::config::WhenVisible;
use crate::ctx::Ctx;
use crate::mux::{self, Report, Seen};
use crate::paths::{Paths, make_private_dir};

/// How long it is remembered that a terminal reports its focus.
const MEMORY: Duration = Duration::from_hours(7 * 24);

/// Whether somebody looks at the pane that was asked about. Not knowing counts as no.
pub fn is_watched(paths: &Paths, seen: &Seen) -> bool {
    if !seen.focus_events {
        return false;
    }
    for eye in seen.eyes.iter().filter(|eye| !eye.focused) {
        remember(&mark(paths, &eye.client));
    }
    seen.eyes.iter().any(|eye| eye.on_pane && eye.focused && mark(paths, &eye.client).exists())
}

/// The same of a lane's pane as it is now, where the configuration cares.
pub fn is_watched_now(ctx: &Ctx, subject: &Subject) -> bool {
    let Some(lane) = &subject.lane else { return false };
    if ctx.config().notify.when_visible == WhenVisible::Show {
        return false;
    }
    let activity = activity::of(&ctx.paths, lane).map(|(activity, _)| activity);
    let report = Report { lane, label: &subject.label, activity, claim: false };
    mux::report(ctx, &report).is_some_and(|seen| is_watched(&ctx.paths, &seen))
}

fn mark(paths: &Paths, client: &str) -> PathBuf {
    paths.state.join("cache/focus").join(client)
}

fn remember(mark: &Path) {
    let Some(directory) = mark.parent().filter(|_| !mark.exists()) else { return };
    let made = make_private_dir(directory).is_ok() && std::fs::File::create(mark).is_ok();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten().filter(|_| made) {
        let age = entry.metadata().and_then(|meta| meta.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > MEMORY) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mux::Eye;

    fn seen(focus_events: bool, eyes: &[(bool, bool)]) -> Seen {
        let eyes = eyes.iter().enumerate().map(|(number, (focused, on_pane))| Eye {
            client: format!("1-2-{number}"),
            focused: *focused,
            on_pane: *on_pane,
        });
        Seen { ident: "1:2".to_owned(), told: true, focus_events, eyes: eyes.collect() }
    }

    #[test]
    fn focus_counts_once_it_was_seen_to_change() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths { state: dir.path().to_owned(), ..Paths::default() };
        assert!(!is_watched(&paths, &seen(true, &[(true, true)])), "it may never report");
        assert!(!is_watched(&paths, &seen(true, &[(false, true)])));
        assert!(is_watched(&paths, &seen(true, &[(true, true)])));
        assert!(!is_watched(&paths, &seen(true, &[(true, false)])), "another pane");
        assert!(!is_watched(&paths, &seen(false, &[(true, true)])), "nothing is reported any more");
        assert!(is_watched(&paths, &seen(true, &[(true, true), (false, false)])));
        assert!(!is_watched(&paths, &seen(true, &[])));
    }
}
