"""What a command takes from nothing, as a multiple of `python -c pass`."""

from __future__ import annotations

import compileall
import json
import os
import resource
import secrets
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import hardwon
from benchmarks.filled import error, fill, fill_map
from benchmarks.timing import markdown, medians
from hardwon import Hardwon, afterwards
from hardwon.sessions.discover import below
from hardwon.sessions.project import Project
from hardwon.text.normalise import tilde

ROUNDS = 41
EXAMPLES = Path(__file__).parent.parent / "examples" / "sessions"
START_FOLDER = "/home/dev/src/tidepool"
START = {"hook_event_name": "SessionStart", "cwd": START_FOLDER}
PROMPT = {
    "hook_event_name": "UserPromptSubmit",
    "cwd": START_FOLDER,
    "prompt": "The parser_pool must be closed before the socket worker is drained: why does test_backfill.py hang?",
}
FAILED = {"error": "Exit code 1\nModuleNotFoundError: No module named 'asyncpg'"}
END = {"hook_event_name": "SessionEnd", "cwd": START_FOLDER, "transcript_path": "/nowhere/none.jsonl"}
BASE = "python -c pass"


def table() -> str:
    compileall.compile_dir(Path(hardwon.__file__).parent, quiet=1)  # as an installation is
    with tempfile.TemporaryDirectory() as folder:
        empty, full, none = (Path(folder) / name for name in ("empty", "full", "none"))
        with Hardwon(empty) as memory:
            memory.harvest([])
        with Hardwon(full) as memory:
            memory.harvest(below(EXAMPLES), mine=True)
            lesson = memory.lessons.list()[0].id
        stores: list[tuple[str, Path, dict[str, str]]] = [("0 lessons", empty, FAILED), ("examples", full, FAILED)]
        for count in (10_000, 100_000):
            home = Path(folder) / str(count)
            fill(home, Project(tilde(START_FOLDER), tilde(START_FOLDER)), count)
            known = {"error": f"Exit code 1\n{error(count // 2)}"}
            stores.append((f"{count // 1000}k lessons and failures", home, known))
        for sessions in (1_000, 10_000):
            mapped = Path(folder) / f"mapped-{sessions}"
            fill_map(mapped, Project(tilde(START_FOLDER), tilde(START_FOLDER)), sessions)
            stores.append((f"a map of {sessions // 1000}k sessions", mapped, FAILED))
        asked = {
            "search": ("search", "which database for tests"),
            "why": ("why", lesson),
            "failures match": ("failures", "match"),
            "bootstrap": ("bootstrap", "--project", "tidepool"),
        }
        goals = {
            "hardwon --help": ("12", command(none, "hardwon", "--help")),
            **{
                f"hardwon {name}, examples": ("15", command(full, "hardwon", *line, text=FAILED["error"]))
                for name, line in asked.items()
            },
            "hardwon-hook session-start, no store": ("3", hook(none, "session-start", START)),
        }
        for name, home, broken in stores:
            for event, goal, payload in (
                ("session-start", "8", START),
                ("prompt", "8", PROMPT),
                ("tool-failed", "5", broken),
            ):
                goals[f"hardwon-hook {event}, {name}"] = (goal, hook(home, event, payload))
        rows, base = _measured(goals, none)
        # Apart: each starts a process that goes on for a while.
        rows += _measured({"hardwon-hook session-end, 100k lessons": ("8", hook(home, "session-end", END))}, none)[0]
        _until_idle(home)
    note = f"`python -c pass` itself: {base * 1000:.1f} ms. Processor time, median of {ROUNDS} rounds."
    return markdown("Cold start", ("command", "time", "× `python -c pass`", "goal"), rows, note)


def _measured(
    goals: dict[str, tuple[str, Callable[[], object]]], none: Path
) -> tuple[list[tuple[str, str, str, str]], float]:
    subjects: dict[str, Callable[[], object]] = {BASE: command(none, sys.executable, "-c", "pass")}
    taken = medians(subjects | {name: run for name, (_, run) in goals.items()}, ROUNDS, _spent_by_children)
    rows = [
        (name, f"{taken[name] * 1000:.1f} ms", f"{taken[name] / taken[BASE]:.2f}", goal)
        for name, (goal, _) in goals.items()
    ]
    return rows, taken[BASE]


def _spent_by_children() -> float:
    """Processor time, which tells the same on a busy machine."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _until_idle(home: Path) -> None:
    """The processes that the ends of sessions have started use the folder until they end."""
    while afterwards.waiting(home):
        afterwards.main(home)
        time.sleep(0.1)


def hook(home: Path, event: str, payload: dict[str, str]) -> Callable[[], object]:
    """As the installer writes it into an agent's settings; a session of its own each time, or it would be silent."""
    line = (sys.executable, "-E", "-P", "-m", "hardwon.hook", event)

    def run() -> object:
        session = {"session_id": secrets.token_hex(8)}
        return command(home, *line, text=json.dumps(payload | session))()

    return run


def command(home: Path, program: str, *arguments: str, text: str = "") -> Callable[[], object]:
    script = Path(sysconfig.get_path("scripts")) / program
    line = [str(script) if script.exists() else program, *arguments]
    environment = {**os.environ, "HARDWON_HOME": str(home)}

    def run() -> object:
        return subprocess.run(line, input=text.encode(), env=environment, stdout=subprocess.DEVNULL, check=True)

    return run


if __name__ == "__main__":
    print(table())
