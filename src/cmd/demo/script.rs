//! The demo without a person: each step is said, done, shown and checked.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::stage::{LANES, Stage};
use crate::cmd::Outcome;
use crate::ctx::Ctx;
use crate::error::{Error, Result};

/// How long a screen may take to show what it should.
const PATIENCE: Duration = Duration::from_secs(20);

/// Plays it. The answer is the whole play; the first thing that is not as it should be is an error.
pub(super) fn play(ctx: &Ctx, stage: &Stage) -> Result<Outcome> {
    ctx.ui.note("a scratch repository, a tmux server of its own, a stand-in agent");
    for (name, prompt) in LANES {
        ctx.ui.note(format!("\n$ scruff open {name} --background --prompt '{prompt}'"));
        stage.scruff(&["open", name, "--background", "--prompt", prompt])?;
        let screen = see(stage, &window_of(stage, name)?, prompt)?;
        ctx.ui.note(framed(&screen));
    }
    check(shown(stage)? == "welcome", "the screen was not taken")?;
    ctx.ui.note("\n$ scruff");
    let list = String::from_utf8_lossy(&stage.scruff(&[])?.stdout).into_owned();
    ctx.ui.note(list.trim_end());
    check(LANES.iter().all(|(name, _)| list.contains(name)), "the listing names every lane")?;
    focus(ctx, stage, "dark-mode")?;
    close_and_resume(ctx, stage, "fix-auth")?;
    focus(ctx, stage, "faster-list")?;
    ctx.ui.note("\nthe demo is over; everything of it is gone");
    Ok(Outcome::done())
}

fn focus(ctx: &Ctx, stage: &Stage, name: &str) -> Result<()> {
    ctx.ui.note(format!("\n$ scruff focus {name}"));
    // Nobody is attached to the demo's server, so the window is selected and scruff says so.
    stage.scruff(&["focus", name])?;
    check(pane_shown(stage)? == window_of(stage, name)?, &format!("{name} is in front"))
}

fn close_and_resume(ctx: &Ctx, stage: &Stage, name: &str) -> Result<()> {
    let pane = window_of(stage, name)?;
    ctx.ui.note(format!("\nthe window of {name} is closed"));
    stage.ask_tmux(&["kill-pane", "-t", &pane])?;
    ctx.ui.note(format!("\n$ scruff {name}"));
    stage.scruff(&[name])?;
    let screen = see(stage, &window_of(stage, name)?, "Here we are again")?;
    ctx.ui.note(framed(&screen));
    Ok(())
}

/// The pane of a lane, by the mark that scruff left on it.
fn window_of(stage: &Stage, name: &str) -> Result<String> {
    let begun = Instant::now();
    loop {
        let panes = stage.ask_tmux(&["list-panes", "-a", "-F", "#{pane_id} #{@scruff_lane}"])?;
        let wanted = format!(" shop/{name}");
        if let Some(line) = panes.lines().find(|line| line.ends_with(&wanted)) {
            return Ok(line.split(' ').next().unwrap_or_default().to_owned());
        }
        give_up_after(begun, &format!("{name} has a pane"))?;
    }
}

/// The screen of a pane once it shows `text`.
fn see(stage: &Stage, pane: &str, text: &str) -> Result<String> {
    let begun = Instant::now();
    loop {
        let screen = stage.ask_tmux(&["capture-pane", "-p", "-J", "-t", pane])?;
        if screen.contains(text) && screen.contains("exit") {
            return Ok(screen);
        }
        give_up_after(begun, &format!("{text:?} on the screen\n{screen}"))?;
    }
}

fn shown(stage: &Stage) -> Result<String> {
    stage.ask_tmux(&["list-windows", "-t", "=demo:", "-f", "#{window_active}", "-F", "#{window_name}"])
}

fn pane_shown(stage: &Stage) -> Result<String> {
    stage.ask_tmux(&["list-panes", "-t", "=demo:", "-f", "#{pane_active}", "-F", "#{pane_id}"])
}

fn give_up_after(begun: Instant, what: &str) -> Result<()> {
    sleep(Duration::from_millis(20));
    check(begun.elapsed() < PATIENCE, what)
}

fn check(holds: bool, what: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::failed(format!("the demo expected: {what}"))) }
}

/// A screen with a line on its left, without its empty end.
fn framed(screen: &str) -> String {
    screen.trim_end().lines().map(|line| format!("  │ {line}\n")).collect::<String>().trim_end().to_owned()
}
