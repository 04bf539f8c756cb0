//! From a command line to an exit status.

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs scruff.
pub fn main(_args: Vec<OsString>) -> ExitCode {
    ExitCode::SUCCESS
}
