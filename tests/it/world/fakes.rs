//! The stand-in clients and what they have written down.

use super::{World, wait};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakes/client");
pub const CLIENTS: [&str; 5] = ["claude", "codex", "opencode", "gemini", "pi"];

pub(super) fn install(world: &World) {
    std::fs::create_dir(world.root().join("launches")).unwrap();
    for client in CLIENTS {
        symlink(SCRIPT, world.bin().join(client)).unwrap();
    }
}

/// One start of a client.
#[derive(Debug, Clone)]
pub struct Launch {
    pub program: String,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    pub pid: i32,
    env: Vec<OsString>,
    log: PathBuf,
}

impl World {
    /// Every start of a client so far, in order.
    pub fn launches(&self) -> Vec<Launch> {
        let logs = (1..).map(|n: u32| self.root().join("launches").join(n.to_string()));
        let complete = logs.take_while(|log| log.join("ready").exists());
        complete.map(|log| Launch::read(&log)).collect()
    }

    /// Waits until clients have been started `n` times; more is a failure too.
    #[track_caller]
    pub fn wait_for_launches(&self, n: usize) -> Vec<Launch> {
        let last = || format!("{:#?}", self.launches());
        wait::until(&format!("{n} launches of a client"), || self.launches().len() >= n, last);
        let launches = self.launches();
        assert!(launches.len() == n, "expected {n} launches: {launches:#?}");
        launches
    }

    /// Waits until exactly one client has been started.
    #[track_caller]
    pub fn wait_for_launch(&self) -> Launch {
        self.wait_for_launches(1).remove(0)
    }
}

impl Launch {
    fn read(log: &Path) -> Self {
        let text = |file: &str| String::from_utf8(std::fs::read(log.join(file)).unwrap()).unwrap();
        let mut cwd = std::fs::read(log.join("cwd")).unwrap();
        cwd.pop();
        Self {
            program: text("program"),
            args: fields(&log.join("args")),
            cwd: OsString::from_vec(cwd).into(),
            pid: text("pid").parse().unwrap(),
            env: fields(&log.join("env")),
            log: log.to_owned(),
        }
    }

    pub fn env(&self, key: &str) -> Option<&OsStr> {
        let find = |var: &'_ OsString| -> Option<usize> {
            let at = var.as_bytes().iter().position(|byte| *byte == b'=')?;
            (&var.as_bytes()[..at] == key.as_bytes()).then_some(at + 1)
        };
        self.env.iter().find_map(|var| Some(OsStr::from_bytes(&var.as_bytes()[find(var)?..])))
    }

    /// Is one of the arguments exactly this?
    pub fn has_arg(&self, arg: impl AsRef<OsStr>) -> bool {
        self.args.iter().any(|it| it == arg.as_ref())
    }

    /// What was typed at it so far.
    pub fn lines(&self) -> Vec<String> {
        let typed = std::fs::read(self.log.join("lines")).unwrap_or_default();
        String::from_utf8_lossy(&typed).lines().map(str::to_owned).collect()
    }

    /// How it ended: "exit 0", "HUP", "TERM", "INT", "end of input"; `None` while it runs (or
    /// was killed outright).
    pub fn end(&self) -> Option<String> {
        std::fs::read_to_string(self.log.join("end")).ok().filter(|end| !end.is_empty())
    }

    #[track_caller]
    pub fn wait_for_end(&self) -> String {
        wait::until_some("the end of a client", || self.end(), || format!("{self:#?}"))
    }
}

fn fields(file: &Path) -> Vec<OsString> {
    let bytes = std::fs::read(file).unwrap();
    let Some(bytes) = bytes.strip_suffix(b"\0") else {
        return Vec::new();
    };
    bytes.split(|byte| *byte == 0).map(|field| OsStr::from_bytes(field).to_owned()).collect()
}
