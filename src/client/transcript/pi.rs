//! pi: `~/.pi/agent/sessions/--<directory with dashes>--/<time>_<id>.jsonl`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::files;
use crate::client::launch::{is_session, real};
use crate::ctx::Ctx;
use crate::lane::Situation;

#[derive(Deserialize)]
struct Header {
    id: String,
    cwd: String,
}

pub(super) fn has(ctx: &Ctx, situation: &Situation, id: &str) -> Option<bool> {
    let ending = format!("_{id}.jsonl");
    let found = files::entries(&folder(ctx, &real(&situation.path)))
        .any(|file| files::name(&file).is_some_and(|name| name.ends_with(&ending)));
    sessions(ctx).is_dir().then_some(found)
}

/// Folders of two directories can have one name, so the file's own words decide.
pub(super) fn newest(ctx: &Ctx, situation: &Situation) -> Option<String> {
    let lane = real(&situation.path);
    let list = files::newest_first(&folder(ctx, &lane), |name| name.strip_suffix(".jsonl").is_some());
    list.into_iter().find_map(|file| own(&file, &lane))
}

fn own(file: &Path, lane: &Path) -> Option<String> {
    let header = files::lines::<Header>(file).next()?;
    (files::is_directory(&header.cwd, lane) && is_session(&header.id)).then_some(header.id)
}

fn sessions(ctx: &Ctx) -> PathBuf {
    let agent = ctx.env.absolute("PI_CODING_AGENT_DIR").unwrap_or_else(|| ctx.paths.home.join(".pi/agent"));
    agent.join("sessions")
}

fn folder(ctx: &Ctx, directory: &Path) -> PathBuf {
    let text = directory.to_string_lossy();
    let name = text.strip_prefix('/').unwrap_or(&text).replace(['/', '\\', ':'], "-");
    sessions(ctx).join(format!("--{name}--"))
}
