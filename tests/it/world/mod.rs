//! The world a test lives in: a home, a git configuration, a PATH with stand-in clients and a
//! place for tmux sockets, all private, all gone afterwards.
//!
//! `SCRUFF_TEST_CONF=hostile` lays every world in a directory whose name would run a command
//! wherever it is taken for a format or for shell text, and starts tmux under the configuration
//! of someone who has changed everything.
#![allow(dead_code, reason = "what one area needs another may not")]

mod attached;
pub mod call;
mod conf;
pub mod fakes;
pub mod leftovers;
pub mod manual;
pub mod repo;
pub mod screen;
pub mod tmux;
pub mod wait;

pub use call::{Call, Ran, Running};
pub use conf::is_long;
pub use repo::Repo;
pub use tmux::{Conf, Tmux};

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Read as a format by tmux or as text by a shell, this touches the canary.
const HOSTILE: &str = "it's é 50%H #(touch $CANARY) $(touch $CANARY)";

pub type Env = BTreeMap<OsString, OsString>;

pub struct World {
    temp: Option<tempfile::TempDir>,
    root: PathBuf,
    work: PathBuf,
    conf: Conf,
    env: Env,
}

impl World {
    /// A world of the kind this run of the suite is about.
    pub fn new() -> Self {
        Self::of(Conf::of_this_run())
    }

    pub fn of(conf: Conf) -> Self {
        // Directly under /tmp: a socket's path has about 100 bytes.
        let temp = tempfile::Builder::new().prefix("sc.").tempdir_in("/tmp").unwrap();
        let root = temp.path().canonicalize().unwrap();
        let work = match conf {
            Conf::Plain => root.join("w"),
            Conf::Hostile => root.join(HOSTILE),
        };
        let mut world = Self { temp: Some(temp), root, work, conf, env: Env::new() };
        world.lay_out();
        world
    }

    fn lay_out(&mut self) {
        self.env = private_env(&self.root, &self.work);
        for key in ["HOME", "TMPDIR", "TMUX_TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"] {
            make_private_dir(Path::new(&self.env[OsStr::new(key)]));
        }
        std::fs::write(self.home().join(".gitconfig"), GIT_CONFIG).unwrap();
        make_private_dir(&self.bin());
        symlink(env!("CARGO_BIN_EXE_scruff"), self.bin().join("scruff")).unwrap();
        fakes::install(self);
    }

    /// The short path everything of this world is under.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory of home, repositories and remotes; in a hostile world its name bites.
    pub fn work(&self) -> &Path {
        &self.work
    }

    pub fn home(&self) -> PathBuf {
        self.work.join("home")
    }

    /// First on the PATH.
    pub fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    pub fn conf(&self) -> Conf {
        self.conf
    }

    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Where lanes and the registry are while `SCRUFF_BASE` is not set.
    pub fn base(&self) -> PathBuf {
        match self.env.get(OsStr::new("SCRUFF_BASE")) {
            Some(base) => base.into(),
            None => self.home().join(".local/share/scruff"),
        }
    }

    /// Where scruff's state is while `SCRUFF_STATE` is not set.
    pub fn state(&self) -> PathBuf {
        match self.env.get(OsStr::new("SCRUFF_STATE")) {
            Some(state) => state.into(),
            None => self.home().join(".local/state/scruff"),
        }
    }

