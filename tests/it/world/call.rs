//! Running a program in a world and judging what it did.

use super::{Env, Tmux, screen::Terminal, wait};
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

#[derive(Clone)]
enum Input {
    Null,
    Bytes(Vec<u8>),
    /// A pipe that stays open and silent until the program has ended.
    Open,
}

/// A program that is about to be run.
#[derive(Clone)]
#[must_use]
pub struct Call {
    program: OsString,
    args: Vec<OsString>,
    env: Env,
    cwd: PathBuf,
    input: Input,
}

impl Call {
    pub fn new(program: &OsStr, env: Env, cwd: PathBuf) -> Self {
        Self { program: program.to_owned(), args: Vec::new(), env, cwd, input: Input::Null }
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub fn args<I, S>(mut self, args: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub fn cwd(mut self, cwd: impl AsRef<Path>) -> Self {
        self.cwd = cwd.as_ref().to_owned();
        self
    }

    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(key.into(), value.into());
        self
    }

    pub fn env_remove(mut self, key: &str) -> Self {
        self.env.remove(OsStr::new(key));
        self
    }

    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Input::Bytes(bytes.into());
        self
    }

    /// Leaves standard input open without ever writing to it.
    pub fn stdin_open(mut self) -> Self {
        self.input = Input::Open;
        self
    }

    /// With the environment of a program that runs in this pane.
    pub fn in_pane(mut self, tmux: &Tmux, pane: &str) -> Self {
        self.env.extend(tmux.env_of(pane));
        self
    }

    /// The whole argv, program first.
    pub fn words(&self) -> Vec<OsString> {
        std::iter::once(&self.program).chain(&self.args).cloned().collect()
    }

    #[track_caller]
    pub fn run(self) -> Ran {
        self.start().finish()
    }

    /// Starts it and comes back at once, for those who want to get in its way.
    #[track_caller]
    pub fn start(self) -> Running {
        let shown = self.to_string();
        let mut child = self.command().spawn().unwrap_or_else(|e| panic!("{shown}: {e}"));
        let mut pipe = child.stdin.take();
        let feeder = match self.input {
            Input::Null => None,
            Input::Open => None,
            Input::Bytes(bytes) => pipe.take().map(|pipe| std::thread::spawn(move || feed(pipe, &bytes))),
        };
        let out = collect(child.stdout.take().unwrap());
        let err = collect(child.stderr.take().unwrap());
        Running { child, shown, _open: pipe, feeder, out, err }
    }

    pub(super) fn for_pty(&self) -> portable_pty::CommandBuilder {
        let mut command = portable_pty::CommandBuilder::new(&self.program);
        command.args(&self.args);
        command.env_clear();
        self.env.iter().for_each(|(key, value)| command.env(key, value));
        command.cwd(&self.cwd);
        command
    }

    /// The bytes it writes when its output is a terminal; it must end by itself.
    #[track_caller]
    pub fn typescript(&self) -> Vec<u8> {
        super::screen::typescript(self)
    }

    /// In a terminal of its own.
    pub fn on_terminal(&self, cols: u16, rows: u16) -> Terminal {
        Terminal::start(self, cols, rows)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(&self.env).current_dir(&self.cwd);
        command.stdin(if matches!(self.input, Input::Null) { Stdio::null() } else { Stdio::piped() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = Path::new(&self.program).file_name().unwrap_or(&self.program);
        write!(f, "{}", name.to_string_lossy())?;
        for arg in &self.args {
            let arg = arg.to_string_lossy();
            let cut: String = arg.chars().take(200).collect();
            write!(f, " {cut:?}{}", if cut.len() < arg.len() { "…" } else { "" })?;
        }
        write!(f, "  (in {})", self.cwd.display())
    }
}

/// The program may well have ended without reading: that is its right.
fn feed(mut pipe: ChildStdin, bytes: &[u8]) {
    let _ = pipe.write_all(bytes);
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// A program that runs.
pub struct Running {
    child: Child,
    shown: String,
    _open: Option<ChildStdin>,
    feeder: Option<JoinHandle<()>>,
    out: JoinHandle<Vec<u8>>,
    err: JoinHandle<Vec<u8>>,
}

impl Running {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Has it ended by now?
    pub fn ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// SIGKILL, and what it had said until then.
    #[track_caller]
    pub fn kill(mut self) -> Ran {
        self.child.kill().unwrap();
        self.finish()
    }

    /// SIGKILL, without an eye on what it may have started and on what that still writes.
    pub fn kill_alone(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    #[track_caller]
    pub fn finish(mut self) -> Ran {
        let Some(status) = wait::within(wait::LIMIT, || self.child.try_wait().unwrap()) else {
            let _ = self.child.kill();
            let (out, err) = (self.out.join().unwrap(), self.err.join().unwrap());
            let (out, err) = (String::from_utf8_lossy(&out), String::from_utf8_lossy(&err));
            panic!("{} hangs\n--- stdout\n{out}\n--- stderr\n{err}", self.shown);
        };
        // What the program left running must not hold on to its output.
        let both = || (self.out.is_finished() && self.err.is_finished()).then_some(());
        if wait::within(Duration::from_secs(10), both).is_none() {
            panic!("{} has ended ({status}), but something it started still has its output open", self.shown);
        }
        if let Some(feeder) = self.feeder {
            feeder.join().unwrap();
        }
        let stderr = String::from_utf8_lossy(&self.err.join().unwrap()).into_owned();
        Ran { shown: self.shown, status, stdout: self.out.join().unwrap(), stderr }
    }
}

/// What a program did. Every complaint shows all of it.
pub struct Ran {
    shown: String,
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Ran {
    /// The exit status; for a signal what a shell would say.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    #[track_caller]
    pub fn ok(&self) -> &Self {
        self.exits(0)
    }

    #[track_caller]
    pub fn exits(&self, code: i32) -> &Self {
        assert!(self.code() == code, "expected exit {code}\n{self}");
        self
    }

    /// Standard output as text.
    #[track_caller]
    pub fn out(&self) -> &str {
        match std::str::from_utf8(&self.stdout) {
            Ok(text) => text,
            Err(_) => panic!("stdout is not UTF-8\n{self}"),
        }
    }

    /// The one line of standard output, which must be all of it.
    #[track_caller]
    pub fn line(&self) -> &str {
        let out = self.out();
        match out.strip_suffix('\n') {
            Some(line) if !line.is_empty() && !line.contains('\n') => line,
            _ => panic!("expected exactly one line on stdout\n{self}"),
        }
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|e| panic!("stdout is not JSON: {e}\n{self}"))
    }

    /// Standard output holds this.
    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        assert!(self.out().contains(text), "stdout lacks {text:?}\n{self}");
        self
    }

    /// Standard error holds this.
    #[track_caller]
    pub fn warns(&self, text: &str) -> &Self {
        assert!(self.stderr.contains(text), "stderr lacks {text:?}\n{self}");
        self
    }

    /// Nothing on standard output.
    #[track_caller]
    pub fn silent(&self) -> &Self {
        assert!(self.stdout.is_empty(), "expected nothing on stdout\n{self}");
        self
    }

    /// Nothing on standard error.
    #[track_caller]
    pub fn calm(&self) -> &Self {
        assert!(self.stderr.is_empty(), "expected nothing on stderr\n{self}");
        self
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let out = String::from_utf8_lossy(&self.stdout);
        write!(f, "$ {}\n{}\n--- stdout\n{out}\n--- stderr\n{}", self.shown, self.status, self.stderr)
    }
}
