"""A busy, full, read-only, deleted or shared disk: one clear line each, nothing lost, readable afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from hardwon import Hardwon, StoreError
from hardwon.store import sqlite
from hardwon.store.check import store as all_checks
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
