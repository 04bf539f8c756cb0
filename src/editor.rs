//! A small text editor without a screen: bytes typed by a person in, text out. The text is bytes,
//! kept as they were typed or pasted.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A longer text is no task; what goes beyond is not taken, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// An escape sequence longer than this is none, in bytes.
const MAX_SEQUENCE: usize = 64;

const PASTE_BEGIN: &[u8] = b"200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// What a person's typing has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// They go on.
    More,
    /// They are done with the text.
    Submit,
    /// They want none of it.
    Cancel,
}

/// A text being edited.
#[derive(Debug, Default)]
pub struct Editor {
    text: Vec<u8>,
    cursor: usize,
    pending: Vec<u8>,
    pasting: bool,
    /// The last pasted byte was a carriage return.
    returned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Text,
    Newline,
    Submit,
    Cancel,
    Left,
    Right,
    Home,
    End,
    Backspace,
    Delete,
    DeleteOrCancel,
    KillWord,
    KillToStart,
    KillToEnd,
    PasteBegin,
    Ignored,
}

impl Editor {
    /// The text so far.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Takes the text out.
    pub fn into_text(self) -> Vec<u8> {
        self.text
    }

    /// Whether a key's sequence has begun and not ended, or an escape stands alone.
    pub fn in_sequence(&self) -> bool {
        !self.pasting && !self.pending.is_empty()
    }

    /// Takes what was typed. What follows a [`Step::Submit`] or [`Step::Cancel`] is dropped.
    pub fn feed(&mut self, bytes: &[u8]) -> Step {
        self.pending.extend_from_slice(bytes);
        loop {
            if self.pasting && !self.paste() {
                return Step::More;
            }
            let Some((key, length)) = next_key(&self.pending) else { return Step::More };
            let typed: Vec<u8> = self.pending.drain(..length).collect();
            match self.press(key, &typed) {
                Step::More => {}
                step => return step,
            }
        }
    }

    /// Nothing has followed for a while: an escape that stands alone is the key.
    pub fn pause(&mut self) -> Step {
        if self.pasting || self.pending.first() != Some(&0x1b) {
            return Step::More;
        }
        let alone = self.pending.len() == 1;
        self.pending.clear();
        if alone { Step::Cancel } else { Step::More }
    }

    /// Takes pasted bytes as text. `false` when the end of the paste is yet to come.
    fn paste(&mut self) -> bool {
        let end = self.pending.windows(PASTE_END.len()).position(|window| window == PASTE_END);
        // A part of the end may already be there.
        let length = end.unwrap_or(self.pending.len().saturating_sub(PASTE_END.len() - 1));
        let pasted: Vec<u8> = self.pending.drain(..length).collect();
        let pasted = self.line_ends(&pasted);
        self.insert(&pasted);
        if end.is_some() {
            self.pending.drain(..PASTE_END.len());
            (self.pasting, self.returned) = (false, false);
        }
        end.is_some()
    }

    /// Terminals send the line ends of a paste as carriage returns.
    fn line_ends(&mut self, pasted: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(pasted.len());
        for &byte in pasted {
            match byte {
                b'\n' if self.returned => {}
                b'\r' => text.push(b'\n'),
                _ => text.push(byte),
            }
            self.returned = byte == b'\r';
        }
        text
    }

    fn press(&mut self, key: Key, typed: &[u8]) -> Step {
        match key {
            Key::Submit => return Step::Submit,
            Key::Cancel => return Step::Cancel,
            Key::DeleteOrCancel if self.text.is_empty() => return Step::Cancel,
            Key::Text => self.insert(typed),
            Key::Newline => self.insert(b"\n"),
            Key::PasteBegin => self.pasting = true,
            Key::Left => self.cursor -= self.before(),
            Key::Right => self.cursor += self.after(),
            Key::Home => self.cursor = self.line_start(),
            Key::End => self.cursor = self.line_end(),
            Key::Backspace => self.kill(self.cursor - self.before(), self.cursor),
            Key::Delete | Key::DeleteOrCancel => self.kill(self.cursor, self.cursor + self.after()),
            Key::KillWord => self.kill(self.word_start(), self.cursor),
            Key::KillToStart => self.kill(self.line_start(), self.cursor),
            Key::KillToEnd => self.kill(self.cursor, self.line_end()),
            Key::Ignored => {}
        }
        Step::More
    }

