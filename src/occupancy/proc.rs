//! Every process's directory, as Linux shows it: compared by device and inode while walking up,
//! so that chroots, containers and renamed directories are seen. No file is walked.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use rustix::io::Errno;

use super::Standing;
use super::mounts::Seats;
use super::places::{Id, Places};
use super::strangers::Stranger;

/// How far up a directory is followed.
const MAX_DEPTH: usize = 4096;

/// What looking through `/proc` found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Who stands in which of the checkouts.
    pub(super) standing: Vec<Standing>,
    /// Those whose directory cannot be read, if they were asked for.
    pub(super) strangers: HashSet<Stranger>,
}

/// Looks at every process once. `curious`: also at who those are that cannot be looked at.
pub(super) fn scan(places: Places, curious: bool) -> Result<Scan, String> {
    let entries = std::fs::read_dir("/proc").map_err(|error| format!("/proc cannot be read: {error}"))?;
    let names = entries.flatten().map(|entry| entry.file_name());
    let pids: Vec<u32> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    if !pids.contains(&std::process::id()) {
        return Err("/proc does not show processes".to_owned());
    }
    let mut scan = Scan::default();
    if !pids.contains(&1) {
        // Mounted so that only one's own processes are in it.
        scan.strangers.insert(Stranger::unseen());
    }
    let mut walk = Walk::new(places);
    for pid in pids {
        walk.look_at(pid, curious, &mut scan);
    }
    Ok(scan)
}

/// A directory and the mount through which it was reached.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Spot {
    id: Id,
    mount: Option<u64>,
}

/// Why nothing can be said of a process.
enum Unseen {
    /// It is gone, or has no directory.
    Gone,
    /// Its directory, or one above it, may not be looked at.
    Hidden,
}

struct Walk {
    places: Places,
    seats: Seats,
    here: Option<PathBuf>,
    namespaces: HashSet<PathBuf>,
    seen: HashMap<Spot, Vec<usize>>,
}

impl Walk {
    fn new(places: Places) -> Self {
        let ours = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
        let seats = Seats::of(&ours, places.there());
        let here = std::fs::read_link("/proc/self/ns/mnt").ok();
        let mut walk = Walk { places, seats, here, namespaces: HashSet::new(), seen: HashMap::new() };
        walk.learn(&ours);
        walk
    }

    /// Takes in which parts of checkouts a namespace has mounted elsewhere.
    fn learn(&mut self, mountinfo: &[u8]) {
        for (index, path) in self.seats.parts(mountinfo) {
            self.places.add(&path, index);
            self.seen.clear();
        }
    }

    fn look_at(&mut self, pid: u32, curious: bool, scan: &mut Scan) {
        let process = PathBuf::from(format!("/proc/{pid}"));
        let found = match self.stands_in(&process) {
            Err(Unseen::Gone) => self.threads_stand_in(&process),
            found => found,
        };
        match found {
            Ok(found) if found.is_empty() => {}
            Ok(found) => {
                let path = std::fs::read_link(process.join("cwd")).unwrap_or_default();
                let standing = |place| Standing { place, pid, path: path.clone() };
                scan.standing.extend(found.into_iter().map(standing));
            }
            Err(Unseen::Hidden) if curious => scan.strangers.extend(Stranger::read(&process)),
            Err(_) => {}
        }
    }

    /// A process whose first thread has ended looks like a zombie while the others work on.
    fn threads_stand_in(&mut self, process: &Path) -> Result<Vec<usize>, Unseen> {
        let tasks = std::fs::read_dir(process.join("task")).map_err(|_| Unseen::Gone)?;
        let mut threads = tasks.flatten().map(|task| self.stands_in(&task.path()));
        threads.find(|found| !matches!(found, Err(Unseen::Gone))).unwrap_or(Err(Unseen::Gone))
    }

