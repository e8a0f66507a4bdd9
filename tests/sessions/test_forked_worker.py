"""A worker that is forked touches nothing of whoever forked it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import apsw
import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells how many threads run")

_ASKED = """
import gc, sys, threading
import apsw, msgspec
from hardwon.sessions.workers import Workers

nothing = msgspec.msgpack.encode([])

def ask(count=1):
    with Workers("hardwon.sessions.scan", count) as workers:
        assert list(workers.answers([nothing] * 20)) == [nothing] * 20
        return {type(process).__name__ for process in workers.processes}
"""


def run(program: str, *arguments: str) -> str:
    line = [sys.executable, "-c", _ASKED + program, *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=True, timeout=120).stdout


def test_what_was_not_printed_yet_is_printed_once() -> None:
    assert run("print('before')\nprint(*ask(3))\nprint('after')") == "before\nForked\nafter\n"


def test_a_database_that_nobody_holds_any_more_is_not_closed_by_a_worker(tmp_path: Path) -> None:
    """To close it there would write its journal back while whoever opened it still writes."""
    program = """
class Held:
    def __del__(self):
        print("gone", flush=True)

def opened():
    database = apsw.Connection(sys.argv[1])
    database.execute("PRAGMA journal_mode = wal").fetchall()
    return database

gc.disable()
left = Held()
left.itself, left.database = left, opened()
left.database.execute("CREATE TABLE t (x)")
del left
writing = opened()
writing.execute("BEGIN")
writing.execute("INSERT INTO t VALUES (1)")
gc.enable()
print(*ask(), flush=True)
writing.execute("INSERT INTO t VALUES (2)")
writing.execute("COMMIT")
gc.collect()
"""
    assert run(program, str(tmp_path / "one.db")) == "Forked\ngone\n"
    found = apsw.Connection(str(tmp_path / "one.db"))
    assert found.execute("SELECT x FROM t ORDER BY x").fetchall() == [(1,), (2,)]
    assert found.execute("PRAGMA integrity_check").get == "ok"


def test_where_another_thread_runs_a_worker_is_a_fresh_python() -> None:
    program = """
done = threading.Event()
thread = threading.Thread(target=done.wait)
thread.start()
print(*ask())
done.set()
thread.join()
"""
    assert run(program) == "Popen\n"


def test_a_worker_that_finds_nothing_to_do_never_returns_to_who_forked() -> None:
    program = """
with Workers("hardwon.no_such_module", 2) as workers:
    assert list(workers.answers([nothing] * 3)) == [None] * 3
    assert all(process.wait() == 0 for process in workers.processes)
print("once")
"""
    assert run(program) == "once\n"
