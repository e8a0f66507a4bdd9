"""The journal under the names of the system that it comes from, for code that was written for that."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from hardwon.aio import AsyncHardwon
from hardwon.api.connection import AnyPath
from hardwon.api.journal import Stats
from hardwon.errors import NotFound
from hardwon.model.attempt import FAILED, Attempt, Outcome


class ModificationJournal:
    """`AsyncHardwon.journal` for code that calls the journal `log_attempt`, `find_similar`, …

    >>> journal = ModificationJournal()
    >>> await journal.log_attempt(Attempt("add a lock to the store"))
    """

    def __init__(self, home: AnyPath | None = None) -> None:
        self._memory = AsyncHardwon(home)
        self._journal = self._memory.journal

    async def log_attempt(self, attempt: Attempt) -> int:
        """Write an attempt into the journal; returns its number."""
        return await self._journal.log(attempt)

    async def find_similar(
        self, task_description: str, limit: int = 5, include_outcomes: Sequence[Outcome | str] | None = None
    ) -> list[Attempt]:
        """The attempts most like a task, the most alike first."""
        found = await self._journal.similar(task_description, outcomes=include_outcomes, limit=limit)
        return [entry.attempt for entry in found]

    async def get_success_rate(self) -> dict[str, float]:
        """`overall` of those whose outcome is known (0.0 when none is), the count of each outcome, `total`."""
        group = (await self._journal.stats()).overall
        return {"overall": group.success_rate.value or 0.0, **group.outcomes, "total": group.attempts}

    async def get_recent_failures(self, limit: int = 10) -> list[Attempt]:
        """What failed or was rolled back, the newest first."""
        return await self._journal.list(outcomes=FAILED, limit=limit)

    async def get_by_id(self, id: int) -> Attempt | None:
        """An attempt in full, or None."""
        try:
            return await self._journal.get(id)
        except NotFound:
            return None

    async def update_reflection(self, id: int, reflection: str) -> bool:
        """Write down what was learned from an attempt; False when there is no such attempt."""
        try:
            await self._journal.reflect(id, reflection)
        except NotFound:
            return False
        return True

    async def get_attempts_for_file(self, file_path: str, limit: int = 10) -> list[Attempt]:
        """Attempts that touched a file, the newest first."""
        return await self._journal.for_file(file_path, limit=limit)

    async def stats(self) -> Stats:
        """How attempts went, each share with its interval."""
        return await self._journal.stats()

    async def __aenter__(self) -> ModificationJournal:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the store."""
        await self._memory.close()
