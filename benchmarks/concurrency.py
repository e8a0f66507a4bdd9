"""Many processes that write to one store at the same time: what each write took, and whether all of them are there."""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple

from benchmarks.timing import markdown
from hardwon import StoreError
from hardwon.store import check, lifecycle
from hardwon.store.lessons import LessonRow
from hardwon.store.sqlite import SqliteDatabase

PROCESSES = 64
WRITES = 200


class Contention(NamedTuple):
    seconds: list[float]
    """What each acknowledged write took, the quickest first."""
    refused: list[str]
    """What was said where a write was not possible."""
    lost: int
    """Acknowledged, and not there."""
    twice: int
    """There more than once."""
    wrong: list[str]
    """What `hardwon doctor` finds afterwards."""


def table() -> str:
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        found = contend(Path(folder) / "hardwon.db", PROCESSES, WRITES)
        took = time.perf_counter() - began
    median, p99 = (found.seconds[int(len(found.seconds) * share)] for share in (0.5, 0.99))
    rows = [
        ("acknowledged writes lost", found.lost, "0"),
        ("stored twice", found.twice, "0"),
        ("lock errors", len(found.refused), "0"),
        ("checks that fail afterwards", len(found.wrong), "0"),
        ("p50 of a write", f"{median * 1000:.0f} ms", ""),
        ("p99 of a write", f"{p99 * 1000:.0f} ms", ""),
        ("longest write", f"{found.seconds[-1] * 1000:.0f} ms", ""),
        ("writes a second", f"{len(found.seconds) / took:.0f}", ""),
    ]
    note = (
        f"{PROCESSES} processes × {WRITES} lessons, each in a durable transaction of its own with its index entry and "
        f"audit event; {statistics.fmean(found.seconds) * 1000:.0f} ms on average, waiting included."
    )
    return markdown("Writing at the same time", ("what", "seen", "goal"), rows, note)


def contend(path: Path, processes: int, writes: int) -> Contention:
    SqliteDatabase(path, write=True).close()
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload([__name__])
    started = context.Barrier(processes)
    with ProcessPoolExecutor(processes, context, _all_there, (started,)) as pool:
        results = list(pool.map(_write, [path] * processes, range(processes), [writes] * processes))
    acknowledged = {id for ids, _, _ in results for id in ids}
    with closing(SqliteDatabase(path)) as db:
        held = {row[0] for row in db.query("SELECT id FROM lesson")}
        twice = db.query("SELECT text FROM lesson GROUP BY text HAVING count(*) > 1")
        wrong = [f"{one.name}: {one.says}" for one in check.store(db) if not one.ok]
    return Contention(
        sorted(second for _, seconds, _ in results for second in seconds),
        [said for _, _, refused in results for said in refused],
        len(acknowledged - held),
        len(twice),
        wrong,
    )


def _all_there(started: Barrier) -> None:
    started.wait(120)


def _write(path: Path, process: int, writes: int) -> tuple[list[str], list[float], list[str]]:
    ids, seconds, refused = [], [], []
    with closing(SqliteDatabase(path, write=True)) as db:
        for number in range(writes):
            text = f"Process {process} says {number}."
            row = LessonRow("", "fact", text, "global", None, "", 0.8, 0.8, "active", "human", "", "", 1, 1, 0, 0)
            began = time.perf_counter()
            try:
                with db.transaction():
                    id = lifecycle.create(db, row, [], actor=f"process {process}")
            except StoreError as error:
                refused.append(str(error))
                continue
            seconds.append(time.perf_counter() - began)
            ids.append(id)
    return ids, seconds, refused


if __name__ == "__main__":
    print(table())
