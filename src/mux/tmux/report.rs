//! What a hook tells the pane it runs in, and learns of who looks at it: one call.

use tmux_interface::{DisplayMessage, IfShell, ListClients, ListPanes};

use super::{Tmux, text};
use crate::mux::report::{Eye, Report, Seen};
use crate::mux::{MuxError, PaneId};

const PANE: &str = "P\t#{session_id}\t#{window_active}\t#{pane_active}\t#{@scruff_id}\t#{pid}:#{start_time}\t#{focus-events}";
const CLIENT: &str = "C\t#{client_pid}\t#{session_id}\t#{client_control_mode}\t#{client_flags}";

impl Tmux {
    /// Writes on a pane what its lane does, if the pane is the lane's, and says who looks at it.
    /// `server` is the process that the pane's id was learnt from: another one has other panes.
    pub(in crate::mux) fn report(
        &self,
        pane: &PaneId,
        server: u32,
        report: &Report<'_>,
    ) -> Result<Seen, MuxError> {
        let set = IfShell::new().not_execute().target_pane(pane.to_string());
        let set = set.shell_command(guard(server, report)).command(writes(pane, report));
        let rows = ListPanes::new().all().filter(format!("#{{==:#{{pane_id}},{pane}}}")).format(PANE);
        let clients = ListClients::new().format(CLIENT);
        let answer = self.run(&[set.build(), rows.build(), clients.build()])?;
        let seen = parse(&String::from_utf8_lossy(&answer), report);
        let seen = seen.ok_or_else(|| MuxError::NoPane(format!("tmux has no pane {pane}")))?;
        let same = seen.ident.split(':').next() == Some(&server.to_string());
        same.then_some(seen).ok_or_else(|| MuxError::Gone(format!("the tmux server {server} has ended")))
    }

    /// Shows a line to everyone who looks at this server.
    pub(in crate::mux) fn announce(&self, line: &str) -> Result<(), MuxError> {
        let seen = self.look()?;
        let clients = seen.clients.iter().filter(|client| !client.control);
        let line = text::message(line);
        let show =
            |name: &str| DisplayMessage::new().target_client(name.to_owned()).message(line.clone()).build();
        let commands: Vec<_> = clients.map(|client| show(&client.name)).collect();
        if commands.is_empty() {
            return Err(MuxError::Failed("nobody looks at the tmux server".to_owned()));
        }
        self.run(&commands).map(drop)
    }
}

/// True for a pane of this server that is the lane's, or, where it may be claimed, nobody's.
fn guard(server: u32, report: &Report<'_>) -> String {
    let same = format!("#{{==:#{{pid}},{server}}}");
    let ours = format!("#{{==:#{{@scruff_id}},{}}}", report.lane);
    let free = "#{||:#{==:#{@scruff_id},},#{!=:#{@scruff_ended},}}";
    let ours = if report.claim { format!("#{{||:{ours},{free}}}") } else { ours };
    format!("#{{&&:{same},{ours}}}")
}

/// The options, as tmux reads them from a line.
fn writes(pane: &PaneId, report: &Report<'_>) -> String {
    let set = |option: &str, value: &str| format!("set-option -p -t {pane} {option} {}", text::quoted(value));
    let unset = |option: &str| format!("set-option -pu -t {pane} {option}");
    let state =
        report.activity.map_or_else(|| unset("@scruff_state"), |state| set("@scruff_state", state.word()));
    let lane = set("@scruff_id", report.lane.as_str());
    [lane, set("@scruff_lane", &text::literal(report.label)), unset("@scruff_ended"), state].join(" ; ")
}

fn parse(answer: &str, report: &Report<'_>) -> Option<Seen> {
    let rows: Vec<Vec<&str>> = answer.lines().map(|line| line.split('\t').collect()).collect();
    let mut sessions = Vec::new();
    let mut seen = None;
    for row in &rows {
        let ["P", session, current, active, lane, ident, focus] = row[..] else { continue };
        if current == "1" && active == "1" {
            sessions.push(session);
        }
        let told = lane == report.lane.as_str();
        seen = Some(Seen { ident: ident.to_owned(), told, focus_events: focus == "1", eyes: Vec::new() });
    }
    let mut seen = seen?;
    for row in &rows {
        let ["C", pid, session, "0", flags] = row[..] else { continue };
        let focused = flags.split(',').any(|flag| flag == "focused");
        let client = format!("{}-{pid}", seen.ident.replace(':', "-"));
        seen.eyes.push(Eye { client, focused, on_pane: sessions.contains(&session) });
    }
    Some(seen)
}
