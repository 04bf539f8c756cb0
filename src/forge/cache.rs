//! Answers of the last two minutes: `$SCRUFF_STATE/cache/forge-<question>.json`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ctx::Ctx;
use crate::paths;

/// How long an answer is good for, in seconds.
const GOOD_FOR: i64 = 120;

/// A file larger than this is not one of ours, in bytes.
const MAX_FILE: u64 = 32 << 20;

/// When a file that nobody asks for any more goes: after a day or so.
const OLD: Duration = Duration::from_secs(100_000);

/// An answer and the question it was given to.
#[derive(Serialize, Deserialize)]
struct Kept {
    asked: i64,
    question: Vec<String>,
    answer: String,
}

/// The answer that this program gave to this question lately.
pub(super) fn get(ctx: &Ctx, question: &[OsString]) -> Option<Vec<u8>> {
    let file = file(ctx, question);
    let small = fs::metadata(&file).ok().is_some_and(|meta| meta.is_file() && meta.len() <= MAX_FILE);
    let kept: Kept = serde_json::from_slice(&small.then(|| fs::read(&file).ok())??).ok()?;
    let age = ctx.clock.now().as_second().saturating_sub(kept.asked);
    let same = kept.question == text(question);
    // From the future: a clock has been set, so nothing is known of its age.
    (same && (0..GOOD_FOR).contains(&age)).then(|| kept.answer.into_bytes())
}

/// Keeps an answer. That it cannot be kept is no reason to fail.
pub(super) fn put(ctx: &Ctx, question: &[OsString], answer: &[u8]) {
    let Ok(answer) = String::from_utf8(answer.to_vec()) else { return };
    let kept = Kept { asked: ctx.clock.now().as_second(), question: text(question), answer };
    let file = file(ctx, question);
    sweep(&directory(ctx));
    if let Some(error) =
        serde_json::to_vec(&kept).ok().and_then(|bytes| paths::write_whole(&file, &bytes).err())
    {
        tracing::info!(%error, "the answer of a forge is not kept");
    }
}

fn sweep(directory: &Path) {
    let now = SystemTime::now();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let ours = entry.file_name().as_bytes().starts_with(b"forge-");
        let written = entry.metadata().and_then(|meta| meta.modified());
        let age = written.ok().and_then(|written| now.duration_since(written).ok());
        if ours && age.is_some_and(|age| age > OLD) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn directory(ctx: &Ctx) -> PathBuf {
    ctx.paths.state.join("cache")
}

fn file(ctx: &Ctx, question: &[OsString]) -> PathBuf {
    let mut hash = Sha256::new();
    for word in question {
        hash.update(word.as_bytes());
        hash.update([0]);
    }
    let name =
        hash.finalize().iter().take(12).fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    directory(ctx).join(format!("forge-{name}.json"))
}

fn text(question: &[OsString]) -> Vec<String> {
    question.iter().map(|word| word.as_bytes().escape_ascii().to_string()).collect()
}
