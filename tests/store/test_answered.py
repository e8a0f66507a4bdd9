"""A request under a key is done once; one whose process died does not hold its key for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hardwon import Hardwon, NotAllowed
from hardwon.serve.pool import once
from hardwon.store import meta
from hardwon.store.database import Database

START = 1_800_000_000_000_000


def claim(db: Database, at: int) -> meta.Answered | None:
    with db.transaction():
        return meta.claim_request(db, "caller", "key", "request", at)


def test_a_key_is_held_while_its_request_is_under_way_and_free_when_that_takes_too_long(db: Database) -> None:
    assert claim(db, START) is None
    assert claim(db, START + meta.REQUEST_LEASE_MICROSECONDS) == meta.Answered("request", "")
    assert claim(db, START + meta.REQUEST_LEASE_MICROSECONDS + 1) is None
    assert claim(db, START + meta.REQUEST_LEASE_MICROSECONDS + 2) == meta.Answered("request", "")


def test_what_was_answered_is_known_for_a_day(db: Database) -> None:
    claim(db, START)
    with db.transaction():
        meta.settle_request(db, "caller", "key", START, "L1")
    assert claim(db, START + meta.ANSWERS_KEPT_MICROSECONDS) == meta.Answered("request", "L1")
    assert claim(db, START + meta.ANSWERS_KEPT_MICROSECONDS + 1) is None


def test_one_that_was_too_slow_takes_nothing_from_who_came_after_it(db: Database) -> None:
    claim(db, START)
    later = START + meta.REQUEST_LEASE_MICROSECONDS + 1
    claim(db, later)
    with db.transaction():
        meta.release_request(db, "caller", "key", START)
        meta.settle_request(db, "caller", "key", START, "old")
    assert claim(db, later + 1) == meta.Answered("request", "")
    with db.transaction():
        meta.settle_request(db, "caller", "key", later, "new")
    assert claim(db, later + 1) == meta.Answered("request", "new")


DYING = """
import os, signal
from hardwon import Hardwon
from hardwon.serve.pool import once
with Hardwon() as memory:
    once(memory, "caller", "key", "request", lambda: os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.mark.skipif(os.name == "nt", reason="needs a signal that nobody can catch")
def test_a_process_that_was_killed_in_the_middle_leaves_its_key_to_the_next(home: Path) -> None:
    died = subprocess.run([sys.executable, "-c", DYING], timeout=60, check=False)
    assert died.returncode == -signal.SIGKILL
    with Hardwon() as memory:
        with pytest.raises(NotAllowed, match="under way"):
            once(memory, "caller", "key", "request", lambda: "L1")
        with memory.writing().transaction():
            memory.writing().execute("UPDATE answered SET at = at - ?", (meta.REQUEST_LEASE_MICROSECONDS + 1,))
        assert once(memory, "caller", "key", "request", lambda: "L1") == "L1"
        assert once(memory, "caller", "key", "request", lambda: "L2") == "L1"
