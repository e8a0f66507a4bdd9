"""How long a command takes from nothing, as a multiple of `python -c pass`."""

from __future__ import annotations

import compileall
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path

import oldhand
from benchmarks.filled import error, fill
from benchmarks.timing import markdown, medians
from oldhand import Oldhand
from oldhand.sessions.discover import below
from oldhand.sessions.project import Project
from oldhand.text.paths import tilde

ROUNDS = 41
EXAMPLES = Path(__file__).parent.parent / "examples" / "sessions"
START_FOLDER = "/home/dev/src/tidepool"
START = json.dumps({"hook_event_name": "SessionStart", "cwd": START_FOLDER, "session_id": "cold"})
FAILED = json.dumps({"error": "Exit code 1\nModuleNotFoundError: No module named 'asyncpg'"})


def table() -> str:
    compileall.compile_dir(Path(oldhand.__file__).parent, quiet=1)  # as an installation is
    with tempfile.TemporaryDirectory() as folder:
        empty, full, none = (Path(folder) / name for name in ("empty", "full", "none"))
        with Oldhand(empty) as memory:
            memory.harvest([])
        with Oldhand(full) as memory:
            memory.harvest(below(EXAMPLES))
        with_many = {count: Path(folder) / str(count) for count in (10_000, 100_000)}
        for count, home in with_many.items():
            fill(home, Project(tilde(START_FOLDER), tilde(START_FOLDER)), count)
        base = "python -c pass"
        goals = {
            "oldhand --help": ("12", command(none, "oldhand", "--help")),
            "oldhand-hook session-start, no store": ("3", command(none, "oldhand-hook", "session-start", text=START)),
            "oldhand-hook session-start, empty store": (
                "3",
                command(empty, "oldhand-hook", "session-start", text=START),
            ),
            "oldhand-hook tool-failed, empty store": ("3", command(empty, "oldhand-hook", "tool-failed", text=FAILED)),
            "oldhand-hook session-start, examples": ("8", command(full, "oldhand-hook", "session-start", text=START)),
            "oldhand-hook tool-failed, examples": ("5", command(full, "oldhand-hook", "tool-failed", text=FAILED)),
        }
        for count, home in with_many.items():
            known = json.dumps({"error": f"Exit code 1\n{error(count // 2)}"})
            name = f"{count // 1000}k lessons and failures"
            goals[f"oldhand-hook session-start, {name}"] = (
                "8",
                command(home, "oldhand-hook", "session-start", text=START),
            )
            goals[f"oldhand-hook tool-failed, {name}"] = ("5", command(home, "oldhand-hook", "tool-failed", text=known))
        subjects: dict[str, Callable[[], object]] = {base: command(none, sys.executable, "-c", "pass")}
        taken = medians(subjects | {name: run for name, (_, run) in goals.items()}, ROUNDS)
    rows = [
        (name, f"{taken[name] * 1000:.1f} ms", f"{taken[name] / taken[base]:.2f}", goal)
        for name, (goal, _) in goals.items()
    ]
    note = f"`python -c pass` itself: {taken[base] * 1000:.1f} ms. Median of {ROUNDS} rounds."
    return markdown("Cold start", ("command", "time", "× `python -c pass`", "goal"), rows, note)


def command(home: Path, program: str, *arguments: str, text: str = "") -> Callable[[], object]:
    script = Path(sysconfig.get_path("scripts")) / program
    line = [str(script) if script.exists() else program, *arguments]
    environment = {**os.environ, "OLDHAND_HOME": str(home)}

    def run() -> object:
        return subprocess.run(line, input=text.encode(), env=environment, stdout=subprocess.DEVNULL, check=True)

    return run
