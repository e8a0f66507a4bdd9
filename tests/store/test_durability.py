"""A harvest that is killed loses nothing it has acknowledged, leaves nothing torn, and is completed by the next."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.store import check
from hardwon.store.database import Database
from hardwon.store.sqlite import SqliteDatabase
from tests.conftest import ClaudeSession, write_lines
from tests.forked import COMMANDS

TRIALS = int(os.environ.get("KILL_TRIALS", "25"))
STATEMENTS = 800
"""About as many as the harvest below runs."""
SECONDS = 0.25
"""About as long as it takes."""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")

KILLED = """
import apsw, os, signal, sys
from pathlib import Path

from hardwon import Hardwon

home, folder, statements, seconds = sys.argv[1:]
left = int(statements)
def die(connection):
    def trace(_):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, trace)
if left:
    apsw.connection_hooks.append(die)
memory = Hardwon(home)
os.write(1, b"begun\\n")
if float(seconds):  # the kernel ends the process in mid-flight, as SIGKILL does
    signal.setitimer(signal.ITIMER_REAL, float(seconds))
acknowledge = lambda what, done, of: what == "harvesting" and os.write(1, b"%d\\n" % done)
report = memory.harvest(sorted(Path(folder).iterdir()), progress=acknowledge)
os.write(1, b"%d\\n" % len(list(Path(folder).iterdir())))
"""


def content(db: Database) -> dict[str, list[str]]:
    """Everything that the same files must give again, whatever happened on the way."""
    tables = {table: columns for table, columns in db.columns().items() if table not in ("meta", "hook_run")}
    tables["event"] = ["action", "actor", "item", "before", "after", "why"]
    return {
        table: sorted(repr(row) for row in db.query(f"SELECT {', '.join(columns)} FROM {table}"))
        for table, columns in tables.items()
    }


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight sessions of three projects, in the order of their names, one of which joins two projects."""
    folder = tmp_path_factory.mktemp("sessions")
    for number in range(7):
        (
            ClaudeSession(f"s{number}", cwd=f"/gone/{('reef', 'tide')[number % 2]}", day=number + 1)
            .user("Always use uv in this project." if number % 3 else f"Never touch file{number}.py in this project.")
            .run("pytest -q", f"ModuleNotFoundError: No module named 'mod{number % 2}'", exit_code=1)
            .run("make", f"Error: cannot find gauge {'abcdefg'[number]}x", exit_code=2)
            .run(f"uv sync --extra tide{number % 2}", "ok")
            .run("pytest -q", "ok")
            .write(folder)
        )
    remote = {"id": "c", "cwd": "/gone/reef", "git": {"repository_url": "git@git.example:deep/reef.git"}}
    said = {"type": "message", "role": "user", "content": [{"text": "Always use uv in this project."}]}
    write_lines(
        folder / "z-rollout.jsonl",
        [
            {"type": "session_meta", "payload": remote},
            {"type": "response_item", "timestamp": "2026-10-09T10:00:00Z", "payload": said},
        ],
    )
    return folder


@pytest.fixture(scope="module")
def undisturbed(sessions: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    with Hardwon(tmp_path_factory.mktemp("undisturbed")) as memory:
        memory.harvest(sorted(sessions.iterdir()))
        return content(memory.reading())


def harvest_and_die(home: Path, folder: Path, statements: int, seconds: float) -> int:
    """How many files the harvest acknowledged before its end."""
    done = COMMANDS.run(home, folder, statements, seconds, program=KILLED)
    assert done.returncode in (0, -signal.SIGKILL, -signal.SIGALRM), done.stderr
    begun, *acknowledged = done.stdout.split()
    assert begun == "begun"
    return max(map(int, acknowledged), default=0)


def assert_sound(db: Database) -> None:
    assert [one for one in check.store(db) if not one.ok] == []


@pytest.mark.parametrize("trial", range(TRIALS))
def test_a_killed_harvest_loses_nothing_and_the_next_completes_it(
    trial: int, home: Path, sessions: Path, undisturbed: dict[str, list[str]]
) -> None:
    chance = random.Random(trial)
    for _ in range(chance.choice((1, 1, 2))):
        at_statement = chance.random() < 0.6
        acknowledged = harvest_and_die(
            home,
            sessions,
            statements=chance.randint(1, STATEMENTS) if at_statement else 0,
            seconds=0.0 if at_statement else chance.uniform(0.001, SECONDS),
        )
        if (home / "hardwon.db").exists():
            db = SqliteDatabase(home / "hardwon.db", write=True)
            harvested = {row[0] for row in db.query("SELECT external_id FROM session")}
            assert harvested >= set(["s0", "s1", "s2", "s3", "s4", "s5", "s6", "c"][:acknowledged])
            assert_sound(db)
            db.close()
    with Hardwon(home) as memory:
        memory.harvest(sorted(sessions.iterdir()))
        assert content(memory.reading()) == undisturbed
        assert_sound(memory.reading())
