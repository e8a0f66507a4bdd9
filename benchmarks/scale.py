"""A company's database: 1,000 projects, 100,000 sessions, 1,000,000 lessons on one PostgreSQL, and a hundredth of it.

    python -m benchmarks.scale [--share 1.0] [--keep FOLDER]

One row of each table is written by the program itself; the server then makes the others from it, so that filling takes
minutes, and once where the folder of the server is kept. Seals of such rows are wrong, which nothing that is timed here
reads.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import psycopg

from benchmarks.filled import START, a_session, error
from benchmarks.timing import markdown
from benchmarks.writers import server, workspace
from hardwon import Hardwon
from hardwon.config import Config
from hardwon.failures.fingerprint import VERSION, fingerprint
from hardwon.sessions.project import Project
from hardwon.store import failures, lessons, meta, projects
from hardwon.store.database import connect, insert
from hardwon.store.fulltext import entry
from hardwon.store.lessons import LessonRow
from hardwon.store.sessions import add

PROJECTS, SESSIONS, LESSONS, FAILURES = 1_000, 100_000, 1_000_000, 100_000
WORDS = 4_000
"""Different ones; the first come in far more texts than the last, as in any language."""
WORDS_PER_LESSON = 14
ASKED = 60
GOALS = {"briefing": 30, "search in a project": 60, "search everywhere": 60}
_HOUR = 3_600_000_000
_LONG = "SET statement_timeout = 0; SET maintenance_work_mem = '512MB'; SET synchronous_commit = off"


class Size(NamedTuple):
    projects: int
    sessions: int
    lessons: int
    failures: int


class Took(NamedTuple):
    p50: float
    p95: float
    """Milliseconds."""


def words() -> list[str]:
    """They are their own stems."""
    consonants, vowels = "bdfgklmnprtvz", "aou"
    syllables = [c + v for c in consonants for v in vowels]
    return [f"{a}{b}k" for a in syllables for b in syllables * 3][:WORDS]


def filled(address: str, name: str, size: Size) -> str:
    """The address of a store of this size: one that an earlier run left, or a new one."""
    place = workspace(address, name)
    with closing(connect(place)) as db:
        left = db.query("SELECT obj_description(current_schema()::regnamespace)")[0][0]
    if left != repr(size):
        fill(place, size)
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute(f"COMMENT ON SCHEMA {name} IS '{size!r}'")
    return place


def fill(place: str, size: Size) -> None:
    with closing(connect(place, write=True)) as db, db.transaction():
        first = Project("git.example/p0", "")
        projects.save(db, first)
        at = START
        row = a_session("S0", first, 0)
        add(db, row, [])
        lessons.add(db, [_lesson(first, at)], [])
        found = fingerprint(error(1))
        assert found
        failure = (found.id, VERSION, found.family, found.error_type, error(1), at, at, 1, 1)
        db.execute(insert("failure", failures.FAILURE_COLUMNS), failure)
        known = (first.id, found.id, 1, 1, at, at, "pytest -q", "claude-code", "", "", error(1))
        db.execute(insert("failure_in_project", failures.IN_PROJECT_COLUMNS), known)
        db.index([entry(found.id, "failure", error(1))])
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute(_LONG)
        connection.execute("CREATE TEMP TABLE said (n bigint, text text)")
        chance, every = random.Random(1), words()
        with connection.cursor().copy("COPY said FROM STDIN") as copy:
            for number in range(size.lessons):
                picked = (every[int(chance.random() ** 2 * WORDS)] for _ in range(WORDS_PER_LESSON))
                copy.write(f"{number}\t{' '.join(picked)}\n")
        connection.execute("CREATE UNIQUE INDEX ON said (n)")
        # The index is made anew at the end: a million single insertions into it take ten times as long.
        connection.execute("DROP INDEX search_item_lexemes")
        project = "'P' || lpad(to_hex(n % {0}), 24, '0')"
        _repeat(connection, "project", size.projects, {
            "id": "'P' || lpad(to_hex(n), 24, '0')", "key": "'git.example/p' || n || '-' || n", "name": "'p' || n",
        })  # fmt: skip
        when = f"{START} + n * {_HOUR} / 100"
        _repeat(connection, "session", size.sessions, {
            "id": "'S' || lpad(to_hex(n), 24, '0')", "external_id": "'s-' || n", "path": "'~/s/' || n",
            "project": project.format(size.projects), "root": "'claude-code:s-' || n", "content_hash": "md5(n::text)",
            "started_at": when, "ended_at": when,
        })  # fmt: skip
        _repeat(connection, "lesson", size.lessons, {
            "id": "'L' || lpad(to_hex(n), 24, '0')", "project": project.format(size.projects),
            "text": "(SELECT s.text FROM said s WHERE s.n = n.n)",
            "text_hash": "md5(n::text)", "first_seen": when, "last_confirmed": when,
        })  # fmt: skip
        _repeat(connection, "failure", size.failures, {
            "id": "'F' || lpad(to_hex(n), 24, '0')", "first_seen": when, "last_seen": when,
        })  # fmt: skip
        _repeat(connection, "failure_in_project", size.failures, {
            "project": project.format(size.projects), "failure": "'F' || lpad(to_hex(n), 24, '0')",
            "first_seen": when, "last_seen": when,
        })  # fmt: skip
        connection.execute(
            "INSERT INTO search_item (item, type, terms, hash, size, lexemes) SELECT id, 'lesson', text, '', "
            f"{WORDS_PER_LESSON}, array_to_tsvector(string_to_array(text, ' ')) FROM lesson WHERE id NOT IN "
            "(SELECT item FROM search_item)"
        )
        connection.execute(
            "UPDATE search_total SET items = s.items, words = s.words "
            "FROM (SELECT count(*) AS items, sum(size) AS words FROM search_item) s WHERE part = 0"
        )
        connection.execute("CREATE INDEX search_item_lexemes ON search_item USING gin (lexemes)")
        connection.execute("ANALYZE")


def _lesson(project: Project, at: int) -> LessonRow:
    text = "The first lesson."
    id = lessons.harvested_id("fact", "project", project.id, "", text)
    return LessonRow(
        id, "fact", text, "project", project.id, "", 0.75, 0.75, "active", "human", "user-directive", "", at, at, 1, 1
    )


def _repeat(connection: psycopg.Connection, table: str, count: int, given: dict[str, str]) -> None:
    """So many rows like the first of a table, but for what is given."""
    began = time.perf_counter()
    rows = connection.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = %s "
        "ORDER BY ordinal_position",
        (table,),
    ).fetchall()
    columns = [row[0] for row in rows]
    values = [given.get(column, f"t.{column}") for column in columns]
    connection.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} "
        f"FROM (SELECT * FROM {table} LIMIT 1) t, generate_series(0, {count - 1}) n (n) ON CONFLICT DO NOTHING"
    )
    print(f"{table}: {count:,} in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


def timed(place: str, size: Size) -> dict[str, Took]:
    chance = random.Random(7)
    known = words()

    def sought() -> str:
        return " ".join(known[int(chance.random() ** 2 * WORDS)] for _ in range(5))

    def project() -> str:
        return f"P{chance.randrange(size.projects):024x}"

    with tempfile.TemporaryDirectory() as home, Hardwon(Path(home)) as memory:
        memory.config = Config(database=place, fusion_weight=0.0)
        ways: dict[str, Callable[[], object]] = {
            "briefing": lambda: memory.bootstrap(project()),
            "search in a project": lambda: memory.search(sought(), project=project()),
            "search everywhere": lambda: memory.search(sought()),
        }
        found = {}
        for name, ask in ways.items():
            for _ in range(5):
                ask()
            taken = sorted(_milliseconds(ask) for _ in range(ASKED))
            found[name] = Took(statistics.median(taken), taken[int(0.95 * ASKED)])
            print(f"{name}: {found[name]} load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
        assert memory.search(sought()).hits
        return found


def _milliseconds(ask: Callable[[], object]) -> float:
    began = time.perf_counter()
    ask()
    return (time.perf_counter() - began) * 1000


def table(share: float = 1.0, kept: str = "") -> str:
    whole = Size(*(max(1, int(number * share)) for number in (PROJECTS, SESSIONS, LESSONS, FAILURES)))
    small = Size(*(max(1, number // 100) for number in whole))
    with server(kept) as started:
        found, sizes = [], []
        for name, size in (("small", small), ("whole", whole)):
            place = filled(started.get_uri(), name, size)
            found.append(timed(place, size))
            with closing(connect(place)) as db:
                sizes.append(meta.size_of(db))
    rows = [
        (name, f"{found[0][name].p50:.0f} ms", f"{found[1][name].p50:.0f} ms", f"{found[1][name].p95:.0f} ms",
         f"{found[1][name].p50 / found[0][name].p50:.1f} ×", f"{goal} ms")
        for name, goal in GOALS.items()
    ]  # fmt: skip
    note = (
        f"{whole.projects:,} projects, {whole.sessions:,} sessions, {whole.lessons:,} lessons, {whole.failures:,} "
        f"failures: {sizes[1] / 1e9:.2f} GB with indexes; a hundredth: {sizes[0] / 1e6:.0f} MB. {ASKED} questions each "
        f"after 5 not counted, by words alone; load average {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores."
    )
    return markdown("A company's database", ("what", "p50 at 1%", "p50", "p95", "grows", "goal"), rows, note)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--share", type=float, default=1.0)
    arguments.add_argument("--keep", default="")
    given = arguments.parse_args()
    print(table(given.share, given.keep))
