"""Writing to the store, against SQLite alone writing the same rows."""

from __future__ import annotations

import json
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from benchmarks.timing import markdown
from hardwon.store import lifecycle
from hardwon.store.lessons import Cited, LessonRow
from hardwon.store.sqlite import SqliteDatabase

LESSONS = 100_000
AT_ONCE = 5_000
ROUNDS = 3
SINGLE = 300
FILLED = ("lesson", "lesson_source", "event", "search_item", "search_index")

_VERBS = "use run set keep avoid check call build open close pass read write mock patch import install pin".split()
_PLACES = "before after inside without during under behind outside".split()


def table() -> str:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        ours, raw = zip(*(bulk(home / str(number)) for number in range(ROUNDS)), strict=True)
        single = singles(home)
    ingest, same = statistics.median(ours), statistics.median(raw)
    commit = single["a bare durable commit"]
    rows = [
        (f"{LESSONS:,} lessons, the same rows by executemany", f"{same:.2f} s", "1.00", ""),
        (f"{LESSONS:,} lessons, checked, hashed, audited, indexed", f"{ingest:.2f} s", f"{ingest / same:.2f}", "3"),
        *(
            (name, f"{took * 1e6:.0f} µs", f"{took / commit:.2f}", "1.3" if name == "one lesson, acknowledged" else "")
            for name, took in single.items()
        ),
    ]
    note = (
        f"Bulk in transactions of {AT_ONCE:,}, median of {ROUNDS} rounds; the raw rows are those of every table "
        f"that the other wrote, with indexes, full text and audit trail. Single writes: median of {SINGLE} in turn; "
        "the journal is the source system's `log_attempt`: open, insert, commit, close."
    )
    return markdown("Writing to the store", ("what", "time", "× raw", "goal"), rows, note)


def bulk(home: Path) -> tuple[float, float]:
    """Seconds for our way, and for SQLite's alone with the rows that came of it."""
    given = list(lessons(LESSONS))
    with closing(SqliteDatabase(home / "ours.db", write=True)) as db:
        began = time.perf_counter()
        for at in range(0, LESSONS, AT_ONCE):
            with db.transaction():
                lifecycle.create_many(db, given[at : at + AT_ONCE], actor="benchmark")
        ours = time.perf_counter() - began
        written = {name: (columns(db, name), rows_of(db, name)) for name in FILLED}
    with closing(SqliteDatabase(home / "raw.db", write=True)):
        pass
    connection = apsw.Connection(str(home / "raw.db"))
    for setting in ("synchronous = FULL", "secure_delete = ON", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}")
    statements = {
        name: f"INSERT INTO {name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        for name, (names, _) in written.items()
    }
    began = time.perf_counter()
    for at in range(0, LESSONS, AT_ONCE):
        connection.execute("BEGIN IMMEDIATE")
        for name, (_, rows) in written.items():
            connection.executemany(statements[name], rows[at : at + AT_ONCE])
        connection.execute("COMMIT")
    raw = time.perf_counter() - began
    connection.close()
    return ours, raw


def columns(db: SqliteDatabase, name: str) -> list[str]:
    return ["rowid", "terms"] if name == "search_index" else [row[1] for row in db.query(f"PRAGMA table_info({name})")]


def rows_of(db: SqliteDatabase, name: str) -> list[tuple[Any, ...]]:
    order = {"lesson": "rowid", "lesson_source": "at", "event": "number", "search_item": "id"}.get(name, "rowid")
    return db.query(f"SELECT {', '.join(columns(db, name))} FROM {name} ORDER BY {order}")


def lessons(count: int) -> Iterator[tuple[LessonRow, list[Cited]]]:
    """Sentences as lessons are: common words, and names of code that only a few share."""
    chosen = random.Random(7)
    words = ["".join(chosen.choices("etaoinshrdlu", k=chosen.randint(3, 9))) for _ in range(4_000)]
    names = [f"{chosen.choice(words)}_{chosen.choice(words)}" for _ in range(3_000)]
    for number in range(count):
        path = f"src/{chosen.choice(words)}/{chosen.choice(names)}.py"
        said = " ".join(chosen.choices(words, k=chosen.randint(5, 14)))
        text = (
            f"{chosen.choice(_VERBS).capitalize()} `{chosen.choice(names)}` {chosen.choice(_PLACES)} {path}: {said} "
            f"--{chosen.choice(words)} {number}."
        )
        at = 1_700_000_000_000_000 + number
        yield (
            LessonRow("", "fact", text, "global", None, "", 0.8, 0.8, "active", "human", "", "", at, at, 0, 0),
            [Cited("", f"I{number}", 0, f"manual:{number}", at, said, "user")],
        )


def singles(home: Path) -> dict[str, float]:
    """Median seconds of one durable write, each way in turn."""
    bare = apsw.Connection(str(home / "bare.db"))
    for setting in ("journal_mode = WAL", "synchronous = FULL"):
        bare.execute(f"PRAGMA {setting}")
    bare.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    db = SqliteDatabase(home / "single.db", write=True)
    given = lessons(SINGLE)

    def one_commit() -> None:
        bare.execute("BEGIN IMMEDIATE")
        bare.execute("INSERT INTO note (text) VALUES (?)", ("x" * 200,))
        bare.execute("COMMIT")

    def one_lesson() -> None:
        row, sources = next(given)
        with db.transaction():
            lifecycle.create(db, row, sources, actor="benchmark")

    journal = home / "journal.db"
    prepare_journal(journal)
    subjects: dict[str, Callable[[], None]] = {
        "a bare durable commit": one_commit,
        "one lesson, acknowledged": one_lesson,
        "the source journal's log_attempt": lambda: log_attempt(journal),
    }
    taken: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(SINGLE):
        for name, run in subjects.items():
            began = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - began)
    db.close()
    bare.close()
    return {name: statistics.median(times) for name, times in taken.items()}


def prepare_journal(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            """
            CREATE TABLE modification_journal (
                id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp DATETIME DEFAULT CURRENT_TIMESTAMP,
                task_description TEXT NOT NULL, approach TEXT, files_modified JSON, diff TEXT, test_results TEXT,
                outcome TEXT CHECK (outcome IN ('success', 'failure', 'rollback')), failure_analysis TEXT,
                reflection TEXT, retry_count INTEGER DEFAULT 0, embedding BLOB
            );
            CREATE INDEX idx_journal_outcome ON modification_journal (outcome);
            CREATE INDEX idx_journal_timestamp ON modification_journal (timestamp);
            CREATE INDEX idx_journal_task ON modification_journal (task_description);
            """
        )


def log_attempt(path: Path) -> None:
    """As the source system writes one: a connection for every write, SQLite's default journal."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO modification_journal (task_description, approach, files_modified, diff, test_results, "
            "outcome, failure_analysis, reflection, retry_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                "Add retry to the tide client",
                "wrap it",
                json.dumps(["src/tide.py"]),
                "+x",
                "1 passed",
                "success",
                "",
                "",
                0,
            ),
        )


if __name__ == "__main__":
    print(table())
