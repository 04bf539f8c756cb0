//! Whose event it is: the conversation, its lane, and whether a person sits at it.

use std::path::{Path, PathBuf};

use super::Call;
use super::event::Kind;
use super::payload::Payload;
use crate::ctx::Ctx;
use crate::env::Env;
use crate::error::Result;
use crate::lane::Lane;
use crate::mux::PaneRecord;
use crate::notify::subject::Subject;
use crate::proc::facts;
use crate::registry::{self, Table};
use crate::session::{self, Process, Session, SessionId};

/// What a hook's parent is called when it is not the client itself.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "busybox"];

/// The client of a row that names none, and of a payload that says nothing.
const DEFAULT_CLIENT: &str = "claude";

/// The client whose panes may share a process.
const SHARES_A_PROCESS: &str = "codex";

/// Where a conversation begins anew inside a client that already runs.
const SUCCESSORS: [&str; 3] = ["clear", "resume", "fork"];

/// Whose event it is.
#[derive(Debug)]
pub(super) struct Who {
    /// Whom a banner would be about.
    pub(super) subject: Subject,
    /// Whether the event counts: a person sits there, and no other conversation has the lane.
    pub(super) counts: bool,
    /// What there was of the conversation before.
    known: Option<Session>,
    cwd: PathBuf,
    attended: bool,
    process: Option<Process>,
    /// Whether the lane's own conversation is another one that still runs.
    taken: bool,
    /// Whether the lane was not in this conversation before.
    news: bool,
}

impl Who {
    /// Finds out. `None` where there is neither a lane nor a conversation to tell of.
    pub(super) fn find(ctx: &Ctx, call: &Call) -> Result<Option<Self>> {
        let (kind, payload) = (call.kind, &call.payload);
        let claude = Claude::of(&ctx.env, payload);
        let id = payload.session();
        let known = id.as_ref().and_then(|id| Session::read(&ctx.paths, id));
        let table = registry::read(&ctx.paths)?;
        let cwd = payload.cwd().unwrap_or_else(|| ctx.cwd.clone());
        let lane = place(ctx, &table, known.as_ref(), payload, &cwd, kind);
        let Some(id) = id.or_else(|| lane.as_ref().map(|lane| SessionId::of_lane(lane.id()))) else {
            return Ok(None);
        };
        let client = known.as_ref().map(|known| known.client.clone()).or_else(|| call.client.clone());
        let subject = match &lane {
            Some(lane) => Subject::of_lane(&table, lane, id.clone()),
            None => {
                Subject::of_session(id.clone(), &cwd, client.unwrap_or_else(|| DEFAULT_CLIENT.to_owned()))
            }
        };
        let process = process(&claude, known.as_ref(), kind);
        let other = lane.as_ref().and_then(|lane| other(ctx, lane, Some(&id)));
        let taken = other.is_some_and(|other| !succeeds(&other, payload, process.as_ref(), kind));
        let news = lane.as_ref().is_some_and(|lane| lane.record.session.as_deref() != Some(id.as_str()));
        let counts = claude.attended && !taken;
        Ok(Some(Who { subject, counts, known, cwd, attended: claude.attended, process, taken, news }))
    }

    /// Writes down what was not known before: the conversation, and that the lane is in it.
    pub(super) fn register(&self, ctx: &Ctx, call: &Call) -> Result<()> {
        let (kind, subject) = (call.kind, &self.subject);
        let pane = subject.lane.as_ref().and_then(|lane| PaneRecord::read(&ctx.paths, lane));
        let new = Session {
            id: subject.session.clone(),
            client: subject.client.clone(),
            lane: subject.lane.clone(),
            cwd: self.cwd.clone(),
            process: self.process.clone(),
            pane: pane.map(|record| record.pane),
            attended: self.attended,
            begun: kind == Kind::Start || self.known.as_ref().is_some_and(|known| known.begun),
        };
        let same = |known: &Session| known.lane == new.lane && known.process == new.process;
        if kind == Kind::Start || !self.known.as_ref().is_some_and(same) {
            new.write(&ctx.paths)?;
        }
        // A conversation that is gone on with may say the directory that its client was started in.
        let certain = kind != Kind::Start || call.payload.source().as_deref() != Some("resume");
        match &subject.lane {
            Some(lane) if self.news && certain && !self.taken => {
                session::bind(&ctx.paths, lane, &subject.session)
            }
            _ => Ok(()),
        }
    }

