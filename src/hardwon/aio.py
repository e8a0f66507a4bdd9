"""The same, awaitable: every call runs in one worker thread of its own, so that the event loop never waits.

>>> async with Hardwon() as memory:
...     await memory.journal.log_attempt(Attempt("add a lock to the store"))
...     print(await memory.search("lock"))
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from hardwon import api
from hardwon.api.attempt_stats import Stats
from hardwon.capture.past_failures import PastFailures
from hardwon.model.attempt import Attempt, Similar
from hardwon.model.outcome import Outcome

__all__ = ["Attempt", "Hardwon", "ModificationJournal", "Outcome"]

T = TypeVar("T")


class _Worker:
    """One thread, in which alone the store is opened, used and closed."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="hardwon")

    async def run(self, call: Callable[..., T], /, *values: Any, **named: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, partial(call, *values, **named))

    def stop(self) -> None:
        self._executor.shutdown(wait=False)


class _Awaitable:
    """An object of the API with each of its methods as a coroutine."""

    def __init__(self, subject: object, worker: _Worker) -> None:
        self._subject = subject
        self._worker = worker

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._subject, name)
        return partial(self._worker.run, found) if callable(found) else found


class Hardwon:
    """`hardwon.Hardwon` with every verb awaitable, those of its parts (`review`, `journal`, …) too."""

    def __init__(self, home: Path | str | None = None) -> None:
        self._memory = api.Hardwon(home)
        self._worker = _Worker()
        self.journal = ModificationJournal(memory=self)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._memory, name)
        if callable(found):
            return partial(self._worker.run, found)
        return _Awaitable(found, self._worker) if type(found).__module__.startswith("hardwon.api") else found

    async def __aenter__(self) -> Hardwon:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._worker.run(self._memory.close)
        self._worker.stop()


class ModificationJournal:
    """The journal of attempts. It has a store of its own, or shares that of `memory`."""

    def __init__(self, home: Path | str | None = None, *, memory: Hardwon | None = None) -> None:
        self._memory = api.Hardwon(home) if memory is None else memory._memory
        self._worker = _Worker() if memory is None else memory._worker
        self._journal = self._memory.journal

    async def log_attempt(self, attempt: Attempt) -> int:
        return await self._worker.run(self._journal.log_attempt, attempt)

    async def log_attempts(self, entries: Sequence[Attempt]) -> list[int]:
        return await self._worker.run(self._journal.log_attempts, entries)

    async def find_similar(
        self, task_description: str, limit: int = 5, include_outcomes: Sequence[Outcome | str] | None = None
    ) -> list[Attempt]:
        return await self._worker.run(self._journal.find_similar, task_description, limit, include_outcomes)

    async def similar(self, task: str, **options: Any) -> list[Similar]:
        return await self._worker.run(self._journal.similar, task, **options)

    async def get_success_rate(self) -> dict[str, float]:
        return await self._worker.run(self._journal.get_success_rate)

    async def get_recent_failures(self, limit: int = 10) -> list[Attempt]:
        return await self._worker.run(self._journal.get_recent_failures, limit)

    async def recent(self, **options: Any) -> list[Attempt]:
        return await self._worker.run(self._journal.recent, **options)

    async def get_by_id(self, id: int) -> Attempt | None:
        return await self._worker.run(self._journal.get_by_id, id)

    async def update_reflection(self, id: int, reflection: str) -> bool:
        return await self._worker.run(self._journal.update_reflection, id, reflection)

    async def get_attempts_for_file(self, file_path: str, limit: int = 10, project: str | None = None) -> list[Attempt]:
        return await self._worker.run(self._journal.get_attempts_for_file, file_path, limit, project)

    async def stats(self, *, project: str | None = None, since: int = 0) -> Stats:
        return await self._worker.run(self._journal.stats, project=project, since=since)

    async def past_failures(self, *, run: str = "", project: str | None = None, task: str = "") -> PastFailures:
        return await self._worker.run(self._journal.past_failures, run=run, project=project, task=task)

    async def __aenter__(self) -> ModificationJournal:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._worker.run(self._memory.close)
        self._worker.stop()
