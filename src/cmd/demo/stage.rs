//! The demo's stage: a temporary directory with a home, a repository and a tmux server of its own.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;

use crate::ctx::Ctx;
use crate::env::Env;
use crate::error::{Doing, Error, Result};
use crate::paths::{make_private_dir, write_whole};
use crate::proc::{Cmd, Output};

const LIMIT: Duration = Duration::from_secs(30);

/// The lanes that the demo opens, and the first turn of each.
pub(super) const LANES: [(&str, &str); 3] = [
    ("fix-auth", "Retry the login on 503, with a test."),
    ("dark-mode", "Add a dark theme; follow the system's setting."),
    ("faster-list", "The listing takes a second with 200 rows. Find out why."),
];

const CONFIG: &str = "agent = \"demo\"\n";

const ADAPTER: &str = include_str!("adapter.toml");

const TMUX_CONF: &str = "set -g mouse on
set -g base-index 1
set -g status-left ' scruff demo '
set -g status-left-length 20
set -g status-right ' prefix d leaves '
set -g window-status-format ' #W '
set -g window-status-current-format ' #W* '
set -g update-environment ''
";

const WELCOME: &str = "
  This is a private tmux server with a scratch repository and three lanes.
  Each window is a lane: a branch, a checkout, a (stand-in) agent.

    scruff                  lists the lanes
    scruff focus fix-auth   goes to one; so does prefix w, as in any tmux
    scruff open my-idea --prompt 'try something'
                            opens another
    exit, in a lane         ends its agent and leaves a shell in its checkout
    scruff fix-auth         brings it back after its window is closed

  prefix is Ctrl-b. Ctrl-b d leaves the demo, and everything of it goes.

";

/// A stage. Dropping it ends the server and removes the directory.
pub(super) struct Stage {
    directory: TempDir,
    tmux: PathBuf,
    git: PathBuf,
    scruff: PathBuf,
    env: Env,
}

