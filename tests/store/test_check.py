"""`hardwon doctor` sees what is wrong, whatever it is, and says it in a line."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.store import check, spool, sqlite
from hardwon.store.database import Database, insert
from hardwon.store.sqlite import SqliteDatabase
from tests.conftest import EXAMPLES, ClaudeSession, Run
from tests.store.conftest import Open
from tests.store.test_lifecycle import make


def wrong(db: Database) -> dict[str, str]:
    return {one.name: one.says for one in check.store(db) if not one.ok}


def test_a_new_store_is_sound(db: Database) -> None:
    assert wrong(db) == {}
    make(db, "Use uv.")
    assert wrong(db) == {}


def test_rows_of_a_source_that_is_gone_are_orphans(db: Database) -> None:
    lesson = make(db, "Use uv.")
    known, gone, imported = "S0123456789abcdef", "Sfedcba9876543210", "notes of Monday"
    columns = ("lesson", "source", "message_index", "root", "at", "quote", "origin")
    with db.transaction():
        db.execute("INSERT INTO bootstrap VALUES ('B1', '', NULL, '', '', 1, 1, '', 1.0, '', '', 1)")
        for source in (known, gone, imported):
            db.execute(insert("lesson_source", columns), (lesson, source, 0, "r", 1, "q", "user"))
        names = [name for name in db.columns()["session"] if name != "project"]
        kinds = {"outcome": "unknown", "owner": "own"}
        numbers = ("_at", "messages", "calls", "errors", "records", "redactions", "_in", "_out", "cost")
        values = [
            known if name == "id" else 0 if name.endswith((*numbers, "harvester_version")) else kinds.get(name, "")
            for name in names
        ]
        db.execute(insert("session", names), values)
    assert check.orphans(db, "lesson_source") == [gone]
    assert wrong(db) == {"orphans": "rows of sources that are gone: 1 in lesson_source"}


def test_a_table_that_nobody_meant_to_change_shows(db: Database, open_store: Open) -> None:
    if db.engine != "sqlite":
        pytest.skip("PostgreSQL has checksums of its pages")
    make(db, "Use uv.")
    db._connection.preupdate_hook(None)  # type: ignore[attr-defined] # as the disk would do it
    with db.transaction():
        db.execute("UPDATE lesson SET helpful = 7")
        db.execute("UPDATE meta SET value = 'other'")
        db.execute("INSERT INTO project (id, key, name) VALUES ('P1', 'k', 'n')")
    assert wrong(open_store()) == {"tables": "not what was written: lesson, project"}


def test_the_sums_hold_whatever_is_written_taken_back_or_deleted_with_its_parent(db: Database) -> None:
    one, two = make(db, "Use uv."), make(db, "Use tabs.")
    with db.transaction():
        db.execute(insert("lesson_link", ("lesson", "relation", "other", "at")), (one, "supports", two, 5))
    with suppress(ZeroDivisionError), db.transaction():
        db.execute("DELETE FROM lesson_link")
        raise ZeroDivisionError
    assert wrong(db) == {}
    with db.transaction():
        db.execute("UPDATE lesson_link SET at = 6")
        db.execute("DELETE FROM lesson WHERE id = ?", (two,))
        db.unindex([two])
    assert db.query("SELECT * FROM lesson_link") == []
    assert wrong(db) == {}


def test_hooks_are_shown_with_their_timings_and_last_error(home: Path) -> None:
    home.mkdir()
    for number in range(20):
        spool.leave(str(home), "session-start", "codex", 1000 * (number + 1), "")
    with Hardwon(home) as memory:
        memory.writing()
    spool.leave(str(home), "tool-failed", "", 9000, "BusyError at read.py:12: locked")
    with Hardwon(home) as memory:
        shown = {one.name: one for one in memory.store.check()}
    assert shown["hooks"].says == "session-start 20x p50 11 ms p95 20 ms, tool-failed 1x p50 9 ms p95 9 ms"
    assert not shown["hook errors"].ok
    says = shown["hook errors"].says
    assert "once in the last 7 days, the hook tool-failed, just now: BusyError at read.py:12: locked" in says
    assert "report it" in says


@pytest.mark.parametrize(("times", "is_well"), [(1, True), (3, False)])
def test_garbage_on_a_hooks_stdin_is_no_fault_of_ours_until_it_repeats(home: Path, times: int, is_well: bool) -> None:
    with Hardwon(home) as memory:
        memory.writing()
    for _ in range(times):
        spool.leave(str(home), "prompt", "codex", 9000, "JSONDecodeError at decoder.py:355")
    with Hardwon(home) as memory:
        shown = {one.name: one for one in memory.store.check()}
    assert "hook errors" not in shown
    assert shown["hook input"].ok == is_well
    assert "the hook prompt of codex, just now: whoever called it gave it no JSON" in shown["hook input"].says
    with Hardwon(home) as memory:
        assert [run["error"] == "" for run in memory.store.last_runs()["codex"]] == [is_well], "as `status` tells it"


def test_an_old_error_of_a_hook_is_no_news(home: Path) -> None:
    with Hardwon(home) as memory:
        db = memory.writing()
        old = time.time_ns() // 1000 - 8 * 24 * 3600 * 1_000_000
        with db.transaction():
            db.execute("INSERT INTO hook_run VALUES ('a', ?, 'tool-failed', '', 5, 'boom')", (old,))
        assert all(one.ok for one in memory.store.check())


def test_the_newest_backup_is_named_with_its_age(home: Path) -> None:
    with Hardwon(home) as memory:
        memory.writing()
        assert "`hardwon backup`" in {one.name: one.says for one in memory.store.check()}["backups"]
        made = memory.store.backup()
        assert Path(made.file).name in {one.name: one.says for one in memory.store.check()}["backups"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ada/.local/share/hardwon", "nfs4"),
        ("/home", "nfs4"),
        ("/homely", ""),
        ("/mnt/my share/x", "cifs"),
        ("/mnt/remote/deep/x", "fuse.sshfs"),
        ("/mnt/remote/local/x", ""),
        ("/", ""),
    ],
)
def test_a_network_file_system_is_known_by_its_mount(path: str, kind: str) -> None:
    mounts = """/dev/vda / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
//server/share /mnt/my\\040share cifs rw 0 0
ada@host: /mnt/remote fuse.sshfs rw 0 0
/dev/vdb /mnt/remote/local ext4 rw 0 0
torn"""
    assert sqlite.network_disk_of_mounts(path, [line.split() for line in mounts.splitlines()]) == kind


def test_doctor_says_what_is_wrong_as_json_and_by_its_exit_code(hardwon: Run, home: Path) -> None:
    hardwon("harvest", EXAMPLES)
    done = hardwon("doctor", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["healthy"]) == (0, True)
    assert all(set(one) == {"name", "ok", "says"} for one in found["checks"])
    db = SqliteDatabase(home / "hardwon.db", write=True)
    with db.transaction():
        db.execute("UPDATE lesson SET text = 'forged'")
    db.close()
    done = hardwon("doctor", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["healthy"]) == (1, False)
    assert [one["name"] for one in found["checks"] if not one["ok"]] == ["search", "rows"]


def test_a_file_that_is_no_database_is_said_and_does_not_stop_the_doctor(hardwon: Run, home: Path) -> None:
    hardwon("harvest", EXAMPLES)
    (home / "hardwon.db").write_bytes(b"ruined" * 2000)
    done = hardwon("doctor")
    assert (done.returncode, done.stderr) == (1, "")
    assert "BAD  store" in done.stdout
    assert "hardwon restore" in done.stdout
    assert "ok   disk" in done.stdout


def test_a_harvest_that_was_not_completed_is_no_fault(home: Path, tmp_path: Path) -> None:
    path = ClaudeSession().user("Always use uv.").run("make", "Error: cannot find gauge", exit_code=1).write(tmp_path)
    with Hardwon(home) as memory:
        memory.harvest([path])
        db = memory.writing()
        with db.transaction():
            failures = [row[0] for row in db.query("SELECT id FROM failure")]
            db.unindex(failures)
            db.bulk("INSERT INTO stale (item) VALUES (?)", [(id,) for id in failures])
        assert wrong(db) == {}


def test_doctor_names_files_that_seem_to_hold_more_than_was_read(home: Path, tmp_path: Path) -> None:
    whole = ClaudeSession("whole").user("go").run("make", "done")
    losing = ClaudeSession("losing").user("go")
    losing.records += [{"type": "assistant", "message": {"content": [], "tool_calls": [{"id": f"{n}"}]}} for n in "abc"]
    refused = tmp_path / "refused.json"
    refused.write_text('[{"role": "user", "content": "go"}, {"role": "assistant", "content": "no"}, 1]')
    with Hardwon(home) as memory:
        memory.harvest([whole.write(tmp_path)])
        assert readers(memory) == "the 1 newest files were counted anew"
        memory.harvest([losing.write(tmp_path), refused])
        told = readers(memory)
    assert "losing.jsonl (3 tool calls, 0 read)" in told
    assert "refused.json (refused)" in told
    assert "whole.jsonl" not in told


def readers(memory: Hardwon) -> str:
    (found,) = (one for one in memory.store.check() if one.name == "readers")
    assert found.ok
    return found.says
