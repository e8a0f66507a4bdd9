"""Who writes to different projects on a server writes at the same time, and both engines still promise the same."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from benchmarks import writers

from hardwon import Attempt, Hardwon, Interaction, StoreError
from hardwon.harvest.walk import harvest
from hardwon.store import check, integrity, lifecycle, meta, sessions
from hardwon.store.database import Database, connect, insert
from tests.conftest import EXAMPLES

ONE, OTHER = "P-one", "P-other"
"""Of different lanes."""
THREADS, STEPS = (int(os.environ.get(name, few)) for name, few in (("WRITER_THREADS", 8), ("WRITER_STEPS", 12)))


def with_projects(place: str, *ids: str) -> Database:
    db = connect(place, write=True)
    with db.transaction():
        db.bulk(insert("project", ("id", "key", "name")), ((id, id, id) for id in ids))
    return db


def test_only_writers_of_the_same_project_or_of_the_whole_store_wait(postgres: str) -> None:
    with closing(with_projects(postgres, ONE, OTHER)) as db, closing(connect(postgres, write=True, wait=100)) as second:
        with db.transaction(ONE):
            lifecycle.create(db, writers.lesson(ONE, 1), [], actor="ada")
            with second.transaction(OTHER):
                lifecycle.create(second, writers.lesson(OTHER, 1), [], actor="ada")
            for alone_with in (ONE, None):
                with pytest.raises(StoreError, match="in use by another process"), second.transaction(alone_with):
                    second.query("SELECT id FROM lesson")
        with db.transaction(), pytest.raises(StoreError, match="in use"), second.transaction(OTHER):
            second.query("SELECT id FROM lesson")
        assert integrity.broken_events(db) == []
        assert db.query("SELECT count(DISTINCT lane), count(*) FROM event") == [(2, 2)]


def test_an_event_that_was_taken_out_of_a_lane_is_missed(postgres: str) -> None:
    with closing(with_projects(postgres, ONE, OTHER)) as db:
        for number in range(4):
            for project in (ONE, OTHER, None):
                with db.transaction(project):
                    lifecycle.create(db, writers.lesson(project or ONE, 10 * number + bool(project)), [], actor="ada")
        assert integrity.broken_events(db) == []
        with db.transaction():
            db.execute("DELETE FROM event WHERE number = 5")
        assert integrity.broken_events(db) == [8]
        with db.transaction():
            integrity.close_events_again(db)
        assert integrity.broken_events(db) == []
        assert db.query(
            "SELECT action, lane = (SELECT lane FROM event WHERE number = 8) FROM event WHERE number = 5"
        ) == [("lost", True)]


def test_a_transaction_of_a_project_never_has_more_than_that_to_itself(postgres: str) -> None:
    with closing(with_projects(postgres, ONE, OTHER)) as db:
        for more in (OTHER, None):
            with pytest.raises(RuntimeError, match="cannot have another"), db.transaction(ONE), db.transaction(more):
                pass
        with db.transaction(), db.transaction(ONE):
            assert db.lane == 0
        with db.transaction(ONE):
            db.share_failures(["Fone"])
            db.share_failures(["Fone"])
            with pytest.raises(RuntimeError, match="asked twice"):
                db.share_failures(["Ftwo"])


TRACE = "Traceback (most recent call last):\n  File \"gauge.py\", line {0}, in read\nKeyError: 'tide {1}'\n"


def _step(memory: Hardwon, chance: random.Random, number: int) -> None:
    project = f"project {chance.randrange(4)}"
    lessons = memory.lessons.list(project=project)
    steps: list[Callable[[], object]] = [
        lambda: memory.lessons.add(f"Write {number} tells of {project}.", project=project),
        lambda: memory.lessons.add(f"Write {number} tells of all.", scope="global"),
        lambda: memory.journal.log(
            Attempt(f"try {number}", project=project, outcome="failure", test_results=TRACE.format(number, number % 3))
        ),
        lambda: memory.journal.log(Attempt(f"try {number}", project=project, outcome="success", approach="make")),
        lambda: memory.interactions.record(Interaction(prompt=f"what is {number}?", response="Look.", project=project)),
        lambda: memory.lessons.feedback(chance.choice(lessons).id, helped=True),
        lambda: memory.review.edit(chance.choice(lessons).id, pinned=True),
    ]
    chance.choice(steps)()


def test_writers_of_overlapping_projects_never_wait_in_a_circle(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_DATABASE", postgres)
    with Hardwon(tmp_path / "first") as memory:
        for number in range(4):
            memory.lessons.add(f"It is number {number}.", project=f"project {number}")
    with closing(connect(postgres)) as db:
        before = writers.deadlocks(db)

    def work(thread: int) -> None:
        with Hardwon(tmp_path / str(thread)) as memory:
            for number in range(STEPS):
                _step(memory, random.Random(f"{thread} {number}"), 1000 * thread + number)

    with ThreadPoolExecutor(THREADS) as threads:
        for one in [threads.submit(work, thread) for thread in range(THREADS)]:
            one.result()
    with closing(connect(postgres)) as db:
        assert writers.deadlocks(db) == before
        assert [one for one in check.store(db) if not one.ok] == []
        tries = [f"try {1000 * thread + number}" for thread in range(THREADS) for number in range(STEPS)]
        logged = [row[0] for row in db.query("SELECT task FROM attempt")]
        assert len(logged) == len(set(logged))
        assert set(logged) <= set(tries)
        assert db.query("SELECT sum(items) FROM search_total") == db.query("SELECT count(*) FROM search_item")


def test_more_writers_of_different_projects_write_more() -> None:
    with writers.server() as server:
        for _ in range(3):  # on a machine that does other things, too
            each, whole = (
                writers.write(writers.workspace(server.get_uri()), way, 4, 80)
                for way in (writers.PROJECTS, writers.STORE)
            )
            for done in (each, whole):
                assert done._replace(seconds=0.0) == writers.Written(0.0, 80, 0, 0, 0, 0, [])
            if each.seconds * 1.3 < whole.seconds:
                return
    pytest.fail(f"{each.seconds} s with a lock for each project, {whole.seconds} s with one for the store")


def test_a_server_that_is_killed_and_started_again_under_writers_loses_nothing_and_keeps_nothing_twice() -> None:
    with writers.server() as server:
        done = writers.restarts(server, 16, 6, 2)
    assert (done.acknowledged, done.lost, done.twice, done.wrong) == (96, 0, 0, [])


def test_what_takes_too_long_is_given_up_unless_it_is_long_work(postgres: str) -> None:
    with closing(connect(postgres, write=True, longest=100)) as db:
        with pytest.raises(StoreError, match=r"took longer than 0\.1 seconds: see the setting statement_seconds$"):
            db.query("SELECT pg_sleep(60)")
        with db.unhurried():
            assert db.query("SHOW statement_timeout") == [("0",)]
            with pytest.raises(StoreError), db.transaction(), db.unhurried():
                db.execute("INSERT INTO meta (key, value) VALUES ('a', NULL)")
        assert db.query("SHOW statement_timeout") == [("100ms",)]


def test_whoever_has_nothing_under_way_does_not_notice_that_the_server_ended_the_connection(postgres: str) -> None:
    with closing(connect(postgres, write=True)) as db, psycopg.connect(postgres, autocommit=True) as other:

        def end() -> None:
            (process,) = db.query("SELECT pg_backend_pid()")[0]
            other.execute("SELECT pg_terminate_backend(%s)", (process,))

        end()
        assert db.query("SELECT 1") == [(1,)]
        end()
        with db.transaction():
            db.execute("INSERT INTO meta (key, value) VALUES ('written', 'once')")
        end()
        with db.snapshot():
            assert db.query("SELECT value FROM meta WHERE key = 'written'") == [("once",)]
        assert db.query("SHOW statement_timeout") == [("1min",)]


def test_a_harvest_waits_for_nobody_who_writes_to_another_project(postgres: str) -> None:
    with closing(with_projects(postgres, ONE)) as db, closing(connect(postgres, write=True, wait=100)) as second:
        files = sorted(EXAMPLES.rglob("*.jsonl"))
        harvest(db, files)
        learned = "SELECT id, text, status, source_count FROM lesson WHERE project <> ? ORDER BY id"
        known = db.query(learned, (ONE,))
        with db.transaction():
            sessions.read_again(db)
        with db.transaction(ONE):
            lifecycle.create(db, writers.lesson(ONE, 1), [], actor="ada")
            assert harvest(second, files).sessions
        assert db.query(learned, (ONE,)) == known


def test_harvests_at_the_same_time_leave_the_store_that_one_leaves(postgres: str, tmp_path: Path) -> None:
    files = sorted(EXAMPLES.rglob("*.jsonl"))
    with closing(connect(tmp_path / "one.db", write=True)) as alone, closing(connect(postgres, write=True)) as db:
        for each in (alone, db):
            meta.prepare(each)
            with each.transaction():
                each.execute("UPDATE meta SET value = ? WHERE key = 'scrub_key'", ("5c" * 16,))
            harvest(each, files)
        with db.transaction():
            sessions.read_again(db)

        def part(number: int) -> None:
            with closing(connect(postgres, write=True)) as mine:
                harvest(mine, files[number::2])

        with ThreadPoolExecutor(2) as threads:
            list(threads.map(part, range(2)))
        assert writers.deadlocks(db) == 0
        assert not [one for one in check.store(db) if not one.ok]
        assert integrity.content_hash(db) == integrity.content_hash(alone)
