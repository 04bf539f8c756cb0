//! Files that are never committed, whatever else happens to them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::config::declared::Declared;
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::git::{self, status::Change};

/// Refuses when the changes of a checkout touch a file that `[park] secrets`, or `secrets` of the
/// repository's `.scruff.toml`, names. Patterns are git's own.
pub fn refuse(ctx: &Ctx, checkout: &Path, main: &Path, changes: &[Change]) -> Result<()> {
    let mut patterns = ctx.config().park.secrets.clone();
    patterns.extend(declared(ctx, checkout));
    patterns.extend(declared(ctx, main));
    if patterns.is_empty() || changes.is_empty() {
        return Ok(());
    }
    let secret = matching(ctx, checkout, &patterns)?;
    match changes.iter().find(|change| secret.contains(&change.path)) {
        None => Ok(()),
        Some(change) => {
            Err(Error::refused(format!("{} is a secret and is never committed", change.path.display()))
                .hint("move it out of the checkout, or have git ignore it, and call again"))
        }
    }
}

fn declared(ctx: &Ctx, directory: &Path) -> Vec<String> {
    let (declared, warnings) = Declared::read(directory);
    for warning in warnings {
        ctx.ui.warn(warning);
    }
    declared.secrets
}

/// The files of a checkout, tracked or not, that the patterns match.
fn matching(ctx: &Ctx, checkout: &Path, patterns: &[String]) -> Result<Vec<PathBuf>> {
    let mut list = Vec::new();
    for kind in ["--cached", "--others"] {
        let excludes = patterns.iter().map(|pattern| format!("--exclude={pattern}"));
        let cmd = git::read(ctx, checkout)?.args(["ls-files", "-z", "--ignored", kind]).args(excludes);
        let output = cmd.run().doing(|| "git cannot look for secrets".to_owned())?;
        if !output.ok() {
            return Err(Error::refused(format!(
                "it is not known whether a secret is among the changes: {}",
                output.complaint()
            )));
        }
        let paths = output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        list.extend(paths.map(|path| PathBuf::from(OsStr::from_bytes(path))));
    }
    Ok(list)
}
