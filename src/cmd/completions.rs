//! `scruff completions`, and `scruff __complete`, which the shells ask.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate, SubcommandCandidates, complete};

use super::Outcome;
use crate::ctx::Ctx;
use crate::lane::undo;
use crate::registry::ledger::{self, Taken};
use crate::registry::{self, Row};
use crate::{client, ui};

/// Completion for a shell, lanes and clients included. `scruff init` has it too.
///
/// bash: `source <(scruff completions bash)`; zsh: `scruff completions zsh > _scruff` in a directory
/// of $fpath; fish: `scruff completions fish | source`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// A shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    /// bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
}

/// What may stand at the end of a command line.
#[derive(Clone, Debug, clap::Args)]
pub struct Ask {
    /// The words so far; the last one is being typed
    #[arg(last = true)]
    pub words: Vec<OsString>,
}

/// Arguments whose values only scruff knows: command, argument, values.
const LIVE: [(&str, &str, Values); 12] = [
    ("resume", "name", Values::Lanes),
    ("focus", "name", Values::Lanes),
    ("open", "name", Values::Lanes),
    ("close", "name", Values::Lanes),
    ("drop", "name", Values::Lanes),
    ("reap", "names", Values::Lanes),
    ("reship", "name", Values::Lanes),
    ("undo", "name", Values::Taken),
    ("__path", "name", Values::Lanes),
    ("open", "agent", Values::Clients),
    ("new", "agent", Values::Clients),
    ("adopt", "agent", Values::Clients),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    Lanes,
    Taken,
    Clients,
}

/// A value, and what it means.
type Value = (String, Option<String>);

impl Values {
    fn get(self, ctx: &Ctx) -> Vec<Value> {
        match self {
            Values::Lanes => lanes(ctx),
            Values::Taken => taken(ctx),
            Values::Clients => client::ids(ctx).into_iter().map(|id| (id, None)).collect(),
        }
    }
}

/// Runs `completions`.
pub fn run(args: &Args) -> Outcome {
    Outcome::text(match args.shell {
        Shell::Bash => include_str!("../../shell/complete.bash"),
        Shell::Zsh => include_str!("../../shell/complete.zsh"),
        Shell::Fish => include_str!("../../shell/complete.fish"),
    })
}

/// Runs `__complete`: a line for each candidate, with a tab before what it means. What cannot be
/// completed has none: a shell that waits for a key has no use for an error.
pub fn ask(ask: &Ask, ctx: &Ctx) -> Outcome {
    let Some(last) = ask.words.last() else { return Outcome::done() };
    let mut definition = with_live_values(ctx);
    let words = in_full(&definition, &ask.words);
    let index = words.len() - 1;
    let found = complete(&mut definition, words, index, Some(&ctx.cwd)).unwrap_or_default();
    let wanted = |candidate: &&CompletionCandidate| is_wanted(candidate, last);
    Outcome::text(found.iter().filter(wanted).flat_map(line).collect::<Vec<u8>>())
}

/// After a lane's name come the words of `resume`.
fn in_full(definition: &clap::Command, words: &[OsString]) -> Vec<OsString> {
    let mut words = words.to_owned();
    let named =
        |word: &OsString| definition.find_subcommand(word).is_none() && !word.as_bytes().starts_with(b"-");
    if words.len() > 2 && named(&words[1]) {
        words.insert(1, "resume".into());
    }
    words
}

/// Flags are offered to those who begin one; what a shell cannot take in one line is left out.
fn is_wanted(candidate: &CompletionCandidate, typed: &OsStr) -> bool {
    let value = candidate.get_value().as_bytes();
    let flag = value.starts_with(b"-") && !typed.as_bytes().starts_with(b"-");
    !flag && !value.is_empty() && !value.iter().any(u8::is_ascii_control)
}

fn line(candidate: &CompletionCandidate) -> Vec<u8> {
    let mut line = candidate.get_value().as_bytes().to_owned();
    if let Some(help) = candidate.get_help() {
        let help = ui::plain(&help.to_string()).replace('\t', " ");
        line.push(b'\t');
        line.extend_from_slice(help.lines().next().unwrap_or_default().as_bytes());
    }
    line.push(b'\n');
    line
}

fn with_live_values(ctx: &Ctx) -> clap::Command {
    let lanes = lanes(ctx);
    let definition = LIVE.iter().fold(crate::cli::definition(), |definition, (command, argument, values)| {
        let values = if *values == Values::Lanes { lanes.clone() } else { values.get(ctx) };
        let live = ArgValueCandidates::new(move || candidates(&values));
        definition.mut_subcommand(command, |command| command.mut_arg(argument, |arg| arg.add(live)))
    });
    definition.add(SubcommandCandidates::new(move || candidates(&lanes)))
}

fn candidates(values: &[Value]) -> Vec<CompletionCandidate> {
    let candidate = |(value, help): &Value| {
        CompletionCandidate::new(value).help(help.as_ref().map(|help| help.clone().into()))
    };
    values.iter().map(candidate).collect()
}

/// Lanes by name; where two repositories have one of that name, with the repository's.
fn lanes(ctx: &Ctx) -> Vec<Value> {
    let table = registry::read(&ctx.paths).unwrap_or_default();
    let mut times: HashMap<&str, usize> = HashMap::new();
    for row in table.rows() {
        *times.entry(&row.name).or_default() += 1;
    }
    let value = |row: &Row| {
        let repo = row.main.file_name().unwrap_or_default().to_string_lossy();
        let about = format!("lane of {repo}, {}", row.client);
        let shared = times[row.name.as_str()] > 1;
        (if shared { format!("{repo}/{}", row.name) } else { row.name.clone() }, Some(about))
    };
    table.rows().map(value).collect()
}

fn taken(ctx: &Ctx) -> Vec<Value> {
    let lanes = undo::takeable_back(ledger::read(&ctx.paths).unwrap_or_default());
    let value =
        |taken: &Taken| (taken.name.clone(), Some(format!("lane of {}, taken {}", taken.repo, taken.time)));
    lanes.iter().filter_map(|lines| lines.last()).map(value).collect()
}
