//! The log: `$SCRUFF_STATE/log`, and stderr with `-v`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::env::Env;
use crate::paths;

/// The log is started anew above this size, in bytes; the one before is kept as `log.old`.
const MAX_LOG: u64 = 4 << 20;

/// Starts logging. `SCRUFF_LOG` is the filter, `info` by default. A log that cannot be written
/// is no reason to fail.
pub fn start(env: &Env, log: &Path, verbose: bool) {
    let filter = || match env.text("SCRUFF_LOG") {
        Some(text) => EnvFilter::new(text),
        None if verbose => EnvFilter::new("scruff=debug"),
        None => EnvFilter::new("scruff=info"),
    };
    let file = OnFirstLine { path: log.to_owned(), file: None };
    let to_file = fmt::layer().with_ansi(false).with_writer(Mutex::new(file)).with_filter(filter());
    let to_stderr = verbose.then(|| {
        fmt::layer().without_time().with_ansi(false).with_writer(std::io::stderr).with_filter(filter())
    });
    let _ = tracing_subscriber::registry().with(to_file).with(to_stderr).try_init();
}

/// The log file, opened when there is something to write: most calls have nothing.
struct OnFirstLine {
    path: PathBuf,
    file: Option<File>,
}

impl Write for OnFirstLine {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.file.is_none() {
            self.file = open(&self.path);
        }
        self.file.as_mut().map_or(Ok(line.len()), |file| file.write(line))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn open(log: &Path) -> Option<File> {
    paths::make_private_dir(log.parent()?).ok()?;
    if log.metadata().is_ok_and(|meta| meta.len() > MAX_LOG) {
        let _ = std::fs::rename(log, log.with_extension("old"));
    }
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).ok()?)
        .open(log)
        .ok()
}
