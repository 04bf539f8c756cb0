//! What takes a look at every checkout and asks the forge: for the views that are asked for in full.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::judge;
use super::listing::{LandedView, PrView, View};
use crate::ctx::Ctx;
use crate::forge::{self, Asked, Forge, Place, Pr};
use crate::git::Repo;
use crate::git::status::{self, Dirt};
use crate::landed::Landed;
use crate::occupancy::{self, Occupied, Query};

/// How many checkouts are looked at at the same time: more only fight for the disk.
const WORKERS: usize = 2;

/// How long the forge is waited for, for all repositories together.
const FORGE_LIMIT: Duration = Duration::from_secs(2);

/// Fills in dirt and occupants of every lane that has a checkout.
pub fn determine(ctx: &Ctx, views: &mut [View]) {
    let (indices, paths): (Vec<usize>, Vec<PathBuf>) = views
        .iter()
        .enumerate()
        .filter(|(_, view)| view.state == Some("live"))
        .map(|(index, view)| (index, view.path.clone()))
        .unzip();
    let occupants = occupancy::of(ctx, &Query::new(&paths));
    for ((index, dirty), occupied) in indices.iter().zip(all_dirt(ctx, &paths)).zip(occupants) {
        let view = &mut views[*index];
        view.dirty = dirty;
        view.occupied = occupied.known();
        if let Occupied::Yes(there) = occupied {
            view.occupied_by = there;
        }
    }
    for view in views.iter_mut().filter(|view| view.state == Some("parked")) {
        (view.dirty, view.occupied) = (Some(false), Some(false));
    }
}

/// Fills in pull requests, what came after a merge and, with `verdicts`, whether the work landed.
/// The forge is asked once a repository, all at the same time, and waited for two seconds in all.
pub fn ask_forge(ctx: &Ctx, views: &mut [View], verdicts: bool) {
    let mut repos: BTreeMap<PathBuf, (Repo, Asked<Vec<Pr>>)> = BTreeMap::new();
    let mains: BTreeSet<PathBuf> = views.iter().map(|view| view.main.clone()).collect();
    let known: Vec<Repo> = mains.iter().filter_map(|main| Repo::at_main(ctx, main).ok()).collect();
    let places: Vec<Place> = known.iter().map(Place::of).collect();
    let answers = Forge::within(ctx, FORGE_LIMIT).newest(&places);
    for (repo, answer) in known.into_iter().zip(answers) {
        if let Some(why) = answer.trouble() {
            ctx.ui.warn(format!("{}: the forge did not answer: {why}", repo.slug()));
        }
        repos.insert(repo.main().to_owned(), (repo, answer));
    }
    for view in views.iter_mut() {
        if let Some((repo, answer)) = repos.get(&view.main) {
            fill(ctx, view, repo, answer, verdicts);
        }
    }
}

fn fill(ctx: &Ctx, view: &mut View, repo: &Repo, answer: &Asked<Vec<Pr>>, verdicts: bool) {
    if let Asked::Known(requests) = answer {
        let own = judge::own(repo, &view.lane, requests);
        view.post_merge_ahead = judge::post_merge(repo, &view.lane, &own);
        view.pr = forge::current(&own).map(|pr| PrView {
            number: pr.number,
            state: pr.state,
            url: pr.url.clone(),
            checks: pr.checks,
        });
    }
    if verdicts {
        let landed = judge::judge(ctx, repo, &view.lane, &|| answer.clone());
        let Landed { verdict, via, confidence, .. } = landed;
        view.landed = Some(LandedView { verdict, via, confidence });
    }
}

/// Whether each checkout is dirty, by git's own word.
fn all_dirt(ctx: &Ctx, paths: &[PathBuf]) -> Vec<Option<bool>> {
    let next = AtomicUsize::new(0);
    let work = |ctx: Option<Ctx>| -> Vec<(usize, Option<bool>)> {
        let Some(ctx) = ctx else { return Vec::new() };
        std::iter::from_fn(|| {
            let index = next.fetch_add(1, Ordering::Relaxed);
            Some((index, is_dirty(&ctx, paths.get(index)?)))
        })
        .collect()
    };
    let mut answers = vec![None; paths.len()];
    std::thread::scope(|scope| {
        let others: Vec<Option<Ctx>> = (0..WORKERS).map(|_| ctx.another()).collect();
        let workers: Vec<_> = others.into_iter().map(|ctx| scope.spawn(|| work(ctx))).collect();
        for (index, dirty) in workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()) {
            answers[index] = dirty;
        }
    });
    answers
}

fn is_dirty(ctx: &Ctx, path: &Path) -> Option<bool> {
    match status::of(ctx, path) {
        Dirt::Clean => Some(false),
        Dirt::Dirty(_) => Some(true),
        Dirt::Unknown(_) => None,
    }
}
