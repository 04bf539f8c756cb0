//! `scruff status`

use std::ffi::OsString;

use super::Outcome;
use crate::activity::{self, Activity, Counts};
use crate::ctx::Ctx;
use crate::error::Result;

/// How many lanes wait for you, work, or are done, for a status line.
///
/// Reads three directories and nothing else, so it may be asked every second.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// For whom: people, a tmux or WezTerm status line (empty when no lane does anything), programs
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
}

/// Who reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A person: "2 waiting, 1 working, 0 done".
    #[default]
    Plain,
    /// A tmux status line: "!2 ~1 +3" in colours, what is 0 left out.
    Tmux,
    /// A WezTerm status: the same with escape sequences.
    Wezterm,
    /// A program.
    Json,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let counts = activity::count(&ctx.paths)?;
    let format = if ctx.json { Format::Json } else { args.format };
    Ok(Outcome::text(render(counts, format)))
}

/// Reads the words after `status` if they are what a status line says. Anything else, such as a
/// wrong word or `--help`, is for the whole command line to answer.
pub fn quick(words: &[OsString]) -> Option<Args> {
    let words: Vec<&str> = words.iter().map(|word| word.to_str()).collect::<Option<_>>()?;
    let format = match words[..] {
        [] => Format::Plain,
        ["--json"] => Format::Json,
        ["--format", word] => named(word)?,
        [word] => named(word.strip_prefix("--format=")?)?,
        _ => return None,
    };
    Some(Args { format })
}

fn named(word: &str) -> Option<Format> {
    match word {
        "plain" => Some(Format::Plain),
        "tmux" => Some(Format::Tmux),
        "wezterm" => Some(Format::Wezterm),
        "json" => Some(Format::Json),
        _ => None,
    }
}

fn render(counts: Counts, format: Format) -> String {
    let Counts { waiting, working, done } = counts;
    match format {
        Format::Plain => format!("{waiting} waiting, {working} working, {done} done\n"),
        Format::Json => format!("{{\"waiting\":{waiting},\"working\":{working},\"done\":{done}}}\n"),
        Format::Tmux => badges(counts, |activity| (tmux_style(activity), "#[default]")),
        Format::Wezterm => badges(counts, |activity| (escape(activity), "\x1b[0m")),
    }
}

fn badges(counts: Counts, style: impl Fn(Activity) -> (&'static str, &'static str)) -> String {
    let shown = Activity::ALL.into_iter().filter(|activity| counts.of(*activity) > 0);
    let badge = |activity| {
        let (before, after) = style(activity);
        format!("{before}{}{}{after}", mark(activity), counts.of(activity))
    };
    let badges: Vec<String> = shown.map(badge).collect();
    badges.join(" ") + "\n"
}

/// One ASCII character, so that it has one width in every terminal and font.
fn mark(activity: Activity) -> char {
    match activity {
        Activity::Waiting => '!',
        Activity::Working => '~',
        Activity::Done => '+',
    }
}

fn tmux_style(activity: Activity) -> &'static str {
    match activity {
        Activity::Waiting => "#[fg=yellow,bold]",
        Activity::Working => "#[fg=cyan]",
        Activity::Done => "#[fg=green]",
    }
}

fn escape(activity: Activity) -> &'static str {
    match activity {
        Activity::Waiting => "\x1b[1;33m",
        Activity::Working => "\x1b[36m",
        Activity::Done => "\x1b[32m",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: Counts = Counts { waiting: 2, working: 0, done: 3 };

    fn read(line: &str) -> Option<Format> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        quick(&words).map(|args| args.format)
    }

    #[test]
    fn each_reader_gets_its_own() {
        assert_eq!(render(SOME, Format::Plain), "2 waiting, 0 working, 3 done\n");
        assert_eq!(render(SOME, Format::Json), "{\"waiting\":2,\"working\":0,\"done\":3}\n");
        assert_eq!(render(SOME, Format::Tmux), "#[fg=yellow,bold]!2#[default] #[fg=green]+3#[default]\n");
        assert_eq!(render(SOME, Format::Wezterm), "\x1b[1;33m!2\x1b[0m \x1b[32m+3\x1b[0m\n");
        assert_eq!(render(Counts::default(), Format::Tmux), "\n");
    }

    #[test]
    fn only_a_clear_command_line_is_answered_quickly() {
        assert_eq!(read(""), Some(Format::Plain));
        assert_eq!(read("--format tmux"), Some(Format::Tmux));
        assert_eq!(read("--format=wezterm"), Some(Format::Wezterm));
        assert_eq!(read("--json"), Some(Format::Json));
        for other in ["--help", "-h", "--format", "--format yaml", "--format tmux --json", "tmux", "-q"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn both_readers_know_the_same_words() {
        for format in <Format as clap::ValueEnum>::value_variants() {
            let value = clap::ValueEnum::to_possible_value(format).unwrap();
            assert_eq!(named(value.get_name()), Some(*format));
        }
    }
}
