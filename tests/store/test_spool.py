"""What hooks leave is stored once, whatever happens in between. On both engines."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.store import hook_data, spool
from hardwon.store.database import Database
from hardwon.store.sqlite import SqliteDatabase


def runs(db: Database) -> list[tuple[str, str, int, str]]:
    return db.query("SELECT event, agent, microseconds, error FROM hook_run ORDER BY at, id")


def left_in(home: Path) -> list[str]:
    return sorted(path.name for path in (home / spool.FOLDER).iterdir())


def test_what_hooks_leave_is_stored_by_the_next_writer_and_then_gone(db: Database, tmp_path: Path) -> None:
    assert spool.leave(str(tmp_path), "session-start", "codex", 31_000, "")
    assert spool.leave(str(tmp_path), "tool-failed", "", 42, "BusyError at read.py:9")
    assert len(spool.waiting(str(tmp_path))) == 2
    assert hook_data.drain_runs(db, str(tmp_path)) == 2
    expected = [("session-start", "codex", 31_000, ""), ("tool-failed", "", 42, "BusyError at read.py:9")]
    assert runs(db) == expected
    assert left_in(tmp_path) == []
    assert hook_data.drain_runs(db, str(tmp_path)) == 0
    assert runs(db) == expected


def test_the_first_write_of_a_process_drains(home: Path) -> None:
    home.mkdir()
    spool.leave(str(home), "session-start", "codex", 1, "")
    with Hardwon(home) as memory:
        assert runs(memory.writing()) == [("session-start", "codex", 1, "")]


def test_damaged_lines_are_skipped_and_said(db: Database, tmp_path: Path) -> None:
    spool.leave(str(tmp_path), "session-start", "", 1, "")
    path = tmp_path / spool.FOLDER / spool.OPEN
    whole = json.loads(path.read_text())
    with path.open("ab") as file:
        file.write(b'{"id": "torn in the midd')
    spool.leave(str(tmp_path), "tool-failed", "", 2, "")
    with path.open("ab") as file:
        wrong = [{**whole, "at": "yesterday"}, {**whole, "at": 1 << 70}, {**whole, "error": "\0"}, [1], "x", None]
        file.writelines(json.dumps(line).encode() + b"\n" for line in wrong)
        file.write(b"[" * 3000 + b"\n\xff\xfe\n")
    assert hook_data.drain_runs(db, str(tmp_path)) == 3
    assert sorted(runs(db)) == [
        ("session-start", "", 1, ""),
        ("spool", "", 0, "9 damaged lines were skipped"),
        ("tool-failed", "", 2, ""),
    ]


def test_the_spool_never_floods(tmp_path: Path) -> None:
    spool.leave(str(tmp_path), "session-start", "", 1, "")
    path = tmp_path / spool.FOLDER / spool.OPEN
    path.write_bytes(b"\n" * (spool.MAX_FILE_BYTES - 10))
    assert not spool.leave(str(tmp_path), "session-start", "", 1, "")
    assert path.stat().st_size < spool.MAX_FILE_BYTES
    path.unlink()
    assert spool.leave(str(tmp_path), "session-start", "", 1, "x" * 100_000)
    assert path.stat().st_size < spool.MAX_LINE_BYTES


def test_without_a_home_nothing_is_made(tmp_path: Path) -> None:
    assert not spool.leave(str(tmp_path / "gone"), "session-start", "", 1, "")
    assert not (tmp_path / "gone").exists()


def test_runs_are_kept_for_a_month(db: Database, tmp_path: Path) -> None:
    old = time.time_ns() // 1000 - hook_data.RUNS_KEPT_MICROSECONDS - 1
    with db.transaction():
        db.execute("INSERT INTO hook_run VALUES ('a', ?, 'session-start', '', 1, '')", (old,))
    spool.leave(str(tmp_path), "tool-failed", "", 2, "")
    hook_data.drain_runs(db, str(tmp_path))
    assert runs(db) == [("tool-failed", "", 2, "")]


def test_sixteen_hooks_at_once_lose_nothing_while_it_is_drained(tmp_path: Path) -> None:
    db = SqliteDatabase(tmp_path / "hardwon.db", write=True)
    left = [(str(tmp_path), "tool-failed", "", number, "") for number in range(100)] * 16
    with multiprocessing.get_context("spawn").Pool(16) as pool:  # which import the spool alone, as hooks do
        writing = pool.starmap_async(spool.leave, left, chunksize=100)
        while not writing.ready():
            hook_data.drain_runs(db, str(tmp_path))
        kept = sum(writing.get())
    hook_data.drain_runs(db, str(tmp_path))
    assert (kept, db.query("SELECT count(*) FROM hook_run")) == (1600, [(1600,)])


KILLED = """
import os, signal, sys
from pathlib import Path
from hardwon.store import hook_data
from hardwon.store.sqlite import SqliteDatabase

db = SqliteDatabase(Path(sys.argv[1]) / "hardwon.db", write=True)
sys.addaudithook(lambda event, _: event == "os.remove" and os.kill(os.getpid(), signal.SIGKILL))
hook_data.drain_runs(db, sys.argv[1])
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_killed_between_storing_and_removing_it_adds_nothing_twice(tmp_path: Path) -> None:
    for number in range(3):
        spool.leave(str(tmp_path), "tool-failed", "", number, "")
    with (tmp_path / spool.FOLDER / spool.OPEN).open("ab") as file:
        file.write(b"damaged\n")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(left_in(tmp_path)) == 1
    db = SqliteDatabase(tmp_path / "hardwon.db", write=True)
    assert len(runs(db)) == 4
    hook_data.drain_runs(db, str(tmp_path))
    assert (len(runs(db)), left_in(tmp_path)) == (4, [])
