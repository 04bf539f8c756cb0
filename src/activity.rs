//! What lanes are doing: an empty file `activity/<state>/<lane id>`, moved from state to state by
//! rename. Whoever counts needs directories only.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::time::SystemTime;

use crate::error::{Doing, Result};
use crate::lane::LaneId;
use crate::paths::{Paths, make_private_dir};

/// What a lane's client is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// It waits for its user.
    Waiting,
    /// It works.
    Working,
    /// Its turn is over.
    Done,
}

impl Activity {
    /// All of them, the one that matters most to a person first.
    pub const ALL: [Activity; 3] = [Activity::Waiting, Activity::Working, Activity::Done];

    /// The word for it: in output, in file names, in `@scruff_state`.
    pub fn word(self) -> &'static str {
        match self {
            Activity::Waiting => "waiting",
            Activity::Working => "working",
            Activity::Done => "done",
        }
    }
}

/// How many lanes do what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lanes that wait for their user.
    pub waiting: usize,
    /// Lanes that work.
    pub working: usize,
    /// Lanes whose turn is over.
    pub done: usize,
}

impl Counts {
    /// The number of lanes that do this.
    pub fn of(&self, activity: Activity) -> usize {
        match activity {
            Activity::Waiting => self.waiting,
            Activity::Working => self.working,
            Activity::Done => self.done,
        }
    }
}

/// Counts lanes by what they do. Looks at three directories and nothing else.
pub fn count(paths: &Paths) -> Result<Counts> {
    let mut seen = HashSet::new();
    let [waiting, working, done] = Activity::ALL.map(|activity| lanes(paths, activity));
    // A lane seen twice was moved while this looked: it counts where it matters most.
    let mut fresh = |ids: Vec<LaneId>| ids.into_iter().filter(|id| seen.insert(id.clone())).count();
    Ok(Counts { waiting: fresh(waiting?), working: fresh(working?), done: fresh(done?) })
}

/// The lanes that do this.
pub fn lanes(paths: &Paths, activity: Activity) -> Result<Vec<LaneId>> {
    let directory = paths.activity(activity);
    let entries = match std::fs::read_dir(&directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.doing(|| format!("cannot read {}", directory.display()))?,
    };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    Ok(names.filter_map(|name| id(&name)).collect())
}

/// What a lane does, and since when.
pub fn of(paths: &Paths, lane: &LaneId) -> Option<(Activity, SystemTime)> {
    let since =
        |activity| std::fs::metadata(paths.activity(activity).join(lane.as_str())).ok()?.modified().ok();
    let found = Activity::ALL.into_iter().filter_map(|activity| Some((activity, since(activity)?)));
    // Two at once are left by two who wrote at once: the later one is right.
    found.max_by_key(|(_, since)| *since)
}

/// Says what a lane does from now on; `None` says that nothing is known. A lane that does it
/// already keeps its time. Returns whether that is a change.
pub fn set(paths: &Paths, lane: &LaneId, activity: Option<Activity>) -> Result<bool> {
    let before = of(paths, lane).map(|(activity, _)| activity);
    if let Some(activity) = activity.filter(|activity| before != Some(*activity)) {
        begin(paths, lane, before, activity)?;
    }
    for other in Activity::ALL.into_iter().filter(|other| Some(*other) != activity) {
        let _ = std::fs::remove_file(paths.activity(other).join(lane.as_str()));
    }
    Ok(before != activity)
}

fn begin(paths: &Paths, lane: &LaneId, before: Option<Activity>, activity: Activity) -> Result<()> {
    let place = |activity| paths.activity(activity).join(lane.as_str());
    let file = place(activity);
    make_private_dir(&paths.activity(activity))?;
    if let Some(before) = before {
        let _ = std::fs::rename(place(before), &file);
    }
    // Another hook may have moved it first.
    let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(&file);
    let timed = opened.and_then(|opened| opened.set_modified(SystemTime::now()));
    timed.doing(|| format!("cannot write {}", file.display()))
}

fn id(name: &OsStr) -> Option<LaneId> {
    LaneId::parse(name.to_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(files: &[&str]) -> (tempfile::TempDir, Paths) {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let file = dir.path().join("activity").join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::File::create(file).unwrap();
        }
        let paths = Paths { state: dir.path().to_owned(), ..Paths::default() };
        (dir, paths)
    }

    #[test]
    fn nobody_does_anything_where_there_is_nothing() {
        let (_dir, paths) = paths(&[]);
        assert_eq!(count(&paths).unwrap(), Counts::default());
    }

    #[test]
    fn only_lane_ids_count_and_each_once() {
        let (_dir, paths) = paths(&[
            "waiting/aaaaaaaaaaaa",
            "waiting/.new-x",
            "waiting/not an id",
            "working/aaaaaaaaaaaa",
            "working/bbbbbbbbbbbb",
            "done/cccccccccccc",
            "done/dddddddddddd",
            "levitating/eeeeeeeeeeee",
        ]);
        assert_eq!(count(&paths).unwrap(), Counts { waiting: 1, working: 1, done: 2 });
    }

    #[test]
    fn a_lane_is_in_one_state_and_keeps_its_time_there() {
        let (_dir, paths) = paths(&[]);
        let lane = LaneId::random().unwrap();
        let now = |paths| of(paths, &lane).map(|(activity, _)| activity);
        assert_eq!(now(&paths), None);
        for activity in [Activity::Working, Activity::Waiting, Activity::Done] {
            assert!(set(&paths, &lane, Some(activity)).unwrap());
            let since = of(&paths, &lane);
            assert!(!set(&paths, &lane, Some(activity)).unwrap());
            assert_eq!(of(&paths, &lane), since);
            assert_eq!(count(&paths).unwrap().of(activity), 1);
        }
        std::fs::File::create(paths.activity(Activity::Working).join(lane.as_str())).unwrap();
        assert!(set(&paths, &lane, Some(Activity::Waiting)).unwrap());
        assert_eq!(count(&paths).unwrap(), Counts { waiting: 1, ..Counts::default() });
        assert!(set(&paths, &lane, None).unwrap());
        assert_eq!(now(&paths), None);
    }

    #[test]
    fn the_time_is_that_of_the_change() {
        let (_dir, paths) = paths(&["working/aaaaaaaaaaaa"]);
        let lane = LaneId::parse("aaaaaaaaaaaa").unwrap();
        let long_ago = SystemTime::now() - std::time::Duration::from_hours(1);
        let file = paths.activity(Activity::Working).join(lane.as_str());
        std::fs::File::open(file).unwrap().set_modified(long_ago).unwrap();
        assert!(set(&paths, &lane, Some(Activity::Done)).unwrap());
        let (_, since) = of(&paths, &lane).unwrap();
        assert!(since.elapsed().unwrap().as_secs() < 1800);
    }
}
