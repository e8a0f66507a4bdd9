"""The journal under the names of the system that it comes from, for code that was written for that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from hardwon.aio import AsyncHardwon
from hardwon.api import Hardwon
from hardwon.api.connection import AnyPath
from hardwon.api.journal import Stats
from hardwon.errors import NotFound
from hardwon.exchange.modification_journal import USUAL_PATH
from hardwon.model.attempt import FAILED, Attempt, Outcome

ModificationAttempt = Attempt
"""What that system calls an attempt."""
_BESIDE = ".hardwon"
"""Behind the name of a database: the folder of the store that took its place."""


class ModificationJournal:
    """`AsyncHardwon.journal` for code that calls the journal `log_attempt`, `find_similar`, …

    >>> journal = ModificationJournal("data/self_coding.db")
    >>> await journal.log_attempt(ModificationAttempt("add a lock to the store"))

    A path with an ending is that of the system's own database: the store is kept in a folder beside it
    (`data/self_coding.db.hardwon`), and what the database holds is taken over each time it is opened; it is only read.
    Any other path is the folder of a store. Without one, the database is looked for where that system keeps it; where
    there is none, the store is the user's usual one.
    """

    def __init__(self, db_path: AnyPath | None = None) -> None:
        if db_path is None and USUAL_PATH.is_file():
            db_path = USUAL_PATH
        old = Path(db_path) if db_path is not None and Path(db_path).suffix else None
        self._memory = AsyncHardwon(f"{old}{_BESIDE}" if old else db_path)
        self._journal = self._memory.journal
        if old and old.is_file():
            with Hardwon(f"{old}{_BESIDE}") as memory:
                memory.store.import_from("journal", old)

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
        """Attempts that touched a file, the newest first; where none did, those of files with the same last name."""
        found = await self._journal.for_file(file_path, limit=limit)
        for path in [] if found else await self._journal.files_called(file_path):
            found += await self._journal.for_file(path, limit=limit)
        return sorted({one.key: one for one in found}.values(), key=lambda one: -(one.id or 0))[: max(0, limit)]

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
