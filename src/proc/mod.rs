//! The one door to child processes.
//!
//! Every child gets a time limit, a process group of its own that is killed whole, an explicit
//! standard input, bounded output taken as bytes, and a line in the trace.

pub mod facts;
mod foreground;
mod pump;
mod quote;
mod search;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::env::Env;

pub use foreground::{Foreground, Halt};
pub use quote::{quote, quote_all};
pub use search::{find, search_path};

/// Output kept of one stream unless a caller says otherwise, in bytes.
const MAX_OUTPUT: usize = 64 << 20;

/// What a child reads.
#[derive(Clone, Debug, Default)]
enum Input {
    #[default]
    Null,
    Bytes(Vec<u8>),
    Inherit,
    File(Arc<File>),
}

/// A child process about to be started.
#[derive(Clone, Debug)]
pub struct Cmd {
    program: OsString,
    args: Vec<OsString>,
    cwd: Option<PathBuf>,
    base: Option<Env>,
    changes: Vec<(OsString, Option<OsString>)>,
    input: Input,
    limit: Option<Duration>,
    max_output: usize,
    login: bool,
}

/// How a child ended, and what it said.
#[derive(Clone, Debug)]
pub struct Output {
    /// The exit status.
    pub status: ExitStatus,
    /// Standard output, cut at the limit.
    pub stdout: Vec<u8>,
    /// Standard error, cut at the limit.
    pub stderr: Vec<u8>,
}

impl Output {
    /// Whether the child exited with 0.
    pub fn ok(&self) -> bool {
        self.status.success()
    }

    /// The last non-empty line of standard error, for a message.
    pub fn complaint(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if line.is_empty() { describe(self.status) } else { line.trim().to_owned() }
    }
}

/// Why a child gave no status.
#[derive(Debug)]
pub enum Failure {
    /// There is no such program.
    NotFound,
    /// It is there and cannot be executed.
    CannotStart(io::Error),
    /// It was killed at its limit.
    TimedOut(Duration),
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NotFound => formatter.write_str("no such program"),
            Failure::CannotStart(error) => write!(formatter, "cannot be started: {error}"),
            Failure::TimedOut(limit) => write!(formatter, "no answer within {limit:?}"),
        }
    }
}

impl std::error::Error for Failure {}

