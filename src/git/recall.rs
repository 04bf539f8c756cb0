//! Facts that were found before. They are keyed by names of objects, so they stay true; they are
//! for what is shown, never for what deletes.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::paths;

/// A file larger than this is not one of ours, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// Above this many facts those that nobody asked for are forgotten.
const MAX_FACTS: usize = 20_000;

/// The facts of one repository.
#[derive(Debug, Default)]
pub(super) struct Recall {
    /// Where they are kept; `None`: nothing is recalled.
    file: Option<PathBuf>,
    facts: OnceCell<RefCell<BTreeMap<String, Fact>>>,
    changed: Cell<bool>,
}

#[derive(Debug)]
struct Fact {
    value: Value,
    used: bool,
}

impl Fact {
    fn look_at<T: DeserializeOwned>(&mut self) -> Option<T> {
        self.used = true;
        T::deserialize(&self.value).ok()
    }
}

impl Recall {
    pub(super) fn at(file: PathBuf) -> Self {
        Recall { file: Some(file), facts: OnceCell::new(), changed: Cell::new(false) }
    }

    /// The fact of this key, else what `find` finds, which is kept if it says so.
    pub(super) fn or_find<T, E>(
        &self,
        key: impl FnOnce() -> String,
        find: impl FnOnce() -> Result<T, E>,
        lasts: impl FnOnce(&T) -> bool,
    ) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
    {
        let Some(file) = &self.file else { return find() };
        let facts = self.facts.get_or_init(|| RefCell::new(read(file)));
        let key = key();
        if let Some(known) = facts.borrow_mut().get_mut(&key).and_then(Fact::look_at) {
            return Ok(known);
        }
        let found = find()?;
        if let Some(value) = serde_json::to_value(&found).ok().filter(|_| lasts(&found)) {
            facts.borrow_mut().insert(key, Fact { value, used: true });
            self.changed.set(true);
        }
        Ok(found)
    }

    fn save(&self) -> Option<()> {
        let mut facts = self.facts.get()?.borrow_mut();
        if facts.len() > MAX_FACTS {
            facts.retain(|_, fact| fact.used);
        }
        let all: BTreeMap<&String, &Value> = facts.iter().map(|(key, fact)| (key, &fact.value)).collect();
        let bytes = serde_json::to_vec(&all).ok()?;
        paths::write_whole(self.file.as_ref()?, &bytes).ok()
    }
}

impl Drop for Recall {
    /// What cannot be kept is found again.
    fn drop(&mut self) {
        if self.changed.get() && self.save().is_none() {
            tracing::debug!("facts are not kept");
        }
    }
}

fn read(file: &PathBuf) -> BTreeMap<String, Fact> {
    let small = std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_FILE);
    let bytes = small.then(|| std::fs::read(file).ok()).flatten().unwrap_or_default();
    let facts: BTreeMap<String, Value> = serde_json::from_slice(&bytes).unwrap_or_default();
    facts.into_iter().map(|(key, value)| (key, Fact { value, used: false })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = Result<u32, String>;

    #[test]
    fn what_was_found_once_is_not_looked_for_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("facts");
        let ask = |recall: &Recall, find: Found| recall.or_find(|| "k".into(), || find, |_| true);
        let recall = Recall::at(file.clone());
        assert_eq!(ask(&recall, Err("no".into())), Err("no".to_owned()));
        assert_eq!(ask(&recall, Ok(1)), Ok(1));
        assert_eq!(ask(&recall, Ok(2)), Ok(1));
        drop(recall);
        assert_eq!(ask(&Recall::at(file.clone()), Ok(2)), Ok(1));
        assert_eq!(ask(&Recall::default(), Ok(2)), Ok(2), "nothing is recalled");
        // A file that is none, and a fact of another kind.
        for text in ["garbage", r#"{"k":"text"}"#] {
            paths::write_whole(&file, text.as_bytes()).unwrap();
            assert_eq!(ask(&Recall::at(file.clone()), Ok(3)), Ok(3));
            assert_eq!(ask(&Recall::at(file.clone()), Ok(4)), Ok(3));
        }
    }

    #[test]
    fn what_does_not_last_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("facts");
        let recall = Recall::at(file.clone());
        let found: Found = recall.or_find(|| "k".into(), || Ok(1), |_| false);
        assert_eq!(found, Ok(1));
        drop(recall);
        assert!(!file.exists());
    }
}
