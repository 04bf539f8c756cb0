//! The checkouts that are asked about, known by device and inode: a name may lie, be a link, or
//! mean something else inside a container.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A directory, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Id {
    pub(super) dev: u64,
    pub(super) ino: u64,
}

impl Id {
    pub(super) fn of(meta: &Metadata) -> Self {
        Id { dev: meta.dev(), ino: meta.ino() }
    }

    /// The directory at `path`, if one can be reached there.
    pub(super) fn at(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(|meta| Id::of(&meta))
    }
}

/// What is at the path of one checkout.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// A directory, with its real path.
    There(PathBuf),
    /// Nothing: nobody can be standing in it.
    Nothing,
    /// It cannot be looked at.
    Hidden(String),
}

/// The checkouts of one question, in its order.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub(super) list: Vec<Place>,
    by_id: HashMap<Id, Vec<usize>>,
}

impl Places {
    pub(super) fn of(paths: &[PathBuf]) -> Self {
        let mut places = Places::default();
        for (index, path) in paths.iter().enumerate() {
            let place = look(path);
            if let Place::There(real) = &place {
                places.add(real, index);
            }
            places.list.push(place);
        }
        places
    }

    /// Lets the directory at `path` stand for a checkout, too.
    pub(super) fn add(&mut self, path: &Path, index: usize) {
        if let Some(id) = Id::at(path) {
            self.by_id.entry(id).or_default().push(index);
        }
    }

    /// The checkouts whose top this directory is.
    pub(super) fn topped_by(&self, id: Id) -> &[usize] {
        self.by_id.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The checkouts that a path leads into, as seen from here.
    pub(super) fn holding(&self, path: &Path) -> Vec<usize> {
        let real = path.canonicalize();
        let above = real.as_deref().unwrap_or(path).ancestors();
        above.filter_map(Id::at).flat_map(|id| self.topped_by(id).to_vec()).collect()
    }

    /// The checkouts that are there, with their real paths.
    pub(super) fn there(&self) -> impl Iterator<Item = (usize, &Path)> {
        self.list.iter().enumerate().filter_map(|(index, place)| match place {
            Place::There(real) => Some((index, real.as_path())),
            _ => None,
        })
    }
}

fn look(path: &Path) -> Place {
    match path.canonicalize() {
        Ok(real) => Place::There(real),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Place::Nothing
        }
        Err(error) => Place::Hidden(format!("cannot look at {}: {error}", path.display())),
    }
}
