//! Which client must show a pane: the one of the person who asked, never whichever typed last.

use super::snapshot::{Client, Pane, Snapshot};
use crate::mux::{Asker, MuxError};

/// Where the person who asked sits.
#[derive(Debug)]
pub(super) enum Seat<'a> {
    /// At this client.
    Client(&'a Client),
    /// At a terminal outside the server.
    Terminal,
    /// Inside the server, where nobody looks: a selection is all they want.
    Unseen,
    /// Outside, and the server has no client.
    Nobody,
}

/// The session of whoever asks: their pane's, or the one they said.
pub(super) fn session<'a>(seen: &'a Snapshot, asker: &'a Asker) -> &'a str {
    let rows = || seen.panes.iter().filter(|row| Some(&row.info.id) == asker.pane.as_ref());
    let row = rows().find(|row| row.session == seen.session).or_else(|| rows().next());
    row.map(|row| row.session.as_str()).or(asker.session.as_deref()).unwrap_or(&seen.session)
}

/// The seat of whoever asks for a pane that is in these sessions.
pub(super) fn seat<'a>(seen: &'a Snapshot, asker: &Asker, places: &[&Pane]) -> Result<Seat<'a>, MuxError> {
    if let Some(name) = &asker.client {
        return named(seen, name).map(Seat::Client);
    }
    if asker.inside {
        let session = session(seen, asker);
        let here = |client: &&Client| client.session == session;
        return Ok(latest(seen, here).map_or(Seat::Unseen, Seat::Client));
    }
    if asker.terminal {
        return Ok(Seat::Terminal);
    }
    let shows = |client: &&Client| places.iter().any(|place| place.session == client.session);
    let client = latest(seen, shows).or_else(|| latest(seen, |_| true));
    Ok(client.map_or(Seat::Nobody, Seat::Client))
}

fn named<'a>(seen: &'a Snapshot, name: &str) -> Result<&'a Client, MuxError> {
    let found = seen.clients.iter().find(|client| client.name == name);
    found.ok_or_else(|| MuxError::Failed(format!("tmux has no client {name:?}")))
}

/// The client used last. Seconds are coarse: among equals tmux's own answer decides.
fn latest(seen: &Snapshot, fits: impl Fn(&&Client) -> bool) -> Option<&Client> {
    let rank = |client: &&Client| (!client.control, client.activity, client.name == seen.client);
    seen.clients.iter().filter(fits).max_by_key(rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mux::{Kind, PaneId, PaneInfo, Server};

    fn client(name: &str, session: &str, activity: i64) -> Client {
        Client {
            name: name.to_owned(),
            tty: name.to_owned(),
            session: session.to_owned(),
            activity,
            control: false,
            width: 80,
            height: 24,
        }
    }

    fn pane(id: &str, session: &str) -> Pane {
        let info = PaneInfo {
            id: PaneId::tmux(id).unwrap(),
            pid: None,
            tty: None,
            cwd: None,
            lane: None,
            ended: false,
            command: String::new(),
            dead: false,
            visible: None,
            last_used: None,
        };
        Pane {
            session: session.to_owned(),
            window: "@1".to_owned(),
            session_name: String::new(),
            attached: true,
            current: true,
            active: true,
            info,
        }
    }

    fn seen(clients: Vec<Client>) -> Snapshot {
        let server = Server { mux: Kind::Tmux, socket: "/s".into(), ident: "1:1".to_owned() };
        Snapshot {
            server,
            version: "3.3a".to_owned(),
            session: "$0".to_owned(),
            client: "b".to_owned(),
            panes: vec![pane("%0", "$0"), pane("%1", "$1")],
            clients,
        }
    }

    fn seated(seen: &Snapshot, asker: &Asker, place: &str) -> String {
        match seat(seen, asker, &[&pane("%9", place)]).unwrap() {
            Seat::Client(client) => client.name.clone(),
            other => format!("{other:?}"),
        }
    }

    fn inside(pane: &str) -> Asker {
        Asker { pane: PaneId::tmux(pane), inside: true, ..Asker::default() }
    }

    #[test]
    fn the_client_that_was_named_or_an_error() {
        let seen = seen(vec![client("a", "$0", 9), client("b", "$1", 1)]);
        let asker = Asker { client: Some("b".to_owned()), ..inside("%0") };
        assert_eq!(seated(&seen, &asker, "$0"), "b");
        let asker = Asker { client: Some("c".to_owned()), ..inside("%0") };
        assert!(seat(&seen, &asker, &[]).is_err());
    }

    #[test]
    fn from_a_pane_a_client_of_its_session_also_when_another_typed_later() {
        let seen = seen(vec![client("a", "$0", 1), client("b", "$1", 9)]);
        assert_eq!(seated(&seen, &inside("%0"), "$1"), "a");
        assert_eq!(seated(&seen, &inside("%1"), "$0"), "b");
    }

    #[test]
    fn from_a_pane_nobody_looks_at_nobody_is_moved() {
        let seen = seen(vec![client("b", "$1", 9)]);
        assert_eq!(seated(&seen, &inside("%0"), "$1"), "Unseen");
    }

    #[test]
    fn from_a_popup_a_client_of_its_session() {
        let seen = seen(vec![client("a", "$0", 1), client("b", "$1", 9)]);
        let asker = Asker { session: Some("$1".to_owned()), inside: true, ..Asker::default() };
        assert_eq!(seated(&seen, &asker, "$0"), "b");
    }

    #[test]
    fn among_equals_the_one_tmux_knows_to_be_later() {
        let seen = seen(vec![client("c", "$0", 5), client("b", "$0", 5), client("a", "$0", 5)]);
        assert_eq!(seated(&seen, &inside("%0"), "$1"), "b");
    }

    #[test]
    fn from_a_click_one_that_shows_the_session_else_the_one_used_last() {
        let mut seen = seen(vec![client("a", "$0", 1), client("b", "$1", 9)]);
        assert_eq!(seated(&seen, &Asker::default(), "$0"), "a");
        assert_eq!(seated(&seen, &Asker::default(), "$7"), "b");
        seen.clients.clear();
        assert_eq!(seated(&seen, &Asker::default(), "$7"), "Nobody");
    }

    #[test]
    fn from_a_terminal_outside_that_terminal() {
        let seen = seen(vec![client("a", "$0", 1)]);
        let asker = Asker { terminal: true, ..Asker::default() };
        assert_eq!(seated(&seen, &asker, "$0"), "Terminal");
    }
}
