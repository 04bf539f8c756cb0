//! The ladder for "where does this lane run": pure, so that it can be tried on every case.
//!
//! 1. the recorded pane, if its server is still the same one and the pane is alive;
//! 2. a pane tagged with the lane's id;
//! 3. exactly one pane in which the lane's client stands in its checkout: a guess.

use std::path::Path;

use super::{PaneInfo, PaneRecord, PaneRef, Server};
use crate::lane::LaneId;

/// What runs a client that is a script.
const RUNTIMES: [&str; 3] = ["node", "bun", "deno"];

/// The lane that is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Sought<'a> {
    /// Its id.
    pub lane: &'a LaneId,
    /// Its checkout, without symlinks.
    pub checkout: &'a Path,
    /// Its client's program.
    pub client: &'a str,
    /// The pane it was last recorded in.
    pub record: Option<&'a PaneRecord>,
    /// Only a pane in which the client has not ended.
    pub running: bool,
}

/// What one server answered.
#[derive(Clone, Debug)]
pub struct View {
    /// The server.
    pub server: Server,
    /// Its panes.
    pub panes: Vec<PaneInfo>,
}

/// Where a lane runs, and how sure that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Located {
    /// In its recorded pane.
    Bound(PaneRef),
    /// In a pane that says so itself.
    Marked(PaneRef),
    /// Probably there. Good enough to look at, never to write to.
    Guess(PaneRef),
    /// In one of these; nobody can tell.
    Ambiguous(Vec<PaneRef>),
    /// Nowhere.
    Gone,
}

/// A pane that certainly is the lane's: the only kind that is closed or written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certain {
    pane: PaneRef,
    lane: LaneId,
}

impl Certain {
    /// A pane that scruff has just made for this lane.
    pub(super) fn made(pane: PaneRef, lane: LaneId) -> Self {
        Certain { pane, lane }
    }

    /// The pane.
    pub fn pane(&self) -> &PaneRef {
        &self.pane
    }

    /// The lane.
    pub fn lane(&self) -> &LaneId {
        &self.lane
    }
}

impl Located {
    /// The pane, however sure.
    pub fn pane(&self) -> Option<&PaneRef> {
        match self {
            Located::Bound(pane) | Located::Marked(pane) | Located::Guess(pane) => Some(pane),
            Located::Ambiguous(_) | Located::Gone => None,
        }
    }

    /// The pane, if it is certainly this lane's.
    pub fn certain(self, lane: &LaneId) -> Option<Certain> {
        match self {
            Located::Bound(pane) | Located::Marked(pane) => Some(Certain { pane, lane: lane.clone() }),
            Located::Guess(_) | Located::Ambiguous(_) | Located::Gone => None,
        }
    }
}

/// Climbs the ladder.
pub fn locate(sought: &Sought<'_>, views: &[View]) -> Located {
    if let Some(pane) = bound(sought, views) {
        return Located::Bound(pane);
    }
    if let Some(pane) = marked(sought, views) {
        return Located::Marked(pane);
    }
    let mut guesses =
        panes(views).filter(|(server, pane)| stands(sought, server, pane)).map(named).collect::<Vec<_>>();
    match guesses.len() {
        0 => Located::Gone,
        1 => Located::Guess(guesses.remove(0)),
        _ => Located::Ambiguous(guesses),
    }
}

fn bound(sought: &Sought<'_>, views: &[View]) -> Option<PaneRef> {
    let record = sought.record?;
    let view = views.iter().find(|view| view.server == record.pane.server)?;
    let pane = view.panes.iter().find(|pane| pane.id == record.pane.id)?;
    let another = pane.lane.as_ref().is_some_and(|lane| lane != sought.lane);
    (alive(sought, &view.server, pane) && !another).then(|| record.pane.clone())
}

fn marked(sought: &Sought<'_>, views: &[View]) -> Option<PaneRef> {
    let tagged = panes(views)
        .filter(|(server, pane)| pane.lane.as_ref() == Some(sought.lane) && alive(sought, server, pane))
        .max_by_key(|(_, pane)| (!pane.ended, pane.visible, pane.last_used));
    tagged.map(named)
}

/// A tagged pane is another lane's or was tried already.
fn stands(sought: &Sought<'_>, server: &Server, pane: &PaneInfo) -> bool {
    let client = pane.command == sought.client || RUNTIMES.contains(&pane.command.as_str());
    let here = pane.cwd.as_deref().is_some_and(|cwd| cwd == sought.checkout);
    pane.lane.is_none() && alive(sought, server, pane) && client && here
}

/// That a client has ended is on its pane and on record; either may be missing.
fn alive(sought: &Sought<'_>, server: &Server, pane: &PaneInfo) -> bool {
    let recorded =
        |record: &PaneRecord| record.ended && record.pane.id == pane.id && record.pane.server == *server;
    let ended = pane.ended || sought.record.is_some_and(recorded);
    let over = pane.dead || (sought.running && ended);
    !over
}

fn panes(views: &[View]) -> impl Iterator<Item = (&Server, &PaneInfo)> {
    views.iter().flat_map(|view| view.panes.iter().map(|pane| (&view.server, pane)))
}

