//! The registry: which lanes there are. The truth, under a lock.
//!
//! [`read`] takes the last whole table without a lock; [`lock()`] is the only way to write.

pub mod ledger;
mod table;

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::lock::{self, Lock};
use crate::paths::{self, Paths};

pub use table::{Entry, Row, Table};

/// How long a writer waits for another one.
const LIMIT: Duration = Duration::from_secs(2);

/// A table larger than this is not one of ours, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// The table as it was last written whole. Without a file: empty.
pub fn read(paths: &Paths) -> Result<Table> {
    let file = paths.registry();
    let bytes = match std::fs::metadata(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Ok(meta) if meta.len() > MAX_FILE => {
            return Err(Error::precondition(format!("{} is larger than 64 MiB", file.display()))
                .hint("look at the file: something else wrote to it"));
        }
        _ => std::fs::read(&file).doing(|| format!("cannot read {}", file.display()))?,
    };
    Ok(Table::parse(&bytes))
}

/// The table under its lock: the only writer. Dropping it changes nothing.
#[derive(Debug)]
pub struct Locked<'a> {
    paths: &'a Paths,
    _lock: Lock,
    /// The table, to be changed.
    pub table: Table,
}

/// Takes the registry's lock. Held for the write only: never across git, hooks or the network.
pub fn lock<'a>(ctx: &'a Ctx, what: &str) -> Result<Locked<'a>> {
    let place = lock::place(&ctx.paths.registry(), ctx.paths.runtime.as_deref());
    let lock = Lock::acquire(&place, LIMIT, what, |_| ())?;
    Ok(Locked { paths: &ctx.paths, _lock: lock, table: read(&ctx.paths)? })
}

impl Locked<'_> {
    /// Writes the table whole, beside its place and renamed into it, and releases the lock.
    pub fn commit(self) -> Result<()> {
        paths::write_whole(&self.paths.registry(), &self.table.to_bytes())
    }
}

/// Adds a row, or replaces the one of the same path.
pub fn put(ctx: &Ctx, row: Row, what: &str) -> Result<()> {
    let mut locked = lock(ctx, what)?;
    locked.table.put(row)?;
    locked.commit()
}

/// Takes the row of a path out, if there is one.
pub fn forget(ctx: &Ctx, path: &Path, what: &str) -> Result<()> {
    let mut locked = lock(ctx, what)?;
    if locked.table.take(path).is_some() { locked.commit() } else { Ok(()) }
}
