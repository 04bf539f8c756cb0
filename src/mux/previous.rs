//! Where the last focus came from: `$SCRUFF_STATE/previous.json`, the newest first, one place for
//! each client that was moved.

use serde::{Deserialize, Serialize};

use super::focus::{Focused, show};
use super::reach::Reach;
use super::{Left, MuxError, PaneRef, Server, Wish};
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::paths;

/// How many clients are remembered.
const MOST: usize = 16;

/// A record larger than this is not one of ours, in bytes.
const MAX_FILE: u64 = 64 << 10;

/// The pane that a client showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    client: String,
    #[serde(flatten)]
    pane: PaneRef,
}

/// Writes down what was in front of a client before it was taken elsewhere.
pub(super) fn note(ctx: &Ctx, server: Server, left: Left) {
    let new = Place { client: left.client, pane: PaneRef { server, id: left.pane } };
    let same =
        |place: &Place| place.client == new.client && place.pane.server.socket == new.pane.server.socket;
    let others = read(ctx).into_iter().filter(|place| !same(place)).collect::<Vec<_>>();
    let places: Vec<Place> = std::iter::once(new).chain(others).take(MOST).collect();
    let written = serde_json::to_vec(&places).map(|text| paths::write_cache(&file(ctx), &text));
    if !matches!(written, Ok(Ok(()))) {
        tracing::warn!("where the focus came from could not be written down");
    }
}

/// Goes back to where the last focus of this client came from, else the last focus of any.
pub fn focus_previous(ctx: &Ctx, wish: &Wish) -> Result<Focused> {
    let reach = Reach::new(ctx, wish);
    let nowhere =
        || Error::precondition("nothing was focused before").hint("go to a lane with `scruff focus`");
    let place = choose(&read(ctx), &reach, wish).ok_or_else(nowhere)?;
    let gone = || {
        Error::precondition(format!("the pane {} that the last focus came from is gone", place.pane.id))
            .hint("see `scruff focus --list` for where to go")
    };
    let server = reach.at(&place.pane.server.socket)?;
    match server.probe() {
        Ok(ident) if ident == place.pane.server => {}
        Ok(_) | Err(MuxError::Gone(_)) => return Err(gone()),
        Err(error) => return Err(error.into()),
    }
    match show(&reach, "previous", &place.pane) {
        Ok(shown) => Ok(shown.into()),
        Err(MuxError::NoPane(_)) => Err(gone()),
        Err(error) => Err(error.into()),
    }
}

fn choose(places: &[Place], reach: &Reach<'_>, wish: &Wish) -> Option<Place> {
    let named = || places.iter().find(|place| Some(&place.client) == wish.client.as_ref());
    let here = reach.inherited().map(|inherited| &inherited.socket);
    let inside = || places.iter().find(|place| Some(&place.pane.server.socket) == here);
    named().or_else(inside).or(places.first()).cloned()
}

fn read(ctx: &Ctx) -> Vec<Place> {
    let file = file(ctx);
    let small = std::fs::metadata(&file).is_ok_and(|meta| meta.len() <= MAX_FILE);
    let text = small.then(|| std::fs::read(&file).ok()).flatten().unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn file(ctx: &Ctx) -> std::path::PathBuf {
    ctx.paths.state.join("previous.json")
}
