"""Bringing a project's lessons in order: all of them for the first time, and one new one among those that are there."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from benchmarks.timing import markdown
from hardwon.harvest.upkeep import put_in_order
from hardwon.store import lessons
from hardwon.store.database import Database, connect
from hardwon.store.lessons import Cited, LessonRow

SIZES = (1_000, 10_000)
_PROJECT = "P1"
_SYLLABLES = "ba de ki lo mu ne po ri sa tu".split()
_NAMES = [first + second + third for first in _SYLLABLES for second in _SYLLABLES for third in ("x", "nd", "rk")]
_ACTIONS = "installs builds tests linting releases migrations backups deploys formatting codegen".split()
_FORMS = (
    "Use {a} instead of {b} for {c} in `{d}/{n}`.",
    "For {c} in `{d}/{n}`, always use {a}, not {b}.",
    "Never use {b} for the {c} of {d}.",
    "The {c} of {d} need {a} {n}.",
    "Run `{a} {c}` before the {c} of {d} after a change of {b}.",
)


def table() -> str:
    rows = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            db = connect(Path(folder) / "store.db", write=True)
            _fill(db, size)
            there, first = lessons.count(db), _seconds(db)
            left = lessons.count(db)
            _add(db, [("L~new", "Use pnpm instead of npm for the new thing in `web/1`.")])
            in_conflict = len(lessons.disputed(db))
            rows.append(
                (
                    f"{there:,}",
                    f"{left:,}",
                    f"{in_conflict:,}",
                    f"{first:.2f} s",
                    f"{first / size * 1e6:.0f} µs",
                    _again(db, first),
                )
            )
            db.close()
    headings = ("lessons of one project", "left", "in conflict", "all of them", "each", "one new one, × all of them")
    return markdown("Putting lessons in order", headings, rows, "CPU time; SQLite.")


def _again(db: Database, first: float) -> str:
    return f"{_seconds(db) / first:.3f}"


def _seconds(db: Database) -> float:
    began = time.process_time()
    with db.transaction():
        put_in_order(db, _PROJECT)
    return time.process_time() - began


def _fill(db: Database, size: int) -> None:
    chance = random.Random(7)
    with db.transaction():
        db.execute("INSERT INTO project (id, key, name) VALUES (?, ?, ?)", (_PROJECT, "k", "n"))
    said = []
    for number in range(size):
        a, b, d = chance.sample(_NAMES, 3)
        text = chance.choice(_FORMS).format(a=a, b=b, c=chance.choice(_ACTIONS), d=d, n=chance.randrange(60))
        said.append((f"L{number:06}", text))
        if not number % 50:
            said.append((f"L{number:06}b", text.replace("Use ", "Please use ").replace("Never", "Do not")))
    _add(db, said)


def _add(db: Database, said: list[tuple[str, str]]) -> None:
    rows = [
        LessonRow(
            id,
            "preference",
            text,
            "project",
            _PROJECT,
            "",
            0.8,
            0.8,
            "active",
            "human",
            "user-correction",
            "",
            1,
            1,
            1,
            1,
        )
        for id, text in said
    ]
    with db.transaction():
        lessons.add(db, rows, [Cited(id, f"S{id}", 1, f"r{id}", 5, text, "user") for id, text in said])


if __name__ == "__main__":
    print(table())
