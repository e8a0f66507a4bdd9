"""Counts that add up record by record, for formats that are counted without being built.

Everything here can be written down and read again, so that a file that grew is counted on from where it ended.
"""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct, field

from hardwon.clock import microseconds
from hardwon.model.session import Outcome, SessionOutcome, Summary
from hardwon.sessions import tool_calls


class Counting(Protocol):
    """What a format counts in: a struct whose fields are all there is to know of the records so far."""

    def add(self, lines: list[Any]) -> None:
        """Count these records, which follow those that were counted before."""

    def summaries(self) -> list[Summary] | None:
        """None when only reading the whole of the file does it justice."""


class CountingFormat(Protocol):
    """A format's module of counting."""

    Line: type[Any]
    Counting: type[Any]


class Tally(Struct):
    """Messages, calls, errors, times of one conversation, and how it ended."""

    messages: int = 0
    calls: int = 0
    errors: int = 0
    stopped: bool = False
    judged: SessionOutcome = "unknown"
    first: int | None = None
    last: int | None = None
    runs: set[str] = field(default_factory=set)
    """Ids of the calls that ran a command: only these can have failed tests."""

    def message(self, *, stopped: bool = False) -> None:
        self.messages += 1
        self.stopped = stopped

    def result(self, call_id: str, outcome: Outcome, text: str) -> None:
        if outcome != "error" and call_id in self.runs and tool_calls.failed(text):
            outcome = "error"
        self.judge(outcome)

    def judge(self, outcome: Outcome) -> None:
        if outcome == "error":
            self.errors += 1
            self.judged = "failure"
        elif outcome == "ok":
            self.judged = "completed"

    @property
    def outcome(self) -> SessionOutcome:
        return "failure" if self.stopped else self.judged

    def took_place(self, times: list[object]) -> None:
        """Take in the times of records, all at once: that is faster than one by one."""
        ends = _ends_of_plain(times)
        if None in ends:
            ends = [microseconds(time) for time in times]
        for at in ends:
            if at is not None:
                self.first = at if self.first is None or at < self.first else self.first
                self.last = at if self.last is None or at > self.last else self.last


def _ends_of_plain(times: list[Any]) -> list[int | None]:
    """The first and the last of times of one length and in one zone, which are compared as the text they are."""
    try:
        text = "".join(times)
    except TypeError:
        return [None]
    count = len(times)
    in_one_zone = text.count("Z") in (0, count) and text.count("-") == 2 * count and "+" not in text
    if not in_one_zone or len(set(map(len, times))) != 1:
        return [None]
    return [microseconds(min(times)), microseconds(max(times))]