    fn insert(&mut self, bytes: &[u8]) {
        if self.text.len() + bytes.len() <= MAX_TEXT {
            self.text.splice(self.cursor..self.cursor, bytes.iter().copied());
            self.cursor += bytes.len();
        }
    }

    fn kill(&mut self, from: usize, to: usize) {
        self.text.drain(from..to);
        self.cursor = from;
    }

    /// The length of the character before the cursor, as a person counts characters.
    fn before(&self) -> usize {
        match self.text[..self.cursor].utf8_chunks().last() {
            None => 0,
            Some(chunk) if !chunk.invalid().is_empty() => 1,
            Some(chunk) => chunk.valid().graphemes(true).next_back().map_or(0, str::len),
        }
    }

    fn after(&self) -> usize {
        match self.text[self.cursor..].utf8_chunks().next() {
            None => 0,
            Some(chunk) if chunk.valid().is_empty() => 1,
            Some(chunk) => chunk.valid().graphemes(true).next().map_or(0, str::len),
        }
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        let rest = &self.text[self.cursor..];
        self.cursor + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
    }

    fn word_start(&self) -> usize {
        let before = &self.text[..self.cursor];
        let word_end = before.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |at| at + 1);
        before[..word_end].iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1)
    }

    /// The text as rows of at most `width` columns, and the cursor's row and column among them.
    pub fn layout(&self, width: usize) -> (Vec<String>, (usize, usize)) {
        let mut out = Layout { rows: vec![String::new()], column: 0, width: width.max(2) };
        out.add(&self.text[..self.cursor]);
        if out.column == out.width {
            out.begin();
        }
        let at = (out.rows.len() - 1, out.column);
        out.add(&self.text[self.cursor..]);
        (out.rows, at)
    }
}

struct Layout {
    rows: Vec<String>,
    column: usize,
    width: usize,
}

impl Layout {
    fn add(&mut self, text: &[u8]) {
        for chunk in text.utf8_chunks() {
            for grapheme in chunk.valid().graphemes(true) {
                match grapheme {
                    "\n" => self.begin(),
                    "\t" => (0..4).for_each(|_| self.put(" ")),
                    _ if grapheme.chars().any(char::is_control) => self.put("\u{fffd}"),
                    _ => self.put(grapheme),
                }
            }
            if !chunk.invalid().is_empty() {
                self.put("\u{fffd}");
            }
        }
    }

    fn begin(&mut self) {
        self.rows.push(String::new());
        self.column = 0;
    }

    fn put(&mut self, grapheme: &str) {
        let columns = grapheme.width();
        if self.column + columns > self.width {
            self.begin();
        }
        if let Some(row) = self.rows.last_mut() {
            row.push_str(grapheme);
        }
        self.column += columns;
    }
}

/// The key that the bytes begin with and its length; `None` when more must come first.
fn next_key(bytes: &[u8]) -> Option<(Key, usize)> {
    match *bytes.first()? {
        0x1b => sequence(bytes),
        first if first >= 0x20 && first != 0x7f => {
            let text = bytes.iter().take_while(|byte| **byte >= 0x20 && **byte != 0x7f).count();
            Some((Key::Text, text))
        }
        control => Some((control_key(control), 1)),
    }
}

fn control_key(byte: u8) -> Key {
    match byte {
        b'\r' => Key::Submit,
        b'\n' => Key::Newline,
        b'\t' => Key::Text,
        0x01 => Key::Home,
        0x02 => Key::Left,
        0x03 => Key::Cancel,
        0x04 => Key::DeleteOrCancel,
        0x05 => Key::End,
        0x06 => Key::Right,
        0x08 | 0x7f => Key::Backspace,
        0x0b => Key::KillToEnd,
        0x15 => Key::KillToStart,
        0x17 => Key::KillWord,
        _ => Key::Ignored,
    }
}

fn sequence(bytes: &[u8]) -> Option<(Key, usize)> {
    match *bytes.get(1)? {
        b'[' => {
            let rest = &bytes[2..];
            match rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) {
                Some(at) => Some((named(&rest[..=at]), at + 3)),
                None if rest.len() > MAX_SEQUENCE => Some((Key::Ignored, bytes.len())),
                None => None,
            }
        }
        b'O' => Some((named(&[*bytes.get(2)?]), 3)),
        b'\r' | b'\n' => Some((Key::Newline, 2)),
        0x1b => Some((Key::Cancel, 1)),
        _ => Some((Key::Ignored, 2)),
    }
}

