//! Who is standing in a checkout. Three-valued: not knowing is not "nobody".
//!
//! Several providers are asked about many checkouts at once. Any of them may say that someone is
//! there; only one that sees every process may say that nobody is.

mod excuse;
mod lease;
mod lsof;
#[cfg(target_os = "linux")]
mod mounts;
mod places;
#[cfg(target_os = "linux")]
mod proc;
#[cfg(target_os = "linux")]
mod strangers;

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use crate::ctx::Ctx;
use crate::proc::facts;
use excuse::Excused;
use places::{Place, Places};

pub use lease::{hold, release};

/// How long looking through all processes may take.
const LIMIT: Duration = Duration::from_secs(2);

/// Someone in a checkout.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Occupant {
    /// The process; 0 where only a lease says so.
    pub pid: u32,
    /// Its short name.
    pub command: String,
    /// Where it stands.
    #[serde(serialize_with = "crate::paths::json_bytes::serialize")]
    pub path: PathBuf,
    /// Who says so: `proc`, `lsof`, `lease`, or a multiplexer's name.
    pub via: &'static str,
}

/// Whether someone is standing in a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupied {
    /// Someone is.
    Yes(Vec<Occupant>),
    /// Nobody is.
    No,
    /// It could not be determined, and why. Whoever removes takes it for a yes.
    Unknown(String),
}

impl Occupied {
    /// Whether it is known that nobody is there.
    pub fn is_free(&self) -> bool {
        matches!(self, Occupied::No)
    }

    /// True, false, or not determined.
    pub fn known(&self) -> Option<bool> {
        match self {
            Occupied::Yes(_) => Some(true),
            Occupied::No => Some(false),
            Occupied::Unknown(_) => None,
        }
    }

    /// Why the checkout must be left alone, in a line; `None` when it need not be.
    pub fn reason(&self) -> Option<String> {
        match self {
            Occupied::No => None,
            Occupied::Unknown(why) => {
                Some(format!("it is not known whether something is standing here: {why}"))
            }
            Occupied::Yes(there) => Some(name_them(there)),
        }
    }
}

fn name_them(there: &[Occupant]) -> String {
    const NAMED: usize = 3;
    let name = |occupant: &Occupant| match occupant {
        Occupant { pid: 0, .. } => "a lease".to_owned(),
        Occupant { pid, command, .. } if command.is_empty() => format!("process {pid}"),
        Occupant { pid, command, .. } => format!("{command} (process {pid})"),
    };
    let names: Vec<String> = there.iter().take(NAMED).map(name).collect();
    let more = match there.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("something is standing here: {}{more}", names.join(", "))
}

/// Names who is in the panes of a checkout's lane.
pub type Panes<'a> = &'a dyn Fn(&Path) -> Vec<Occupant>;

/// A question about checkouts.
pub struct Query<'a> {
    /// The checkouts.
    pub paths: &'a [PathBuf],
    /// Processes that do not count, with their trees, such as a client that asks for the removal.
    pub excuse: Vec<u32>,
    /// What the multiplexers say of a checkout: panes recorded or tagged for its lane.
    pub panes: Option<Panes<'a>>,
}

impl<'a> Query<'a> {
    /// Asks about these checkouts, with nobody excused and no panes.
    pub fn new(paths: &'a [PathBuf]) -> Self {
        Query { paths, excuse: Vec::new(), panes: None }
    }
}

/// Who is standing in each of the checkouts, in the order of the question.
pub fn of(ctx: &Ctx, query: &Query<'_>) -> Vec<Occupied> {
    let places = Places::of(query.paths);
    let excused = Excused::new(&query.excuse);
    let leases = lease::ask(ctx, query.paths, &places);
    let processes = processes(ctx, &places);
    let leases_settle = ctx.env.text("SCRUFF_OCCUPANCY") == Some("lease");
    let answers = places.list.iter().zip(processes).zip(leases).zip(query.paths);
    let fold = |(((place, process), lease), path): (((&Place, Said), Said), &PathBuf)| {
        let mut verdict = Verdict::default();
        verdict.hear(process, true, &excused);
        verdict.hear(lease, leases_settle, &excused);
        if let Some(panes) = query.panes {
            verdict.hear(Said { there: panes(path), unknown: None }, false, &excused);
        }
        verdict.end(place)
    };
    answers.map(fold).collect()
}

/// Whether a typed command stands in the checkout at `path`: that one is never taken.
pub fn stands_here(ctx: &Ctx, path: &Path) -> bool {
    let places = Places::of(&[path.to_owned()]);
    // `-C` names one place and the shell is in another: both count.
    [ctx.cwd.as_path(), Path::new(".")].iter().any(|here| !places.holding(here).is_empty())
}

