//! What one call knows of the world outside: a snapshot that every verb is handed.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::clock::Clock;
use crate::config::Config;
use crate::env::Env;
use crate::error::{Error, Result};
use crate::paths::Paths;
use crate::proc;
use crate::ui::Ui;

/// Environment, paths, clock, configuration and the person's side of one call.
#[derive(Debug)]
pub struct Ctx {
    /// The environment as scruff was given it.
    pub env: Env,
    /// Where scruff was called, or what `-C` named.
    pub cwd: PathBuf,
    /// Where scruff keeps things.
    pub paths: Paths,
    /// The time.
    pub clock: Clock,
    /// The person's side.
    pub ui: Ui,
    /// Whether the answer is wanted as JSON.
    pub json: bool,
    config: OnceCell<Config>,
    path: OnceCell<OsString>,
}

impl Ctx {
    /// Puts a context together. A directory that is not there is an error with its name.
    pub fn new(env: Env, cwd: PathBuf, ui: Ui, json: bool) -> Result<Self> {
        let (paths, warnings) = Paths::from_env(&env)?;
        for warning in warnings {
            ui.warn(warning);
        }
        let cells = (OnceCell::new(), OnceCell::new());
        Ok(Ctx { env, cwd, paths, clock: Clock::default(), ui, json, config: cells.0, path: cells.1 })
    }

    /// The same world for another thread. What is warned of there is not kept for JSON.
    pub fn another(&self) -> Option<Self> {
        let ui = Ui::new(self.ui.quiet, self.ui.color);
        Ctx::new(self.env.clone(), self.cwd.clone(), ui, self.json).ok()
    }

    /// The configuration, read when first asked for.
    pub fn config(&self) -> &Config {
        self.config.get_or_init(|| {
            let (config, warnings) = Config::load(&self.paths.config.join("config.toml"));
            for warning in warnings {
                self.ui.warn(warning);
            }
            config
        })
    }

    /// `PATH` with the usual directories appended.
    pub fn path(&self) -> &OsStr {
        self.path.get_or_init(|| proc::search_path(&self.env, &self.paths.home))
    }

    /// The absolute path of a program.
    pub fn find(&self, program: impl AsRef<OsStr>) -> Option<PathBuf> {
        proc::find(program, self.path())
    }

    /// The absolute path of a program that is needed.
    pub fn need(&self, program: &str) -> Result<PathBuf> {
        self.find(program).ok_or_else(|| {
            Error::precondition(format!("{program} is not on PATH"))
                .hint(format!("install {program}, or put its directory on PATH"))
        })
    }

    /// A step of something that must survive being killed. In a debug build
    /// `SCRUFF_TEST_KILL_AT=<name>` or `=<number>` kills scruff here, which is how the tests
    /// walk through every step.
    pub fn step(&self, name: &str) {
        #[cfg(debug_assertions)]
        crash::at(&self.env, name);
        tracing::trace!(name, "step");
    }
}

#[cfg(debug_assertions)]
mod crash {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::env::Env;

    static STEPS: AtomicUsize = AtomicUsize::new(0);

    pub(super) fn at(env: &Env, name: &str) {
        let count = STEPS.fetch_add(1, Ordering::Relaxed) + 1;
        let Some(wanted) = env.text("SCRUFF_TEST_KILL_AT") else { return };
        if wanted == name || wanted.parse() == Ok(count) {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    }
}