impl Cmd {
    /// A child that runs `program` with no arguments, no input and this process's environment.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Cmd {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            cwd: None,
            base: None,
            changes: Vec::new(),
            input: Input::Null,
            limit: None,
            max_output: MAX_OUTPUT,
            login: false,
        }
    }

    /// A child from an argv; `None` when the argv is empty.
    pub fn from_argv<S: AsRef<OsStr>>(argv: &[S]) -> Option<Self> {
        let (program, args) = argv.split_first()?;
        Some(Self::new(program).args(args))
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn cwd(mut self, directory: impl AsRef<Path>) -> Self {
        self.cwd = Some(directory.as_ref().to_owned());
        self
    }

    /// Gives the child exactly this environment, before any later `env` or `env_remove`.
    #[must_use]
    pub fn env_exactly(mut self, env: &Env) -> Self {
        self.base = Some(env.clone());
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.changes.push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Takes a variable out.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.changes.push((name.as_ref().to_owned(), None));
        self
    }

    /// Feeds these bytes to the child, then closes its input. A child that does not read is fine.
    #[must_use]
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Input::Bytes(bytes.into());
        self
    }

    /// Lets the child read what scruff would read.
    #[must_use]
    pub fn inherit_input(mut self) -> Self {
        self.input = Input::Inherit;
        self
    }

    /// Gives the child an open file as its input, which it also keeps open as long as it lives.
    #[must_use]
    pub fn input_file(mut self, file: File) -> Self {
        self.input = Input::File(Arc::new(file));
        self
    }

    /// Kills the child's process group after this long.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Keeps at most this much of each stream; the rest is read and thrown away.
    #[must_use]
    pub fn max_output(mut self, bytes: usize) -> Self {
        self.max_output = bytes;
        self
    }

    /// Starts a shell as a login shell. Its name tells it so; options differ from shell to shell.
    #[must_use]
    pub fn login(mut self) -> Self {
        self.login = true;
        self
    }

    /// The program.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// The whole argv, program first.
    pub fn argv(&self) -> Vec<OsString> {
        std::iter::once(&self.program).chain(&self.args).cloned().collect()
    }

    /// Runs the child to its end and takes both its streams.
    pub fn run(&self) -> Result<Output, Failure> {
        self.run_with(Stdio::piped())
    }

    /// Runs the child to its end, takes its standard output, and lets its standard error through.
    pub fn run_showing_errors(&self) -> Result<Output, Failure> {
        self.run_with(Stdio::inherit())
    }

    fn run_with(&self, stderr: Stdio) -> Result<Output, Failure> {
        let mut command = self.command();
        command.process_group(0).stdout(Stdio::piped()).stderr(stderr);
        command.stdin(match self.input {
            Input::Null => Stdio::null(),
            Input::Bytes(_) => Stdio::piped(),
            Input::Inherit => Stdio::inherit(),
            Input::File(_) => self.file_input()?,
        });
        let begun = Instant::now();
        let mut child = self.start(&mut command)?;
        let input = match &self.input {
            Input::Bytes(bytes) => bytes.as_slice(),
            Input::Null | Input::Inherit | Input::File(_) => &[],
        };
        let deadline = self.limit.map(|limit| begun + limit);
        let result = pump::run(&mut child, input, deadline, self.max_output);
        let result = result.ok_or_else(|| {
            kill_group(&mut child);
            Failure::TimedOut(self.limit.unwrap_or_default())
        });
        self.trace(begun, result.as_ref().ok());
        result
    }

    /// Runs the child in scruff's own process group with its standard output on scruff's
    /// standard error, because scruff's own output is data for other programs.
    pub fn run_on_terminal(&self) -> Result<ExitStatus, Failure> {
        let mut command = self.command();
        let stderr = io::stderr().as_fd().try_clone_to_owned().map_err(Failure::CannotStart)?;
        command.stdout(Stdio::from(stderr)).stderr(Stdio::inherit());
        let feed = match &self.input {
            Input::Null => (Stdio::null(), None),
            Input::Inherit => (Stdio::inherit(), None),
            Input::Bytes(bytes) => (Stdio::piped(), Some(bytes)),
            Input::File(_) => (self.file_input()?, None),
        };
        command.stdin(feed.0);
        let begun = Instant::now();
        let mut child = self.start(&mut command)?;
        if let Some(bytes) = feed.1 {
            pump::feed(&mut child, bytes);
        }
        let status = child.wait().map_err(Failure::CannotStart)?;
        self.trace(begun, None);
        Ok(status)
    }

    /// Runs the child on scruff's own terminal, all three streams as they are.
    pub fn attach(&self) -> Result<ExitStatus, Failure> {
        self.start(&mut self.command())?.wait().map_err(Failure::CannotStart)
    }

    /// Starts the child with all three streams on null and lets it go. It is never waited for.
    pub fn release(&self) -> Result<u32, Failure> {
        let mut command = self.command();
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.start(&mut command).map(|child| child.id())
    }

    /// Starts the child with no input and both outputs in a file, and lets it go. It makes a session
    /// of its own itself.
    pub fn detach(&self, log: File) -> Result<u32, Failure> {
        let mut command = self.command();
        let copy = log.try_clone().map_err(Failure::CannotStart)?;
        command.stdin(Stdio::null()).stdout(Stdio::from(log)).stderr(Stdio::from(copy));
        self.start(&mut command).map(|child| child.id())
    }

    /// Replaces this process. Returns only the error.
    pub fn exec(&self) -> Failure {
        started(self.command().exec())
    }

    /// The plain command, for a caller that needs to keep the child, such as the pane shim.
    #[expect(clippy::disallowed_methods, reason = "the one door to child processes")]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        if self.login {
            let name = Path::new(&self.program).file_name().unwrap_or(&self.program);
            command.arg0([OsStr::new("-"), name].iter().copied().collect::<OsString>());
        }
        if let Some(env) = &self.base {
            command.env_clear().envs(env.iter());
        }
        for (name, value) in &self.changes {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = &self.cwd {
            command.current_dir(directory);
        }
        command
    }

    fn file_input(&self) -> Result<Stdio, Failure> {
        match &self.input {
            Input::File(file) => file.try_clone().map(Stdio::from).map_err(Failure::CannotStart),
            _ => Ok(Stdio::null()),
        }
    }

    fn start(&self, command: &mut Command) -> Result<Child, Failure> {
        if let Some(directory) = self.cwd.as_deref().filter(|directory| !directory.is_dir()) {
            let error = format!("the directory {} is not there", directory.display());
            return Err(Failure::CannotStart(io::Error::new(io::ErrorKind::NotFound, error)));
        }
        command.spawn().map_err(started)
    }

    /// Only the program's name and first word: arguments may hold a prompt.
    fn trace(&self, begun: Instant, output: Option<&Output>) {
        tracing::debug!(
            program = %Path::new(&self.program).display(),
            verb = ?self.args.first(),
            ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            status = ?output.and_then(|output| output.status.code()),
            "child"
        );
    }
}

