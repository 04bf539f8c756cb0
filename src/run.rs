//! From a command line to an exit status.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::{self, Cli, Global, Parsed, Verb};
use crate::cmd::{self, Outcome};
use crate::ctx::Ctx;
use crate::env::Env;
use crate::error::{Doing, Error, Result};
use crate::exit::Exit;
use crate::{log, ui};

/// Runs scruff. The first argument is the program's name.
pub fn main(args: Vec<OsString>) -> ExitCode {
    let exit = match args.get(1).and_then(|word| word.to_str()) {
        // The commonest question is answered before clap is built.
        Some("--version" | "-V") if args.len() == 2 => say_version(),
        Some("status") => status(&args),
        Some("__demo-client") => cmd::demo::client_main(&args[2..]),
        Some("__pane") => cmd::pane::main(&args[2..]),
        Some("__holder") => cmd::holder::main(&args[2..]),
        Some("hook") => cmd::hook::quick(&args[2..]).unwrap_or_else(|| run(&args)),
        _ => run(&args),
    };
    ExitCode::from(exit.code())
}

fn say_version() -> Exit {
    answer(concat!("scruff ", env!("CARGO_PKG_VERSION"), "\n").as_bytes())
}

/// A status line asks every second: it is answered before clap is built, too.
fn status(args: &[OsString]) -> Exit {
    let Some(status) = cmd::status::quick(&args[2..]) else { return run(args) };
    let ctx = Ctx::new(Env::of_process(), PathBuf::new(), ui::Ui::default(), false);
    ctx.and_then(|ctx| cmd::status::run(&status, &ctx))
        .map_or_else(|error| complain(&error, status.format == cmd::status::Format::Json), finish)
}

fn answer(bytes: &[u8]) -> Exit {
    if ui::answer(bytes) { Exit::Done } else { Exit::Failed }
}

fn run(args: &[OsString]) -> Exit {
    let json = args.iter().any(|arg| arg == "--json");
    match cli::parse(args) {
        Ok(Parsed::Print(text)) => answer(text.as_bytes()),
        Ok(Parsed::Run(cli)) => {
            let result = context(&cli.global).and_then(|ctx| dispatch(*cli, &ctx));
            result.map_or_else(|error| complain(&error, json), finish)
        }
        Err(error) => complain(&error, json),
    }
}

fn context(global: &Global) -> Result<Ctx> {
    let env = Env::of_process();
    let color = ui::wants_color(global.color, env.get("NO_COLOR").is_some());
    let cwd = directory(global.directory.as_deref(), &env)?;
    let ctx = Ctx::new(env, cwd, ui::Ui::new(global.quiet, color), global.json)?;
    log::start(&ctx.env, &ctx.paths.log(), global.verbose);
    Ok(ctx)
}

/// Where scruff starts from: the directory itself, symlinks resolved, as git and clients see it.
fn directory(named: Option<&Path>, env: &Env) -> Result<PathBuf> {
    let Some(path) = named else { return called_from(env) };
    let real = std::fs::canonicalize(path).and_then(|real| {
        if real.is_dir() { Ok(real) } else { Err(std::io::ErrorKind::NotADirectory.into()) }
    });
    real.doing(|| format!("cannot start from {}", path.display()))
        .map_err(|error| error.hint("name a directory that is there with -C"))
}

/// A checkout may go while a shell stands in it: most commands work from there all the same.
#[expect(clippy::disallowed_methods, reason = "the one place that asks for the working directory")]
fn called_from(env: &Env) -> Result<PathBuf> {
    std::env::current_dir().or_else(|error| {
        let gone = Error::precondition("the current directory is gone").caused_by(error);
        env.absolute("PWD").ok_or(gone.hint("cd somewhere else, or use -C DIR"))
    })
}

fn dispatch(cli: Cli, ctx: &Ctx) -> Result<Outcome> {
    match cli.verb {
        None => cmd::list::run(&cmd::list::Args::default(), ctx),
        Some(Verb::List(args)) => cmd::list::run(&args, ctx),
        Some(Verb::Open(args)) => cmd::open::run(&args, ctx),
        Some(Verb::New(args)) => cmd::new::run(&args, ctx),
        Some(Verb::Resume(args)) => cmd::resume::run(&args, ctx),
        Some(Verb::Focus(args)) => cmd::focus::run(&args, ctx),
        Some(Verb::Heartbeat(args)) => cmd::heartbeat::run(&args, ctx),
        Some(Verb::Pick(args)) => cmd::pick::run(&args, ctx),
        Some(Verb::Adopt(args)) => cmd::adopt::run(&args, ctx),
        Some(Verb::Park(args)) => cmd::park::run(&args, ctx),
        Some(Verb::Unpark(args)) => cmd::unpark::run(&args, ctx),
        Some(Verb::Close(args)) => cmd::close::run(&args, ctx),
        Some(Verb::Drop(args)) => cmd::drop::run(&args, ctx),
        Some(Verb::Reap(args)) => cmd::reap::run(&args, ctx),
        Some(Verb::Reship(args)) => cmd::reship::run(&args, ctx),
        Some(Verb::Reaped(args)) => cmd::reaped::run(&args, ctx),
        Some(Verb::Undo(args)) => cmd::undo::run(&args, ctx),
        Some(Verb::Doctor(args)) => cmd::doctor::run(&args, ctx),
        Some(Verb::Hook(args)) => cmd::hook::run(&args, cli.global.directory.as_deref(), ctx),
        Some(Verb::Demo(args)) => cmd::demo::run(&args, ctx),
        Some(Verb::Status(args)) => cmd::status::run(&args, ctx),
        Some(Verb::Init(args)) => Ok(cmd::init::run(&args)),
        Some(Verb::Completions(args)) => Ok(cmd::completions::run(&args)),
        Some(Verb::Key(args)) => cmd::key::run(&args, ctx),
        Some(Verb::Complete(ask)) => Ok(cmd::completions::ask(&ask, ctx)),
        Some(Verb::Path(args)) => cmd::path::run(&args, ctx),
        Some(Verb::Overview(_)) => cmd::overview::run(ctx),
        Some(Verb::Name(_)) => Err(Error::usage("name a lane").hint("see `scruff list`")),
    }
}

/// Prints the answer and ends, or goes on as another program.
fn finish(outcome: Outcome) -> Exit {
    if !ui::answer(&outcome.stdout) {
        return Exit::Failed;
    }
    match outcome.then {
        None => outcome.exit,
        Some(cmd) => {
            let program = cmd.program().display().to_string();
            let failure = cmd.exec();
            ui::complain(&format!("{program}: {failure}"), &["is it installed and on PATH?".to_owned()]);
            Exit::Failed
        }
    }
}

fn complain(error: &Error, json: bool) -> Exit {
    if json {
        let hint = error.hints().join("\n");
        let body = serde_json::json!({
            "error": {"code": error.exit().code(), "message": error.message(), "hint": hint}
        });
        ui::answer(format!("{body}\n").as_bytes());
    } else {
        ui::complain(&error.message(), error.hints());
    }
    error.exit()
}
