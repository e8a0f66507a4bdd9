"""A busy, full, read-only, deleted or shared disk: one clear line each, nothing lost, readable afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path

import apsw
import psycopg
import pytest

from hardwon import Hardwon, StoreError
from hardwon.serve.pool import Pool
from hardwon.store import sqlite
from hardwon.store.check import store as all_checks
from hardwon.store.database import connect
from hardwon.store.sqlite import SqliteDatabase
from tests.conftest import EXAMPLES, ClaudeSession, Run
from tests.store.test_lifecycle import make


def lessons(path: Path) -> list[str]:
    db = SqliteDatabase(path)
    assert [one for one in all_checks(db) if not one.ok] == []
    found = [text for (text,) in db.query("SELECT text FROM lesson ORDER BY text")]
    db.close()
    return found


@pytest.fixture
def live(home: Path) -> Path:
    db = SqliteDatabase(home / "hardwon.db", write=True)
    make(db, "Use uv.")
    db.close()
    return home / "hardwon.db"


def only_line(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


@contextmanager
def mounted(*arguments: str) -> Iterator[None]:
    done = subprocess.run(["mount", *arguments], capture_output=True, check=False) if shutil.which("mount") else None
    if done is None or done.returncode:
        pytest.skip("mounting needs the rights of root")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", arguments[-1]], check=True)


HOLD = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_another_process_that_writes_is_waited_for_and_then_named(live: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(live)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        assert holder.stdin
        assert holder.stdout.readline() == "held\n"
        db = SqliteDatabase(live, write=True, wait=200)
        assert db.query("SELECT text FROM lesson") == [("Use uv.",)]
        with pytest.raises(StoreError, match="in use by another process: try again"):
            make(db, "Use tabs.")
        db.close()
        db = SqliteDatabase(live, write=True, wait=30_000)
        holder.stdin.close()
        make(db, "Use tabs.")
    db.close()
    assert lessons(live) == ["Use tabs.", "Use uv."]


def test_a_full_disk_is_said_and_what_was_there_stays(hardwon: Run, home: Path, live: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.db"
    shutil.copy(live, kept)
    with mounted("-t", "tmpfs", "-o", "size=700k", "tmpfs", str(home)):
        shutil.copy(kept, live)
        line = only_line(hardwon("harvest", EXAMPLES))
        assert "the disk of" in line
        assert "full: free some space" in line
        assert "Use uv." in lessons(live)
        assert "BAD  disk" in hardwon("doctor").stdout
        assert "full" in only_line(hardwon("backup"))
        assert "Use uv." in lessons(live)
        subprocess.run(["mount", "-o", "remount,size=50m", str(home)], check=True)
        assert hardwon("harvest", EXAMPLES).returncode == 0
        assert "Use uv." in lessons(live)


def test_a_home_that_cannot_be_written_to_can_be_read(hardwon: Run, home: Path, live: Path, tmp_path: Path) -> None:
    hardwon("harvest", ClaudeSession("first").user("Always use spaces.").write(tmp_path))
    session = ClaudeSession().user("Always use tabs.").write(tmp_path)
    hook = [sys.executable, "-c", "from hardwon.hook.main import main; main()", "session-start"]
    with mounted("--bind", str(home), str(home)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(home)], check=True)
        line = only_line(hardwon("harvest", session))
        assert "check the folder's permissions or set HARDWON_HOME" in line
        assert "Use uv." in hardwon("lessons").stdout
        assert "cannot be written to" in hardwon("doctor").stdout
        assert hardwon("search", "uv").returncode == 0
        told = subprocess.run(hook, input='{"cwd": "/srv/work/reef"}', capture_output=True, text=True, check=True)
        assert "Always use spaces." in told.stdout
    assert hardwon("harvest", session).returncode == 0


def test_a_home_that_is_deleted_meanwhile_is_said_and_made_again(home: Path, tmp_path: Path) -> None:
    path = ClaudeSession().user("Always use tabs.").write(tmp_path)
    with Hardwon(home) as memory:
        memory.harvest([path])
        (lesson,) = memory.lessons.list()
        shutil.rmtree(home)
        with pytest.raises(StoreError, match="is gone: it was deleted or moved; run again"):
            memory.review.archive(lesson.id)
    with Hardwon(home) as memory:
        memory.harvest([path])
        assert [lesson.text for lesson in memory.lessons.list()] == ["Always use tabs."]


def test_on_a_network_file_system_there_is_no_shared_memory(
    live: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.platform != "linux":
        pytest.skip("the mounts are read from /proc")
    here = subprocess.run(["stat", "-f", "-c", "%T", str(home)], capture_output=True, text=True, check=True).stdout
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    monkeypatch.setattr(sqlite, "NETWORK", frozenset(fields[2] for fields in mounts))  # as if all of them were
    assert sqlite.network_disk(home), here
    db = SqliteDatabase(live, write=True)
    assert db.query("PRAGMA journal_mode") == [("delete",)]
    assert db.query("PRAGMA synchronous") == [(2,)]
    make(db, "Use tabs.")
    db.close()
    assert sorted(path.name for path in home.iterdir()) == ["hardwon.db"]
    with Hardwon(home) as memory:
        (said,) = [check.says for check in memory.store.check() if not check.ok]
    assert "set HARDWON_HOME to a local disk" in said
    monkeypatch.undo()
    SqliteDatabase(live, write=True).close()
    assert apsw.Connection(str(live)).execute("PRAGMA journal_mode").get == "wal"
    assert lessons(live) == ["Use tabs.", "Use uv."]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_a_file_that_may_not_grow_is_as_a_full_disk(home: Path, live: Path) -> None:
    program = (
        "import resource, signal, sys; from pathlib import Path; from hardwon import Hardwon; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000)); "
        "sys.argv = ['hardwon', 'harvest', sys.argv[1]]; from hardwon.cli.app import main; main()"
    )
    command = [sys.executable, "-c", program, str(EXAMPLES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "see that its disk is well and has room" in only_line(done)
    assert "Use uv." in lessons(live)


WRITES_ON = """
import sys
from pathlib import Path
from hardwon.store.sqlite import SqliteDatabase
from tests.store.test_lifecycle import make
db = SqliteDatabase(Path(sys.argv[1]), write=True)
for number in range(int(sys.argv[2])):
    make(db, f"Lesson {number}.")
    print(number, flush=True)
    if sys.stdin.readline() == "":  # the one who reads says when to go on; without an answer it stays open for ever
        break
