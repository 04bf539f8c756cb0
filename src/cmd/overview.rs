//! `scruff __overview`: the listing in a popup, until a key is pressed.

use std::time::Duration;

use super::{Outcome, list};
use crate::ctx::Ctx;
use crate::error::Result;
use crate::tty::{Tty, Typed};
use crate::ui;

/// How often the terminal's size is looked at.
const LOOK: Duration = Duration::from_millis(500);

const KEYS: &str = "Up and Down move, r looks again, any other key leaves";

/// Shows every lane, with keys to scroll.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {}

enum Move {
    By(isize),
    Anew,
    Leave,
}

/// Runs it.
pub fn run(ctx: &Ctx) -> Result<Outcome> {
    let mut lines = listing(ctx)?;
    let mut tty = Tty::open()?;
    let mut first = 0;
    loop {
        let (columns, rows) = tty.size();
        let room = rows.saturating_sub(1).max(1);
        first = first.min(lines.len().saturating_sub(room));
        let mut shown: Vec<String> = lines.iter().skip(first).take(room).cloned().collect();
        shown.resize(room, String::new());
        shown.push(format!("\x1b[2m{}", ui::cut(KEYS, columns)));
        tty.show(&shown, None)?;
        let keys = match tty.read(LOOK)? {
            Typed::Bytes(bytes) => bytes,
            Typed::Nothing => continue,
            Typed::Gone => return Ok(Outcome::done()),
        };
        match meaning(&keys, room) {
            Move::By(step) => first = first.saturating_add_signed(step),
            Move::Anew => lines = listing(ctx)?,
            Move::Leave => return Ok(Outcome::done()),
        }
    }
}

fn meaning(keys: &[u8], page: usize) -> Move {
    let page = page.cast_signed();
    match keys {
        b"\x1b[A" | b"\x1bOA" | b"k" | b"\x10" => Move::By(-1),
        b"\x1b[B" | b"\x1bOB" | b"j" | b"\x0e" => Move::By(1),
        b"\x1b[5~" => Move::By(-page),
        b"\x1b[6~" | b" " => Move::By(page),
        b"g" | b"\x1b[H" | b"\x1b[1~" => Move::By(isize::MIN),
        b"G" | b"\x1b[F" | b"\x1b[4~" => Move::By(isize::MAX),
        b"r" => Move::Anew,
        _ => Move::Leave,
    }
}

fn listing(ctx: &Ctx) -> Result<Vec<String>> {
    let answer = list::run(&list::Args::default(), ctx)?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let text = if text.trim().is_empty() { "There are no lanes.".to_owned() } else { text };
    Ok(text.lines().map(str::to_owned).collect())
}
