//! One look at a server: itself, its panes, its clients, in one call.
//!
//! Names, titles, commands and directories can hold anything, also newlines. So the columns are
//! set apart by a random word that was unknown when those names were given, and a row must have
//! exactly the columns asked for.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use tmux_interface::{DisplayMessage, ListClients, ListPanes, TmuxCommand};

use crate::lane::LaneId;
use crate::mux::{Kind, MuxError, PaneId, PaneInfo, Server};

const SERVER: [&str; 6] = ["pid", "start_time", "socket_path", "version", "session_id", "client_name"];

const PANE: [&str; 15] = [
    "session_id",
    "window_id",
    "pane_id",
    "session_name",
    "session_attached",
    "window_active",
    "pane_active",
    "window_zoomed_flag",
    "pane_dead",
    "window_activity",
    "pane_pid",
    "pane_tty",
    "@scruff_id",
    "@scruff_ended",
    "pane_current_command",
];

const CWD: &str = "pane_current_path";

const CLIENT: [&str; 7] = [
    "client_name",
    "client_tty",
    "session_id",
    "client_activity",
    "client_control_mode",
    "client_width",
    "client_height",
];

/// What a server said.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) server: Server,
    pub(super) version: String,
    /// The session of whoever asks, or the one used last.
    pub(super) session: String,
    /// The client that whoever asks has used last: tmux knows it to the microsecond.
    pub(super) client: String,
    pub(super) panes: Vec<Pane>,
    pub(super) clients: Vec<Client>,
}

/// A pane in a session. One whose window is linked into two sessions is there twice.
#[derive(Clone, Debug)]
pub(super) struct Pane {
    pub(super) session: String,
    pub(super) window: String,
    pub(super) session_name: String,
    pub(super) attached: bool,
    /// Its window is the current one of the session.
    pub(super) current: bool,
    /// It is the active one of its window.
    pub(super) active: bool,
    pub(super) info: PaneInfo,
}

impl Pane {
    /// Session and window by id.
    pub(super) fn window_target(&self) -> String {
        format!("{}:{}", self.session, self.window)
    }

    /// Session, window and pane by id.
    pub(super) fn target(&self) -> String {
        format!("{}.{}", self.window_target(), self.info.id)
    }
}

/// A terminal that looks at the server.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) name: String,
    pub(super) tty: String,
    pub(super) session: String,
    pub(super) activity: i64,
    /// A program that speaks tmux's control protocol instead of a terminal.
    pub(super) control: bool,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// The commands of one look. `home` is the pane or session it is asked from.
pub(super) fn commands(mark: &str, home: Option<&str>) -> Vec<TmuxCommand<'static>> {
    let mut server = DisplayMessage::new().print().message(format(mark, 'S', &SERVER));
    if let Some(home) = home {
        server = server.target_pane(home.to_owned());
    }
    let pane: Vec<&str> = PANE.iter().copied().chain([CWD]).collect();
    vec![
        server.build(),
        ListPanes::new().all().format(format(mark, 'P', &pane)).build(),
        ListClients::new().format(format(mark, 'C', &CLIENT)).build(),
    ]
}

fn format(mark: &str, kind: char, fields: &[&str]) -> String {
    let columns: Vec<String> = fields.iter().map(|field| format!("#{{{field}}}")).collect();
    format!("{mark}{kind}{}{mark}.", columns.join(&format!("{mark}|")))
}

/// A word nobody can have put into a name.
pub(super) fn mark() -> Result<String, MuxError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| MuxError::Failed(format!("no randomness: {error}")))?;
    Ok(bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
}

/// Reads the answer.
pub(super) fn parse(mark: &str, answer: &[u8]) -> Result<Snapshot, MuxError> {
    read(mark, answer).ok_or_else(|| MuxError::Failed("tmux gave an answer that cannot be read".to_owned()))
}

