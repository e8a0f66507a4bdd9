"""Processes that write at the same time lose nothing and refuse nothing."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from benchmarks.concurrency import contend

from hardwon.store import check
from hardwon.store.database import connect
from hardwon.store.sqlite import SqliteDatabase
from tests.conftest import ClaudeSession

PROCESSES, WRITES = (int(os.environ.get(name, few)) for name, few in (("STORE_PROCESSES", 16), ("STORE_WRITES", 25)))


def test_every_acknowledged_write_of_every_process_is_there(tmp_path: Path) -> None:
    found = contend(tmp_path / "hardwon.db", PROCESSES, WRITES)
    assert (found.refused, found.lost, found.twice, found.wrong) == ([], 0, 0, [])
    assert len(found.seconds) == PROCESSES * WRITES


@pytest.mark.skipif(os.name == "nt", reason="Windows has no lock on a folder")
def test_who_has_just_written_does_not_overtake_who_waits(tmp_path: Path) -> None:
    path, order = tmp_path / "home" / "hardwon.db", list[str]()

    def write(name: str) -> None:
        with closing(SqliteDatabase(path, write=True)) as db, db.transaction():
            order.append(name)

    with closing(SqliteDatabase(path, write=True)) as db, ThreadPoolExecutor(1) as threads:
        with db.transaction():
            waiting = threads.submit(write, "who waited")
            while not _somebody_waits(path.parent):
                assert not waiting.done()
        with db.transaction():
            order.append("who has just written")
        waiting.result()
    assert order == ["who waited", "who has just written"]


def _somebody_waits(folder: Path) -> bool:
    file = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def test_a_writer_that_is_stopped_in_line_keeps_nobody_from_a_free_store(tmp_path: Path) -> None:
    SqliteDatabase(tmp_path / "hardwon.db", write=True).close()
    file = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(file, fcntl.LOCK_EX)
    with closing(SqliteDatabase(tmp_path / "hardwon.db", write=True, wait=50)) as db, db.transaction():
        db.execute("INSERT INTO meta (key, value) VALUES ('written', 'yes')")
    os.close(file)


FIRST_HARVEST = """
import sys
from hardwon.cli.app import main
from hardwon import Hardwon
sys.stdin.readline()  # all begin at once
sys.argv = ["hardwon", "harvest", sys.argv[1]]
main()
"""
FIRST_HARVESTS = int(os.environ.get("FIRST_HARVESTS", "6"))


def test_first_harvests_at_the_same_time_make_one_store(
    place: Path | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(place, str):
        monkeypatch.setenv("HARDWON_DATABASE", place)
    folder = tmp_path / "sessions"
    for number in range(8):
        session = ClaudeSession(f"s{number}", day=number + 1).user(f"Always use tool{number}.")
        session.run("make", "Error: cannot find gauge", exit_code=2).write(folder)
    command = [sys.executable, "-c", FIRST_HARVEST, str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = [subprocess.Popen(command, text=True, **pipes) for _ in range(FIRST_HARVESTS)]
    for process in running:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [process.communicate(timeout=300) for process in running]
    told_to = [error for _, error in ended if error.endswith("is in use by another process: try again\n")]
    for _ in told_to:  # where the machine gave the writer no time
        assert subprocess.run(command, input="go\n", text=True, capture_output=True, check=False).returncode == 0
    assert [error for _, error in ended if error and error not in told_to] == []
    assert sum(process.returncode == 0 for process in running) == FIRST_HARVESTS - len(told_to)
    db = connect(place)
    assert db.query("SELECT count(*) FROM session") == [(8,)]
    assert [one for one in check.store(db) if not one.ok] == []
    db.close()


def test_who_found_no_store_and_waited_while_another_made_it_goes_on_with_that_one(postgres: str) -> None:
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with psycopg.connect(postgres, autocommit=True) as other, ThreadPoolExecutor(2) as threads:
        with other.transaction():
            other.execute("SELECT pg_advisory_xact_lock(hashtext('hardwon ' || current_schema()))")
            opening = [threads.submit(connect, postgres, write=True) for _ in range(2)]
            while other.execute(waiting).fetchone() != (2,):
                assert not any(one.done() for one in opening)
        for one in opening:
            one.result().close()
