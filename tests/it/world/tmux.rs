//! A private tmux server.

use super::attached::Attached;
use super::call::Call;
pub use super::conf::Conf;
use super::{Env, World, wait};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub struct Tmux {
    name: String,
    socket: PathBuf,
    conf: Conf,
    env: Env,
    cwd: PathBuf,
    scratch: PathBuf,
    calls: AtomicU32,
    pid: u32,
    session: String,
    pane: String,
}

/// A row of `list-panes -a`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pane {
    pub id: String,
    pub window: String,
    /// The session's id; a window linked into two sessions has its panes listed twice.
    pub session: String,
    pub session_name: String,
    pub index: String,
    pub window_index: String,
    pub pid: i32,
    pub tty: String,
    pub dead: bool,
    /// The active pane of its window.
    pub active: bool,
    /// Its window is the current one of its session.
    pub current: bool,
    pub zoomed: bool,
    pub command: String,
    pub lane_id: String,
    pub lane: String,
    pub state: String,
    pub window_name: String,
    pub cwd: String,
}

const PANE_FIELDS: [&str; 18] = [
    "pane_id",
    "window_id",
    "session_id",
    "session_name",
    "pane_index",
    "window_index",
    "pane_pid",
    "pane_tty",
    "pane_dead",
    "pane_active",
    "window_active",
    "window_zoomed_flag",
    "pane_current_command",
    "@scruff_id",
    "@scruff_lane",
    "@scruff_state",
    "window_name",
    "pane_current_path",
];

/// A row of `list-clients`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub name: String,
    pub tty: String,
    pub pid: u32,
    pub session: String,
    pub flags: String,
}

impl Tmux {
    /// The server that a `tmux` without options would talk to in this world, configured as the
    /// world is.
    pub fn start(world: &World) -> Self {
        Self::start_as(world, "default", world.conf())
    }

    /// Another one, as `tmux -L name` makes it.
    pub fn start_as(world: &World, name: &str, conf: Conf) -> Self {
        let file = conf.write(world);
        let mut tmux = Self::unborn(world, name, conf);
        let ids = "#{session_id} #{pane_id} #{pid} #{socket_path}";
        let start = ["new-session", "-d", "-P", "-F", ids, "-s", conf.session(), "-x", "100", "-y", "30"];
        let ran = world.program("tmux").args(["-u", "-L", name, "-f"]).arg(file).args(start).run();
        let ids: Vec<&str> = ran.ok().line().splitn(4, ' ').collect();
        tmux.session = ids[0].to_owned();
        tmux.pane = ids[1].to_owned();
        tmux.pid = ids[2].parse().unwrap();
        tmux.socket = ids[3].into();
        if conf == Conf::Hostile {
            tmux.add_lookalikes();
        }
        tmux
    }

    fn unborn(world: &World, name: &str, conf: Conf) -> Self {
        Self {
            name: name.to_owned(),
            socket: PathBuf::new(),
            conf,
            env: world.env().clone(),
            cwd: world.home(),
            scratch: world.root().join("tmp"),
            calls: AtomicU32::new(0),
            pid: 0,
            session: String::new(),
            pane: String::new(),
        }
    }

    /// Sessions and windows whose names match more than they say.
    fn add_lookalikes(&self) {
        for name in ["2026", "quest", "quest-two"] {
            self.run(["new-session", "-d", "-s", name, "-n", name, "sleep", "900"]);
            let target = format!("{}:", self.session);
            self.run(["new-window", "-d", "-t", &target, "-n", name, "sleep", "900"]);
        }
    }

    pub fn conf(&self) -> Conf {
        self.conf
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The id of the session it started with.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The id of the pane it started with, in which a shell waits.
    pub fn pane(&self) -> &str {
        &self.pane
    }

    pub fn call<I, S>(&self, args: I) -> Call
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let tmux = Call::new("tmux".as_ref(), self.env.clone(), self.cwd.clone());
        tmux.args(["-u", "-S"]).arg(&self.socket).args(args)
    }

