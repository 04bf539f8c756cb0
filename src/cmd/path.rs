//! `scruff __path NAME`: where a lane's checkout is, for the shell's `scd`.

use std::os::unix::ffi::OsStrExt;

use super::Outcome;
use crate::ctx::Ctx;
use crate::error::{Error, Result};
use crate::lane::find;
use crate::lane::resolve::Match;

/// Prints the path of a lane's checkout.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The lane: its name, REPO/NAME, or a unique beginning of either
    pub name: String,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let lane = find::find(ctx, &args.name, Match::Prefix)?;
    let path = &lane.row.path;
    if !path.is_dir() {
        return Err(Error::precondition(format!("{} is parked: it has no checkout", lane.label()))
            .hint(format!("bring it back with `scruff {}`", lane.row.name)));
    }
    Ok(Outcome::text([path.as_os_str().as_bytes(), b"\n"].concat()))
}
