//! `scruff __key`: what the bindings of the tmux plugin run. It shows what a key has to show: a
//! popup, or what went wrong as a message, in the client in which the key was pressed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::Outcome;
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::git::Repo;
use crate::mux::{Pressed, Size, Wish};
use crate::proc::{Cmd, Failure, own_program};

/// How long an action without a popup may take: as long as making a lane.
const LIMIT: Duration = Duration::from_secs(130);

/// Runs the action of a key that was pressed in a multiplexer.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The action
    pub action: String,
    /// The pane it was pressed in; empty when there is none
    #[arg(long, value_name = "ID")]
    pub pane_id: Option<String>,
    /// The client it was pressed in; empty when there is none
    #[arg(long, value_name = "NAME")]
    pub client: Option<String>,
}

/// One action: a scruff command, and how it is run.
struct Action {
    name: &'static str,
    words: &'static [&'static str],
    /// Started in the repository that the pane is in.
    there: bool,
    /// Told the pane and the client.
    seat: bool,
    how: How,
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    /// In a popup.
    Popup(Size),
    /// Without a screen: what goes wrong is said.
    Quietly,
    /// Without a screen: what it says is said.
    Aloud,
}

const LARGE: How = How::Popup(Size { width: "90%", height: "80%" });
const SMALL: How = How::Popup(Size { width: "80%", height: "40%" });

/// The rows of the plugin, `integrations/tmux/scruff.tmux`, in its order.
const ACTIONS: [Action; 5] = [
    Action { name: "pick", words: &["pick"], there: true, seat: true, how: LARGE },
    Action { name: "new", words: &["open", "--ask"], there: true, seat: true, how: SMALL },
    Action {
        name: "beside",
        words: &["open", "--pane", "right"],
        there: true,
        seat: true,
        how: How::Quietly,
    },
    Action { name: "close", words: &["close"], there: false, seat: true, how: How::Aloud },
    Action { name: "overview", words: &["__overview"], there: false, seat: false, how: LARGE },
];

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let given = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
    let wish = Wish { mux: None, pane_id: given(&args.pane_id), client: given(&args.client) };
    // tmux starts this in its session's directory, which may be the checkout that is to be parked.
    let _ = rustix::process::chdir("/");
    let pressed = Pressed::new(ctx, &wish)?;
    if let Err(error) = act(&args.action, ctx, &wish, &pressed) {
        pressed.say(&error_line(&error))?;
    }
    Ok(Outcome::done())
}

fn act(name: &str, ctx: &Ctx, wish: &Wish, pressed: &Pressed<'_>) -> Result<()> {
    let action = ACTIONS.iter().find(|action| action.name == name).ok_or_else(|| {
        Error::usage(format!("this scruff has no action {name:?}"))
            .hint("plugin and program differ in version: reload the tmux configuration")
    })?;
    let argv = argv(action, ctx, wish, pressed)?;
    match action.how {
        How::Popup(size) => Ok(pressed.popup(size, &argv)?),
        How::Quietly | How::Aloud => directly(&argv, pressed, action.how == How::Aloud),
    }
}

fn argv(action: &Action, ctx: &Ctx, wish: &Wish, pressed: &Pressed<'_>) -> Result<Vec<OsString>> {
    let mut argv = vec![own_program().doing(|| "cannot find this program".to_owned())?.into_os_string()];
    if let Some(place) = place(action, ctx, pressed)? {
        argv.extend(["-C".into(), place.into_os_string()]);
    }
    argv.extend(action.words.iter().map(OsString::from));
    if action.seat {
        argv.extend(wish.pane_id.iter().map(|pane| format!("--pane-id={pane}").into()));
        argv.extend(wish.client.iter().map(|client| format!("--client={client}").into()));
    }
    Ok(argv)
}

/// The main checkout of the repository that the pane is in, so that nobody stands in a lane's.
fn place(action: &Action, ctx: &Ctx, pressed: &Pressed<'_>) -> Result<Option<PathBuf>> {
    let Some(directory) = action.there.then(|| pressed.directory()).transpose()?.flatten() else {
        return Ok(None);
    };
    Ok(Some(Repo::discover(ctx, &directory).map_or(directory, |repo| repo.main().to_owned())))
}

fn directly(argv: &[OsString], pressed: &Pressed<'_>, aloud: bool) -> Result<()> {
    let cmd = Cmd::from_argv(argv).ok_or_else(|| Error::failed("an action without a command"))?;
    let output = match cmd.limit(LIMIT).max_output(1 << 16).run() {
        Err(Failure::TimedOut(limit)) => {
            return Err(Error::failed(format!("no end after {} s; it was stopped", limit.as_secs())));
        }
        outcome => outcome.doing(|| "cannot start scruff".to_owned())?,
    };
    let said = one_line(&String::from_utf8_lossy(&output.stderr));
    match (output.ok(), said.is_empty()) {
        (true, _) if !aloud => Ok(()),
        (_, false) => Ok(pressed.say(&said)?),
        (true, true) => Ok(()),
        (false, true) => Err(Error::failed(output.complaint())),
    }
}

fn error_line(error: &Error) -> String {
    let lines: Vec<&str> = error.hints().iter().map(String::as_str).collect();
    one_line(&[&[error.message().as_str()], lines.as_slice()].concat().join("\n"))
}

/// What scruff said on stderr, for a line that is as wide as a screen.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_start_matches("scruff: ").trim());
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { String::new() } else { format!("scruff: {}", lines.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugin_binds_exactly_these_actions() {
        let plugin = include_str!("../../integrations/tmux/scruff.tmux");
        let rows = plugin.split_once("actions='\n").unwrap().1.split_once('\'').unwrap().0;
        let bound: Vec<&str> = rows.lines().map(|row| row.split_whitespace().next().unwrap()).collect();
        assert_eq!(bound, ACTIONS.map(|action| action.name));
    }

    #[test]
    fn the_words_of_every_action_are_a_command_line() {
        for action in &ACTIONS {
            let mut words: Vec<OsString> = vec!["scruff".into()];
            words.extend(action.words.iter().map(OsString::from));
            if action.seat {
                words.extend(["--pane-id=%1".into(), "--client=/dev/pts/1".into()]);
            }
            assert!(crate::cli::parse(&words).is_ok(), "{words:?}");
        }
    }

    #[test]
    fn what_was_said_becomes_a_line() {
        assert_eq!(one_line("scruff: no\n  try this\n\n"), "scruff: no; try this");
        assert_eq!(one_line("\n"), "");
        let error = Error::usage("no").hint("try this").hint("or that");
        assert_eq!(error_line(&error), "scruff: no; try this; or that");
    }
}