    /// Forgets the conversation: it has ended.
    pub(super) fn forget(&self, ctx: &Ctx) {
        if let Some(known) = &self.known {
            known.remove(&ctx.paths);
        }
    }

    /// Whether the pane that the environment names is the client's own. Codex may run its hooks in
    /// a process that all its panes share, with the environment of the pane that started it.
    pub(super) fn is_in_pane(&self) -> bool {
        let pid = self.process.as_ref().map(|process| process.pid);
        self.subject.client != SHARES_A_PROCESS || pid.and_then(facts::terminal).is_some()
    }
}

/// What Claude tells its hooks by their environment. It is another conversation's where a client
/// runs inside of it.
struct Claude {
    attended: bool,
    pid: Option<u32>,
}

impl Claude {
    fn of(env: &Env, payload: &Payload) -> Self {
        let told = env.text("CLAUDE_CODE_SESSION_ID").and_then(SessionId::parse);
        if told.is_some() && told != payload.session() {
            return Claude { attended: true, pid: None };
        }
        let alone = env.text("CLAUDE_CODE_SESSION_ATTENDED") == Some("0");
        let printing = env.text("CLAUDE_CODE_ENTRYPOINT") == Some("sdk-cli");
        let pid = env.text("CLAUDE_PID").and_then(|pid| pid.parse().ok());
        Claude { attended: !alone && !printing, pid }
    }
}

/// The lane: the one whose checkout the client stands in, else the one that the conversation is
/// known to be in. A sub-agent may stand in a lane of its own, and a client may step into a lane
/// that another one has: both stay where their conversation is.
fn place(
    ctx: &Ctx,
    table: &Table,
    known: Option<&Session>,
    payload: &Payload,
    cwd: &Path,
    kind: Kind,
) -> Option<Lane> {
    let recorded = || {
        let id = known?.lane.as_ref()?;
        table.rows().map(|row| Lane::of(ctx, row.clone())).find(|lane| lane.id() == id)
    };
    if kind == Kind::End || payload.agent().is_some() {
        return recorded().or_else(|| holding(ctx, table, cwd));
    }
    let Some(here) = holding(ctx, table, cwd) else { return recorded() };
    let elsewhere = known.and_then(|known| known.lane.as_ref()).filter(|lane| *lane != here.id());
    match elsewhere {
        Some(_) if other(ctx, &here, payload.session().as_ref()).is_some() => recorded().or(Some(here)),
        _ => Some(here),
    }
}

fn holding(ctx: &Ctx, table: &Table, cwd: &Path) -> Option<Lane> {
    let real = cwd.canonicalize().ok();
    let row = real.as_deref().and_then(|real| table.holding(real)).or_else(|| table.holding(cwd));
    row.map(|row| Lane::of(ctx, row.clone()))
}

/// The conversation that has a lane, if it is another one and a person sits at it.
fn other(ctx: &Ctx, lane: &Lane, than: Option<&SessionId>) -> Option<Session> {
    let own = lane.record.session.as_deref().and_then(SessionId::parse).filter(|own| Some(own) != than)?;
    Session::read(&ctx.paths, &own).filter(Session::is_live)
}

/// Whether a conversation takes another one's place in the same client.
fn succeeds(other: &Session, payload: &Payload, process: Option<&Process>, kind: Kind) -> bool {
    let anew = payload.source().is_some_and(|source| SUCCESSORS.contains(&source.as_str()));
    kind == Kind::Start && anew && process.is_some() && other.process.as_ref() == process
}

/// The client's process: what it says itself, else the nearest parent that is no shell.
fn process(claude: &Claude, known: Option<&Session>, kind: Kind) -> Option<Process> {
    if let Some(process) = claude.pid.and_then(Process::of) {
        return Some(process);
    }
    let before = known.and_then(|known| known.process.clone()).filter(Process::is_alive);
    if kind != Kind::Start && before.is_some() {
        return before;
    }
    let mut parent = std::os::unix::process::parent_id();
    for _ in 0..4 {
        let facts = facts::of(parent)?;
        if !SHELLS.contains(&facts.command.as_str()) {
            return Process::of(parent);
        }
        parent = facts.parent;
    }
    None
}
