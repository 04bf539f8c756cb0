//! The listing as a person sees it: one line a lane, cut to the terminal by display columns.

use jiff::{SpanRound, Timestamp, Unit};
use unicode_width::UnicodeWidthStr;

use crate::ctx::Ctx;
use crate::landed::PostMerge;
use crate::lane::listing::View;
use crate::lane::undo;
use crate::registry::ledger::Taken;
use crate::ui::{self, cut, shown};

/// Columns of each cell at most, the last one excepted.
const WIDEST: [usize; 5] = [24, 32, 10, 8, 10];

const HEADERS: [&str; 6] = ["REPO", "LANE", "STATE", "DOING", "CLIENT", "LAST COMMIT"];

/// The whole listing.
pub(super) fn render(ctx: &Ctx, views: &[View]) -> String {
    if views.is_empty() {
        return "no lanes yet; make one with `scruff open NAME`\n".to_owned();
    }
    let rows: Vec<[String; 6]> = views.iter().map(|view| cells(ctx, view)).collect();
    let header = HEADERS.map(str::to_owned);
    let widths = widths(rows.iter().chain([&header]));
    let limit = ui::width();
    let mut text = line(&header, &widths, limit);
    if ctx.ui.color {
        text = format!("\u{1b}[2m{}\u{1b}[0m\n", text.trim_end());
    }
    for row in &rows {
        text.push_str(&line(row, &widths, limit));
    }
    text
}

/// What was taken and can be brought back, newest first.
pub(super) fn reaped(ctx: &Ctx, ledger: &[Taken]) -> String {
    let lanes = undo::takeable_back(ledger.to_vec());
    let lines = lanes.iter().filter_map(|lines| lines.last());
    let line = |taken: &Taken| {
        let line = format!(
            "{}  {}  reaped  {} ago, by {}",
            taken.repo,
            taken.name,
            age(ctx.clock.now(), taken.time),
            taken.via
        );
        shown(&line) + "\n"
    };
    lines.map(line).collect()
}

fn cells(ctx: &Ctx, view: &View) -> [String; 6] {
    let age = view.committed.map(|time| format!(" ({})", age(ctx.clock.now(), time))).unwrap_or_default();
    let commit = view.last_commit.as_deref().unwrap_or("no commit yet");
    let state = view.state.unwrap_or("?").to_owned() + &after_merge(view);
    let doing = match (&view.activity, &view.pane) {
        (Some(activity), _) => activity.state,
        (None, Some(_)) => "open",
        (None, None) => "-",
    };
    [&view.repo, &view.name, &state, doing, &view.agent, &format!("{commit}{age}")]
        .map(|cell: &str| shown(cell))
}

/// `+3`: three commits came after the merge; `~3`: and they do not build on it.
fn after_merge(view: &View) -> String {
    match &view.post_merge_ahead {
        Some(PostMerge { commits, diverged, .. }) if *commits > 0 => {
            format!("{}{commits}", if *diverged { '~' } else { '+' })
        }
        _ => String::new(),
    }
}

fn widths<'a>(rows: impl Iterator<Item = &'a [String; 6]>) -> [usize; 5] {
    rows.fold([0; 5], |mut widest, row| {
        for (index, widest) in widest.iter_mut().enumerate() {
            *widest = (*widest).max(row[index].width()).min(WIDEST[index]);
        }
        widest
    })
}

fn line(row: &[String; 6], widths: &[usize; 5], limit: Option<usize>) -> String {
    let mut text = String::new();
    for (cell, width) in row.iter().zip(widths) {
        let cell = cut(cell, *width);
        text.push_str(&cell);
        text.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + 2));
    }
    text.push_str(&row[5]);
    let text = text.trim_end();
    let text = limit.map_or_else(|| text.to_owned(), |limit| cut(text, limit));
    text + "\n"
}

/// "5m", "3h", "2d": how long ago, in its largest unit.
fn age(now: Timestamp, then: Timestamp) -> String {
    let round = SpanRound::new().largest(Unit::Second);
    let seconds =
        now.since(then).and_then(|span| span.round(round)).map_or(0, |span| span.get_seconds()).max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_in_its_largest_unit() {
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let ages = [5, 90, 7200, 172_800].map(|seconds| age(at(1_000_000 + seconds), at(1_000_000)));
        assert_eq!(ages, ["5s", "1m", "2h", "2d"]);
    }
}
