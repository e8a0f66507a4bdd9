"""The store: durable settings, numbered migrations, a history that counts right."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import apsw
import pytest

from hardwon import Hardwon, StoreError
from hardwon.store import check, fulltext, migrations
from hardwon.store.sqlite import SqliteDatabase
from tests.conftest import ClaudeSession, write_lines


def test_a_new_store_is_at_the_newest_schema_and_durable(home: Path) -> None:
    db = SqliteDatabase(home / "hardwon.db", write=True)
    assert db.query("PRAGMA user_version") == [(migrations.NEWEST,)]
    assert db.query("PRAGMA journal_mode") == [("wal",)]
    assert db.query("PRAGMA synchronous") == [(2,)]


def _harvest(home: str, path: str) -> int:
    with Hardwon(home) as memory:
        return memory.harvest([Path(path)]).sessions


def test_processes_that_harvest_at_once_lose_nothing(home: Path, tmp_path: Path) -> None:
    paths = [
        ClaudeSession(f"s{n}", day=n + 1).run("make", "Error: cannot find gauge", exit_code=1).write(tmp_path)
        for n in range(8)
    ]
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        done = pool.starmap(_harvest, [(str(home), str(path)) for path in paths])
    assert sum(done) == 8
    with Hardwon(home) as memory:
        assert memory.store.totals()["sessions"] == 8
        assert memory.failures.list()[0].sessions == 8
        assert all(result.ok for result in memory.store.check())


def test_a_folder_joins_its_remote_when_a_later_session_names_it(home: Path, tmp_path: Path) -> None:
    claude = ClaudeSession("a", cwd="/gone/reef").user("Always use uv in this project.")
    codex = [
        {
            "type": "session_meta",
            "payload": {"id": "c", "cwd": "/gone/reef", "git": {"repository_url": "git@git.example:deep/reef.git"}},
        },
        {
            "type": "response_item",
            "timestamp": "2026-10-09T10:00:00Z",
            "payload": {"type": "message", "role": "user", "content": [{"text": "Always use uv in this project."}]},
        },
    ]
    with Hardwon(home) as memory:
        memory.harvest([claude.write(tmp_path)])
        memory.harvest([write_lines(tmp_path / "rollout.jsonl", codex)])
        (project,) = memory.store.projects()
        (lesson,) = memory.lessons.list()
        assert (project.name, project.sessions, lesson.source_count) == ("reef", 2, 2)
        assert "uv" in memory.bootstrap("git.example/deep/reef").text
        assert memory.bootstrap("/gone/reef").text
        assert all(result.ok for result in memory.store.check())


def test_the_search_index_agrees_with_the_store_and_a_difference_shows(home: Path, tmp_path: Path) -> None:
    with Hardwon(home) as memory:
        memory.harvest([ClaudeSession().user("Always use uv in this project.").write(tmp_path)])
    db = SqliteDatabase(home / "hardwon.db", write=True)
    assert fulltext.disagreements(db) == 0
    apsw.Connection(str(home / "hardwon.db")).execute("DELETE FROM search_item")
    assert fulltext.disagreements(db) > 0
    assert [result.name for result in check.store(db) if not result.ok] == ["index", "search"]


def test_a_full_disk_is_said_in_a_line_and_what_was_there_stays(home: Path) -> None:
    db = SqliteDatabase(home / "hardwon.db", write=True)
    with db.transaction():
        db.execute("INSERT INTO meta (key, value) VALUES ('kept', 'yes')")
    (pages,) = db.query("PRAGMA page_count")[0]
    db.query(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreError, match="full"), db.transaction():
        db.bulk("INSERT INTO meta (key, value) VALUES (?, ?)", ((str(n), "x" * 1000) for n in range(1000)))
    db.query("PRAGMA max_page_count = 1000000")
    with db.transaction():
        db.execute("INSERT INTO meta (key, value) VALUES ('after', 'yes')")
    assert db.query("SELECT key FROM meta ORDER BY key") == [("after",), ("kept",)]