    /// The checkouts that a process or thread, named by its directory in `/proc`, stands in.
    fn stands_in(&mut self, process: &Path) -> Result<Vec<usize>, Unseen> {
        let cwd = rustix::fs::openat(CWD, process.join("cwd"), DIRECTORY, Mode::empty()).map_err(unseen)?;
        let namespace = std::fs::read_link(process.join("ns/mnt")).ok();
        self.meet(process, namespace.as_deref());
        let start = spot(&cwd).map_err(unseen)?;
        if let Some(found) = self.seen.get(&start) {
            return Ok(found.clone());
        }
        let found = match self.above(cwd, start) {
            Err(Errno::ACCESS) => {
                let foreign = namespace.is_some() && namespace != self.here;
                return self.above_by_name(process, foreign).ok_or(Unseen::Hidden);
            }
            found => found.map_err(unseen)?,
        };
        if start.mount.is_some() {
            self.seen.insert(start, found.clone());
        }
        Ok(found)
    }

    /// The first process of another mount namespace tells what that namespace has mounted.
    fn meet(&mut self, process: &Path, namespace: Option<&Path>) {
        let Some(namespace) = namespace else { return };
        if self.here.as_deref() == Some(namespace) || self.namespaces.contains(namespace) {
            return;
        }
        if let Ok(mountinfo) = std::fs::read(process.join("mountinfo")) {
            self.namespaces.insert(namespace.to_owned());
            self.learn(&mountinfo);
        }
    }

    /// The checkouts at and above a directory, up to the root of its own namespace: `..` of an
    /// open directory knows no chroot.
    fn above(&self, cwd: OwnedFd, start: Spot) -> Result<Vec<usize>, Errno> {
        let (mut directory, mut at) = (cwd, start);
        let mut found = self.places.topped_by(at.id).to_vec();
        for _ in 0..MAX_DEPTH {
            directory = rustix::fs::openat(&directory, "..", DIRECTORY, Mode::empty())?;
            let up = spot(&directory)?;
            if up == at {
                break;
            }
            at = up;
            found.extend_from_slice(self.places.topped_by(at.id));
        }
        Ok(found)
    }

    /// The same from the root downwards, for a directory that may not be walked up from; `None`
    /// when that may not be looked at either.
    fn above_by_name(&self, process: &Path, foreign: bool) -> Option<Vec<usize>> {
        let name = std::fs::read_link(process.join("cwd")).ok()?;
        let name = without_mark(&name);
        let root = if foreign { process.join("root") } else { PathBuf::from("/") };
        let mut found = Vec::new();
        for above in name.ancestors() {
            let id = Id::at(&root.join(above.strip_prefix("/").unwrap_or(above)))?;
            found.extend_from_slice(self.places.topped_by(id));
        }
        Some(found)
    }
}

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// What a directory is, from what the kernel remembers: a dead network is not asked.
fn spot(directory: impl AsFd) -> Result<Spot, Errno> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    match rustix::fs::statx(&directory, "", flags, wanted) {
        Ok(stat) => {
            let dev = rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor);
            let has_mount = stat.stx_mask & StatxFlags::MNT_ID.bits() != 0;
            let mount = has_mount.then_some(stat.stx_mnt_id);
            Ok(Spot { id: Id { dev, ino: stat.stx_ino }, mount })
        }
        Err(Errno::NOSYS | Errno::PERM) => {
            let stat = rustix::fs::fstat(&directory)?;
            Ok(Spot { id: Id { dev: stat.st_dev, ino: stat.st_ino }, mount: None })
        }
        Err(error) => Err(error),
    }
}

fn unseen(error: Errno) -> Unseen {
    match error {
        Errno::NOENT | Errno::SRCH | Errno::NOTDIR => Unseen::Gone,
        _ => Unseen::Hidden,
    }
}

/// The kernel marks the name of a directory that has been removed.
fn without_mark(name: &Path) -> PathBuf {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let bytes = name.as_os_str().as_bytes();
    let bytes = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes);
    OsString::from_vec(bytes.to_vec()).into()
}
