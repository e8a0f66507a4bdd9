"""A ModificationJournal comes in without loss, with its times, once. On both engines."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon, HardwonError
from hardwon.clock import iso
from hardwon.store import integrity
from hardwon.store.integrity import whole_hash
from tests.exchange.conftest import made_up_secret

DDL = """
CREATE TABLE modification_journal (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    timestamp DATETIME DEFAULT CURRENT_TIMESTAMP,
    task_description TEXT NOT NULL,
    approach TEXT,
    files_modified JSON,
    diff TEXT,
    test_results TEXT,
    outcome TEXT CHECK(outcome IN ('success', 'failure', 'rollback')),
    failure_analysis TEXT,
    reflection TEXT,
    retry_count INTEGER DEFAULT 0,
    embedding BLOB
);
CREATE INDEX idx_journal_outcome ON modification_journal(outcome);
CREATE INDEX idx_journal_timestamp ON modification_journal(timestamp);
CREATE INDEX idx_journal_task ON modification_journal(task_description);
"""
FULL = {
    "timestamp": "2026-02-03 04:05:06",
    "task_description": "Add error handling to the health endpoint",
    "approach": "Wrap it in try/except",
    "files_modified": json.dumps(["src/app.py", "tests/test_app.py", "docs/größe.md"]),
    "diff": "--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n-x\n+y\n",
    "test_results": "5 passed in 0.1s",
    "outcome": "success",
    "failure_analysis": "none",
    "reflection": "Test the error path first.",
    "retry_count": 2,
    "embedding": b"\x00\x01\x02\x03",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "self_coding.db"


def journal(path: Path, *rows: dict[str, Any]) -> Path:
    with sqlite3.connect(path) as connection:
        connection.executescript(DDL)
        for row in rows:
            names, marks = ", ".join(row), ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO modification_journal ({names}) VALUES ({marks})", list(row.values()))
    connection.close()
    return path


def attempts(memory: Hardwon) -> list[dict[str, Any]]:
    names = memory.reading().columns()["attempt"]
    rows = memory.reading().query(f"SELECT {', '.join(names)} FROM attempt ORDER BY number")
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_every_field_has_its_place(memory: Hardwon, path: Path) -> None:
    report = memory.store.import_from("journal", journal(path, FULL))
    assert report.added == {"attempts": 1, "lessons": 1}
    assert report.left_out == ["embedding: 1 vectors; the store makes its own from the text"]
    (row,) = attempts(memory)
    assert row["number"] == 1
    assert row["task"] == FULL["task_description"]
    for name in "approach diff test_results outcome failure_analysis reflection retry_count".split():
        assert row[name] == FULL[name]
    assert iso(row["started_at"]) == "2026-02-03T04:05:06Z"
    assert row["source"] == "import"
    files = memory.reading().query("SELECT path, role FROM attempt_file ORDER BY path")
    assert files == [("docs/größe.md", "modified"), ("src/app.py", "modified"), ("tests/test_app.py", "modified")]
    assert integrity.broken_seals(memory.reading(), "attempt") == []
    assert [check for check in memory.store.check() if not check.ok] == []


@pytest.mark.parametrize(
    "stamp", ["2026-02-03 04:05:06", "2026-02-03T04:05:06", "2026-02-03T04:05:06+00:00", "2026-02-03T05:05:06+01:00"]
)
def test_times_are_kept_whatever_their_form(memory: Hardwon, path: Path, stamp: str) -> None:
    memory.store.import_from("journal", journal(path, {**FULL, "timestamp": stamp}))
    assert iso(attempts(memory)[0]["started_at"]) == "2026-02-03T04:05:06Z"


def test_importing_twice_adds_nothing(memory: Hardwon, path: Path) -> None:
    journal(path, FULL, {**FULL, "outcome": "failure"}, {"task_description": "No more"})
    memory.store.import_from("journal", path)
    before = whole_hash(memory.reading())
    again = memory.store.import_from("journal", path)
    assert (again.added, again.known) == ({}, {"attempts": 3})
    assert whole_hash(memory.reading()) == before


def test_a_dry_run_tells_and_does_nothing(memory: Hardwon, path: Path) -> None:
    before = whole_hash(memory.reading())
    assert memory.store.import_from("journal", journal(path, FULL), dry_run=True).added["attempts"] == 1
    assert whole_hash(memory.reading()) == before


def test_numbers_that_are_taken_give_way(memory: Hardwon, tmp_path: Path) -> None:
    first = journal(tmp_path / "one.db", {**FULL, "id": 1}, {**FULL, "id": 7})
    second = journal(tmp_path / "two.db", *({**FULL, "id": n, "task_description": f"Task {n}"} for n in (1, 2, 9)))
    memory.store.import_from("journal", first)
    memory.store.import_from("journal", second)
    found = {row["number"]: (row["task"], row["evidence"]) for row in attempts(memory)}
    assert sorted(found) == [1, 2, 7, 9, 10]
    assert found[10] == ("Task 1", "entry 1 of a modification journal")


def test_rows_that_the_journal_itself_stumbles_over_come_in(memory: Hardwon, path: Path) -> None:
    journal(
        path,
        {"task_description": "Nothing else is known"},
        {"task_description": "Bad list", "files_modified": "src/app.py, not json"},
        {"task_description": "Bad time", "timestamp": "yesterday", "outcome": "rollback"},
        {"task_description": "Odd count", "retry_count": "many"},
        {"task_description": b"\xff\xfebytes"},
    )
    memory.store.import_from("journal", path)
    rows = attempts(memory)
    assert [row["outcome"] for row in rows] == ["unknown", "unknown", "rollback", "unknown", "unknown"]
    assert memory.reading().query("SELECT path FROM attempt_file") == [("src/app.py, not json",)]
    written = path.stat().st_mtime_ns // 1000
    assert rows[2]["started_at"] == written
    assert rows[3]["retry_count"] == 0


def test_secrets_stay_outside(memory: Hardwon, path: Path) -> None:
    secret = made_up_secret()
    row = {**FULL, "diff": f"+token = {secret}", "files_modified": json.dumps(["/home/ada/reef/x.py"])}
    report = memory.store.import_from("journal", journal(path, row))
    assert report.redactions == 1
    assert secret not in str(attempts(memory))
    assert memory.reading().query("SELECT path FROM attempt_file") == [("~/reef/x.py",)]


def test_attempts_are_found_by_their_words(memory: Hardwon, path: Path) -> None:
    memory.store.import_from("journal", journal(path, FULL))
    assert [hit[1] for hit in memory.reading().matches(["health"], 5)] == ["attempt"]


def test_the_journal_is_only_read(memory: Hardwon, path: Path) -> None:
    before = journal(path, FULL).read_bytes()
    memory.store.import_from("journal", path)
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in path.parent.glob("self_coding*")) == ["self_coding.db"]


def test_what_is_no_journal_is_refused_in_one_line(memory: Hardwon, tmp_path: Path) -> None:
    text = tmp_path / "notes.db"
    text.write_text("not a database")
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE modification_journal (x)")
    connection.close()
    view = tmp_path / "view.db"
    with sqlite3.connect(view) as connection:
        connection.execute("CREATE VIEW modification_journal AS SELECT 1 AS id, '' AS task_description, '' AS outcome")
    connection.close()
    for path, why in (
        (text, "not a SQLite database"),
        (other, "not a ModificationJournal"),
        (view, "not a ModificationJournal"),
        (tmp_path / "gone.db", "no such file"),
    ):
        with pytest.raises(HardwonError, match=why) as caught:
            memory.store.import_from("journal", path)
        assert "\n" not in str(caught.value)


def test_a_damaged_journal_leaves_nothing_half_imported(memory: Hardwon, path: Path) -> None:
    journal(path, *({**FULL, "id": n, "diff": "x" * 5000} for n in range(1, 200)))
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 40_000] = b"\xff" * 40_000
    path.write_bytes(content)
    before = whole_hash(memory.reading())
    with pytest.raises(HardwonError, match="damaged") as caught:
        memory.store.import_from("journal", path)
    assert "\n" not in str(caught.value)
    assert whole_hash(memory.reading()) == before
