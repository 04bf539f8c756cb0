//! The preview: the screen of a lane's pane, fed through a terminal model so that colours, wide
//! characters and cursor addressing come out right; for a parked lane, what it holds.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use wezterm_term::color::{ColorAttribute, ColorPalette};
use wezterm_term::{CellAttributes, Intensity, Terminal, TerminalConfiguration, TerminalSize, Underline};

use crate::ctx::Ctx;
use crate::git::Repo;
use crate::lane::LaneId;
use crate::lane::listing::View;
use crate::mux;
use crate::ui;

/// How long a preview is shown before the pane is looked at again.
pub(super) const FRESH: Duration = Duration::from_millis(500);

/// What was captured of each lane since the last refresh.
pub(super) struct Previews<'a> {
    ctx: &'a Ctx,
    captured: HashMap<LaneId, Vec<u8>>,
}

impl<'a> Previews<'a> {
    /// Nothing captured yet.
    pub(super) fn new(ctx: &'a Ctx) -> Self {
        Previews { ctx, captured: HashMap::new() }
    }

    /// Looks again at the next question.
    pub(super) fn refresh(&mut self) {
        self.captured.clear();
    }

    /// The preview of a lane as lines with colours, at most `rows` of `columns` each.
    pub(super) fn of(&mut self, view: &View, columns: usize, rows: usize) -> Vec<String> {
        let bytes = self.captured.entry(view.lane.id().clone()).or_insert_with(|| capture(self.ctx, view));
        render(bytes, columns, rows)
    }
}

fn capture(ctx: &Ctx, view: &View) -> Vec<u8> {
    let screen = view.pane.as_ref().and_then(|_| mux::capture_lane(ctx, &view.lane));
    screen.unwrap_or_else(|| history(ctx, view))
}

/// A lane that runs nowhere shows its last commits and what they changed.
fn history(ctx: &Ctx, view: &View) -> Vec<u8> {
    let Ok(repo) = Repo::at_main(ctx, &view.main) else {
        return b"its repository cannot be asked".to_vec();
    };
    let tip = format!("refs/heads/{}", view.branch);
    let log = [
        "log",
        "-10",
        "--color=always",
        "--format=%C(yellow)%h%C(reset) %s %C(dim)(%cr)%C(reset)",
        &tip,
        "--",
    ];
    let mut bytes = said(&repo, &log);
    let base = view.base.as_deref().unwrap_or_default();
    if !base.is_empty() {
        bytes.extend_from_slice(b"\n");
        let range = format!("refs/heads/{base}...{tip}");
        bytes.extend(said(&repo, &["diff", "--stat", "--color=always", &range, "--"]));
    }
    bytes
}

fn said(repo: &Repo, args: &[&str]) -> Vec<u8> {
    let output = repo.read().limit(Duration::from_secs(2)).args(args).run();
    output.map(|output| output.stdout).unwrap_or_default()
}

/// As wide as a captured line may be, in columns: what is beyond the preview is cut, not overwritten.
const WIDE: usize = 512;

#[derive(Debug)]
struct Plain;

impl TerminalConfiguration for Plain {
    fn color_palette(&self) -> ColorPalette {
        ColorPalette::default()
    }
}

