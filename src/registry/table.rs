//! The table's text: `name, main, branch, path, parent, client`, tab-separated; the path is the key.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The client of a row that names none.
const DEFAULT_CLIENT: &str = "claude";

/// One lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The lane's name.
    pub name: String,
    /// The main checkout of its repository.
    pub main: PathBuf,
    /// Its branch, without `refs/heads/`.
    pub branch: String,
    /// Its checkout.
    pub path: PathBuf,
    /// The directory that a child lane was made from, or empty.
    pub parent: PathBuf,
    /// The client.
    pub client: String,
    /// Columns that a newer tool wrote; kept as they are.
    pub more: Vec<u8>,
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A lane.
    Row(Row),
    /// A line that could not be understood. It is kept as it is.
    Unread(Vec<u8>),
}

/// The table, rows in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    entries: Vec<Entry>,
}

impl Table {
    /// Reads text. Nothing is dropped: what cannot be understood is kept as [`Entry::Unread`].
    pub fn parse(bytes: &[u8]) -> Self {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let entries =
            lines.map(|line| Row::parse(line).map_or_else(|| Entry::Unread(line.to_owned()), Entry::Row));
        Table { entries: entries.collect() }
    }

    /// The text.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::Row(row) => row.write(&mut bytes),
                Entry::Unread(line) => bytes.extend_from_slice(line),
            }
            bytes.push(b'\n');
        }
        bytes
    }

    /// Every lane, in order.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Row(row) => Some(row),
            Entry::Unread(_) => None,
        })
    }

    /// How many lines could not be understood.
    pub fn unread(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry, Entry::Unread(_))).count()
    }

    /// The lane with this checkout.
    pub fn find(&self, path: &Path) -> Option<&Row> {
        self.rows().find(|row| row.path == path)
    }

    /// The lane whose checkout holds `directory`: the longest whole-component prefix.
    pub fn holding(&self, directory: &Path) -> Option<&Row> {
        let holds = self.rows().filter(|row| directory.starts_with(&row.path));
        holds.max_by_key(|row| row.path.as_os_str().len())
    }

    /// Adds a row, or replaces the one of the same path. A tab or newline is refused.
    pub fn put(&mut self, row: Row) -> Result<()> {
        row.check()?;
        let same = |entry: &&mut Entry| matches!(entry, Entry::Row(other) if other.path == row.path);
        match self.entries.iter_mut().find(same) {
            Some(entry) => *entry = Entry::Row(row),
            None => self.entries.push(Entry::Row(row)),
        }
        Ok(())
    }

    /// Takes the row of a path out.
    pub fn take(&mut self, path: &Path) -> Option<Row> {
        let index =
            self.entries.iter().position(|entry| matches!(entry, Entry::Row(row) if row.path == path))?;
        match self.entries.remove(index) {
            Entry::Row(row) => Some(row),
            Entry::Unread(_) => None,
        }
    }
}

impl Row {
    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line.splitn(7, |byte| *byte == b'\t');
        let name = text(fields.next()?)?;
        let main = path(fields.next()?);
        let branch = text(fields.next()?)?;
        let checkout = path(fields.next()?);
        let parent = fields.next().map(path).unwrap_or_default();
        let client = fields.next().and_then(text).filter(|client| !client.is_empty());
        let more = fields.next().unwrap_or_default().to_owned();
        let whole = !name.is_empty() && !branch.is_empty() && main.is_absolute() && checkout.is_absolute();
        let client = client.unwrap_or_else(|| DEFAULT_CLIENT.to_owned());
        whole.then_some(Row { name, main, branch, path: checkout, parent, client, more })
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        for field in self.fields() {
            bytes.extend_from_slice(field.as_bytes());
            bytes.push(b'\t');
        }
        if self.more.is_empty() {
            bytes.pop();
        } else {
            bytes.extend_from_slice(&self.more);
        }
    }

    fn fields(&self) -> [&OsStr; 6] {
        [
            OsStr::new(&self.name),
            self.main.as_os_str(),
            OsStr::new(&self.branch),
            self.path.as_os_str(),
            self.parent.as_os_str(),
            OsStr::new(&self.client),
        ]
    }

    fn check(&self) -> Result<()> {
        let breaks = |field: &&OsStr| field.as_bytes().iter().any(|byte| matches!(byte, b'\t' | b'\n'));
        match self.fields().iter().find(|field| breaks(field)) {
            None => Ok(()),
            Some(field) => Err(Error::precondition(format!(
                "{} holds a tab or a newline, which the registry cannot keep",
                field.display()
            ))
            .hint("use a directory or name without them")),
        }
    }
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_owned()).ok()
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> Row {
        Row {
            name: name.to_owned(),
            main: "/m".into(),
            branch: format!("worktree-{name}"),
            path: format!("/b/{name}").into(),
            parent: PathBuf::new(),
            client: "codex".to_owned(),
            more: Vec::new(),
        }
    }

    #[test]
    fn older_rows_are_claude_and_newer_columns_stay() {
        let text = b"a\t/m\tworktree-a\t/b/a\nb\t/m\tworktree-b\t/b/b\t/p\tpi\tx\ty\n";
        let table = Table::parse(text);
        let clients: Vec<_> = table.rows().map(|row| row.client.as_str()).collect();
        assert_eq!(clients, ["claude", "pi"]);
        let again = table.to_bytes();
        assert_eq!(again, b"a\t/m\tworktree-a\t/b/a\t\tclaude\nb\t/m\tworktree-b\t/b/b\t/p\tpi\tx\ty\n");
    }

    #[test]
    fn what_cannot_be_understood_is_kept_in_place() {
        let text = b"junk\na\t/m\tworktree-a\t/b/a\t\tclaude\n\xff\t/m\tx\t/b/x\nq\trel\tx\t/b\n";
        let mut table = Table::parse(text);
        assert_eq!(table.unread(), 3);
        table.put(row("z")).unwrap();
        let bytes = table.to_bytes();
        assert!(bytes.starts_with(text) && bytes.ends_with(b"z\t\tcodex\n"), "{bytes:?}");
    }

    #[test]
    fn the_path_is_the_key() {
        let mut table = Table::default();
        table.put(row("a")).unwrap();
        table.put(Row { client: "pi".to_owned(), ..row("a") }).unwrap();
        assert_eq!(table.rows().count(), 1);
        assert_eq!(table.take(Path::new("/b/a")).map(|row| row.client).as_deref(), Some("pi"));
        assert!(table.find(Path::new("/b/a")).is_none());
    }

    #[test]
    fn the_longest_whole_component_prefix_holds_a_directory() {
        let mut table = Table::default();
        table.put(row("a")).unwrap();
        table.put(row("a/deep")).unwrap();
        let of = |dir: &str| table.holding(Path::new(dir)).map(|row| row.name.as_str());
        assert_eq!(of("/b/a/src"), Some("a"));
        assert_eq!(of("/b/a/deep/x"), Some("a/deep"));
        assert_eq!(of("/b/ab"), None);
    }

    #[test]
    fn a_tab_or_newline_is_refused() {
        let bad = Row { path: "/b/a\nb".into(), ..row("a") };
        assert!(Table::default().put(bad).is_err());
    }
}