fn named(sequence: &[u8]) -> Key {
    match sequence {
        PASTE_BEGIN => Key::PasteBegin,
        b"D" => Key::Left,
        b"C" => Key::Right,
        b"H" | b"1~" | b"7~" => Key::Home,
        b"F" | b"4~" | b"8~" => Key::End,
        b"3~" => Key::Delete,
        _ => Key::Ignored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[u8]) -> (Editor, Step) {
        let mut editor = Editor::default();
        let step = editor.feed(keys);
        (editor, step)
    }

    #[track_caller]
    fn gives(keys: &[u8], text: &[u8]) {
        let (editor, step) = typed(keys);
        assert_eq!((editor.text(), step), (text, Step::Submit), "{}", String::from_utf8_lossy(editor.text()));
    }

    #[test]
    fn keys_edit() {
        gives(b"retry\r", b"retry");
        gives("é\u{301}x\u{7f}\u{7f}a\r".as_bytes(), b"a");
        gives(b"one two three\x17\x17end\r", b"one end");
        gives(b"ac\x1b[Db\r", b"abc");
        gives(b"abc\x01\x1b[3~\x04\x05d\r", b"cd");
        gives(b"abc\x02\x02\x0bx\r", b"ax");
        gives(b"abc\x15x\r", b"x");
        gives(b"a\nb\x1b\rc\r", b"a\nb\nc");
        gives(b"a\x1bx\x1b[1;5P\x1bOP\x0eb\r", b"ab");
    }

    #[test]
    fn a_paste_is_text_whatever_is_in_it() {
        let task = b"it's \"$HOME\" `x`; #(touch /tmp/p) 100%\x03\x04\t\x1bq\xff";
        let keys = [b"\x1b[200~", &task[..], b"\r\ntwo\rthree\n\x1b[201~\r"].concat();
        gives(&keys, &[task, &b"\ntwo\nthree\n"[..]].concat());
    }

    #[test]
    fn bytes_may_come_one_by_one() {
        let keys = b"a\x1b[200~b\rc\x1b[201~\xc3\xa9\x1b[D\x7f\r";
        let mut editor = Editor::default();
        let steps: Vec<Step> = keys.iter().map(|byte| editor.feed(&[*byte])).collect();
        assert_eq!(steps.last(), Some(&Step::Submit));
        assert_eq!(editor.into_text(), "ab\n\u{e9}".as_bytes());
    }

    #[test]
    fn some_keys_leave() {
        assert_eq!(typed(b"abc\x03").1, Step::Cancel);
        assert_eq!(typed(b"\x04").1, Step::Cancel);
        assert_eq!(typed(b"abc\x04").1, Step::More);
        let (mut editor, step) = typed(b"abc\x1b");
        assert_eq!((step, editor.pause()), (Step::More, Step::Cancel));
        let (mut editor, step) = typed(b"abc\x1b[");
        assert_eq!((step, editor.pause()), (Step::More, Step::More));
        assert_eq!(typed(b"").0.pause(), Step::More);
    }

    #[test]
    fn a_text_beyond_the_limit_is_not_taken() {
        let mut editor = Editor::default();
        editor.feed(&vec![b'x'; MAX_TEXT]);
        editor.feed(b"more");
        assert_eq!(editor.text().len(), MAX_TEXT);
    }

    #[test]
    fn rows_are_cut_by_columns_and_the_cursor_is_among_them() {
        let (rows, at) = typed("ab漢字\ncd".as_bytes()).0.layout(5);
        assert_eq!((rows, at), (vec!["ab漢".to_owned(), "字".to_owned(), "cd".to_owned()], (2, 2)));
        let (rows, at) = typed(b"abcd").0.layout(4);
        assert_eq!((rows, at), (vec!["abcd".to_owned(), String::new()], (1, 0)));
        let (rows, _) = typed(b"\x1b[200~\x1b]0;x\x07\xff\x1b[201~").0.layout(20);
        assert_eq!(rows, ["\u{fffd}]0;x\u{fffd}\u{fffd}"]);
    }
}
