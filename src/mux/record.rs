//! Which pane a lane was opened in: `$SCRUFF_STATE/panes/<lane id>.json`.

use serde::{Deserialize, Serialize};

use super::PaneRef;
use crate::error::{Doing, Result};
use crate::lane::LaneId;
use crate::paths::{self, Paths};

/// A record larger than this is not one of ours, in bytes.
const MAX_FILE: u64 = 64 << 10;

/// The pane of a lane, written by whoever knows it for certain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaneRecord {
    /// The pane.
    #[serde(flatten)]
    pub pane: PaneRef,
    /// Whether the client has ended there.
    #[serde(default)]
    pub ended: bool,
}

impl PaneRecord {
    /// The record of a lane. One that cannot be read counts as none: the ladder has other rungs.
    pub fn read(paths: &Paths, lane: &LaneId) -> Option<Self> {
        let file = file(paths, lane);
        let small = std::fs::metadata(&file).is_ok_and(|meta| meta.len() <= MAX_FILE);
        let bytes = small.then(|| std::fs::read(&file).ok()).flatten()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Writes the record whole.
    pub fn write(&self, paths: &Paths, lane: &LaneId) -> Result<()> {
        let bytes = serde_json::to_vec(self).doing(|| format!("cannot record the pane of lane {lane}"))?;
        paths::write_whole(&file(paths, lane), &bytes)
    }

    /// Removes the record of a lane. Gone already is fine.
    pub fn remove(paths: &Paths, lane: &LaneId) {
        let _ = std::fs::remove_file(file(paths, lane));
    }
}

fn file(paths: &Paths, lane: &LaneId) -> std::path::PathBuf {
    paths.panes().join(format!("{lane}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mux::{Kind, PaneId, Server};
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn a_record_comes_back_byte_for_byte() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths { state: dir.path().to_owned(), ..Paths::default() };
        let lane = LaneId::random().unwrap();
        let socket = std::ffi::OsString::from_vec(b"/tmp/a \xff,b".to_vec()).into();
        let server = Server { mux: Kind::Tmux, socket, ident: "1:2".to_owned() };
        let pane = PaneRef { server, id: PaneId::tmux("%7").unwrap() };
        let record = PaneRecord { pane, ended: true };
        record.write(&paths, &lane).unwrap();
        assert_eq!(PaneRecord::read(&paths, &lane), Some(record));
        PaneRecord::remove(&paths, &lane);
        assert_eq!(PaneRecord::read(&paths, &lane), None);
    }

    #[test]
    fn a_record_that_is_not_ours_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths { state: dir.path().to_owned(), ..Paths::default() };
        let lane = LaneId::random().unwrap();
        for text in ["", "{}", r#"{"mux":"tmux","socket":"/s","ident":"1:2","id":""}"#] {
            paths::write_whole(&file(&paths, &lane), text.as_bytes()).unwrap();
            assert_eq!(PaneRecord::read(&paths, &lane), None, "{text}");
        }
    }
}
