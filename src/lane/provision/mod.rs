//! What a new checkout gets of the files that git ignores in the main one: copies, links, clones.
//!
//! One mechanism for every lane. It only ever adds what is missing, never leaves the main
//! checkout, follows no link, and never fails a lane: what goes wrong is a warning.

mod copy;
mod fs;
mod link;
mod select;
mod wanted;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::ctx::Ctx;
use crate::git::Repo;
use copy::Copier;
use select::Entry;
use wanted::{Source, Way};

pub use link::exclude;

/// How long setting up a checkout may take.
const LIMIT: Duration = Duration::from_secs(60);

/// How many warnings are said one by one.
const MAX_SAID: usize = 5;

/// How much before a budget ends this stops, for the answer to get out.
const RESERVE: Duration = Duration::from_secs(5);

/// Sets a checkout of `repo` up with what is missing in it. `until` is when whoever waits for it
/// gives up.
pub fn provision(ctx: &Ctx, repo: &Repo, checkout: &Path, until: Option<Instant>) {
    let now = Instant::now();
    let left = until.map_or(LIMIT, |until| until.saturating_duration_since(now).saturating_sub(RESERVE));
    set_up(ctx, repo, checkout, now + left.min(LIMIT));
}

fn set_up(ctx: &Ctx, repo: &Repo, checkout: &Path, until: Instant) {
    let main = repo.main();
    // A bare repository has no main checkout to take anything from.
    if main == repo.common() || repo.is_bare() {
        return;
    }
    let (sources, warnings) = wanted::of(ctx, main);
    let mut said = Said { list: warnings };
    if !sources.is_empty() {
        let job = Job { ctx, repo, checkout, until };
        let mut work = Work { job, taken: Vec::new(), done: [0; 3] };
        work.all(&sources, &mut said);
        work.report();
    }
    said.say(ctx);
}

/// Warnings, of which only so many are said one by one.
#[derive(Default)]
struct Said {
    list: Vec<String>,
}

impl Said {
    fn add(&mut self, warning: impl Into<String>) {
        self.list.push(warning.into());
    }

    fn say(self, ctx: &Ctx) {
        let more = self.list.len().saturating_sub(MAX_SAID);
        for warning in self.list.into_iter().take(MAX_SAID) {
            ctx.ui.warn(warning);
        }
        if more > 0 {
            ctx.ui.warn(format!("{more} more files could not be set up in the new checkout"));
        }
    }
}

/// Where to, where from, and for how long.
#[derive(Clone, Copy)]
struct Job<'a> {
    ctx: &'a Ctx,
    repo: &'a Repo,
    checkout: &'a Path,
    until: Instant,
}

struct Work<'a> {
    job: Job<'a>,
    /// What an earlier source has decided about.
    taken: Vec<PathBuf>,
    /// How many entries were linked, cloned and copied.
    done: [usize; 3],
}

impl Work<'_> {
    fn all(&mut self, sources: &[Source], said: &mut Said) {
        let mut copier = match Copier::new(&self.job) {
            Ok(copier) => copier,
            Err(error) => return said.add(format!("the new checkout is not set up: {error}")),
        };
        for source in sources {
            let entries = select::entries(&self.job, source, &self.taken, said);
            let entries = entries.unwrap_or_else(|error| {
                said.add(format!("{} is not applied: {}", source.named, error.message()));
                Vec::new()
            });
            for entry in entries {
                if !self.one(&mut copier, source, &entry, said) {
                    return;
                }
                self.job.ctx.step("set up");
            }
        }
    }

    /// Sets one entry up. `false`: the limits are reached.
    fn one(&mut self, copier: &mut Copier, source: &Source, entry: &Entry, said: &mut Said) -> bool {
        self.taken.push(entry.path.clone());
        let made = match source.way {
            Way::Link => link::make(&self.job, entry),
            Way::Clone => copier.entry(&entry.path, true, said),
            Way::Copy => copier.entry(&entry.path, false, said),
        };
        match made {
            Ok(true) => self.done[source.way as usize] += 1,
            Ok(false) => {}
            Err(why) => {
                said.add(format!("{} is not set up in the new checkout: {why}", entry.path.display()));
            }
        }
        match copier.over() {
            None => true,
            Some(why) => {
                said.add(format!(
                    "{why}: what is missing can be copied by hand from {}",
                    copier.main().display()
                ));
                false
            }
        }
    }

    fn report(&self) {
        let words = ["linked", "cloned", "copied"];
        let parts: Vec<String> = words
            .iter()
            .zip(self.done)
            .filter(|(_, count)| *count > 0)
            .map(|(word, count)| format!("{count} {word}"))
            .collect();
        if !parts.is_empty() {
            self.job.ctx.ui.note(format!("from the main checkout: {}", parts.join(", ")));
        }
    }
}
