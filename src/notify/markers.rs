//! Markers in the state directory: what outlives the hook that learnt it. They are a cache, and
//! `asks` and `waits` are a public one: an empty directory says that nobody waits, so it stays.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::turn::{Asker, Turn};
use crate::activity;
use crate::error::Result;
use crate::lane::LaneId;
use crate::lock::Lock;
use crate::paths::{self, Paths};
use crate::session::SessionId;

/// How long a question may stand.
const ASKS: Duration = Duration::from_hours(24);

/// How long background agents are waited for.
const WAITS: Duration = Duration::from_hours(1);

/// How long one hook waits for another; it takes a few file operations.
const LOCK_LIMIT: Duration = Duration::from_millis(500);

/// How many locks there are.
const LOCKS: u8 = 16;

/// A marker larger than this is not one of ours, in bytes.
const MAX_FILE: u64 = 64 << 10;

/// The directory whose files say that a session's question is up.
pub const ASKING: &str = "asking";
/// The directory whose files say that a session's turn is over.
pub const ENDED: &str = "ended";

/// Keeps other hooks of this lane or conversation out for a few file operations. A lock that
/// cannot be had is no reason to lose an event.
pub fn lock(paths: &Paths, id: &str) -> Option<Lock> {
    let lock = Lock::acquire(&lock_path(paths, id), LOCK_LIMIT, "hook", |_| ());
    lock.inspect_err(|error| tracing::warn!("{error}")).ok()
}

/// The lock on marks and on word for the banner holder of a lane or conversation. Locks are never
/// removed, so a few are shared by all.
pub fn lock_path(paths: &Paths, id: &str) -> PathBuf {
    let share = id.bytes().fold(0, |sum: u8, byte| sum.wrapping_mul(31).wrapping_add(byte)) % LOCKS;
    paths.locks().join(format!("notify-{share}.lock"))
}

/// Where the marks of one conversation are.
#[derive(Clone, Debug)]
pub struct Marks<'a> {
    /// Where scruff keeps things.
    pub paths: &'a Paths,
    /// The conversation.
    pub session: &'a SessionId,
    /// The banner's key.
    pub key: &'a str,
    /// The lane, if it is in one.
    pub lane: Option<&'a LaneId>,
}

impl Marks<'_> {
    /// How the conversation stands.
    pub fn read(&self) -> Turn {
        Turn {
            askers: if is_fresh(&self.asking(), ASKS) { askers(&self.asking()) } else { BTreeSet::new() },
            held: is_fresh(&self.waits(), WAITS),
            ended: read_small(&self.ended()),
            activity: self.lane.and_then(|lane| activity::of(self.paths, lane)).map(|(activity, _)| activity),
        }
    }

    /// Writes down what has changed between two readings. Returns whether the lane's activity has.
    pub fn write(&self, before: &Turn, after: &Turn) -> Result<bool> {
        if before.askers != after.askers {
            self.write_askers(&after.askers)?;
        }
        if before.held != after.held {
            put(&self.waits(), after.held.then_some(""))?;
        }
        if before.ended != after.ended {
            put(&self.ended(), after.ended.as_deref())?;
        }
        match self.lane {
            Some(lane) => activity::set(self.paths, lane, after.activity),
            None => Ok(false),
        }
    }

    /// Background agents are waited for from now on.
    pub fn hold(&self) -> Result<()> {
        put(&self.waits(), Some(""))
    }

    /// When the question that is up was asked.
    pub fn since(&self) -> Option<SystemTime> {
        std::fs::metadata(self.asking()).ok()?.modified().ok()
    }

    fn write_askers(&self, askers: &BTreeSet<Asker>) -> Result<()> {
        let lines: String = askers.iter().map(|asker| asker.to_line() + "\n").collect();
        let asks = !askers.is_empty();
        put(&self.asking(), asks.then_some(lines.as_str()))?;
        put(&asks_of(self.paths, self.key), asks.then_some(""))
    }

    fn asking(&self) -> PathBuf {
        self.paths.state.join(ASKING).join(self.session.as_str())
    }

    fn ended(&self) -> PathBuf {
        self.paths.state.join(ENDED).join(self.session.as_str())
    }

    fn waits(&self) -> PathBuf {
        self.paths.state.join("waits").join(file_name(self.key))
    }
}

/// Whether a session's question is up, or its turn over: all that a tool call has to know.
pub fn is_outstanding(state: &Path, session: &SessionId, of_agent: bool) -> bool {
    let there = |directory: &str| state.join(directory).join(session.as_str()).symlink_metadata().is_ok();
    there(ASKING) || (!of_agent && there(ENDED))
}

