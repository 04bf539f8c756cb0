//! `scruff heartbeat`

use std::path::{Path, PathBuf};

use super::Outcome;
use crate::ctx::Ctx;
use crate::error::{Doing, Error, Result};
use crate::occupancy;

/// Say that somebody is at work in a checkout, where no process can be seen standing in it.
///
/// The lease holds as long as the process lives. A holder without a process (--pid 0) must call
/// again within 90 seconds.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A directory of the checkout; by default the current one
    pub path: Option<PathBuf>,
    /// The process that is at work there; by default the one that calls
    #[arg(long, value_name = "PID")]
    pub pid: Option<u32>,
    /// Give the lease back: that of --pid, else all of the checkout
    #[arg(long)]
    pub release: bool,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Ctx) -> Result<Outcome> {
    let named = args.path.as_deref().unwrap_or(Path::new("."));
    let checkout = checkout(&ctx.cwd.join(named))?;
    if args.release {
        occupancy::release(ctx, &checkout, args.pid)?;
    } else {
        occupancy::hold(ctx, &checkout, args.pid.map_or_else(caller, Ok)?)?;
    }
    Ok(Outcome::done())
}

/// The top of the checkout that a directory is in; itself, where it is in none.
fn checkout(directory: &Path) -> Result<PathBuf> {
    let real = directory
        .canonicalize()
        .doing(|| format!("no lease on {}", directory.display()))
        .map_err(|error| error.hint("name a directory that is there"))?;
    if !real.is_dir() {
        return Err(Error::precondition(format!("{} is not a directory", real.display())));
    }
    let top = real.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok());
    Ok(top.unwrap_or(&real).to_owned())
}

/// The process that called scruff.
fn caller() -> Result<u32> {
    let parent = rustix::process::getppid().and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok());
    let nobody = || Error::precondition("it cannot be seen who called").hint("name the process with --pid");
    parent.ok_or_else(nobody)
}