/// A process in one of the checkouts asked about.
#[derive(Debug)]
struct Standing {
    place: usize,
    pid: u32,
    path: PathBuf,
}

/// What one provider says of one checkout; as it begins: that it sees nobody.
#[derive(Clone, Debug, Default)]
struct Said {
    there: Vec<Occupant>,
    /// Why it cannot say that this is all.
    unknown: Option<String>,
}

impl Said {
    fn unknown(why: String) -> Self {
        Said { there: Vec::new(), unknown: Some(why) }
    }
}

/// The one fold of all that is said of a checkout.
#[derive(Debug, Default)]
struct Verdict {
    there: Vec<Occupant>,
    nobody: bool,
    unknown: Vec<String>,
}

impl Verdict {
    /// Hears a provider; `sees_all` says whether its "nobody" counts.
    fn hear(&mut self, said: Said, sees_all: bool, excused: &Excused) {
        for occupant in said.there {
            let known = self.there.iter().any(|other| other.pid == occupant.pid && other.pid != 0);
            if !known && !excused.has(occupant.pid) {
                self.there.push(occupant);
            }
        }
        match said.unknown {
            Some(why) => self.unknown.push(why),
            None => self.nobody |= sees_all,
        }
    }

    fn end(self, place: &Place) -> Occupied {
        match place {
            _ if !self.there.is_empty() => Occupied::Yes(self.there),
            Place::Nothing => Occupied::No,
            Place::Hidden(why) => Occupied::Unknown(why.clone()),
            Place::There(_) if self.nobody => Occupied::No,
            Place::There(_) => Occupied::Unknown(self.unknown.join("; ")),
        }
    }
}

/// What the provider that sees every process says of each checkout.
fn processes(ctx: &Ctx, places: &Places) -> Vec<Said> {
    if places.there().next().is_none() {
        return vec![Said::default(); places.list.len()];
    }
    let said = through_proc(places).unwrap_or_else(|| through_lsof(ctx, places));
    said.unwrap_or_else(|why| vec![Said::unknown(why); places.list.len()])
}

/// `None` where there is no such thing.
#[cfg(target_os = "linux")]
fn through_proc(places: &Places) -> Option<Result<Vec<Said>, String>> {
    if !Path::new("/proc/self/stat").exists() {
        return None;
    }
    let open = places.there().filter(|(_, real)| !strangers::is_closed(real));
    let open: Vec<(usize, PathBuf)> = open.map(|(index, real)| (index, real.to_owned())).collect();
    let (mine, curious) = (places.clone(), !open.is_empty());
    let scan = limited(LIMIT, move || proc::scan(mine, curious)).unwrap_or_else(|| Err(too_long("/proc")));
    Some(scan.map(|scan| {
        let mut said = stood_in(places, scan.standing, "proc");
        for (index, real) in open {
            if scan.strangers.iter().any(|stranger| stranger.may_enter(&real)) {
                said[index].unknown = Some("another user's processes cannot be looked at".to_owned());
            }
        }
        said
    }))
}

/// `None`: there is no such thing.
#[cfg(not(target_os = "linux"))]
fn through_proc(_: &Places) -> Option<Result<Vec<Said>, String>> {
    None
}

fn through_lsof(ctx: &Ctx, places: &Places) -> Result<Vec<Said>, String> {
    let lsof = ctx.find("lsof").ok_or("lsof is not on PATH")?;
    let mine = places.clone();
    let grace = Duration::from_millis(500);
    let scan = limited(LIMIT + grace, move || lsof::scan(&lsof, &mine, LIMIT));
    let standing = scan.unwrap_or_else(|| Err(too_long("what lsof says")))?;
    Ok(stood_in(places, standing, "lsof"))
}

fn stood_in(places: &Places, standing: Vec<Standing>, via: &'static str) -> Vec<Said> {
    let mut said = vec![Said::default(); places.list.len()];
    for Standing { place, pid, path } in standing {
        let command = facts::of(pid).map_or_else(String::new, |facts| facts.command);
        said[place].there.push(Occupant { pid, command, path, via });
    }
    said
}

fn too_long(what: &str) -> String {
    format!("looking through {what} took longer than {}s", LIMIT.as_secs())
}

/// What `work` answers within `limit`. Left alone afterwards: a directory on a dead network may
/// hold it up for ever.
fn limited<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let worker = std::thread::Builder::new().name("occupancy".to_owned());
    worker.spawn(move || sender.send(work())).ok()?;
    receiver.recv_timeout(limit).ok()
}