"""
READS_BESIDE_A_WRITER = int(os.environ.get("READS_BESIDE_A_WRITER", "12"))


def test_a_read_only_home_is_read_with_all_that_was_acknowledged_and_is_never_called_damaged(
    home: Path, live: Path, tmp_path: Path, hardwon: Run
) -> None:
    """Another has the same folder to write to, as in a container."""
    seen = tmp_path / "seen"
    seen.mkdir()
    with mounted("--bind", str(home), str(seen)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(seen)], check=True)
        command = [sys.executable, "-c", WRITES_ON, str(live), str(READS_BESIDE_A_WRITER)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdin
            assert writer.stdout
            with Hardwon(seen) as memory:
                for number in range(READS_BESIDE_A_WRITER):
                    assert writer.stdout.readline() == f"{number}\n"
                    found = lessons(seen / "hardwon.db")
                    assert f"Lesson {number}." in found
                    assert f"Lesson {number}." in [lesson.text for lesson in memory.lessons.list()]
                    assert memory.store.healthy()
                    writer.stdin.write("\n")
                    writer.stdin.flush()
            kept = tmp_path / "kept.db"
            environment = {**os.environ, "HARDWON_HOME": str(seen)}
            assert hardwon("backup", kept, env=environment).returncode == 0
            assert lessons(kept) == found
            writer.stdin.close()


def test_a_reader_copies_a_store_that_is_written_to_without_a_pause(
    home: Path, live: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = SqliteDatabase(live, write=True)
    writer.query("PRAGMA wal_autocheckpoint = 3")  # the log is begun anew all the time
    copied = shutil.copyfile

    def while_it_changes(source: Path, target: str) -> None:
        if source == live and len(made) < 5:
            made.append(make(writer, f"Lesson {next(numbers)}."))
            writer.query("PRAGMA wal_checkpoint(TRUNCATE)")
        copied(source, target)

    made: list[str] = []
    numbers = count()
    monkeypatch.setattr(sqlite, "is_read_only", lambda _: True)
    monkeypatch.setattr(shutil, "copyfile", while_it_changes)
    assert len(lessons(live)) == 6
    monkeypatch.setattr(sqlite, "_TRIES_TO_COPY", 2)
    made.clear()
    with pytest.raises(StoreError, match="being written to"):
        lessons(live)
    writer.close()


def test_a_store_that_is_moved_while_it_is_served_is_said_and_no_empty_one_takes_its_place(
    home: Path, live: Path, tmp_path: Path
) -> None:
    pool = Pool(home, readers=1)
    away = tmp_path / "away.db"
    with pool.writing() as memory, pool.reading() as reader:
        memory.lessons.add("Use tabs.", scope="global")
        assert len(reader.lessons.list()) == 2
    live.rename(away)
    for _ in range(2):  # the second has no connection left
        with pytest.raises(StoreError, match=r"is gone|no store"), pool.reading() as reader:
            reader.lessons.list()
        with pytest.raises(StoreError, match="is gone: it was deleted or moved"), pool.writing() as memory:
            memory.lessons.add("Use spaces.", scope="global")
    assert not live.exists()
    away.rename(live)
    with pool.writing() as memory:
        memory.lessons.add("Use spaces.", scope="global")
    pool.close()
    assert lessons(live) == ["Use spaces.", "Use tabs.", "Use uv."]


def test_a_store_that_another_takes_the_place_of_is_left_for_it_and_loses_nothing(
    home: Path, live: Path, tmp_path: Path
) -> None:
    pool = Pool(home, readers=1)
    with pool.writing() as memory, pool.reading() as reader:
        memory.lessons.add("Use tabs.", scope="global")
        reader.lessons.list()
    live.rename(tmp_path / "away.db")
    with pytest.raises(StoreError, match=r"hardwon\.db-wal is there without hardwon\.db"):
        SqliteDatabase(live, write=True)
    for side in ("-wal", "-shm"):
        Path(f"{live}{side}").rename(tmp_path / f"away.db{side}")
    other = SqliteDatabase(live, write=True)
    make(other, "Of the other store.")
    with pool.reading() as reader:
        assert [lesson.text for lesson in reader.lessons.list()] == ["Of the other store."]
    with pool.writing() as memory:
        memory.lessons.add("Use spaces.", scope="global")
    pool.close()
    make(other, "Last.")
    other.close()
    assert lessons(live) == ["Last.", "Of the other store.", "Use spaces."]
    assert lessons(tmp_path / "away.db") == ["Use tabs.", "Use uv."]
    live.write_bytes(b"")
    with pytest.raises(StoreError, match="is empty: `hardwon restore`"):
        SqliteDatabase(live)


def test_a_server_that_ends_a_connection_is_not_said_to_be_set_wrongly(postgres: str) -> None:
    with closing(connect(postgres, write=True)) as db, psycopg.connect(postgres, autocommit=True) as other:
        (process,) = db.query("SELECT pg_backend_pid()")[0]
        with suppress(StoreError), db.transaction():
            other.execute("SELECT pg_terminate_backend(%s)", (process,))
            with pytest.raises(StoreError, match=r"^lost the connection to .*; try again$"):
                db.query("SELECT 1")
        assert not db.is_current()
