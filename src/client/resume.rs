//! Going on with a lane's conversation.

use std::path::{Path, PathBuf};

use super::adapter::Adapter;
use super::launch::{self, Launch};
use super::template::Values;
use super::transcript::Newest;
use crate::ctx::Ctx;
use crate::error::Result;
use crate::lane::Situation;

/// How a lane's conversation is found again.
enum Way {
    ById(String),
    Newest,
    Fresh,
}

/// The command that reopens a lane: the recorded conversation, else the newest of the lane's own
/// directory, else a fresh one, which the note says. A child lane's conversation is in a directory
/// that others share, so the client's own picker opens; `pick` asks for that anywhere.
pub fn resume(
    ctx: &Ctx,
    adapter: &Adapter,
    situation: &Situation,
    session: Option<&str>,
    pick: bool,
) -> Result<Launch> {
    if pick || is_child(situation) {
        return picker(adapter, situation);
    }
    let (way, note) = way(ctx, adapter, situation, session);
    let launch = match way {
        Way::ById(id) => by_id(adapter, situation, id),
        Way::Newest => {
            let argv = adapter.newest.as_deref().unwrap_or_default();
            Launch::of(adapter, argv, &Values::of(situation), &situation.path)
        }
        Way::Fresh => launch::fresh(adapter, situation, &situation.path)?,
    };
    Ok(Launch { note, ..launch })
}

fn is_child(situation: &Situation) -> bool {
    !situation.parent.as_os_str().is_empty()
}

fn picker(adapter: &Adapter, situation: &Situation) -> Result<Launch> {
    let cwd = home_of_chat(situation);
    if let Some(argv) = &adapter.pick {
        return Ok(Launch::of(adapter, argv, &Values::of(situation), &cwd));
    }
    let id = &adapter.id;
    let note =
        format!("{id} has no picker on its command line: a fresh session, where its own menu has the others");
    Ok(Launch { note: Some(note), ..launch::fresh(adapter, situation, &cwd)? })
}

/// Where a picker looks: for a child lane where its parent works, else in the checkout.
fn home_of_chat(situation: &Situation) -> PathBuf {
    let chat = Some(&situation.chat).filter(|chat| is_child(situation) && chat.is_dir());
    chat.unwrap_or(&situation.path).clone()
}

fn by_id(adapter: &Adapter, situation: &Situation, id: String) -> Launch {
    let values = Values::of(situation).with("Session", id.clone());
    let argv = adapter.resume.as_deref().unwrap_or_default();
    Launch { session: Some(id), ..Launch::of(adapter, argv, &values, &situation.path) }
}

/// The way, and what to say about it.
fn way(ctx: &Ctx, adapter: &Adapter, situation: &Situation, session: Option<&str>) -> (Way, Option<String>) {
    let takes_ids = adapter.resume.is_some();
    let recorded = session.filter(|id| takes_ids && launch::is_session(id));
    if let Some(id) = recorded.filter(|id| adapter.finder.has(ctx, situation, id) != Some(false)) {
        return (Way::ById(id.to_owned()), None);
    }
    let id = &adapter.id;
    let place = Path::new(&situation.path).display();
    match adapter.finder.newest(ctx, situation, &adapter.program()) {
        Newest::Id(found) if takes_ids => {
            let note = session.map(|gone| {
                format!("{id} no longer has the conversation {gone}: going on with the newest of {place}")
            });
            (Way::ById(found), note)
        }
        Newest::Id(_) if adapter.newest.is_some() => (Way::Newest, None),
        Newest::Unknown(why) if adapter.newest.is_some() => (
            Way::Newest,
            Some(format!(
                "cannot tell which conversations {id} has ({why}): it goes on with its newest here"
            )),
        ),
        Newest::Unknown(why) => {
            (Way::Fresh, Some(format!("cannot tell which conversations {id} has ({why}): a fresh session")))
        }
        Newest::Id(_) | Newest::Nothing => {
            (Way::Fresh, Some(format!("{id} has no conversation in {place}: a fresh session")))
        }
    }
}