    /// The registry's rows, each with its fields.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let table = std::fs::read(self.base().join("registry.tsv")).unwrap_or_default();
        let table = String::from_utf8_lossy(&table);
        table.lines().map(|row| row.split('\t').map(str::to_owned).collect()).collect()
    }

    pub fn config_file(&self) -> PathBuf {
        self.home().join(".config/scruff/config.toml")
    }

    /// Sets a variable for everything started from here on.
    pub fn set(&mut self, key: impl Into<OsString>, value: impl Into<OsString>) {
        self.env.insert(key.into(), value.into());
    }

    pub fn unset(&mut self, key: &str) {
        self.env.remove(OsStr::new(key));
    }

    /// `scruff` with these arguments, to be refined and run.
    pub fn call<I, S>(&self, args: I) -> Call
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.program(env!("CARGO_BIN_EXE_scruff")).args(args)
    }

    /// Runs `scruff` with these arguments in the home directory.
    pub fn scruff<I, S>(&self, args: I) -> Ran
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.call(args).run()
    }

    /// Any other program, in this world's environment.
    pub fn program(&self, program: impl AsRef<OsStr>) -> Call {
        Call::new(program.as_ref(), self.env.clone(), self.home())
    }

    /// A repository with one commit on `main` and no remote.
    pub fn repo(&self, name: &str) -> Repo {
        Repo::create(self, name)
    }

    /// Touched by whatever executes a name.
    pub fn canary(&self) -> PathBuf {
        self.root.join("canary")
    }

    /// A name that git takes for a branch and that touches the canary where it is executed.
    pub fn evil_name(&self, stem: &str) -> String {
        format!("{stem}#(touch${{IFS}}{})", self.canary().display())
    }

    /// Writes a program. Another process does the writing: a file that this one, of many
    /// threads, has open for writing cannot be executed ("text file busy").
    pub fn script(&self, path: impl AsRef<Path>, body: &str) -> PathBuf {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut writer = Command::new("/bin/sh")
            .args(["-c", r#"cat >"$1" && chmod 755 "$1""#, "sh"])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        writer.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
        assert!(writer.wait().unwrap().success(), "could not write {}", path.display());
        path
    }

    /// Writes an ordinary file, with the directories above it.
    pub fn file(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let executed = self.canary().exists();
        let mut complaints = leftovers::end_all(self);
        if let Some(temp) = self.temp.take() {
            complaints.extend(leftovers::remove(temp));
        }
        if executed {
            complaints.push("a name was executed: the canary was touched".to_owned());
        }
        if !complaints.is_empty() && !std::thread::panicking() {
            panic!("{}", complaints.join("\n"));
        }
    }
}

const GIT_CONFIG: &str = "\
[user]
\tname = Kim Doe
\temail = kim@example.com
[init]
\tdefaultBranch = main
[protocol \"file\"]
\tallow = always
[gc]
\tauto = 0
[maintenance]
\tauto = false
";

fn private_env(root: &Path, work: &Path) -> Env {
    let home = work.join("home");
    let mut env = Env::new();
    let mut put = |key: &str, value: &OsStr| env.insert(key.into(), value.to_owned());
    put("HOME", home.as_os_str());
    put("PATH", &search_path(&root.join("bin")));
    put("TMPDIR", root.join("tmp").as_os_str());
    put("TMUX_TMPDIR", root.join("t").as_os_str());
    put("XDG_CONFIG_HOME", home.join(".config").as_os_str());
    put("XDG_DATA_HOME", home.join(".local/share").as_os_str());
    put("XDG_STATE_HOME", home.join(".local/state").as_os_str());
    put("XDG_CACHE_HOME", home.join(".cache").as_os_str());
    put("XDG_RUNTIME_DIR", root.join("run").as_os_str());
    put("GIT_CONFIG_GLOBAL", home.join(".gitconfig").as_os_str());
    put("GIT_CONFIG_NOSYSTEM", "1".as_ref());
    put("CANARY", root.join("canary").as_os_str());
    put("USER", "kim".as_ref());
    put("LOGNAME", "kim".as_ref());
    put("SHELL", "/bin/sh".as_ref());
    put("LANG", "C.UTF-8".as_ref());
    put("TERM", "xterm-256color".as_ref());
    env
}

/// The world's programs first, then those of git, of tmux and of the system, and no others:
/// a real client somewhere on the developer's PATH is out of reach.
fn search_path(bin: &Path) -> OsString {
    let mut dirs = vec![bin.to_owned()];
    let tools = ["git", "tmux"].iter().filter_map(|tool| Some(which::which(tool).ok()?.parent()?.to_owned()));
    for dir in tools.chain(["/usr/bin".into(), "/bin".into()]) {
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    std::env::join_paths(dirs).unwrap()
}

fn make_private_dir(dir: &Path) {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).unwrap();
}
