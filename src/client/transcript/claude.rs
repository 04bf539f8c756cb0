//! Claude Code: `~/.claude/projects/<slug of the directory>/<id>.jsonl`.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::files;
use crate::client::launch::{is_session, real};
use crate::ctx::Ctx;
use crate::lane::Situation;

/// A slug longer than this is cut, and gets a hash.
const MAX_SLUG: usize = 200;

/// What is looked at in a line of a transcript.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    cwd: Value,
    #[serde(default)]
    entrypoint: Value,
}

/// Any folder will do: a session that ends cleanly may be moved to the folder of the directory
/// that it was launched from, and resuming by id works from everywhere.
pub(super) fn has(ctx: &Ctx, situation: &Situation, id: &str) -> Option<bool> {
    let projects = projects(ctx);
    if !projects.is_dir() {
        return None;
    }
    let file = format!("{id}.jsonl");
    let likely = [&situation.path, &situation.main].map(|path| folder(ctx, &real(path)));
    let found =
        likely.into_iter().chain(files::entries(&projects)).any(|folder| folder.join(&file).is_file());
    Some(found)
}

/// Slugs collide, and programs that an agent starts leave transcripts too: the file's own words
/// decide.
pub(super) fn newest(ctx: &Ctx, situation: &Situation) -> Option<String> {
    let lane = real(&situation.path);
    let is_transcript = |name: &str| id_of(name).is_some();
    let list = files::newest_first(&folder(ctx, &lane), is_transcript);
    let own = list.into_iter().find(|file| is_persons_own(file, &lane))?;
    files::name(&own).and_then(id_of).map(str::to_owned)
}

fn id_of(name: &str) -> Option<&str> {
    name.strip_suffix(".jsonl").filter(|id| is_session(id) && !id.starts_with("agent-"))
}

fn is_persons_own(file: &Path, lane: &Path) -> bool {
    let line = files::lines::<Line>(file).find(|line| line.cwd.is_string());
    line.is_some_and(|line| {
        let here = line.cwd.as_str().is_some_and(|cwd| files::is_directory(cwd, lane));
        here && !line.entrypoint.as_str().is_some_and(|word| word.starts_with("sdk"))
    })
}

fn config(ctx: &Ctx) -> PathBuf {
    ctx.env.absolute("CLAUDE_CONFIG_DIR").unwrap_or_else(|| ctx.paths.home.join(".claude"))
}

fn projects(ctx: &Ctx) -> PathBuf {
    config(ctx).join("projects")
}

fn folder(ctx: &Ctx, directory: &Path) -> PathBuf {
    let named = ctx.env.text("CLAUDE_CODE_PROJECT_DIR_NAME").filter(|_| ctx.env.has("CLAUDE_CONFIG_DIR"));
    let name = named.map_or_else(|| slug(directory), str::to_owned);
    projects(ctx).join(name)
}

/// The folder's name: each UTF-16 unit that is no ASCII letter or digit is a dash.
fn slug(directory: &Path) -> String {
    let text = directory.to_string_lossy();
    let letter = |unit: u16| char::from_u32(unit.into()).filter(char::is_ascii_alphanumeric).unwrap_or('-');
    let slug: String = text.encode_utf16().map(letter).collect();
    if slug.len() <= MAX_SLUG {
        return slug;
    }
    let hash = text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()));
    format!("{}-{}", &slug[..MAX_SLUG], base36(hash.unsigned_abs()))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names are those that Claude Code 2.1.332 itself gave.
    #[test]
    fn slugs_are_those_of_the_client() {
        let of = |path: &str| slug(Path::new(path));
        assert_eq!(of("/tmp/lanes.x/a_b.c é e\u{301} 😀"), "-tmp-lanes-x-a-b-c---e----");
        let r = "r".repeat(187);
        assert_eq!(of(&format!("/tmp/lanes.x/{r}")), format!("-tmp-lanes-x-{r}"));
        assert_eq!(of(&format!("/tmp/lanes.x/{r}r")), format!("-tmp-lanes-x-{r}-o4071h"));
        let lane = |number: usize| format!("lane-{number}-é😀").repeat(3);
        let long = of(&format!("/tmp/lanes.x/{}", (0..9).map(lane).collect::<Vec<_>>().join("/")));
        assert!(long.starts_with("-tmp-lanes-x-lane-0----lane-0----lane-0-----lane-1"), "{long}");
        assert!(long.ends_with("-l-kbbvmj") && long.len() == 207, "{long}");
    }
}
