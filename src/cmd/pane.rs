//! `scruff __pane REQUEST [BASE]`: what a lane's pane runs. It reads its request, says whose pane
//! this is, runs the client in the foreground and stays in charge of what happens at its end.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use crate::config::After;
use crate::ctx::Ctx;
use crate::env::Env;
use crate::error::{Doing, Error, Result};
use crate::exit::Exit;
use crate::lane::{Lane, LaneId};
use crate::mux::{self, Located, PaneLaunch, PaneRef, Request, Wish};
use crate::proc::{self, Cmd, Foreground, Halt};
use crate::registry;
use crate::ui::{self, Ui};

/// What belongs to the pane, whatever the caller had.
const PLACE: [&str; 6] = ["TMUX", "TMUX_PANE", "TERM", "TERMINFO", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"];

/// What ties a program to the window of another terminal.
const ELSEWHERE: [&str; 8] = [
    "WINDOWID",
    "KITTY_WINDOW_ID",
    "KITTY_PID",
    "ITERM_SESSION_ID",
    "TERM_SESSION_ID",
    "VTE_VERSION",
    "LINES",
    "COLUMNS",
];

/// Puts the terminal back in order after a client that was killed or stopped.
const RESET: &[u8] =
    b"\x1b[?1049l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?25h\x1b[0m\r\n";

/// Runs it.
pub fn main(args: &[OsString]) -> Exit {
    match prepare(args) {
        Ok(pane) => pane.run().unwrap_or_else(|error| {
            pane.mark_ended();
            show(&error)
        }),
        Err(error) => show(&error),
    }
}

/// A pane with its lane and what it is to run.
struct Pane {
    ctx: Ctx,
    lane: LaneId,
    label: String,
    launch: PaneLaunch,
    after: After,
    here: Option<PaneRef>,
}

fn prepare(args: &[OsString]) -> Result<Pane> {
    let path = args.first().map(Path::new).ok_or_else(|| Error::usage("__pane is scruff's own"))?;
    let missing = || Error::usage(format!("{} is no request", path.display()));
    let lane = Request::lane(path).ok_or_else(missing)?;
    match Request::read(path)? {
        Some(request) => requested(path, lane, request),
        None => again(path, lane, args.get(1)),
    }
}

fn requested(path: &Path, lane: LaneId, request: Request) -> Result<Pane> {
    let Request { label, mut launch, after } = request;
    settle(&mut launch.env, &Env::of_process());
    launch.env.set("PWD", launch.cwd.clone());
    let ctx = Ctx::new(launch.env.clone(), launch.cwd.clone(), Ui::default(), false)?;
    let here = claim(&ctx, &lane, &label, false);
    Request::taken(path)?;
    Ok(Pane { ctx, lane, label, launch, after, here })
}

/// The request was taken before: this pane was started again. Its lane goes on, unless it does so
/// elsewhere already.
fn again(path: &Path, lane: LaneId, base: Option<&OsString>) -> Result<Pane> {
    let mut env = Env::of_process();
    if let Some(state) = path.parent().and_then(Path::parent) {
        env.set("SCRUFF_STATE", state);
    }
    if let Some(base) = base {
        env.set("SCRUFF_BASE", base);
    }
    let ctx = Ctx::new(env.clone(), PathBuf::from("/"), Ui::default(), false)?;
    let found = find(&ctx, &lane)?;
    let here = mux::this_pane(&ctx).unwrap_or_default();
    if let Some(pane) = elsewhere(&ctx, &found, here.as_ref())? {
        return Err(Error::precondition(format!("{} runs in the pane {} already", found.label(), pane.id))
            .hint("press Enter to close this one"));
    }
    let here = claim(&ctx, &lane, &found.label(), false);
    let own = proc::own_program().doing(|| "cannot find this program".to_owned())?;
    let words = [OsStr::new("-C"), found.row.main.as_os_str(), "resume".as_ref(), "--here".as_ref()];
    let mut argv = vec![own.into_os_string()];
    argv.extend(words.map(OsStr::to_owned));
    argv.push(found.row.name.clone().into());
    let cwd = [&found.row.path, &found.row.main].into_iter().find(|path| path.is_dir());
    let cwd = cwd.unwrap_or(&found.row.main).clone();
    let after = ctx.config().mux.after;
    let launch = PaneLaunch { argv, cwd, env, shell: false };
    Ok(Pane { label: found.label(), ctx, lane, launch, after, here })
}

fn find(ctx: &Ctx, id: &LaneId) -> Result<Lane> {
    let table = registry::read(&ctx.paths)?;
    let mut lanes = table.rows().map(|row| Lane::of(ctx, row.clone()));
    lanes.find(|lane| lane.id() == id).ok_or_else(|| {
        Error::precondition(format!("the lane {id} of this pane is no more"))
            .hint("press Enter to close the pane")
    })
}

/// Another pane in which the lane runs.
fn elsewhere(ctx: &Ctx, lane: &Lane, here: Option<&PaneRef>) -> Result<Option<PaneRef>> {
    let found = mux::find_lane(ctx, lane, &Wish::default())?;
    let sure = matches!(found, Located::Bound(_) | Located::Marked(_));
    Ok(found.pane().filter(|pane| sure && Some(*pane) != here).cloned())
}

/// Says whose pane this is. That it could not be said is no reason not to start.
fn claim(ctx: &Ctx, lane: &LaneId, label: &str, ended: bool) -> Option<PaneRef> {
    let here = mux::this_pane(ctx).map_err(Error::from);
    let claimed = here.and_then(|here| match here {
        Some(pane) => mux::claim(ctx, &pane, lane, label, ended).map(|()| Some(pane)),
        None => Ok(None),
    });
    claimed.unwrap_or_else(|error| {
        ctx.ui.warn(format!("this pane could not be tagged: {error}"));
        None
    })
}

/// The caller's environment in this pane: its place is the pane's.
fn settle(env: &mut Env, pane: &Env) {
    for name in PLACE {
        match pane.get(name) {
            Some(value) => env.set(name, value),
            None => env.remove(name),
        }
    }
    for name in ELSEWHERE {
        env.remove(name);
    }
    if let (false, Some(value)) = (env.has("COLORTERM"), pane.get("COLORTERM")) {
        env.set("COLORTERM", value);
    }
}

impl Pane {
    fn run(&self) -> Result<Exit> {
        let cwd = &self.launch.cwd;
        std::env::set_current_dir(cwd).doing(|| format!("cannot go to {}", cwd.display()))?;
        let client = self.client()?;
        let name = self.name();
        let mut running = Foreground::start(&client)
            .doing(|| format!("cannot start {name} in {}", self.launch.cwd.display()))?;
        let mut halt = running.wait();
        while halt == Halt::Stopped {
            self.while_stopped(&name);
            running.go_on();
            halt = running.wait();
        }
        if let Halt::Killed(_) = halt {
            reset();
        }
        self.end(&name, halt)
    }

    /// What people call the client.
    fn name(&self) -> String {
        let program = self.launch.argv.first().map(Path::new).and_then(Path::file_name).unwrap_or_default();
        if self.launch.shell { "the command".to_owned() } else { program.to_string_lossy().into_owned() }
    }

    fn client(&self) -> Result<Cmd> {
        let PaneLaunch { argv, env, shell, .. } = &self.launch;
        let (program, args) = argv.split_first().ok_or_else(|| Error::usage("there is nothing to run"))?;
        if *shell {
            return Ok(Cmd::new(self.shell()).arg("-c").arg(program).env_exactly(env));
        }
        let has_path = Path::new(program).components().nth(1).is_some();
        let found = if has_path { Some(program.into()) } else { self.ctx.find(program) };
        let found = found.ok_or_else(|| {
            Error::precondition(format!("{} is not on PATH", program.display()))
                .hint("install it, then open the lane again")
        })?;
        Ok(Cmd::new(found).args(args).env_exactly(env))
    }

    fn shell(&self) -> OsString {
        let named = self.launch.env.absolute("SHELL").filter(|shell| shell.is_file());
        named.unwrap_or_else(|| "/bin/sh".into()).into_os_string()
    }

    fn login(&self) -> Cmd {
        Cmd::new(self.shell()).env_exactly(&self.launch.env).login()
    }

    fn while_stopped(&self, name: &str) {
        reset();
        self.ctx.ui.note(format!("{name} is stopped; leave this shell (exit, or Ctrl-D) to continue it"));
        let shell = Foreground::start(&self.login());
        match shell {
            Ok(mut shell) => {
                while shell.wait() == Halt::Stopped {
                    shell.go_on();
                }
            }
            Err(failure) => self.ctx.ui.note(format!("no shell: {failure}")),
        }
    }

    /// Nothing of the lane's runs here any more.
    fn mark_ended(&self) {
        let ended = |pane| mux::claim(&self.ctx, pane, &self.lane, &self.label, true);
        // A server that was too busy is asked once more: the client has ended only once.
        let told = |pane| ended(pane).or_else(|_| ended(pane));
        if let Some(Err(error)) = self.here.as_ref().map(told) {
            tracing::warn!("{error}");
        }
    }

    fn end(&self, name: &str, halt: Halt) -> Result<Exit> {
        let (told, exit) = match halt {
            Halt::Exit(0) | Halt::Stopped => (format!("{name} has ended"), Exit::Done),
            Halt::Exit(code) => (format!("{name} ended with exit status {code}"), Exit::Failed),
            Halt::Killed(signal) => (format!("{name} was killed by signal {signal}"), Exit::Failed),
        };
        if self.after == After::Close {
            return Ok(exit);
        }
        self.mark_ended();
        self.ctx.ui.note(format!("{told}; `scruff {}` continues it", self.label));
        if self.after == After::Hold {
            wait_for_enter();
            return Ok(exit);
        }
        let failure = self.login().exec();
        Err(Error::failed(format!("cannot start {}: {failure}", self.shell().display())))
    }
}

/// A pane that closes at once shows nobody why.
fn show(error: &Error) -> Exit {
    ui::complain(&error.message(), error.hints());
    wait_for_enter();
    error.exit()
}

fn reset() {
    ui::answer(RESET);
}

fn wait_for_enter() {
    ui::complain("press Enter to close this pane", &[]);
    let _ = io::stdin().lock().read_line(&mut String::new());
}
