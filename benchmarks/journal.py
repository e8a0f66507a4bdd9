"""Finding the attempt that was like this one, against the source system's way: score the newest limit×3 rows."""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.timing import markdown, medians
from hardwon import Attempt, Hardwon

SIZES = (1_000, 10_000, 100_000)
QUERIES = 30
ROUNDS = 3
LIMIT = 5
Way = Callable[[str], list[str]]

_BASE = "every row, substrings"
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
_STOP_WORDS = frozenset("the a an to in on at for with and or of is are".split())
_VERBS = "add fix remove refactor speed-up test document cache retry log validate split rename".split()
_NOUNS = "endpoint parser cache lock session token index query report migration upload chart login filter queue".split()
_PARTS = "user order invoice tide harbour sensor gauge ledger mail search export import audit billing chat".split()
_PLACES = [
    first + second for first in "ba de ki lo mu ne po ri sa tu".split() for second in "bor dan kel mir nox".split()
]
"""Words that one attempt in fifty has."""
_HOW = "with a lock|by rewriting it|behind a flag|using the standard library|in two steps|with fewer queries".split("|")


def table() -> str:
    rows = []
    written = ""
    for size in SIZES:
        attempts, planted = _attempts(size)
        with tempfile.TemporaryDirectory() as folder, Hardwon(Path(folder) / "home") as memory:
            began = time.perf_counter()
            memory.journal.log_all(attempts)
            written = f"{(time.perf_counter() - began) / size * 1e6:.0f} µs to log one of {size:,}"
            rows += _measured(size, _ways(memory, _source_store(attempts)), planted)
    return markdown(
        "Similar attempts",
        ("attempts", "way", "time", "× every row", "planted match first", f"among the first {LIMIT}"),
        rows,
        f"{QUERIES} attempts planted at random ages and one behind all others, without a word of their own; each is "
        f"asked for in another order and with other endings. Median of {ROUNDS} rounds; {written}, scrubbed and "
        "indexed.",
    )


def _ways(memory: Hardwon, other: sqlite3.Connection) -> dict[str, Way]:
    return {
        _BASE: lambda query: _newest(other, query, -1),
        f"the newest {LIMIT * 3} rows, substrings (the source system's way)": lambda query: _newest(
            other, query, LIMIT * 3
        ),
        "`journal similar`": lambda query: [found.attempt.task for found in memory.journal.similar(query, limit=LIMIT)],
    }


def _measured(size: int, ways: dict[str, Way], planted: dict[str, str]) -> list[tuple[str, ...]]:
    def all_queries(way: Way) -> Callable[[], object]:
        return lambda: [way(query) for query in planted]

    taken = medians({name: all_queries(way) for name, way in ways.items()}, ROUNDS)
    rows: list[tuple[str, ...]] = []
    for name, way in ways.items():
        found = [(way(query), task) for query, task in planted.items()]
        first = sum(tasks[:1] == [task] for tasks, task in found) / len(planted)
        within = sum(task in tasks for tasks, task in found) / len(planted)
        each, share = taken[name] / len(planted) * 1000, taken[name] / taken[_BASE]
        rows.append((f"{size:,}", name, f"{each:.2f} ms", f"{share:.4f}", f"{first:.0%}", f"{within:.0%}"))
    return rows


def _attempts(size: int) -> tuple[list[Attempt], dict[str, str]]:
    """Attempts of a busy year, and query → task of those that are to be found again."""
    dice = random.Random(size)
    attempts = [
        Attempt(
            f"{dice.choice(_VERBS)} the {dice.choice(_PARTS)} {dice.choice(_NOUNS)} of {dice.choice(_PLACES)}",
            approach=dice.choice(_HOW),
            files=[f"src/{dice.choice(_PARTS)}/{dice.choice(_NOUNS)}_{dice.randrange(400)}.py"],
            at=_BEGAN + timedelta(minutes=at),
        )
        for at in range(size)
    ]
    planted: dict[str, str] = {}
    for at in (0, *dice.sample(range(1, size), QUERIES - 1)):  # the oldest is among them
        part, noun, (first, second) = dice.choice(_PARTS), dice.choice(_NOUNS), dice.sample(_PLACES, 2)
        attempts[at].task = f"Checking {first} and {second} in the {part} {noun} while saving"
        planted[f"check {noun}s of {part} against {second}, {first}"] = attempts[at].task
    return attempts, planted


def _source_store(attempts: list[Attempt]) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE journal (id INTEGER PRIMARY KEY, at TEXT, task TEXT, approach TEXT)")
    db.execute("CREATE INDEX journal_at ON journal (at)")
    rows = ((str(entry.at), entry.task, entry.approach) for entry in attempts)
    db.executemany("INSERT INTO journal (at, task, approach) VALUES (?, ?, ?)", rows)
    return db


def _newest(db: sqlite3.Connection, query: str, rows: int) -> list[str]:
    """The source system's scores for so many of the newest rows; -1 is all of them."""
    words = [word for word in query.lower().split() if word not in _STOP_WORDS]
    found = []
    now = None
    for at, task, approach in db.execute("SELECT at, task, approach FROM journal ORDER BY at DESC LIMIT ?", (rows,)):
        now = now or datetime.fromisoformat(at)
        score = sum(3 * (word in task.lower()) + (word in approach.lower()) for word in words)
        if score:
            age = (now - datetime.fromisoformat(at)).days
            found.append((score + (2 if age < 7 else 1 if age < 30 else 0), task))
    found.sort(key=lambda entry: -entry[0])
    return [task for _, task in found[:LIMIT]]
