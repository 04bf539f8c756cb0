//! Lanes: a branch, a checkout and a pane of one agent. The unit of everything.

pub mod create;
pub mod determine;
pub mod find;
pub mod guard;
pub mod handover;
pub mod judge;
pub mod listing;
pub mod name;
pub mod park;
pub mod provision;
pub mod reap;
pub mod rebuild;
mod record;
pub mod recover;
pub mod resolve;
pub mod secrets;
mod situation;
pub mod take;
pub mod trash;
pub mod undo;

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::ctx::Ctx;
use crate::error::Result;
use crate::lock::Lock;
use crate::registry::Row;
use crate::session;

pub use record::{LaneId, Phase, Record};
pub use situation::{Situation, State};

/// A lane: its row in the registry, and its record.
#[derive(Clone, Debug)]
pub struct Lane {
    /// What the registry says.
    pub row: Row,
    /// What the table has no column for.
    pub record: Record,
}

impl Lane {
    /// The lane of a row, with its record, or with a new one for a row that another tool wrote.
    /// Of its conversation the client's hooks know better than whoever made the record.
    pub fn of(ctx: &Ctx, row: Row) -> Self {
        let mut record = Record::of_row(&ctx.paths, &row);
        if let Some(reported) = session::of_lane(&ctx.paths, &record.id) {
            record.session = Some(reported.into());
        }
        Lane { row, record }
    }

    /// The id: what records, tags and events go by.
    pub fn id(&self) -> &LaneId {
        &self.record.id
    }

    /// `<basename of main>/<lane>`: what is shown.
    pub fn label(&self) -> String {
        let base = self.row.main.file_name().unwrap_or_default().to_string_lossy();
        format!("{base}/{}", self.row.name)
    }

    /// Where the conversation lives: a child lane's in its parent's directory.
    pub fn chat(&self) -> std::path::PathBuf {
        match &self.record.chat {
            Some(chat) => chat.into(),
            None if self.row.parent.as_os_str().is_empty() => self.row.path.clone(),
            None => self.row.parent.clone(),
        }
    }

    /// Takes the lane's own lock, held across an operation on it. A second operation is told
    /// which one is under way.
    pub fn lock(&self, ctx: &Ctx, what: &str) -> Result<Lock> {
        Lock::acquire(&lock_path(ctx, self.id()), std::time::Duration::ZERO, what, |_| ())
    }
}

/// Where a lane's own lock is.
pub fn lock_path(ctx: &Ctx, id: &LaneId) -> std::path::PathBuf {
    ctx.paths.locks().join(format!("lane-{id}.lock"))
}

/// Twelve hexadecimal characters that stand for a path.
pub fn digest(path: &Path) -> String {
    let hash = Sha256::digest(path.as_os_str().as_bytes());
    hash.iter().take(6).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
