"""A process that is killed, whose disk is full, whose clock jumps."""

from __future__ import annotations

import itertools
import os
import random
import resource
import signal
import time
from collections.abc import Callable
from typing import Any

import apsw

from benchmarks.faults.trial import STATEMENTS, Outcome, each, in_child, judged, new_home
from hardwon import Hardwon
from hardwon.store.sqlite import SqliteDatabase

_ELEVEN_HOURS = 11 * 3600 * 10**9


def killed_at(statement: int) -> Callable[[Hardwon], None]:
    left = itertools.count(statement, -1)

    def trace(_: Any) -> None:
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def prepare(memory: Hardwon) -> None:
        db = memory.writing()
        assert isinstance(db, SqliteDatabase)
        db._connection.trace_v2(apsw.SQLITE_TRACE_STMT, trace)

    return prepare


def kills(trials: int, seed: int) -> Outcome:
    """`kill -9` at any statement."""
    return _in_processes(trials, seed, lambda chance: killed_at(chance.randint(1, STATEMENTS)))


def full_disks(trials: int, seed: int) -> Outcome:
    """A file may not grow beyond some size."""

    def full_at(limit: int) -> Callable[[Hardwon], None]:
        def set_limit(_: Hardwon) -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return set_limit

    return _in_processes(trials, seed, lambda chance: full_at(chance.randint(0, 1_500_000)))


def clocks(trials: int, seed: int) -> Outcome:
    """A clock that jumps by hours between any two looks, forward and back; by more, keys of a day would be old."""

    def jumping(chance: random.Random) -> Callable[[Hardwon], None]:
        real = time.time_ns

        def jump(_: Hardwon) -> None:
            time.time_ns = lambda: real() + chance.randint(-_ELEVEN_HOURS, _ELEVEN_HOURS)

        return jump

    return _in_processes(trials, seed, jumping)


def _in_processes(trials: int, seed: int, made: Callable[[random.Random], Callable[[Hardwon], None]]) -> Outcome:
    """One process a trial, which something happens to."""

    def run(trial: int) -> Outcome:
        with new_home() as home:
            return judged(home, *in_child(home, made(random.Random(f"{seed} {trial}"))))

    return each(trials, seed, run)
