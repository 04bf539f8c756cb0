//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::cmd;
use crate::error::{Error, Result};
use crate::ui::ColorChoice;

/// A lane for every coding agent: a git branch, a checkout, a terminal pane.
///
/// Without a command it lists the lanes; `scruff NAME` reopens one.
#[derive(Debug, Parser)]
#[command(name = "scruff", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit status: 0 done, 1 failed, 2 refused for safety, 3 degraded, 4 conflict found, 5 busy."
)]
pub struct Cli {
    /// What applies to every command.
    #[command(flatten)]
    pub global: Global,
    /// The command; none lists the lanes.
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

/// What applies to every command.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Global {
    /// Start from DIR instead of the current directory
    #[arg(short = 'C', global = true, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Answer in JSON, errors too
    #[arg(long, global = true)]
    pub json: bool,
    /// Say only what went wrong
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say what is being done
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Colour on stdout
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t, hide_default_value = true)]
    pub color: ColorChoice,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List the lanes of every repository
    List(cmd::list::Args),
    /// New lane with a session in a window; an existing lane comes to the front
    Open(cmd::open::Args),
    /// New lane; prints its checkout's path and nothing else
    New(cmd::new::Args),
    /// Reopen a lane: rebuild its checkout if parked, continue its conversation
    Resume(cmd::resume::Args),
    /// Go to the window a lane runs in, else resume it
    Focus(cmd::focus::Args),
    /// Say that somebody is at work in a checkout, where no process can be seen in it
    Heartbeat(cmd::heartbeat::Args),
    /// Choose a lane by typing a part of its name, with a live preview
    Pick(cmd::pick::Args),
    /// Take a worktree or branch that scruff did not make into the registry
    Adopt(cmd::adopt::Args),
    /// Set the uncommitted work of this checkout aside
    Park(cmd::park::Args),
    /// Bring back what park set aside
    Unpark(cmd::unpark::Args),
    /// Park a whole lane: save, end its pane, remove its checkout, keep its branch
    Close(cmd::close::Args),
    /// Take a lane, landed or not, if it is clean and nobody stands in it
    Drop(cmd::drop::Args),
    /// Take every lane whose work has landed
    Reap(cmd::reap::Args),
    /// Push what came after the merge, and open the follow-up pull request
    Reship(cmd::reship::Args),
    /// What was taken and can be brought back
    Reaped(cmd::reaped::Args),
    /// Bring a lane back that was taken
    Undo(cmd::undo::Args),
    /// For clients' hooks: an event of the client's
    Hook(cmd::hook::Args),
    /// What is installed, what applies, what is odd; changes nothing
    Doctor(cmd::doctor::Args),
    /// Try everything safely, in a private tmux with a scratch repository
    Demo(cmd::demo::Args),
    /// How many lanes wait for you, work, or are done, for a status line
    Status(cmd::status::Args),
    /// Keys, completion and more for a shell or tmux
    Init(cmd::init::Args),
    /// Completion for a shell
    Completions(cmd::completions::Args),
    /// What a key of tmux runs.
    #[command(name = "__key", hide = true)]
    Key(cmd::key::Args),
    /// What a shell's completion asks.
    #[command(name = "__complete", hide = true)]
    Complete(cmd::completions::Ask),
    /// What a shell's `scd` asks.
    #[command(name = "__path", hide = true)]
    Path(cmd::path::Args),
    /// What a popup shows.
    #[command(name = "__overview", hide = true)]
    Overview(cmd::overview::Args),
    /// A lane's name: the same as `resume NAME`
    #[command(external_subcommand)]
    Name(Vec<OsString>),
}

/// Reads a command line, program name first. `scruff NAME …` is `scruff resume NAME …`.
pub fn parse(args: &[OsString]) -> Result<Parsed> {
    match Cli::try_parse_from(args) {
        Ok(Cli { verb: Some(Verb::Name(words)), .. }) => {
            let (before, name) = args.split_at(args.len() - words.len());
            if words == ["help"] {
                return Ok(Parsed::Print(definition().render_long_help().to_string()));
            }
            if words.first().is_some_and(|word| word.as_encoded_bytes().starts_with(b"-")) {
                return Err(Error::usage(format!("unknown argument {}", words[0].display())).hint(SEE_HELP));
            }
            let resume: Vec<OsString> =
                before.iter().cloned().chain(["resume".into()]).chain(name.iter().cloned()).collect();
            parse_once(&resume)
        }
        Ok(cli) => Ok(Parsed::Run(Box::new(cli))),
        Err(error) => explained(&error),
    }
}

/// What a command line asks for.
#[derive(Debug)]
pub enum Parsed {
    /// To run a verb.
    Run(Box<Cli>),
    /// To print this, and nothing else.
    Print(String),
}

const SEE_HELP: &str = "see `scruff --help`";

fn parse_once(args: &[OsString]) -> Result<Parsed> {
    match Cli::try_parse_from(args) {
        Ok(cli) => Ok(Parsed::Run(Box::new(cli))),
        Err(error) => explained(&error),
    }
}

/// Help and version are answers; everything else is wrong usage, with clap's own advice as hints.
fn explained(error: &clap::Error) -> Result<Parsed> {
    let text = error.render().to_string();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Ok(Parsed::Print(text));
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("wrong usage").trim_start_matches("error: ").to_owned();
    let hints = lines.filter(|line| !line.starts_with("For more information"));
    Err(hints.fold(Error::usage(first), |error, hint| error.hint(hint)))
}

/// The definition, for completions and the manual.
pub fn definition() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_definition_holds_together() {
        definition().debug_assert();
    }

    #[test]
    fn a_bare_name_is_resume() {
        let Ok(Parsed::Run(cli)) = parse(&words("scruff --quiet fix-auth --pick")) else { panic!() };
        let Some(Verb::Resume(args)) = cli.verb else { panic!("{:?}", cli.verb) };
        assert!(cli.global.quiet && args.pick && args.name == "fix-auth");
    }

    #[test]
    fn usage_is_one_and_help_is_an_answer() {
        assert_eq!(parse(&words("scruff list --nope")).unwrap_err().exit().code(), 1);
        assert_eq!(parse(&words("scruff --nope")).unwrap_err().exit().code(), 1);
        assert!(matches!(parse(&words("scruff open --help")), Ok(Parsed::Print(_))));
        assert!(matches!(parse(&words("scruff --version")), Ok(Parsed::Print(_))));
    }
}
