"""Counts that add up record by record, for formats that are counted without being built."""

from __future__ import annotations

from oldhand.model.session import Outcome, SessionOutcome
from oldhand.sessions import failed_tests
from oldhand.sessions.clock import microseconds

_PLAIN_TIME = 24  # 2026-10-01T10:00:00.000Z: such times compare as text


class Counter:
    """Messages, calls, errors, times and how it ended."""

    def __init__(self) -> None:
        self.messages = self.calls = self.errors = 0
        self.runs: set[str] = set()
        """Ids of the calls that ran a command: only these can have failed tests."""
        self.stopped = False
        self.times: list[object] = []
        """The time of every record, judged all at once: that is faster than one by one."""
        self._judged: SessionOutcome = "unknown"

    def message(self, *, stopped: bool = False) -> None:
        self.messages += 1
        self.stopped = stopped

    def result(self, call_id: str, outcome: Outcome, text: str) -> None:
        if outcome != "error" and call_id in self.runs and failed_tests.failed(text):
            outcome = "error"
        self.judge(outcome)

    def judge(self, outcome: Outcome) -> None:
        if outcome == "error":
            self.errors += 1
            self._judged = "failure"
        elif outcome == "ok":
            self._judged = "completed"

    @property
    def outcome(self) -> SessionOutcome:
        return "failure" if self.stopped else self._judged

    def period(self) -> tuple[int | None, int | None]:
        """The first and the last time; times all of one plain form are compared as the text they are."""
        times = [time for time in self.times if time]
        plain = [time for time in times if isinstance(time, str) and time.endswith("Z")]
        if len(plain) == len(times) and set(map(len, plain)) == {_PLAIN_TIME}:
            times = [min(plain), max(plain)]
        known = [at for time in times if (at := microseconds(time)) is not None]
        return min(known, default=None), max(known, default=None)
