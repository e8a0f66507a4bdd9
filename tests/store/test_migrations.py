"""A store of any released schema is brought up to date in place, with everything kept."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import apsw
import pytest

from hardwon import Hardwon, StoreError
from hardwon.store import migrations
from hardwon.store.sqlite import SqliteDatabase
from tests.conftest import Run
from tests.forked import COMMANDS
from tests.store.old_stores import FIXTURES, put

KEPT = ("project", "project_root", "source", "session", "call", "failure", "occurrence", "fix", "lesson", "standing")


def counts(database: Path) -> dict[str, int]:
    connection = apsw.Connection(str(database))
    tables = (*KEPT, "fix_evidence", "lesson_source")
    return {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}


def test_there_is_a_store_of_every_older_schema() -> None:
    assert {int(path.name[:4]) for path in FIXTURES} >= set(range(1, migrations.NEWEST))


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.name)
def test_an_old_store_is_upgraded_with_everything_kept(fixture: Path, home: Path) -> None:
    database = put(fixture, home)
    before = counts(database)
    lessons = apsw.Connection(str(database)).execute("SELECT id, text FROM lesson ORDER BY id").fetchall()
    SqliteDatabase(database, write=True).close()
    assert counts(database) == before
    with Hardwon(home) as memory:
        assert [
            (lesson.id, lesson.text) for lesson in sorted(memory.lessons.list(), key=lambda each: each.id)
        ] == lessons
        assert memory.search("asyncpg")
        assert all(memory.lessons.get(lesson.id).sources for lesson in memory.lessons.list())
        assert [check for check in memory.store.check() if not check.ok] == []


def test_the_store_as_it_was_is_kept_beside_the_new_one(home: Path) -> None:
    database = put(FIXTURES[0], home)
    was = list(apsw.Connection(str(database)).execute("SELECT * FROM lesson ORDER BY id"))
    SqliteDatabase(database, write=True).close()
    copy = apsw.Connection(str(home / "hardwon.schema1.db"))
    assert copy.execute("PRAGMA user_version").fetchone() == (1,)
    assert list(copy.execute("SELECT * FROM lesson ORDER BY id")) == was


def test_reading_does_not_upgrade(home: Path) -> None:
    database = put(FIXTURES[0], home)
    with pytest.raises(StoreError, match="hardwon up"):
        SqliteDatabase(database)
    assert apsw.Connection(str(database)).execute("PRAGMA user_version").fetchone() == (1,)


KILLED = """
import apsw, os, signal, sys
from pathlib import Path
from hardwon.store.sqlite import SqliteDatabase

left = int(sys.argv[2])
def die(connection):
    def trace(_):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, trace)
apsw.connection_hooks.append(die)
SqliteDatabase(Path(sys.argv[1]), write=True).close()
print("done")
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("statement", [3, 9, 14, 20, 28, 35, 50, 66])
def test_an_upgrade_that_is_killed_is_completed_by_the_next(home: Path, statement: int) -> None:
    database = put(FIXTURES[0], home)
    before = counts(database)
    killed = COMMANDS.run(database, statement, program=KILLED)
    assert killed.returncode == -signal.SIGKILL
    SqliteDatabase(database, write=True).close()
    assert counts(database) == before
    with Hardwon(home) as memory:
        assert [check for check in memory.store.check() if not check.ok] == []


@pytest.mark.parametrize("command", [("up",), ("doctor", "--fix")])
def test_the_commands_that_are_named_for_it_upgrade_a_store_and_call_nothing_damaged(
    hardwon: Run, home: Path, command: tuple[str, ...]
) -> None:
    """With no session of any agent on the machine, too."""
    put(FIXTURES[0], home)
    assert "has an older schema: run `hardwon up` once" in hardwon("lessons").stderr
    done = hardwon(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert hardwon("lessons").returncode == 0
    assert not list(home.glob("*.damaged-*"))
