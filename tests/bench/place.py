"""A private place to measure in: home, repository, tmux server, a person's terminal, stand-in clients."""

import os
import pty
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

PANE_FORMAT = "\t".join(f"#{{{name}}}" for name in ("pane_id", "window_id", "session_id", "pane_pid", "@scruff_id"))
CLIENT_FORMAT = "\t".join(f"#{{{name}}}" for name in ("client_name", "session_id", "client_activity"))


@dataclass
class Lane:
    name: str
    pane: str


class Place:
    def __init__(self, scruff: str, root: Path):
        self.scruff = scruff
        self.tmux = shutil.which("tmux") or sys.exit("there is no tmux")
        self.top = Path(tempfile.mkdtemp(prefix="sc.", dir="/tmp")).resolve()
        self.repo = self.top / "src" / "shop"
        self.env = self.private_env()
        self.attached: subprocess.Popen | None = None
        self.lay_out(root)

    def __enter__(self) -> "Place":
        return self

    def __exit__(self, *_) -> None:
        subprocess.run([self.tmux, "kill-server"], env=self.env, stderr=subprocess.DEVNULL)
        if self.attached:
            self.attached.wait(timeout=10)
        os.chdir("/")
        shutil.rmtree(self.top)

    def private_env(self) -> dict[str, str]:
        top = self.top
        return {
            "PATH": f"{top}/bin:{os.environ['PATH']}",
            "HOME": f"{top}/home",
            "TMPDIR": f"{top}/tmp",
            "TMUX_TMPDIR": f"{top}/t",
            "XDG_RUNTIME_DIR": f"{top}/run",
            "GIT_CONFIG_NOSYSTEM": "1",
            "SHELL": "/bin/sh",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }

    def lay_out(self, root: Path) -> None:
        for name in ("home", "tmp", "t", "run", "bin", "launches"):
            (self.top / name).mkdir(mode=0o700)
        (self.top / "bin" / "claude").symlink_to(root / "tests" / "fakes" / "client")
        (self.top / "home" / ".gitconfig").write_text("[user]\nname = Kim\nemail = kim@example.com\n")
        self.repo.mkdir(parents=True)
        os.chdir(self.repo)
        self.run("git", "init", "-q", "-b", "main")
        self.run("git", "commit", "-q", "--allow-empty", "-m", "Start")

    def run(self, *command: str) -> str:
        """Runs a program that must succeed; what it printed."""
        done = subprocess.run(command, env=self.env, text=True, capture_output=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise SystemExit(f"{command} exited {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def two_running_lanes(self) -> list[Lane]:
        """Two lanes in windows of one session, a person looking on; from here on everything is
        run as in the first pane."""
        ids = self.run(
            self.tmux, "-u", "-f", "/dev/null", "new-session", "-d", "-P", "-x", "100", "-y", "30",
            "-F", "#{socket_path},#{pid},0 #{pane_id}",
        )  # fmt: skip
        self.env["TMUX"], self.env["TMUX_PANE"] = ids.rsplit(" ", 1)
        self.env["TERM_PROGRAM"] = "tmux"
        self.attach()
        for name in ("one", "two"):
            self.run(self.scruff, "open", name, "-b")
        return [Lane(name, self.pane_of(name)) for name in ("one", "two")]

    def attach(self) -> None:
        ours, theirs = pty.openpty()
        env = {key: value for key, value in self.env.items() if not key.startswith("TMUX") or key == "TMUX_TMPDIR"}
        self.attached = subprocess.Popen(
            [self.tmux, "-u", "attach"], env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        threading.Thread(target=drain, args=(ours,), daemon=True).start()
        self.wait_for(lambda: self.run(self.tmux, "list-clients"), "the client attaches")

    def pane_of(self, lane: str) -> str:
        def find() -> str:
            panes = self.run(self.tmux, "list-panes", "-a", "-F", "#{pane_id} #{@scruff_lane}").splitlines()
            return next((pane.split()[0] for pane in panes if pane.endswith(f"/{lane}")), "")

        return self.wait_for(find, f"the pane of {lane}")

    def wait_for(self, found, what: str):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if it := found():
                return it
            time.sleep(0.01)
        raise SystemExit(f"waited in vain: {what}")

    def bare_focus(self, lane: Lane) -> list[list[str]]:
        """What anyone has to call who wants to bring a pane to the front: look, then go there."""
        client = self.client_name()
        tmux = [self.tmux, "-u"]
        look = [*tmux, "list-panes", "-a", "-F", PANE_FORMAT, ";", "list-clients", "-F", CLIENT_FORMAT]
        go = [
            *tmux, "select-window", "-t", lane.pane, ";", "select-pane", "-t", lane.pane, ";",
            "switch-client", "-c", client, "-t", lane.pane,
        ]  # fmt: skip
        return [look, go]

    def client_name(self) -> str:
        if not hasattr(self, "_client"):
            self._client = self.run(self.tmux, "list-clients", "-F", "#{client_name}").splitlines()[0]
        return self._client


def drain(fd: int) -> None:
    """A terminal that nobody reads would block."""
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass
