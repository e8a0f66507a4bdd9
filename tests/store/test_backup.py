"""A backup is made while others work and is known to be good; restoring one loses nothing."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from pathlib import Path

import apsw
import pytest

from hardwon import Hardwon, NotAllowed, NotFound, StoreCorrupt, StoreError, StoreTooNew
from hardwon.store import backup, check, lifecycle
from hardwon.store.sqlite import SqliteDatabase
from tests.conftest import EXAMPLES, Run
from tests.forked import COMMANDS
from tests.store.old_stores import FIXTURES, put
from tests.store.test_lifecycle import make, row


def texts(path: Path) -> list[str]:
    db = SqliteDatabase(path)
    try:
        return [text for (text,) in db.query("SELECT text FROM lesson ORDER BY text")]
    finally:
        db.close()


def add(path: Path, text: str) -> None:
    db = SqliteDatabase(path, write=True)
    make(db, text)
    db.close()


def assert_sound(path: Path) -> None:
    db = SqliteDatabase(path)
    assert [one for one in check.store(db) if not one.ok] == []
    db.close()


@pytest.fixture
def live(home: Path) -> Path:
    add(home / "hardwon.db", "Use uv.")
    return home / "hardwon.db"


def test_a_backup_has_everything_and_a_name_that_tells_when(home: Path, live: Path) -> None:
    with Hardwon(home) as memory:
        made = memory.store.backup()
    path = Path(made.file)
    assert backup.kept(home) == [path]
    assert texts(path) == ["Use uv."]
    assert_sound(path)
    assert sorted(each.name for each in path.parent.iterdir()) == [path.name]


def test_backups_of_the_same_second_have_different_names_and_the_oldest_go(home: Path, live: Path) -> None:
    with Hardwon(home) as memory:
        made = [memory.store.backup().file for _ in range(3)]
        last = memory.store.backup(keep=2)
    assert len(set(made)) == 3
    assert len(backup.kept(home)) == 2
    assert Path(last.file) in backup.kept(home)
    assert len(last.removed) == 2


def test_of_backups_of_one_second_the_one_made_last_is_the_newest(home: Path, live: Path) -> None:
    with Hardwon(home) as memory:
        for _ in range(12):
            made = memory.store.backup(keep=1)
            assert [str(path) for path in backup.kept(home)] == [made.file]


@pytest.mark.parametrize("keep", [0, -1])
def test_a_backup_that_would_be_removed_at_once_is_not_made(home: Path, live: Path, keep: int) -> None:
    with Hardwon(home) as memory:
        before = [memory.store.backup().file, memory.store.backup().file]
        with pytest.raises(NotAllowed, match="keep at least 1"):
            memory.store.backup(keep=keep)
        assert sorted(map(str, backup.kept(home))) == sorted(before)


def test_the_backup_just_made_is_kept_when_the_clock_was_set_back(home: Path, live: Path) -> None:
    with Hardwon(home) as memory:
        first = Path(memory.store.backup().file)
        later = first.with_name("hardwon-20990101-000000.db")
        first.rename(later)
        made = memory.store.backup(keep=1)
    assert backup.kept(home) == [Path(made.file)]
    assert made.removed == [str(later)]


def test_a_file_of_ones_own_is_never_overwritten(home: Path, live: Path, tmp_path: Path) -> None:
    target = tmp_path / "mine.db"
    with Hardwon(home) as memory:
        memory.store.backup(target)
        with pytest.raises(NotAllowed, match="there already"):
            memory.store.backup(target)


def test_a_damaged_store_makes_no_backup(home: Path, live: Path) -> None:
    apsw.Connection(str(live)).execute("UPDATE lesson SET text = 'forged'")
    with Hardwon(home) as memory, pytest.raises(StoreCorrupt, match="doctor --fix"):
        memory.store.backup()
    assert list((home / backup.FOLDER).iterdir()) == []


def _write_many(path: str, count: int) -> None:
    db = SqliteDatabase(Path(path), write=True)
    for number in range(count):
        with db.transaction():
            lifecycle.create(db, row(f"Number {number}."), [], actor="ada")
    db.close()


def test_a_backup_while_others_write_is_of_one_moment(live: Path, tmp_path: Path) -> None:
    db = SqliteDatabase(live)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        writing = pool.starmap_async(_write_many, [(str(live), 60)] * 2)
        made = 0
        while not writing.ready():
            backup.backup(db, tmp_path / f"{made}.db")
            made += 1
        writing.get()
    assert made > 0
    for number in range(made):
        assert_sound(tmp_path / f"{number}.db")
    db.close()


def test_restoring_brings_back_what_was_there_and_keeps_what_is(home: Path, live: Path) -> None:
    with Hardwon(home) as memory:
        made = memory.store.backup()
    add(live, "Use tabs.")
    with Hardwon(home) as memory:
        done = memory.store.restore(Path(made.file))
        assert memory.store.check()
    assert texts(live) == ["Use uv."]
    assert texts(Path(done.kept)) == ["Use tabs.", "Use uv."]
    assert_sound(live)
    assert sorted(path.name for path in home.iterdir() if path.is_dir()) == ["backups"]


def test_who_has_the_store_open_afterwards_sees_the_restored_one(home: Path, live: Path, tmp_path: Path) -> None:
    db = SqliteDatabase(live)
    backup.backup(db, tmp_path / "mine.db")
    db.close()
    inode = live.stat().st_ino
    add(live, "Use tabs.")
    backup.restore(tmp_path / "mine.db", live)
    assert live.stat().st_ino == inode
    add(live, "Use spaces.")
    assert texts(live) == ["Use spaces.", "Use uv."]


def test_while_the_store_is_in_use_nothing_is_restored(
    live: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = SqliteDatabase(live)
    backup.backup(db, tmp_path / "mine.db")
    add(live, "Use tabs.")
    monkeypatch.setattr(backup, "_MAX_WAIT_MILLISECONDS", 50)
    assert db.query("SELECT count(*) FROM lesson") == [(2,)]
    with pytest.raises(StoreError, match="in use by another process"):
        backup.restore(tmp_path / "mine.db", live)
    assert texts(live) == ["Use tabs.", "Use uv."]
    db.close()


def test_a_store_that_is_gone_or_ruined_is_restored_too(home: Path, live: Path) -> None:
    with Hardwon(home) as memory:
        made = Path(memory.store.backup().file)
    live.unlink()
    with Hardwon(home) as memory:
        assert memory.store.restore(made).kept == ""
    assert texts(live) == ["Use uv."]
    live.write_bytes(b"ruined" * 2000)
    with Hardwon(home) as memory:
        kept = memory.store.restore(made).kept
    assert texts(live) == ["Use uv."]
    assert Path(kept).read_bytes() == b"ruined" * 2000


def test_a_backup_of_an_older_hardwon_is_brought_up_to_date(home: Path, tmp_path: Path) -> None:
    old = put(FIXTURES[0], tmp_path / "old")
    with Hardwon(home) as memory:
        memory.store.restore(old)
        assert memory.lessons.list()
        assert all(one.ok for one in memory.store.check())
    assert apsw.Connection(str(old)).execute("PRAGMA user_version").get == 1


def test_what_is_not_sound_is_not_restored(home: Path, live: Path, tmp_path: Path) -> None:
    with Hardwon(home) as memory:
        made = Path(memory.store.backup().file)
        with pytest.raises(NotFound, match="no file"):
            memory.store.restore(tmp_path / "nowhere.db")
        connection = apsw.Connection(str(made))
        connection.execute("UPDATE lesson SET text = 'forged'")
        with pytest.raises(StoreCorrupt, match="rows: 1 of lesson"):
            memory.store.restore(made)
        connection.execute("PRAGMA user_version = 99")
        with pytest.raises(StoreTooNew, match="upgrade"):
            memory.store.restore(made)
        apsw.Connection(str(tmp_path / "other.db")).execute("CREATE TABLE tune (name)")
        with pytest.raises(StoreCorrupt, match="not a store of Hardwon"):
            memory.store.restore(tmp_path / "other.db")
    assert texts(live) == ["Use uv."]


def test_what_was_forgotten_since_stays_marked_as_forgotten(home: Path) -> None:
    with Hardwon(home) as memory:
        db = memory.writing()
        made = Path(memory.store.backup().file)
        with db.transaction():
            db.execute("INSERT INTO tombstone (kind, hash, hint, at) VALUES ('lesson', 'abc', 1, 2)")
        memory.store.restore(made)
        assert memory.reading().query("SELECT kind, hash FROM tombstone") == [("lesson", "abc")]


KILLED = """
import os, signal, sys
from pathlib import Path
import apsw
from hardwon.store import backup