fn named((server, pane): (&Server, &PaneInfo)) -> PaneRef {
    PaneRef { server: server.clone(), id: pane.id.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mux::{Kind, PaneId};

    fn id(letter: &str) -> LaneId {
        LaneId::parse(&letter.repeat(12)).unwrap()
    }

    fn server(start: u32) -> Server {
        Server { mux: Kind::Tmux, socket: "/tmp/s".into(), ident: format!("7:{start}") }
    }

    fn reference(start: u32, pane: &str) -> PaneRef {
        PaneRef { server: server(start), id: PaneId::tmux(pane).unwrap() }
    }

    fn pane(id: &str) -> PaneInfo {
        PaneInfo {
            id: PaneId::tmux(id).unwrap(),
            pid: None,
            tty: None,
            cwd: None,
            lane: None,
            ended: false,
            command: "sh".to_owned(),
            dead: false,
            visible: Some(false),
            last_used: Some(0),
        }
    }

    fn client(id: &str, cwd: &str) -> PaneInfo {
        PaneInfo { cwd: Some(cwd.into()), command: "claude".to_owned(), ..pane(id) }
    }

    fn tagged(id: &str, lane: &LaneId) -> PaneInfo {
        PaneInfo { lane: Some(lane.clone()), ..pane(id) }
    }

    fn find(record: Option<&PaneRecord>, running: bool, panes: Vec<PaneInfo>) -> Located {
        let lane = id("a");
        let checkout = Path::new("/c/a");
        let sought = Sought { lane: &lane, checkout, client: "claude", record, running };
        locate(&sought, &[View { server: server(1), panes }])
    }

    fn record(start: u32, pane: &str) -> PaneRecord {
        PaneRecord { pane: reference(start, pane), ended: false }
    }

    #[test]
    fn the_recorded_pane_of_the_same_server_comes_first() {
        let panes = vec![tagged("%1", &id("a")), pane("%2"), client("%3", "/c/a")];
        let found = find(Some(&record(1, "%2")), true, panes);
        assert_eq!(found, Located::Bound(reference(1, "%2")));
    }

    #[test]
    fn after_a_restart_the_same_id_is_another_pane() {
        assert_eq!(find(Some(&record(2, "%2")), true, vec![pane("%2")]), Located::Gone);
    }

    #[test]
    fn a_recorded_pane_that_another_lane_has_taken_is_not_ours() {
        let found = find(Some(&record(1, "%2")), true, vec![tagged("%2", &id("b"))]);
        assert_eq!(found, Located::Gone);
    }

    #[test]
    fn a_dead_or_missing_recorded_pane_is_gone() {
        let dead = PaneInfo { dead: true, ..pane("%2") };
        assert_eq!(find(Some(&record(1, "%2")), true, vec![dead]), Located::Gone);
        assert_eq!(find(Some(&record(1, "%2")), true, vec![]), Located::Gone);
    }

    #[test]
    fn of_two_tagged_panes_the_one_seen_and_used_last() {
        let old = PaneInfo { last_used: Some(5), ..tagged("%1", &id("a")) };
        let new = PaneInfo { last_used: Some(9), ..tagged("%2", &id("a")) };
        let found = find(None, true, vec![new.clone(), old.clone()]);
        assert_eq!(found, Located::Marked(reference(1, "%2")));
        let seen = PaneInfo { visible: Some(true), ..old };
        assert_eq!(find(None, true, vec![new, seen]), Located::Marked(reference(1, "%1")));
    }

    #[test]
    fn one_client_in_the_checkout_is_a_guess_and_two_are_none() {
        let found = find(None, true, vec![client("%1", "/c/a"), client("%2", "/c/a-2"), pane("%3")]);
        assert_eq!(found, Located::Guess(reference(1, "%1")));
        assert!(found.certain(&id("a")).is_none());
        let found = find(None, true, vec![client("%1", "/c/a"), client("%2", "/c/a")]);
        assert_eq!(found, Located::Ambiguous(vec![reference(1, "%1"), reference(1, "%2")]));
        assert!(found.certain(&id("a")).is_none());
    }

    #[test]
    fn a_shell_or_another_lane_in_the_checkout_is_no_guess() {
        let shell = PaneInfo { cwd: Some("/c/a".into()), ..pane("%1") };
        let other = PaneInfo { lane: Some(id("b")), ..client("%2", "/c/a") };
        assert_eq!(find(None, true, vec![shell, other]), Located::Gone);
    }

    #[test]
    fn an_ended_client_runs_nowhere_but_its_pane_is_still_the_lanes() {
        let ended = PaneInfo { ended: true, ..tagged("%1", &id("a")) };
        let record = PaneRecord { pane: reference(1, "%1"), ended: true };
        assert_eq!(find(Some(&record), true, vec![ended.clone()]), Located::Gone);
        let untagged = PaneInfo { ended: false, ..ended.clone() };
        assert_eq!(find(Some(&record), true, vec![untagged]), Located::Gone);
        let found = find(Some(&record), false, vec![ended]);
        assert_eq!(found, Located::Bound(reference(1, "%1")));
        assert_eq!(found.certain(&id("a")).unwrap().pane(), &reference(1, "%1"));
    }
}
