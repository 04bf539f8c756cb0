//! What is said when a checkout is handed over.

use std::path::{Path, PathBuf};

use crate::ctx::Ctx;
use crate::error::Result;
use crate::git::worktree::Added;
use crate::git::{lfs, submodule};
use crate::ui;

/// What git, its filters and hooks said while a checkout was made, and what it lacks.
pub fn say(ctx: &Ctx, added: &Added, checkout: &Path) {
    if !added.talk.is_empty() {
        ctx.ui.note(String::from_utf8_lossy(&added.talk).trim_end());
    }
    if let Some(how) = &added.hook_failed {
        ctx.ui.warn(format!("the post-checkout hook failed ({how}); the checkout is whole"));
    }
    mention(ctx, checkout);
}

/// Submodules that are not filled, and files that Git LFS holds back. Looked for only where the
/// repository has any to speak of.
fn mention(ctx: &Ctx, checkout: &Path) {
    let count = |paths: Result<Vec<PathBuf>>| paths.map_or(0, |paths| paths.len());
    let submodules =
        if checkout.join(".gitmodules").is_file() { count(submodule::empty(ctx, checkout)) } else { 0 };
    if submodules > 0 {
        let what = ui::counted(submodules, "submodule");
        ctx.ui.note(format!("not filled: {what}; `git submodule update --init` there fills them"));
    }
    let pointers =
        if checkout.join(".gitattributes").is_file() { count(lfs::pointers(ctx, checkout)) } else { 0 };
    if pointers > 0 {
        let what = ui::counted(pointers, "file");
        ctx.ui.note(format!("only a pointer of Git LFS: {what}; `git lfs pull` there fetches them"));
    }
}
