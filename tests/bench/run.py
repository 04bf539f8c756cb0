#!/usr/bin/env python3
"""What scruff costs, as ratios to what the same thing costs without it.

    run.py [WORD]     measure every row, or those whose name holds WORD

Each row sets a program against a base on this machine, in turns, so that whatever else the
machine does falls on both; the medians' ratio must not pass the row's limit.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).parent))
from place import Place  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
WARM_UP = 5
TURNS = 60


@dataclass
class Row:
    """`subject(turn)` and `base(turn)` say which programs to run, one after the other."""

    name: str
    limit: float
    subject: Callable[[int], list[list[str]]]
    base: Callable[[int], list[list[str]]]


def build() -> str:
    """Builds the release and says where it is, wherever cargo puts it."""
    command = ["cargo", "build", "--release", "--locked", "--bin", "scruff"]
    messages = subprocess.run(
        [*command, "--message-format=json-render-diagnostics"], cwd=ROOT, check=True, stdout=subprocess.PIPE
    ).stdout.splitlines()
    built = [m.get("executable") for m in map(json.loads, messages) if m.get("target", {}).get("name") == "scruff"]
    return next(path for path in built if path)


def seconds(programs: list[list[str]], env: dict[str, str]) -> float:
    """Wall clock of the programs, run one after the other with nothing to read and nowhere to write."""
    null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1, 2)]
    start = time.perf_counter()
    for program in programs:
        pid = os.posix_spawn(program[0], program, env, file_actions=null)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code != 0:
            said = subprocess.run(program, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            sys.exit(f"{program} exited {code} while it was measured\n{said.stdout}{said.stderr}")
    return time.perf_counter() - start


def measure(row: Row, env: dict[str, str]) -> tuple[float, float]:
    """The medians of subject and base, in milliseconds."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(-WARM_UP, TURNS):
        pair = seconds(row.subject(turn), env), seconds(row.base(turn), env)
        if turn >= 0:
            times[0].append(pair[0] * 1000)
            times[1].append(pair[1] * 1000)
    return statistics.median(times[0]), statistics.median(times[1])


def rows(place: Place) -> list[Row]:
    true = shutil.which("true") or sys.exit("there is no program `true`")
    lanes = place.two_running_lanes()
    return [
        Row("start-up: scruff --version / true", 1.5, lambda _: [[place.scruff, "--version"]], lambda _: [[true]]),
        Row(
            "scruff focus / the bare tmux calls",
            3.0,
            lambda turn: [[place.scruff, "focus", lanes[turn % 2].name]],
            # The other lane, so that both always have something to do.
            lambda turn: place.bare_focus(lanes[(turn + 1) % 2]),
        ),
    ]


def main() -> int:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    over = 0
    with Place(build(), ROOT) as place:
        print(f"{'':44} {'ms':>7} {'base':>7} {'ratio':>6} {'limit':>6}")
        for row in rows(place):
            if wanted not in row.name:
                continue
            subject, base = measure(row, place.env)
            good = subject / base <= row.limit
            over += not good
            verdict = "ok" if good else "OVER"
            print(f"{row.name:44} {subject:7.2f} {base:7.2f} {subject / base:6.2f} {row.limit:6.2f}  {verdict}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