fn read(mark: &str, answer: &[u8]) -> Option<Snapshot> {
    let mut rows = rows(mark.as_bytes(), answer)?.into_iter();
    let (b'S', server) = rows.next()? else { return None };
    let mut snapshot = server_row(&server)?;
    for (kind, columns) in rows {
        match kind {
            b'P' => snapshot.panes.push(pane_row(columns)?),
            b'C' => snapshot.clients.push(client_row(&columns)?),
            _ => return None,
        }
    }
    Some(snapshot)
}

type Columns = Vec<Vec<u8>>;

/// Each row with its kind. Every byte must belong to one.
fn rows(mark: &[u8], answer: &[u8]) -> Option<Vec<(u8, Columns)>> {
    let mut rows: Vec<(u8, Columns)> = Vec::new();
    let mut open = false;
    let mut pieces = split(answer, mark).into_iter();
    pieces.next().filter(|piece| piece.is_empty())?;
    for piece in pieces {
        match piece.split_first()? {
            (b'.', b"\n") if open => open = false,
            (b'|', text) if open => rows.last_mut()?.1.push(text.to_owned()),
            (kind @ (b'S' | b'P' | b'C'), text) if !open => {
                rows.push((*kind, vec![text.to_owned()]));
                open = true;
            }
            _ => return None,
        }
    }
    (!open).then_some(rows)
}

fn split<'a>(text: &'a [u8], mark: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.windows(mark.len()).position(|window| window == mark) {
        pieces.push(&rest[..at]);
        rest = &rest[at + mark.len()..];
    }
    pieces.push(rest);
    pieces
}

fn texts<const N: usize>(columns: &[Vec<u8>]) -> Option<[String; N]> {
    let texts: Vec<String> =
        columns.iter().map(|column| String::from_utf8_lossy(column).into_owned()).collect();
    texts.try_into().ok()
}

fn server_row(columns: &[Vec<u8>]) -> Option<Snapshot> {
    let socket = PathBuf::from(OsString::from_vec(columns.get(2)?.clone()));
    let [pid, start, _, version, session, client] = texts(columns)?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !number(&pid) || !number(&start) {
        return None;
    }
    let server = Server { mux: Kind::Tmux, socket, ident: format!("{pid}:{start}") };
    let (panes, clients) = (Vec::new(), Vec::new());
    Some(Snapshot { server, version, session, client, panes, clients })
}

fn pane_row(mut columns: Columns) -> Option<Pane> {
    let cwd = columns.pop().filter(|cwd| !cwd.is_empty()).map(|cwd| OsString::from_vec(cwd).into());
    let tty = columns.get(11).filter(|tty| !tty.is_empty()).cloned();
    let row: [String; 15] = texts(&columns)?;
    let [session, window, pane, session_name, attached, current, active, zoomed, dead, used, pid, ..] = row;
    let [.., lane, ended, command] = texts::<15>(&columns)?;
    let (attached, current, active) = (attached != "0", current == "1", active == "1");
    let info = PaneInfo {
        id: PaneId::tmux(&pane)?,
        pid: pid.parse().ok(),
        tty: tty.map(|tty| OsString::from_vec(tty).into()),
        cwd,
        lane: LaneId::parse(&lane),
        ended: !ended.is_empty(),
        command,
        dead: dead == "1",
        visible: Some(attached && current && (active || zoomed != "1")),
        last_used: used.parse().ok(),
    };
    let ids = id(&session, '$') && id(&window, '@');
    ids.then_some(Pane { session, window, session_name, attached, current, active, info })
}

fn client_row(columns: &[Vec<u8>]) -> Option<Client> {
    let [name, tty, session, activity, control, width, height] = texts(columns)?;
    let number = |text: String| text.parse().unwrap_or(0);
    Some(Client {
        name,
        tty,
        session,
        activity: activity.parse().unwrap_or(0),
        control: control == "1",
        width: number(width),
        height: number(height),
    })
}

fn id(text: &str, sigil: char) -> bool {
    text.strip_prefix(sigil)
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}
