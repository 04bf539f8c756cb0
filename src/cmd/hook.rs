//! `scruff hook`

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::ctx::Ctx;
use crate::env::Env;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::hook::Call;
use crate::hook::event::{self, Kind, WORDS};
use crate::log;
use crate::paths::Paths;
use crate::ui::{self, Ui};

use super::Outcome;

/// For clients' hooks: they call this with their event as JSON on standard input.
///
/// WORD is create, remove, notify, session-start, session-end, prompt, or a client's own name for
/// an event, such as Stop. `create` prints the path of the checkout it has made. A hook is never in
/// its client's way: whatever else fails, it exits 0 with a line on standard error. Only a failed
/// create, a remove that kept the checkout, and a word that is none exit 1.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// What happened
    #[arg(value_name = "WORD")]
    pub word: OsString,
    /// The client, where the payload does not say
    #[arg(long, value_name = "ID")]
    pub client: Option<String>,
    /// The payload, from a client that gives it as an argument
    #[arg(value_name = "JSON", hide = true)]
    pub payload: Option<OsString>,
}

/// Runs it. `directory` is what `-C` says.
pub fn run(args: &Args, directory: Option<&Path>, ctx: &Ctx) -> Result<Outcome> {
    let call = Call { directory: directory.map(|_| ctx.cwd.clone()), ..read(args)? };
    let (exit, stdout) = serve(&call, ctx);
    Ok(Outcome { stdout, ..Outcome::ended(exit) })
}

/// The same without clap, which costs more than most events do. `None`: this is for [`run`].
pub fn quick(args: &[OsString]) -> Option<Exit> {
    let args = plain(args)?;
    kind(&args.word).ok()?;
    let done = catch_unwind(AssertUnwindSafe(|| {
        let env = Env::of_process();
        let Ok(call) = read(&args) else { return Exit::Failed };
        if Paths::state_of(&env).is_some_and(|state| call.is_idle(&state)) {
            return Exit::Done;
        }
        let (exit, stdout) = match context(env, !call.may_fail()) {
            Ok(ctx) => serve(&call, &ctx),
            Err(error) => (failed(&call, &error), Vec::new()),
        };
        if ui::answer(&stdout) { exit } else { Exit::Failed }
    }));
    // A panic has said on standard error what it was.
    Some(done.unwrap_or(Exit::Done))
}

fn read(args: &Args) -> Result<Call> {
    let argument = args.payload.as_deref().map(OsStrExt::as_bytes);
    let call = Call::read(kind(&args.word)?, argument, std::io::stdin());
    Ok(Call { client: args.client.clone(), ..call })
}

/// A command line without options of scruff's own.
fn plain(args: &[OsString]) -> Option<Args> {
    let (word, mut rest) = args.split_first()?;
    let mut client = None;
    if let [flag, id, after @ ..] = rest
        && flag == "--client"
    {
        client = Some(id.to_str()?.to_owned());
        rest = after;
    }
    let payload = match rest {
        [] => None,
        [json] if json.as_bytes().starts_with(b"{") => Some(json.clone()),
        _ => return None,
    };
    Some(Args { word: word.clone(), client, payload })
}

fn kind(word: &OsStr) -> Result<Option<Kind>> {
    word.to_str().and_then(event::word).ok_or_else(|| {
        let words =
            format!("it is one of {}, or a client's own name for an event, such as Stop", WORDS.join(", "));
        Error::usage(format!("scruff hook knows no word {:?}", word.to_string_lossy())).hint(words)
    })
}

/// A hook may well be called where its directory is gone.
#[expect(clippy::disallowed_methods, reason = "the one place that asks for a hook's directory")]
fn context(env: Env, quiet: bool) -> Result<Ctx> {
    let cwd = std::env::current_dir().unwrap_or_else(|_| "/".into());
    let ctx = Ctx::new(env, cwd, Ui::new(quiet, false), false)?;
    log::start(&ctx.env, &ctx.paths.log(), false);
    Ok(ctx)
}

/// Does it. Whatever fails is no reason to be in the client's way, except where it asks for more
/// than to be heard.
fn serve(call: &Call, ctx: &Ctx) -> (Exit, Vec<u8>) {
    match catch_unwind(AssertUnwindSafe(|| call.serve(ctx))) {
        Ok(Ok(stdout)) => (Exit::Done, stdout),
        Ok(Err(error)) => {
            tracing::warn!("{error}");
            (failed(call, &error), Vec::new())
        }
        Err(_) => (if call.may_fail() { Exit::Failed } else { Exit::Done }, Vec::new()),
    }
}

fn failed(call: &Call, error: &Error) -> Exit {
    if call.may_fail() {
        ui::complain(&error.message(), error.hints());
        return Exit::Failed;
    }
    ui::complain(&error.message(), &[]);
    Exit::Done
}
