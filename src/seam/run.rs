//! Runs a seam's program.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Seam;
use super::protocol::{Acted, Answer, Said, Verdict};
use super::told::Told;
use crate::ctx::Ctx;
use crate::lane::Situation;
use crate::proc::{Cmd, Failure};

/// How long a question may take.
pub const LIMIT: Duration = Duration::from_secs(10);

/// Output of a question that is looked at, in bytes.
const MAX_SAID: usize = 1 << 20;

/// Asks the program of a seam, if there is one. `extra` is told on standard input only.
pub fn ask(ctx: &Ctx, seam: Seam, situation: &Situation, extra: &[(&str, OsString)]) -> Answer {
    ask_within(ctx, seam, situation, extra, LIMIT)
}

/// [`ask`] with another limit, after which the program's process group is killed.
pub fn ask_within(
    ctx: &Ctx,
    seam: Seam,
    situation: &Situation,
    extra: &[(&str, OsString)],
    limit: Duration,
) -> Answer {
    let Some(argv) = seam.configured(ctx) else { return Answer::NoOpinion };
    let told = Told::new(seam, situation, extra);
    let output = prepare(ctx, &argv, situation, &told)
        .map(|cmd| cmd.input(told.json()).limit(limit).max_output(MAX_SAID))
        .and_then(|cmd| cmd.run_showing_errors().map_err(|failure| why(&failure, &argv)));
    let (verdict, said) = match output {
        Ok(output) => (Verdict::of(output.status), Said::parse(&output.stdout)),
        Err(why) => (Verdict::Broken(why), Said::Nothing),
    };
    match verdict {
        Verdict::Yes => Answer::Yes(said),
        Verdict::No => Answer::No(said),
        Verdict::Refused => Answer::Refused(said),
        Verdict::NoOpinion => Answer::NoOpinion,
        Verdict::Broken(why) => {
            warn(ctx, seam, &argv, &why);
            Answer::Broken
        }
    }
}

/// Lets the program of a seam act, if there is one. It gets the terminal, its standard output
/// goes to scruff's standard error, and it may take as long as it likes.
pub fn act(ctx: &Ctx, seam: Seam, situation: &Situation, command: &OsStr) -> Acted {
    let Some(argv) = seam.configured(ctx) else { return Acted::Declined };
    let told = Told::new(seam, situation, &[]).with_command(command);
    let status = prepare(ctx, &argv, situation, &told)
        .map(|cmd| if std::io::stdin().is_terminal() { cmd.inherit_input() } else { cmd.input(told.json()) })
        .and_then(|cmd| cmd.run_on_terminal().map_err(|failure| why(&failure, &argv)));
    match status.map_or_else(Verdict::Broken, Verdict::of) {
        Verdict::Yes => Acted::Handled,
        Verdict::No => Acted::Failed,
        Verdict::Refused => Acted::Refused,
        Verdict::NoOpinion => Acted::Declined,
        Verdict::Broken(why) => {
            warn(ctx, seam, &argv, &why);
            Acted::Declined
        }
    }
}

/// The command, with what it is told in its environment.
fn prepare(ctx: &Ctx, argv: &[OsString], situation: &Situation, told: &Told) -> Result<Cmd, String> {
    let (program, args) = argv.split_first().ok_or("no program is named")?;
    let program = resolve(ctx, program)?;
    let directory = [&ctx.cwd, &situation.main].into_iter().find(|directory| directory.is_dir());
    let cmd = Cmd::new(program).args(args).env_exactly(&told.environment(&ctx.env));
    Ok(cmd.cwd(directory.map_or(Path::new("/"), PathBuf::as_path)))
}

/// The program's path. A relative one is not run: it would be whatever a checkout holds.
fn resolve(ctx: &Ctx, program: &OsStr) -> Result<PathBuf, String> {
    let path = Path::new(program);
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    if path.components().count() > 1 {
        return Err("a relative path is not run: name it from / on".to_owned());
    }
    ctx.find(program).ok_or_else(|| "no such program on PATH".to_owned())
}

fn why(failure: &Failure, argv: &[OsString]) -> String {
    match failure {
        Failure::NotFound if argv.first().is_some_and(|program| Path::new(program).exists()) => {
            "the interpreter that its first line names is not there".to_owned()
        }
        other => other.to_string(),
    }
}

fn warn(ctx: &Ctx, seam: Seam, argv: &[OsString], why: &str) {
    let program = argv.first().map(|program| Path::new(program).display().to_string()).unwrap_or_default();
    let name = seam.name();
    ctx.ui.warn(format!("the {name} hook {program} does not work ({why}); going on without it"));
}
