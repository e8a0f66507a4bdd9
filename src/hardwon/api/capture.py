"""Failures as they happen: of commands, of a runner's iterations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from hardwon.capture import crash as crash_file
from hardwon.capture import record
from hardwon.capture.crash import Crash
from hardwon.capture.run import Ran
from hardwon.home import failure_memory_off
from hardwon.store.database import Database

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon

T = TypeVar("T")


class Capture:
    """`memory.capture`: records what failed. All of it does nothing with `HARDWON_FAILURE_MEMORY=0`.

    Each returns the number of the attempt it wrote, or None.
    """

    def __init__(self, memory: Hardwon) -> None:
        self._memory = memory

    def command(
        self, line: Sequence[str], ran: Ran, *, task: str = "", phase: str = "", run: str = "", project: str = "."
    ) -> int | None:
        """A command that failed, or that was somebody's task."""
        return self._do(lambda db: record.command(db, line, ran, task=task, phase=phase, run=run, project=project))

    def crash(
        self, content: bytes, *, at: int | None = None, task: str = "", run: str = "", project: str = "."
    ) -> tuple[int | None, Crash]:
        """A crash file, and what is left of it. `at` is the time of one that does not tell it."""
        found = crash_file.read(content)
        when = found.captured_at or at
        number = self._do(
            lambda db: record.crash(db, found, at=when, evidence="crash-file", task=task, run=run, project=project)
        )
        return number, found

    def failure(
        self, *, phase: str = "", exit_code: int | None = None, task: str = "", run: str = "", project: str = "."
    ) -> int | None:
        """Something failed of which no more is known."""
        found = crash_file.plain(phase, exit_code)
        evidence = "exit-code" if exit_code else "stated"
        return self._do(
            lambda db: record.crash(db, found, at=None, evidence=evidence, task=task, run=run, project=project)
        )

    def _do(self, step: Callable[[Database], T]) -> T | None:
        if failure_memory_off():
            return None
        db = self._memory.writing()
        with db.transaction():
            return step(db)
