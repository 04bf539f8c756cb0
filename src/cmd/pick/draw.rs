//! One frame of the picker: what was typed, the lanes that fit, the preview beside them.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::choice::{Choice, state};
use super::preview::Previews;
use super::screen::Screen;
use crate::error::Result;
use crate::lane::listing::View;
use crate::ui::{cut, shown};

/// Below this width there is no room for a preview beside the list, in columns.
const NARROW: usize = 60;

const KEYS: &str = "Enter go · ^O new · ^X close · ^D drop · ^T reap · Esc leave";

/// Draws a frame.
pub(super) fn draw(screen: &mut Screen, choice: &Choice, previews: &mut Previews<'_>) -> Result<()> {
    let (columns, rows) = screen.size();
    let list_width = if columns < NARROW { columns } else { (columns * 2 / 5).clamp(28, 60) };
    let height = rows.saturating_sub(3);
    let preview = match choice.chosen() {
        Some(view) if columns >= NARROW => previews.of(view, columns - list_width - 2, height),
        _ => Vec::new(),
    };
    let mut frame = String::from("\u{1b}[H\u{1b}[0m");
    line(&mut frame, 1, &top(choice, columns));
    for (row, text) in list(choice, list_width, height).into_iter().enumerate() {
        let beside = preview.get(row).map_or("", String::as_str);
        let bar = if columns < NARROW { "" } else { "\u{1b}[0;2m│\u{1b}[0m " };
        line(&mut frame, row + 2, &format!("{text}{bar}{beside}"));
    }
    line(&mut frame, rows - 1, "");
    line(&mut frame, rows, &format!("\u{1b}[2m{}", cut(KEYS, columns)));
    screen.show(&frame)
}

fn line(frame: &mut String, row: usize, text: &str) {
    let _ = write!(frame, "\u{1b}[{row};1H{text}\u{1b}[0m\u{1b}[K");
}

fn top(choice: &Choice, columns: usize) -> String {
    let (fitting, all) = choice.counts();
    let counts = format!("{fitting}/{all}");
    let room = columns.saturating_sub(counts.width() + 5);
    let query = cut(choice.query(), room);
    let gap = " ".repeat(room.saturating_sub(query.width()));
    format!("\u{1b}[1m> {query}\u{1b}[0m▏{gap}\u{1b}[2m{counts}")
}

/// The lanes around the chosen one, each padded to the width.
fn list(choice: &Choice, width: usize, height: usize) -> Vec<String> {
    let first = (choice.position() + 1).saturating_sub(height);
    let rows = choice.fitting().enumerate().skip(first).take(height);
    let mut rows: Vec<String> =
        rows.map(|(index, view)| row(view, width, index == choice.position())).collect();
    rows.resize(height, " ".repeat(width));
    rows
}

fn row(view: &View, width: usize, chosen: bool) -> String {
    let state = state(view);
    let repo = view.repo.rsplit('/').next().unwrap_or_default();
    let label = shown(&format!("{repo}/{}", view.name));
    let room = width.saturating_sub(state.width() + 4);
    let label = cut(&label, room);
    let gap = " ".repeat(room.saturating_sub(label.width()) + 1);
    let color = match state {
        "waiting" => "33",
        "done" => "32",
        "working" => "36",
        _ => "2",
    };
    let (mark, on) = if chosen { ("▌", "\u{1b}[7m") } else { (" ", "") };
    format!("{mark}{on}{label}{gap}\u{1b}[{color}m{state}\u{1b}[0m  ")
}