/// Lines of a terminal's output, drawn on a model of a terminal. Long lines are cut, not
/// wrapped, and the last rows with something on them are shown: that is where a client talks.
pub(super) fn render(bytes: &[u8], columns: usize, rows: usize) -> Vec<String> {
    if columns == 0 || rows == 0 {
        return Vec::new();
    }
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let height = lines.len().clamp(1, 1000);
    let size =
        TerminalSize { rows: height, cols: columns.max(WIDE), pixel_width: 0, pixel_height: 0, dpi: 0 };
    let config: Arc<dyn TerminalConfiguration + Send + Sync> = Arc::new(Plain);
    let mut model = Terminal::new(size, config, "scruff", env!("CARGO_PKG_VERSION"), Box::new(io::sink()));
    model.advance_bytes(b"\x1b[?7l");
    for (index, line) in lines[lines.len() - height..].iter().enumerate() {
        if index > 0 {
            model.advance_bytes(b"\r\n");
        }
        model.advance_bytes(line);
    }
    let screen = model.screen();
    let mut drawn = Vec::new();
    screen.for_each_phys_line(|_, line| {
        let mut text = String::new();
        let mut width = 0;
        let mut last = CellAttributes::default();
        for cell in line.visible_cells() {
            if width + cell.width() > columns {
                break;
            }
            width += cell.width();
            if cell.attrs() != &last {
                text.push_str(&sgr(cell.attrs()));
                last = cell.attrs().clone();
            }
            text.push_str(&ui::plain(cell.str()));
        }
        drawn.push(text + "\u{1b}[0m");
    });
    while drawn.last().is_some_and(|line| is_blank(line)) {
        drawn.pop();
    }
    let skip = drawn.len().saturating_sub(rows);
    drawn.split_off(skip)
}

fn is_blank(line: &str) -> bool {
    line.trim_end_matches("\u{1b}[0m").trim().is_empty()
}

/// The escape sequence that sets these attributes.
fn sgr(attrs: &CellAttributes) -> String {
    let mut codes = vec!["0".to_owned()];
    match attrs.intensity() {
        Intensity::Bold => codes.push("1".to_owned()),
        Intensity::Half => codes.push("2".to_owned()),
        Intensity::Normal => {}
    }
    let flags = [
        (attrs.italic(), "3"),
        (attrs.underline() != Underline::None, "4"),
        (attrs.reverse(), "7"),
        (attrs.invisible(), "8"),
        (attrs.strikethrough(), "9"),
    ];
    codes.extend(flags.iter().filter(|(set, _)| *set).map(|(_, code)| (*code).to_owned()));
    codes.extend(color(attrs.foreground(), "38"));
    codes.extend(color(attrs.background(), "48"));
    format!("\u{1b}[{}m", codes.join(";"))
}

fn color(color: ColorAttribute, place: &str) -> Option<String> {
    match color {
        ColorAttribute::Default => None,
        ColorAttribute::PaletteIndex(index) => Some(format!("{place};5;{index}")),
        ColorAttribute::TrueColorWithPaletteFallback(color, _)
        | ColorAttribute::TrueColorWithDefaultFallback(color) => {
            let (red, green, blue, _) = color.to_srgb_u8();
            Some(format!("{place};2;{red};{green};{blue}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[String]) -> Vec<String> {
        let strip = |line: &String| {
            let mut out = String::new();
            let mut inside = false;
            for c in line.chars() {
                match (inside, c) {
                    (false, '\u{1b}') => inside = true,
                    (true, 'm') => inside = false,
                    (false, c) => out.push(c),
                    (true, _) => {}
                }
            }
            out.trim_end().to_owned()
        };
        lines.iter().map(strip).collect()
    }

    #[test]
    fn long_lines_are_cut_and_the_last_rows_shown() {
        assert_eq!(text(&render(b"one\ntwo two two\nthree\n\n\n", 5, 2)), ["two t", "three"]);
    }

    #[test]
    fn a_wide_character_is_never_cut_in_half() {
        let lines = text(&render("漢字漢字".as_bytes(), 5, 1));
        assert!(lines[0].starts_with("漢字"), "{lines:?}");
        assert!(unicode_width::UnicodeWidthStr::width(lines[0].as_str()) <= 5);
    }

    #[test]
    fn colours_stay_and_cursor_addressing_is_obeyed() {
        let lines = render(b"\x1b[31mred\x1b[0m plain\x1b[1G\x1b[1mR", 20, 1);
        assert_eq!(text(&lines), ["Red plain"]);
        assert!(lines[0].contains(";5;1m"), "{:?}", lines[0]);
    }

    #[test]
    fn a_hostile_screen_cannot_leave_its_place() {
        let lines = render(b"a\x1b]0;title\x07b\x1b[2J\x1b[10;10Hc\x1b[?1049h", 20, 3);
        assert!(lines.iter().all(|line| !line.contains("\u{1b}]") && !line.contains("\u{1b}[2J")));
    }
}