impl Stage {
    /// Makes the directory, the repository and the server.
    pub(super) fn build(ctx: &Ctx) -> Result<Self> {
        let tmux = ctx.need("tmux")?;
        let git = ctx.need("git")?;
        let directory = tempfile::Builder::new().prefix("scruff-demo-").tempdir_in("/tmp");
        let directory = directory.doing(|| "cannot make a directory in /tmp".to_owned())?;
        let scruff = std::env::current_exe().doing(|| "cannot tell where scruff is".to_owned())?;
        let env = environment(ctx, &directory);
        let stage = Stage { directory, tmux, git, scruff, env };
        stage.write_files()?;
        stage.make_repository()?;
        stage.start_server()?;
        Ok(stage)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The scratch repository.
    pub(super) fn repo(&self) -> PathBuf {
        self.path("shop")
    }

    fn write_files(&self) -> Result<()> {
        let config = self.path("home/.config/scruff");
        write_whole(&config.join("config.toml"), CONFIG.as_bytes())?;
        write_whole(&config.join("adapters/agent/demo.toml"), ADAPTER.as_bytes())?;
        write_whole(&self.path("tmux.conf"), TMUX_CONF.as_bytes())?;
        write_whole(&self.path("welcome"), WELCOME.as_bytes())?;
        let bin = self.path("bin");
        make_private_dir(&bin)?;
        std::os::unix::fs::symlink(&self.scruff, bin.join("scruff")).doing(|| "cannot link scruff".to_owned())
    }

    fn make_repository(&self) -> Result<()> {
        let repo = self.repo();
        make_private_dir(&repo)?;
        write_whole(&repo.join("README.md"), b"# shop\n\nA scratch repository for the demo.\n")?;
        self.git(&["init", "--quiet", "--initial-branch=main"])?;
        self.git(&["add", "README.md"])?;
        self.git(&["commit", "--quiet", "--message=Open the shop"])
    }

    fn git(&self, args: &[&str]) -> Result<()> {
        let identity = ["-c", "user.name=demo", "-c", "user.email=demo@example.invalid"];
        let cmd = Cmd::new(&self.git).args(identity).args(args).cwd(self.repo());
        succeed(&cmd.env_exactly(&self.env)).map(|_| ())
    }

    fn start_server(&self) -> Result<()> {
        let welcome = "cat \"$0\"; exec \"${SHELL:-/bin/sh}\"";
        let start = ["new-session", "-d", "-s", "demo", "-n", "welcome", "-x", "120", "-y", "35"];
        let cmd = self.tmux().arg("-f").arg(self.path("tmux.conf")).args(start);
        let cmd = cmd.args(["sh", "-c", welcome]).arg(self.path("welcome")).cwd(self.repo());
        succeed(&cmd).map(|_| ())
    }

    /// A tmux call on the demo's own server.
    pub(super) fn tmux(&self) -> Cmd {
        Cmd::new(&self.tmux)
            .arg("-u")
            .arg("-S")
            .arg(self.path("tmux.sock"))
            .env_exactly(&self.env)
            .limit(LIMIT)
    }

    /// What tmux answers.
    pub(super) fn ask_tmux(&self, args: &[&str]) -> Result<String> {
        let output = succeed(&self.tmux().args(args))?;
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    /// A scruff call as a person would make it in the demo's first window.
    pub(super) fn scruff(&self, args: &[&str]) -> Result<Output> {
        let place =
            self.ask_tmux(&["list-panes", "-t", "demo:welcome", "-F", "#{socket_path},#{pid},0 #{pane_id}"])?;
        let (tmux, pane) = place.split_once(' ').unwrap_or_default();
        let cmd = Cmd::new(&self.scruff).args(args).cwd(self.repo()).env_exactly(&self.env);
        succeed(&cmd.env("TMUX", tmux).env("TMUX_PANE", pane).env("TERM_PROGRAM", "tmux").limit(LIMIT))
    }

    /// Opens the demo's lanes without taking the screen.
    pub(super) fn open_lanes(&self, ctx: &Ctx) -> Result<()> {
        for (name, prompt) in LANES {
            ctx.ui.note(format!("opening {name}"));
            self.scruff(&["open", name, "--background", "--prompt", prompt])?;
        }
        Ok(())
    }

    /// Shows the server on this terminal until the person leaves it.
    pub(super) fn attach(&self, ctx: &Ctx) -> Result<()> {
        let mut env = self.env.clone();
        if let Some(term) = ctx.env.get("TERM") {
            env.set("TERM", term);
        }
        let cmd = self.tmux().args(["attach-session", "-t", "=demo"]).env_exactly(&env);
        let status = cmd.attach().doing(|| "cannot show tmux".to_owned())?;
        if status.success() { Ok(()) } else { Err(Error::failed("tmux ended with an error")) }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.tmux().arg("kill-server").run();
    }
}

/// The stage's environment: nothing of the caller's but what programs need to run at all.
fn environment(ctx: &Ctx, directory: &TempDir) -> Env {
    let home = directory.path().join("home");
    let mut path = directory.path().join("bin").into_os_string().into_vec();
    path.push(b':');
    path.extend(ctx.path().to_owned().into_vec());
    let mut env = Env::default();
    for name in ["LANG", "LC_ALL", "LC_CTYPE", "TERM", "SHELL"] {
        if let Some(value) = ctx.env.get(name) {
            env.set(name, value);
        }
    }
    env.set("PATH", OsString::from_vec(path));
    env.set("HOME", home);
    env.set("GIT_CONFIG_NOSYSTEM", "1");
    env
}

fn succeed(cmd: &Cmd) -> Result<Output> {
    let name = cmd
        .argv()
        .iter()
        .take(4)
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ");
    let output = cmd.run().doing(|| name.clone())?;
    if output.ok() { Ok(output) } else { Err(Error::failed(format!("{name}: {}", output.complaint()))) }
}
