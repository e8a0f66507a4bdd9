"""Twice as long a session takes about twice as long to learn from, whatever it is full of."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from random import Random

import pytest

from hardwon.failures.ledger import settled
from hardwon.harvest.learn import learn
from hardwon.harvest.rules.said import _copies
from hardwon.model.session import Message, Outcome, Session, ToolCall, ToolResult, Transcript
from hardwon.scrub.scrubber import Scrubbing
from hardwon.store.sessions import StatementRow
from tests.timing import assert_growth, spent

MOST = 2.3
"""How much longer twice as much may take."""
_random = Random(7)
_WORDS = ["".join(_random.choices("abcdefghijklmnopqrstuvwxyz", k=_random.randint(3, 9))) for _ in range(3_000)]
_names = count()


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """It looks at all that the tests before have left, whenever it likes."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def _prose(words: int) -> str:
    return " ".join(_random.choices(_WORDS, k=words))


def _said(text: str) -> list[Message]:
    return [Message(role="user", origin="user", text=text)]


def _called(line: str, printed: str, outcome: Outcome = "ok") -> list[Message]:
    id = f"call_{next(_names):012d}"
    result = ToolResult(
        call_id=id, text=printed, outcome=outcome, evidence="exit-code", exit_code=int(outcome == "error")
    )
    return [
        Message(role="assistant", origin="agent", calls=(ToolCall(id=id, name="Bash", action="run", command=line),)),
        Message(role="user", origin="tool", results=(result,)),
    ]


def _read_and_told(number: int) -> list[Message]:
    return [
        *_called(f"cat {_prose(1)}.md", _prose(1_500)),
        *_said(f"Always run `make t{number}` before you {_prose(5)}, never {_prose(3)}."),
    ]


def _read_and_claimed(number: int) -> list[Message]:
    claim = f"The root cause was that `{_prose(1)}{number}` must always {_prose(6)}. I decided to use {_prose(4)}."
    return [*_called(f"cat {_prose(1)}.md", _prose(500)), Message(role="assistant", origin="agent", text=claim)]


def _failed_and_mended(number: int) -> list[Message]:
    name = f"mod{number}{next(_names)}"
    error = (
        f"Traceback (most recent call last):\n  File \"a.py\", line 3\nModuleNotFoundError: No module named '{name}'\n"
    )
    return [
        *_called(f"pytest tests/test_{name}.py", error + _prose(600), "error"),
        *_called(f"pip install {name}", _prose(300)),
        *_called(f"pytest tests/test_{name}.py", "1 passed in 0.1s"),
    ]


def _judged_by_its_words(number: int) -> list[Message]:
    return _called(f"npm run build{number}", "\n".join(_prose(8) for _ in range(80)), "unknown")


def _seconds(part: Callable[[int], list[Message]], parts: int) -> float:
    messages = tuple(message for number in range(parts) for message in part(number))
    session = Session(external_id="long", agent="claude-code", format="claude-code", messages=messages, cwd="/srv/app")
    transcript = Transcript(path="/srv/long.jsonl", format="claude-code", sessions=(session,))
    return spent(lambda: learn(settled(session), None, transcript, 1, Scrubbing()))


def _seconds_for_copies(sessions: int) -> float:
    """Everybody says the same two sentences, and six that nobody else does."""
    rows = [
        StatementRow(f"S{session}", f"root {session}", session, at, 0, quote, quote, 0.5)
        for session in range(sessions)
        for at in range(8)
        for quote in (f"always say {at if at < 2 else (session, at)}",)
    ]
    return spent(lambda: _copies(rows))


def _assert_twice_takes_twice(seconds: Callable[[int], float], parts: int) -> None:
    assert_growth(lambda: seconds(parts), lambda: seconds(2 * parts), MOST)


def test_twice_the_sessions_are_searched_for_copies_in_twice_the_time() -> None:
    _assert_twice_takes_twice(_seconds_for_copies, 2_000)


@pytest.mark.parametrize("part", [_read_and_told, _read_and_claimed, _failed_and_mended, _judged_by_its_words])
def test_twice_the_session_takes_twice_the_time(part: Callable[[int], list[Message]]) -> None:
    _seconds(part, 10)  # patterns are compiled when they are first used
    _assert_twice_takes_twice(partial(_seconds, part), 60)
