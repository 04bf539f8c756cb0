//! Where scruff keeps things: base, state, configuration, run-time directory.

use std::path::{Component, Path, PathBuf};

use crate::activity::Activity;
use crate::env::Env;
use crate::error::{Error, Result};

/// The directories of one call, all absolute. None of them need exist.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// The user's home directory.
    pub home: PathBuf,
    /// Checkouts, trash and registry.
    pub base: PathBuf,
    /// Machine state: lane records, activity, logs.
    pub state: PathBuf,
    /// `config.toml`, adapters, hooks.
    pub config: PathBuf,
    /// `$XDG_RUNTIME_DIR`, if there is one.
    pub runtime: Option<PathBuf>,
}

impl Paths {
    /// Reads the directories from the environment. The second value is warnings.
    pub fn from_env(env: &Env) -> Result<(Self, Vec<String>)> {
        let mut warnings = Vec::new();
        let home = env.absolute("HOME").ok_or_else(|| {
            Error::precondition("HOME is not set to an absolute path").hint("set HOME and call again")
        })?;
        let xdg = |name: &str, default: &str| env.absolute(name).unwrap_or_else(|| home.join(default));
        let mut chosen = |name: &str, default: PathBuf| match env.get(name).map(Path::new) {
            Some(path) if path.is_absolute() => path.to_owned(),
            Some(path) => {
                warnings.push(format!(
                    "{name}={} is relative and ignored; using {}",
                    path.display(),
                    default.display()
                ));
                default
            }
            None => default,
        };
        let base = chosen("SCRUFF_BASE", default_base(&home, &xdg("XDG_DATA_HOME", ".local/share")));
        let base = real(&base);
        let state = chosen("SCRUFF_STATE", xdg("XDG_STATE_HOME", ".local/state").join("scruff"));
        let config = xdg("XDG_CONFIG_HOME", ".config").join("scruff");
        let runtime = env.absolute("XDG_RUNTIME_DIR");
        Ok((Paths { home, base, state, config, runtime }, warnings))
    }

    /// The state directory alone, found out without a look at any file.
    pub fn state_of(env: &Env) -> Option<PathBuf> {
        let home = || env.absolute("HOME").map(|home| home.join(".local/state"));
        let usual = || env.absolute("XDG_STATE_HOME").or_else(home).map(|state| state.join("scruff"));
        env.absolute("SCRUFF_STATE").or_else(usual)
    }

    /// The registry table.
    pub fn registry(&self) -> PathBuf {
        self.base.join("registry.tsv")
    }

    /// The trash below the base.
    pub fn trash(&self) -> PathBuf {
        self.base.join(".trash")
    }

    /// The directory of lane records.
    pub fn lanes(&self) -> PathBuf {
        self.state.join("lanes")
    }

    /// The directory of pane records.
    pub fn panes(&self) -> PathBuf {
        self.state.join("panes")
    }

    /// The directory of locks on lanes and repositories.
    pub fn locks(&self) -> PathBuf {
        self.state.join("locks")
    }

    /// The directory of the lanes that do this.
    pub fn activity(&self, activity: Activity) -> PathBuf {
        self.state.join("activity").join(activity.word())
    }

    /// The directory of clients' conversations.
    pub fn sessions(&self) -> PathBuf {
        self.state.join("sessions")
    }

    /// The log file.
    pub fn log(&self) -> PathBuf {
        self.state.join("log")
    }
}

/// A directory as clients will name what is in it: links and dots resolved, as far as it is there.
fn real(directory: &Path) -> PathBuf {
    let there = directory.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let Some((above, mut real)) = there else { return directory.to_owned() };
    for part in directory.strip_prefix(above).into_iter().flat_map(Path::components) {
        match part {
            Component::ParentDir => drop(real.pop()),
            part => real.push(part),
        }
    }
    real
}

/// A registry that an older tool left in the cache directory stays where it is.
fn default_base(home: &Path, data: &Path) -> PathBuf {
    let older = home.join(".cache/scruff");
    if older.join("registry.tsv").is_file() { older } else { data.join("scruff") }
}

/// Makes a directory and its missing parents, each 0700.
pub fn make_private_dir(path: &Path) -> Result<()> {
    use crate::error::Doing;
    use std::os::unix::fs::DirBuilderExt;
    if path.is_dir() {
        return Ok(());
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .doing(|| format!("cannot make {}", path.display()))
}

/// Writes a 0600 file beside its final place, flushes it to disk, and renames it there:
/// a reader sees the old contents or the new, never half.
pub fn write_whole(path: &Path, contents: &[u8]) -> Result<()> {
    write_beside(path, contents, true)?;
    sync_dir(path.parent().unwrap_or(Path::new("/")));
    Ok(())
}

/// The same without the disk: for what may be lost with the machine, and is written often.
pub fn write_cache(path: &Path, contents: &[u8]) -> Result<()> {
    write_beside(path, contents, false)
}

fn write_beside(path: &Path, contents: &[u8], flush: bool) -> Result<()> {
    use crate::error::Doing;
    let what = || format!("cannot write {}", path.display());
    let directory = path.parent().unwrap_or(Path::new("/"));
    make_private_dir(directory)?;
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(directory).doing(what)?;
    std::io::Write::write_all(&mut file, contents).doing(what)?;
    if flush {
        file.as_file().sync_all().doing(what)?;
    }
    file.persist(path).map_err(|error| error.error).doing(what)?;
    Ok(())
}

/// The contents of a small regular file; `None` when it is not there. A link is not followed, and
/// nothing that could block is opened.
pub fn read_plain(path: &Path, max: u64) -> Result<Option<Vec<u8>>, String> {
    use std::io::Read;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = match std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err("it is a symbolic link".to_owned());
        }
        file => file.map_err(|error| error.to_string())?,
    };
    match file.metadata() {
        Ok(meta) if !meta.is_file() => return Err("it is no regular file".to_owned()),
        Ok(meta) if meta.len() > max => return Err(format!("it is larger than {} KiB", max >> 10)),
        meta => meta.map_err(|error| error.to_string())?,
    };
    let mut bytes = Vec::new();
    file.take(max).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(Some(bytes))
}

/// Flushes a directory, so that a rename in it survives a power cut. Best effort:
/// some file systems cannot.
pub fn sync_dir(directory: &Path) {
    if let Ok(handle) = std::fs::File::open(directory) {
        let _ = handle.sync_all();
    }
}

/// Paths in JSON: a string where the bytes are UTF-8, else an array of bytes.
pub mod json_bytes {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Bytes(Vec<u8>),
    }

    /// Writes a path.
    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_seq(path.as_os_str().as_bytes()),
        }
    }

    /// Reads a path.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match Either::deserialize(deserializer)? {
            Either::Text(text) => text.into(),
            Either::Bytes(bytes) => OsString::from_vec(bytes).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_named_as_clients_will_name_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("a")).unwrap();
        std::os::unix::fs::symlink("a", root.join("link")).unwrap();
        assert_eq!(real(&root.join("link/new/../b")), root.join("a/b"));
        assert_eq!(real(&root.join("./a/../link/.")), root.join("a"));
        assert_eq!(real(&root.join("a")).into_os_string(), root.join("a").into_os_string());
        assert_eq!(real(Path::new("/")), Path::new("/"));
    }
}
