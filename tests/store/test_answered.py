"""A request under a key is done once, and whoever dies in the middle has done all of it or nothing."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from hardwon import Attempt, Hardwon
from hardwon.api.forget import ForgettingOnce
from hardwon.serve.pool import KeyUsedBefore, once
from hardwon.store import meta
from hardwon.store.database import Database
from tests.forked import COMMANDS
from tests.store.test_lifecycle import make

START = 1_800_000_000_000_000


def known(db: Database, at: int) -> meta.Answered | None:
    with db.transaction():
        return meta.answered(db, "caller", "key", at)


def test_what_was_answered_is_known_for_a_day(db: Database) -> None:
    assert known(db, START) is None
    with db.transaction():
        meta.remember_answer(db, "caller", "key", meta.Answered("request", "L1"), START)
    assert known(db, START + meta.ANSWERS_KEPT_MICROSECONDS) == meta.Answered("request", "L1")
    assert known(db, START + meta.ANSWERS_KEPT_MICROSECONDS + 1) is None


def test_a_request_that_fails_leaves_neither_its_key_nor_half_of_what_it_did(home: Path) -> None:
    with Hardwon(home) as memory:

        def half_done() -> str:
            memory.lessons.add("Use uv.", scope="global")
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            once(memory, "caller", "key", "request", half_done)
        assert memory.lessons.list() == []
        assert once(memory, "caller", "key", "request", lambda: "L1") == "L1"
        assert once(memory, "caller", "key", "request", lambda: "L2") == "L1"
        with pytest.raises(KeyUsedBefore):
            once(memory, "caller", "key", "another request", lambda: "L2")
        assert memory.store.healthy()


def fail_after(db: Database, text: str) -> None:
    with db.transaction():
        make(db, text)
        raise ZeroDivisionError


def test_one_transaction_in_another_is_taken_back_alone_or_with_it(db: Database) -> None:
    with db.transaction():
        make(db, "Use uv.")
        with pytest.raises(ZeroDivisionError):
            fail_after(db, "Use tabs.")
        with db.snapshot():
            assert db.query("SELECT text FROM lesson") == [("Use uv.",)]
    with pytest.raises(ZeroDivisionError):
        fail_after(db, "Use spaces.")
    assert db.query("SELECT text FROM lesson") == [("Use uv.",)]


DYING = """
import os, signal, sys
import apsw
from hardwon import Attempt, Hardwon
from hardwon.serve.pool import once
left = int(sys.argv[1])
def trace(_):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
with Hardwon() as memory:
    memory.writing()._connection.trace_v2(apsw.SQLITE_TRACE_STMT, trace)
    once(memory, "caller", "key", "request", lambda: str(memory.journal.log(Attempt("Run the suite."))))
"""
STATEMENTS_OF_A_REQUEST = 60
"""More than one of them takes: the last tries are not killed at all."""
KILLS = int(os.environ.get("REQUEST_KILLS", "8"))


@pytest.mark.skipif(os.name == "nt", reason="needs a signal that nobody can catch")
@pytest.mark.parametrize("trial", range(KILLS))
def test_a_service_that_is_killed_anywhere_in_a_request_answers_the_next_try_and_stores_it_once(
    trial: int, home: Path
) -> None:
    Hardwon(home).writing().close()
    statement = 1 + trial * STATEMENTS_OF_A_REQUEST // KILLS
    died = COMMANDS.run(statement, program=DYING)
    assert died.returncode in (0, -signal.SIGKILL)
    with Hardwon() as memory:
        first = once(memory, "caller", "key", "request", lambda: str(memory.journal.log(Attempt("Run the suite."))))
        assert [str(attempt.id) for attempt in memory.journal.list()] == [first]  # made twice, it would be two
        assert memory.store.healthy()


def test_a_forget_that_was_killed_before_its_proof_is_proven_when_it_is_sent_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Hardwon(home) as memory:
        text = "Cuttlefish see polarised light."
        id = memory.lessons.add(text, scope="global")
        kept: list[str] = []
        forgetting = ForgettingOnce(memory, "ada", kept.append)
        with monkeypatch.context() as killed:
            killed.setattr(ForgettingOnce, "_proven", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                forgetting.forget(id)
        (record,) = kept
        memory.lessons.add(text, scope="global")  # by somebody else, since: it is not forgotten again
        again = forgetting.again(record, id)
        assert (again.what, again.rows["lesson"], again.left) == ("lesson", 1, [])
        assert (again.checked, forgetting.again(record, id).checked) == (1, 0), "proven once"
        assert [lesson.text for lesson in memory.lessons.list()] == [text]