/// When a lane began to wait for its user in any way, whatever became of the banner.
pub fn asks_since(paths: &Paths, key: &str) -> Option<SystemTime> {
    let file = asks_of(paths, key);
    is_fresh(&file, ASKS).then(|| file.metadata().ok()?.modified().ok()).flatten()
}

/// Takes away what is too old to be true.
pub fn expire(paths: &Paths) {
    for (directory, limit) in [("asks", ASKS), (ASKING, ASKS), ("waits", WAITS)] {
        for entry in std::fs::read_dir(paths.state.join(directory)).into_iter().flatten().flatten() {
            if !is_fresh(&entry.path(), limit) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// A key as the name of a file.
fn file_name(key: &str) -> String {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    key.bytes().map(|byte| if safe(byte) { char::from(byte) } else { '.' }).collect()
}

fn asks_of(paths: &Paths, key: &str) -> PathBuf {
    paths.state.join("asks").join(file_name(key))
}

fn askers(file: &Path) -> BTreeSet<Asker> {
    read_small(file).unwrap_or_default().lines().filter_map(Asker::of_line).collect()
}

fn is_fresh(file: &Path, limit: Duration) -> bool {
    let age = file.metadata().and_then(|meta| meta.modified()).map(|time| time.elapsed().unwrap_or_default());
    age.is_ok_and(|age| age < limit)
}

fn read_small(file: &Path) -> Option<String> {
    let small = std::fs::metadata(file).is_ok_and(|meta| meta.len() <= MAX_FILE);
    small.then(|| std::fs::read_to_string(file).ok()).flatten()
}

/// Writes a marker, or removes it; its directory stays.
fn put(file: &Path, contents: Option<&str>) -> Result<()> {
    if let Some(contents) = contents {
        return paths::write_cache(file, contents.as_bytes());
    }
    let _ = std::fs::remove_file(file);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::Activity;

    struct Place {
        _dir: tempfile::TempDir,
        paths: Paths,
        session: SessionId,
        lane: LaneId,
    }

    impl Place {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let paths = Paths { state: dir.path().to_owned(), ..Paths::default() };
            let (session, lane) = (SessionId::parse("s").unwrap(), LaneId::random().unwrap());
            Place { _dir: dir, paths, session, lane }
        }

        fn marks(&self) -> Marks<'_> {
            Marks {
                paths: &self.paths,
                session: &self.session,
                key: "scruff/shop/é x",
                lane: Some(&self.lane),
            }
        }

        fn age(&self, file: &str, age: Duration) {
            let file = std::fs::File::open(self.paths.state.join(file)).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        }

        fn there(&self, file: &str) -> bool {
            self.paths.state.join(file).exists()
        }
    }

    fn asking() -> Turn {
        Turn {
            askers: [Asker::Main, Asker::Agent("a 1".to_owned())].into(),
            held: true,
            ended: Some("p-1".to_owned()),
            activity: Some(Activity::Waiting),
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_goes_without_its_directories() {
        let place = Place::new();
        let marks = place.marks();
        assert_eq!(marks.read(), Turn::default());
        assert!(marks.write(&Turn::default(), &asking()).unwrap());
        assert_eq!(marks.read(), asking());
        assert!(place.there("asks/scruff.shop....x") && place.there("waits/scruff.shop....x"));
        assert!(is_outstanding(&place.paths.state, &place.session, true));
        assert!(marks.write(&asking(), &Turn::default()).unwrap());
        assert_eq!(marks.read(), Turn::default());
        assert!(!is_outstanding(&place.paths.state, &place.session, false));
        for directory in ["asks", "waits", "asking", "ended"] {
            assert_eq!(place.paths.state.join(directory).read_dir().unwrap().count(), 0, "{directory}");
        }
    }

    #[test]
    fn old_marks_are_not_believed_and_go() {
        let place = Place::new();
        let marks = place.marks();
        marks.write(&Turn::default(), &asking()).unwrap();
        place.age("waits/scruff.shop....x", Duration::from_mins(61));
        assert!(!marks.read().held && marks.read().waits());
        for file in ["asking/s", "asks/scruff.shop....x"] {
            place.age(file, Duration::from_hours(25));
        }
        assert!(!marks.read().waits());
        assert_eq!(asks_since(&place.paths, "scruff/shop/é x"), None);
        expire(&place.paths);
        assert!(!place.there("asking/s") && !place.there("asks/scruff.shop....x") && place.there("ended/s"));
    }

    #[test]
    fn of_a_sub_agent_only_a_question_matters() {
        let place = Place::new();
        let over = Turn { ended: Some(String::new()), ..Turn::default() };
        place.marks().write(&Turn::default(), &over).unwrap();
        assert!(is_outstanding(&place.paths.state, &place.session, false));
        assert!(!is_outstanding(&place.paths.state, &place.session, true));
    }
}
