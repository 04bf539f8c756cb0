//! Asks for a lane's task on the terminal.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use crate::ctx::Ctx;
use crate::editor::{Editor, Step};
use crate::error::{Error, Result};
use crate::git::Repo;
use crate::tty::{Tty, Typed};
use crate::{paths, proc, ui};

/// How long after an escape the rest of a key's sequence may come.
const SEQUENCE: Duration = Duration::from_millis(60);

/// How often the terminal's size is looked at.
const LOOK: Duration = Duration::from_millis(500);

const KEYS: &str =
    "Enter starts it, Alt-Enter makes a new line, Esc leaves. Without a text it starts with none.";

/// Asks. `None`: they want no lane. An empty text: a lane without a first turn.
pub(super) fn ask(ctx: &Ctx, repo: &Repo) -> Result<Option<Vec<u8>>> {
    let title = title(ctx, repo);
    let mut tty = Tty::open()?;
    let mut editor = Editor::default();
    loop {
        draw(&mut tty, &title, &editor)?;
        let step = match tty.read(if editor.in_sequence() { SEQUENCE } else { LOOK })? {
            Typed::Bytes(bytes) => editor.feed(&bytes),
            Typed::Nothing => editor.pause(),
            Typed::Gone => return Err(Error::failed("the terminal went away: no lane was made")),
        };
        match step {
            Step::More => {}
            Step::Submit => return Ok(Some(editor.into_text())),
            Step::Cancel => return Ok(None),
        }
    }
}

/// Keeps a text that somebody typed and that was of no use: the error says where it is.
pub(super) fn keep(ctx: &Ctx, text: &OsStr, error: Error) -> Error {
    let file = ctx.paths.state.join("task");
    match paths::write_whole(&file, text.as_bytes()) {
        Ok(()) => {
            let file = proc::quote(file.as_os_str());
            error.hint(format!("the task is kept; to use it: scruff open --prompt-file {}", file.display()))
        }
        Err(_) => error,
    }
}

fn title(ctx: &Ctx, repo: &Repo) -> String {
    let client = ctx.env.text("SCRUFF_AGENT").map(str::to_owned).or_else(|| ctx.config().agent.clone());
    let client = client.map(|client| format!(" for {client}")).unwrap_or_default();
    ui::plain(&format!("New lane in {}{client}. Its task:", repo.slug())).replace(['\n', '\t'], " ")
}

fn draw(tty: &mut Tty, title: &str, editor: &Editor) -> Result<()> {
    let (columns, rows) = tty.size();
    let mut lines = Vec::new();
    let cut = |text: &str| ui::cut(text, columns);
    lines.push(format!("\x1b[1m{}", cut(title)));
    let (text, (row, column)) = editor.layout(columns);
    let room = rows.saturating_sub(3).max(1);
    let first = (row + 1).saturating_sub(room);
    lines.extend(text.into_iter().skip(first).take(room));
    lines.push(String::new());
    lines.push(format!("\x1b[2m{}", cut(KEYS)));
    tty.show(&lines, Some((row - first + 1, column)))
}
