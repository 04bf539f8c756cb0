//! The commands scruff gives: each target is session, window and pane by id.

use tmux_interface::{
    NewSession, NewWindow, SelectPane, SelectWindow, SplitWindow, SwitchClient, TmuxCommand,
};

use super::seat::{self, Seat};
use super::snapshot::{Pane, Snapshot};
use super::text;
use crate::mux::{Asker, MuxError, PaneId};

/// What a new pane prints about itself.
const NEW_PANE: &str = "#{pane_id}";

/// The pane that a new one goes beside: the asker's, or the one in front of them. `None` on a
/// server without sessions.
pub(super) fn anchor<'a>(seen: &'a Snapshot, asker: &Asker) -> Result<Option<&'a Pane>, MuxError> {
    if let Some(id) = &asker.pane {
        let rows = || seen.panes.iter().filter(|row| row.info.id == *id);
        let row = rows().find(|row| row.session == seen.session).or_else(|| rows().next());
        return row.map(Some).ok_or_else(|| MuxError::Failed(format!("tmux has no pane {id}")));
    }
    let shown = match seat::seat(seen, asker, &[])? {
        Seat::Client(client) => &client.session,
        Seat::Unseen => seat::session(seen, asker),
        Seat::Terminal | Seat::Nobody => &seen.session,
    };
    let in_front = |row: &&Pane| row.session == *shown && row.current && row.active;
    Ok(seen.panes.iter().find(in_front).or(seen.panes.first()))
}

/// A window after the one of the anchor.
pub(super) fn window(anchor: &Pane, name: &str) -> TmuxCommand<'static> {
    NewWindow::new()
        .detached()
        .after()
        .print()
        .format(NEW_PANE)
        .window_name(text::literal(&text::name(name)))
        .target_window(anchor.window_target())
        .build()
}

/// A split of the anchor, on its way.
pub(super) fn split(anchor: &Pane) -> SplitWindow<'static> {
    SplitWindow::new().detached().print().format(NEW_PANE).target_pane(anchor.target())
}

/// A session, as large as the screen it will be shown on.
pub(super) fn session(seen: &Snapshot, asker: &Asker, name: &str) -> TmuxCommand<'static> {
    let free = free_name(seen, &text::name(name));
    let new = NewSession::new()
        .detached()
        .print()
        .format(NEW_PANE)
        .session_name(text::literal(&free))
        .window_name(text::literal(&text::name(name)));
    match seat::seat(seen, asker, &[]) {
        Ok(Seat::Client(client)) if client.width > 0 && client.height > 0 => {
            new.width(client.width).height(client.height).build()
        }
        _ => new.build(),
    }
}

fn free_name(seen: &Snapshot, name: &str) -> String {
    let taken = |name: &str| seen.panes.iter().any(|row| row.session_name == name);
    let numbered = (2..).map(|n: u32| format!("{name}-{n}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
}

/// Makes a pane the current one of its session, a zoomed window staying zoomed.
pub(super) fn select(place: &Pane) -> Vec<TmuxCommand<'static>> {
    vec![
        SelectPane::new().keep_zoomed().target_pane(place.target()).build(),
        SelectWindow::new().target_window(place.window_target()).build(),
    ]
}

/// Moves this one client to a pane.
pub(super) fn switch(client: &str, place: &Pane) -> TmuxCommand<'static> {
    SwitchClient::new().keep_zoomed().target_client(client.to_owned()).target_session(place.target()).build()
}

/// Moves clients away from a session that ends with this pane, or they would be detached.
pub(super) fn leave(seen: &Snapshot, pane: &PaneId) -> Vec<TmuxCommand<'static>> {
    let ends = |session: &str| seen.panes.iter().all(|row| row.session != session || row.info.id == *pane);
    let stays = |row: &&Pane| !ends(&row.session) && row.current && row.active;
    let Some(refuge) = seen.panes.iter().filter(stays).max_by_key(|row| row.info.last_used) else {
        return Vec::new();
    };
    let moved = seen.clients.iter().filter(|client| ends(&client.session));
    moved.map(|client| switch(&client.name, refuge)).collect()
}
