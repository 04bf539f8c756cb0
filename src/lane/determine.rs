//! What takes a look at every checkout: dirt and occupants, for the views that are asked for in full.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::listing::View;
use crate::ctx::Ctx;
use crate::git::status::{self, Dirt};
use crate::occupancy::{self, Occupied, Query};

/// How many checkouts are looked at at the same time: more only fight for the disk.
const WORKERS: usize = 2;

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