left = int(sys.argv[3])
def die(connection):
    def trace(_):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, trace)
apsw.connection_hooks.append(die)
def audit(event, _):
    global left
    if event in ("os.rename", "os.remove", "shutil.rmtree"):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(audit)
backup.restore(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("step", [5, 40, 90, 110, 120, 124, 128])
def test_a_restore_that_is_killed_leaves_the_old_or_the_new_and_never_a_mixture(
    live: Path, tmp_path: Path, step: int
) -> None:
    db = SqliteDatabase(live)
    backup.backup(db, tmp_path / "mine.db")
    db.close()
    add(live, "Use tabs.")
    done = COMMANDS.run(tmp_path / "mine.db", live, step, program=KILLED)
    assert done.returncode in (0, -signal.SIGKILL)
    assert texts(live) in (["Use uv."], ["Use tabs.", "Use uv."])
    assert_sound(live)


def test_the_commands_say_what_they_did(hardwon: Run, home: Path, tmp_path: Path) -> None:
    hardwon("harvest", EXAMPLES)
    target = tmp_path / "mine.db"
    made = hardwon("backup", target)
    assert (made.returncode, made.stderr) == (0, "")
    assert "verified" in made.stdout
    restored = hardwon("restore", target)
    assert f"{target} is now the store." in restored.stdout
    assert "before-restore" in restored.stdout
    bad = hardwon("restore", EXAMPLES / "nothing")
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr.count("\n") == 1


def test_a_store_on_a_server_is_left_to_its_tools(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_DATABASE", "postgresql://nowhere/x")
    with Hardwon(home) as memory:
        for step in (memory.store.backup, memory.store.repair, lambda: memory.store.restore(home)):
            with pytest.raises(NotAllowed, match="pg_dump"):
                step()


def test_what_killed_backups_and_restores_left_is_removed_and_what_is_being_written_stays(
    home: Path, live: Path
) -> None:
    folder = home / "backups"
    folder.mkdir()
    old = [home / "unfinished-abc" / "hardwon.db", folder / "hardwon-1.db.77.new", folder / "hardwon-1.db.77.new-wal"]
    new = [home / "unfinished-def" / "hardwon.db", folder / "hardwon-2.db.78.new"]
    for path in (*old, *new):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half")
    for path in (*old, home / "unfinished-abc"):
        os.utime(path, (1, 1))
    with Hardwon(home) as memory:
        memory.store.backup()
    assert [path.exists() for path in (*old, *new)] == [False] * 3 + [True] * 2
    assert not (home / "unfinished-abc").exists()


def test_what_is_no_backup_is_said_in_words_that_are_true(home: Path, live: Path, tmp_path: Path) -> None:
    sound = tmp_path / "sound.db"
    with Hardwon(home) as memory:
        memory.store.backup(sound)
    wrong = tmp_path / "wrong.db"
    for content in (b"ruined" * 2000, b"", sound.read_bytes()[:8192]):
        wrong.write_bytes(content)
        with Hardwon(home) as memory, pytest.raises(StoreCorrupt, match=r"damaged|not a store") as told:
            memory.store.restore(wrong)
        assert "not an error" not in str(told.value)
    assert texts(live) == ["Use uv."]


def test_a_damaged_page_is_said_of_the_file_that_was_named(home: Path, live: Path, tmp_path: Path) -> None:
    hurt = tmp_path / "hurt.db"
    with Hardwon(home) as memory:
        memory.store.backup(hurt)
    root = apsw.Connection(str(hurt)).execute("SELECT rootpage FROM sqlite_master WHERE name = 'lesson'").get
    raw = bytearray(hurt.read_bytes())
    raw[(root - 1) * 4096 : root * 4096] = bytes(4096)
    hurt.write_bytes(raw)
    with Hardwon(home) as memory, pytest.raises(StoreCorrupt) as told:
        memory.store.restore(hurt)
    said = "was not restored, for it is damaged (integrity: cannot be checked: the file is damaged)"
    assert str(told.value) == f"{hurt} {said}: choose another backup"


@pytest.mark.skipif(sys.platform != "linux", reason="there is no other place where no folder can be made")
def test_where_no_folder_can_be_made_is_said_in_a_line(hardwon: Run, home: Path, live: Path) -> None:
    done = hardwon("backup", "/proc/nowhere/deeper/b.db")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "cannot make /proc/nowhere/deeper" in done.stderr