    /// Runs a tmux command, which must succeed; its output without the last newline.
    #[track_caller]
    pub fn run<I, S>(&self, args: I) -> String
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let ran = self.call(args).run();
        ran.ok().out().trim_end_matches('\n').to_owned()
    }

    #[track_caller]
    pub fn panes(&self) -> Vec<Pane> {
        let rows = self.rows(&["list-panes", "-a"], &PANE_FIELDS);
        rows.into_iter().map(Pane::of).collect()
    }

    /// The pane with this id, if there is one.
    #[track_caller]
    pub fn find(&self, id: &str) -> Option<Pane> {
        self.panes().into_iter().find(|pane| pane.id == id)
    }

    /// The panes tagged with a lane of this name (`<repo>/<name>`).
    #[track_caller]
    pub fn panes_of(&self, lane: &str) -> Vec<Pane> {
        self.panes().into_iter().filter(|pane| pane.lane == lane).collect()
    }

    /// The active pane of a session's current window.
    #[track_caller]
    pub fn current(&self, session: &str) -> Pane {
        let mut panes = self.panes().into_iter();
        let current = panes.find(|pane| pane.session == session && pane.current && pane.active);
        current.unwrap_or_else(|| panic!("no session {session}\n{}", self.report()))
    }

    #[track_caller]
    pub fn clients(&self) -> Vec<Client> {
        let fields = ["client_name", "client_tty", "client_pid", "session_id", "client_flags"];
        self.rows(&["list-clients"], &fields).into_iter().map(Client::of).collect()
    }

    fn rows(&self, command: &[&str], fields: &[&str]) -> Vec<Vec<String>> {
        let columns: Vec<String> = fields.iter().map(|field| format!("#{{{field}}}")).collect();
        let printed = self.run([command, &["-F", &columns.join("\t")]].concat());
        let rows = printed.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
        rows.inspect(|row| assert_eq!(row.len(), fields.len(), "{row:?}")).collect()
    }

    /// What a pane shows.
    #[track_caller]
    pub fn capture(&self, pane: &str) -> String {
        self.run(["capture-pane", "-p", "-t", pane])
    }

    /// A format, as this pane sees it.
    #[track_caller]
    pub fn format(&self, pane: &str, format: &str) -> String {
        self.run(["display-message", "-p", "-t", pane, format])
    }

    /// Opens a window with a shell in a session; its pane's id.
    #[track_caller]
    pub fn new_window(&self, session: &str) -> String {
        self.run(["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", &format!("{session}:")])
    }

    /// Opens a session with a shell; its id.
    #[track_caller]
    pub fn new_session(&self, name: &str) -> String {
        self.run(["new-session", "-d", "-P", "-F", "#{session_id}", "-s", name, "-x", "100", "-y", "30"])
    }

    /// A person's terminal that looks at this session.
    #[track_caller]
    pub fn attach(&self, session: &str) -> Attached<'_> {
        Attached::to(self, session)
    }

    /// The variables that tmux gives to a program in this pane.
    #[track_caller]
    pub fn env_of(&self, pane: &str) -> Env {
        let pane = self.find(pane).unwrap_or_else(|| panic!("no pane {pane}\n{}", self.report()));
        let mut tmux = self.socket.clone().into_os_string();
        tmux.push(format!(",{},{}", self.pid, pane.session.trim_start_matches('$')));
        let mut env = Env::new();
        env.insert("TMUX".into(), tmux);
        env.insert("TMUX_PANE".into(), pane.id.into());
        env.insert("TERM".into(), self.run(["show-options", "-gv", "default-terminal"]).into());
        env.insert("TERM_PROGRAM".into(), "tmux".into());
        env.insert("TERM_PROGRAM_VERSION".into(), self.run(["display-message", "-p", "#{version}"]).into());
        env
    }

    /// Types a line and Enter, as a person does who doesn't wait for the prompt.
    #[track_caller]
    pub fn type_line(&self, pane: &str, line: &str) {
        let (line, end) = line.split_at(line.trim_end_matches(';').len());
        self.run(["send-keys", "-t", pane, "-l", "--", line]);
        if !end.is_empty() {
            // A trailing `;` would be tmux's own.
            self.run(["send-keys", "-t", pane, "-l", "--", &end.replace(';', "\\;")]);
        }
        self.run(["send-keys", "-t", pane, "Enter"]);
    }

    /// Types a command line into the pane's shell and waits until it is done: its exit status
    /// and what it wrote.
    #[track_caller]
    pub fn shell(&self, pane: &str, line: &str) -> Typed {
        let n = self.calls.fetch_add(1, Ordering::Relaxed);
        let dir = self.scratch.join(format!("{}.{n}", self.name));
        std::fs::create_dir(&dir).unwrap();
        let at = dir.display();
        // The file keeps the line out of the shell's editor; its name needs no quoting.
        let body =
            format!("( {line}\n) >{at}/out 2>{at}/err\necho $? >{at}/code.tmp; mv {at}/code.tmp {at}/code\n");
        std::fs::write(dir.join("line"), body).unwrap();
        self.type_line(pane, &format!(". {at}/line"));
        self.wait_until(&format!("the end of: {line}"), |_| dir.join("code").exists());
        Typed::read(&dir)
    }

    #[track_caller]
    pub fn wait_until(&self, what: &str, met: impl Fn(&Self) -> bool) {
        wait::until(what, || met(self), || self.report());
    }

    /// All there is to see, for reports.
    pub fn report(&self) -> String {
        let mut report = format!("clients: {:#?}\n", self.clients());
        for pane in self.panes() {
            let screen = self.capture(&pane.id);
            report.push_str(&format!("{pane:?}\n{}\n---\n", screen.trim_end()));
        }
        report
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.call(["kill-server"]).run();
    }
}

/// What a command typed into a shell did.
#[derive(Debug)]
pub struct Typed {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Typed {
    fn read(dir: &Path) -> Self {
        let text = |file: &str| String::from_utf8_lossy(&std::fs::read(dir.join(file)).unwrap()).into_owned();
        Self { code: text("code").trim().parse().unwrap(), out: text("out"), err: text("err") }
    }

    #[track_caller]
    pub fn ok(self) -> Self {
        assert!(self.code == 0, "{self:#?}");
        self
    }
}

impl Pane {
    fn of(row: Vec<String>) -> Self {
        let mut row = row.into_iter();
        let mut next = || row.next().unwrap();
        Self {
            id: next(),
            window: next(),
            session: next(),
            session_name: next(),
            index: next(),
            window_index: next(),
            pid: next().parse().unwrap(),
            tty: next(),
            dead: next() == "1",
            active: next() == "1",
            current: next() == "1",
            zoomed: next() == "1",
            command: next(),
            lane_id: next(),
            lane: next(),
            state: next(),
            window_name: next(),
            cwd: next(),
        }
    }
}

impl Client {
    fn of(row: Vec<String>) -> Self {
        let mut row = row.into_iter();
        let mut next = || row.next().unwrap();
        Self { name: next(), tty: next(), pid: next().parse().unwrap(), session: next(), flags: next() }
    }
}
