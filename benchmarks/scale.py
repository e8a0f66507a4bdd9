"""A company's database: 1,000 projects, 100,000 sessions, 1,000,000 lessons on one PostgreSQL, and a hundredth of it.

    python -m benchmarks.scale [--share 1.0] [--keep FOLDER] [--sessions FOLDER] [--vectors 100000]

One row of each table is written by the program itself; the server then makes the others from it, so that filling takes
minutes, and once where the folder of the server is kept. Seals of such rows are wrong, which nothing that is timed here
reads.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import psycopg
from msgspec.structs import replace

from benchmarks.filled import START, a_session, error
from benchmarks.timing import markdown
from benchmarks.writers import backend, processor_seconds, server, workspace
from hardwon import Hardwon
from hardwon.config import Config
from hardwon.exchange.team import SessionRows, Taken
from hardwon.failures.fingerprint import VERSION, fingerprint
from hardwon.sessions.project import Project, project_id
from hardwon.store import failures, lessons, meta, postgres, projects, schema
from hardwon.store.database import Vector, connect, insert
from hardwon.store.fulltext import entry
from hardwon.store.lessons import LessonRow
from hardwon.store.sessions import add
from hardwon.team import outgoing
from hardwon.text.normalise import made

PROJECTS, SESSIONS, LESSONS, FAILURES = 1_000, 100_000, 1_000_000, 100_000
WORDS = 4_000
"""Different ones; the first come in far more texts than the last, as in any language."""
WORDS_PER_LESSON = 14
ASKED = 60
GOALS = {"briefing": 30, "search in a project": 60, "search everywhere": 60, "push of one session": 200}
EXAMPLES = Path(__file__).parent.parent / "examples" / "sessions"
_DIMENSIONS = 384
_HOUR = 3_600_000_000
_LONG = "SET statement_timeout = 0; SET maintenance_work_mem = '512MB'; SET synchronous_commit = off"


class Size(NamedTuple):
    projects: int
    sessions: int
    lessons: int
    failures: int


class Took(NamedTuple):
    """Milliseconds."""

    processor: float
    """Of client and server, half of all took less: what it takes where nobody else is busy."""
    p50: float
    p95: float


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
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA {name} CASCADE")
        workspace(address, name)
        fill(place, size)
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute(f"COMMENT ON SCHEMA {name} IS '{size!r}'")
    return place


def key_of(number: int) -> str:
    return f"git.example/p{number}"


def fill(place: str, size: Size) -> None:
    with closing(connect(place, write=True)) as db, db.transaction():
        first = Project(key_of(0), "")
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
        connection.execute("CREATE TEMP TABLE named (n bigint PRIMARY KEY, id text, key text)")
        with connection.cursor().copy("COPY named FROM STDIN") as copy:
            for number in range(size.projects):
                copy.write(f"{number}\t{project_id(key_of(number))}\t{key_of(number)}\n")
        one = "(SELECT p.{} FROM named p WHERE p.n = n.n)"
        _repeat(connection, "project", size.projects, {
            "id": one.format("id"), "key": one.format("key"), "name": "'p' || n",
        })  # fmt: skip
        project = f"(SELECT p.id FROM named p WHERE p.n = n.n % {size.projects})"
        when = f"{START} + n * {_HOUR} / 100"
        _repeat(connection, "session", size.sessions, {
            "id": "'S' || lpad(to_hex(n), 24, '0')", "external_id": "'s-' || n", "path": "'~/s/' || n",
            "project": project, "root": "'claude-code:s-' || n", "content_hash": "md5(n::text)",
            "started_at": when, "ended_at": when,
        })  # fmt: skip
        _repeat(connection, "lesson", size.lessons, {
            "id": "'L' || lpad(to_hex(n), 24, '0')", "project": project,
            "text": "(SELECT s.text FROM said s WHERE s.n = n.n)",
            "text_hash": "md5(n::text)", "first_seen": when, "last_confirmed": when,
        })  # fmt: skip
        _repeat(connection, "failure", size.failures, {
            "id": "'F' || lpad(to_hex(n), 24, '0')", "first_seen": when, "last_seen": when,
        })  # fmt: skip
        _repeat(connection, "failure_in_project", size.failures, {
            "project": project, "failure": "'F' || lpad(to_hex(n), 24, '0')",
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


def timed(place: str, size: Size, folder: Path) -> dict[str, Took]:
    chance = random.Random(7)
    known = words()

    def sought() -> str:
        return " ".join(known[int(chance.random() ** 2 * WORDS)] for _ in range(5))

    def project() -> int:
        return chance.randrange(size.projects)

    def pushed() -> list[Taken]:
        return memory.team.take([_session(next(sessions), key_of(project()))])

    with tempfile.TemporaryDirectory() as home, Hardwon(Path(home)) as memory:
        memory.config = Config(database=place, fusion_weight=0.0)
        backends = [backend(memory.reading()), backend(memory.writing())]
        sessions = itertools.cycle(list(learned(Path(home) / "machine", folder)))
        ways: dict[str, Callable[[], object]] = {
            "briefing": lambda: memory.bootstrap(project_id(key_of(project()))),
            "search in a project": lambda: memory.search(sought(), project=project_id(key_of(project()))),
            "search everywhere": lambda: memory.search(sought()),
            "push of one session": pushed,
        }
        found = {}
        for name, ask in ways.items():
            for _ in range(5):
                ask()
            taken = [_milliseconds(ask, backends) for _ in range(ASKED)]
            wall = sorted(one for one, _ in taken)
            found[name] = Took(
                statistics.median(one for _, one in taken), statistics.median(wall), wall[int(0.95 * ASKED)]
            )
            print(f"{name}: {found[name]} load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
        assert memory.search(sought()).hits
        assert [one.became for one in pushed()] == ["stored"]
        return found


def _milliseconds(ask: Callable[[], object], backends: list[int]) -> tuple[float, float]:
    """By the clock, and of the processors."""

    def worked() -> float:
        return time.process_time() + sum(map(processor_seconds, backends))

    before, began = worked(), time.perf_counter()
    ask()
    return (time.perf_counter() - began) * 1000, (worked() - before) * 1000


def learned(home: Path, folder: Path) -> Iterator[SessionRows]:
    """What a machine sends of the sessions in a folder."""
    with Hardwon(home) as memory:
        memory.harvest([folder], mine=True)
        for (id,) in memory.reading().query("SELECT id FROM project ORDER BY id"):
            yield from (rows for _, rows in outgoing(memory.reading(), id, "git.example/any"))


def _session(sent: SessionRows, project: str) -> SessionRows:
    """One that the store does not know yet."""
    rows = {name: [list(row) for row in some] for name, some in sent.rows.items()}
    named = schema.TABLES.named["session"].sent.index("external_id")
    rows["session"][0][named] = made("s")
    for trail in rows.get("trail", []):
        trail[schema.TABLES.named["trail"].sent.index("opening")] = ""
    return replace(sent, project=project, rows=rows)


def vectors(share: float, kept: str, count: int) -> str:
    """Neighbours by pgvector's HNSW index among so many vectors, beside comparing with all of them."""
    import numpy

    size = Size(*(max(1, int(number * share)) for number in (PROJECTS, SESSIONS, LESSONS, FAILURES)))
    chance = numpy.random.default_rng(26)
    centres = chance.standard_normal((count // 200 + 1, _DIMENSIONS))

    def near() -> list[float]:
        """Texts are about some things, not spread evenly over all directions."""
        found: list[float] = (centres[chance.integers(len(centres))] + chance.standard_normal(_DIMENSIONS)).tolist()
        return found

    with server(kept) as started:
        place = filled(started.get_uri(), "whole", size)
        with closing(connect(place, write=True)) as db, db.unhurried():
            (made_by,) = db.query("SELECT pg_get_indexdef('embedding_direction'::regclass)")[0]
            items = [row[0] for row in db.query("SELECT id FROM lesson ORDER BY id LIMIT ?", (count,))]
            with db.transaction():  # one by one they take far longer than all at once
                db.execute("DELETE FROM embedding")
                db.execute("DROP INDEX embedding_direction")
                for start in range(0, count, 1000):
                    db.put_vectors("any", [Vector(item, near()) for item in items[start : start + 1000]])
                began = time.perf_counter()
                db.execute("SET LOCAL maintenance_work_mem = '1GB'")
                db.changed(made_by)
            print(f"index in {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
            backends = [backend(db)]
            taken, found, wanted = [], 0, 0
            for _ in range(ASKED):
                asked = near()
                taken.append(_milliseconds(partial(db.nearest, "any", asked, 10), backends))
                by_index = {one.item for one in db.nearest("any", asked, 10)}
                with patch.object(postgres, "COMPARED_EXACTLY", count):
                    exactly = {one.item for one in db.nearest("any", asked, 10)}
                found, wanted = found + len(by_index & exactly), wanted + len(exactly)
            (bytes_,) = db.query("SELECT pg_relation_size('embedding_direction')")[0]
    clock, processor = (statistics.median(one) for one in zip(*taken, strict=True))
    return (
        f"{count:,} vectors of {_DIMENSIONS}: the ten nearest in {processor:.0f} ms of the processors (clock "
        f"{clock:.0f} ms), {found / wanted:.2f} of those that comparing with all finds; the index has "
        f"{bytes_ / 1e6:.0f} MB. {ASKED} questions; load average {os.getloadavg()[0]:.0f}."
    )


def table(share: float = 1.0, kept: str = "", sessions: Path = EXAMPLES) -> str:
    whole = Size(*(max(1, int(number * share)) for number in (PROJECTS, SESSIONS, LESSONS, FAILURES)))
    small = Size(*(max(1, number // 100) for number in whole))
    with server(kept) as started:
        found, sizes = [], []
        for name, size in (("small", small), ("whole", whole)):
            place = filled(started.get_uri(), name, size)
            found.append(timed(place, size, sessions))
            with closing(connect(place)) as db:
                sizes.append(meta.size_of(db))
    rows = [
        (name, f"{small.processor:.0f} ms", f"{large.processor:.0f} ms", f"{large.processor / small.processor:.1f} ×",
         f"{goal} ms", f"{small.p50:.0f} ms", f"{large.p50:.0f} ms", f"{large.p95:.0f} ms")
        for (name, goal), small, large in zip(GOALS.items(), *(one.values() for one in found), strict=True)
    ]  # fmt: skip
    note = (
        f"{whole.projects:,} projects, {whole.sessions:,} sessions, {whole.lessons:,} lessons, {whole.failures:,} "
        f"failures: {sizes[1] / 1e9:.2f} GB with indexes; a hundredth: {sizes[0] / 1e6:.0f} MB. {ASKED} questions each "
        "after 5 not counted, by words alone. Processors: median of the time of client and server together; the clock "
        f"beside it, at a load average of {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores."
    )
    heads = ("what", "processors at 1%", "processors", "grows", "goal", "clock at 1%, p50", "clock, p50", "clock, p95")
    return markdown("A company's database", heads, rows, note)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--share", type=float, default=1.0)
    arguments.add_argument("--keep", default="")
    arguments.add_argument("--vectors", type=int, default=0)
    arguments.add_argument("--sessions", type=Path, default=EXAMPLES, help="a folder of those that are pushed")
    given = arguments.parse_args()
    if given.vectors:
        print(vectors(given.share, given.keep, given.vectors))
    else:
        print(table(given.share, given.keep, given.sessions))
