//! Finding programs. A hook is often started with a bare PATH, so the usual program directories
//! are looked at last, never first.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::env::Env;

const USUAL: [&str; 4] = ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin"];

/// `PATH` with the usual program directories and the Nix profiles appended where missing.
pub fn search_path(env: &Env, home: &Path) -> OsString {
    let given = env.get("PATH").unwrap_or_default();
    let mut directories: Vec<PathBuf> =
        std::env::split_paths(given).filter(|directory| directory.is_absolute()).collect();
    let nix = [home.join(".nix-profile/bin"), PathBuf::from("/nix/var/nix/profiles/default/bin")];
    for directory in USUAL.iter().map(PathBuf::from).chain(nix) {
        if !directories.contains(&directory) {
            directories.push(directory);
        }
    }
    std::env::join_paths(directories).unwrap_or_else(|_| given.to_owned())
}

/// The absolute path of `program` on `path`. A relative entry of PATH is never searched: it
/// would run whatever a checkout holds.
pub fn find(program: impl AsRef<OsStr>, path: &OsStr) -> Option<PathBuf> {
    which::which_in(program, Some(path), "/").ok()
}