fn started(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::NotFound,
        _ => Failure::CannotStart(error),
    }
}

/// Kills a child that leads its own process group, with all that it started in it.
fn kill_group(child: &mut Child) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// The path of this very program, also after it was replaced by a newer one.
pub fn own_program() -> Result<PathBuf, Failure> {
    let path = std::env::current_exe().map_err(Failure::CannotStart)?;
    let text = path.as_os_str().as_bytes();
    Ok(match text.strip_suffix(b" (deleted)") {
        Some(replaced) if !path.exists() => PathBuf::from(OsStr::from_bytes(replaced)),
        _ => path,
    })
}

/// "exit status 3" or "killed by signal 9", for messages.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "ended without a status".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Cmd {
        Cmd::new("/bin/sh").args(["-c", script])
    }

    #[test]
    fn takes_both_streams_as_bytes() {
        let output = sh("printf 'a\\377'; printf b >&2; exit 3").run().unwrap();
        assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"a\xff"[..], &b"b"[..]));
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn feeds_more_than_a_pipe_holds_to_a_child_that_echoes() {
        let bytes = vec![b'x'; 1 << 20];
        assert_eq!(Cmd::new("cat").input(bytes.clone()).run().unwrap().stdout, bytes);
    }

    #[test]
    fn a_child_that_never_reads_is_fine() {
        assert!(sh("exit 0").input(vec![0; 1 << 20]).run().unwrap().ok());
    }

    #[test]
    fn a_hanging_child_is_killed_with_its_own_children() {
        let begun = Instant::now();
        let result = sh("sleep 60 & sleep 60").limit(Duration::from_millis(150)).run();
        assert!(matches!(result, Err(Failure::TimedOut(_))));
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_grandchild_that_keeps_the_pipe_open_does_not_hold_it_up() {
        let begun = Instant::now();
        let output = sh("sleep 30 & echo done").run().unwrap();
        assert_eq!(output.stdout, b"done\n");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn output_beyond_the_limit_is_thrown_away() {
        let output = sh("head -c 100000 /dev/zero").max_output(1000).run().unwrap();
        assert_eq!(output.stdout.len(), 1000);
        assert!(output.ok());
    }

    #[test]
    fn a_missing_program_and_a_missing_directory_are_told_apart() {
        assert!(matches!(Cmd::new("/no/such/program").run(), Err(Failure::NotFound)));
        assert!(matches!(sh("true").cwd("/no/such/dir").run(), Err(Failure::CannotStart(_))));
        assert!(matches!(Cmd::new("/").run(), Err(Failure::CannotStart(_))));
    }
}
