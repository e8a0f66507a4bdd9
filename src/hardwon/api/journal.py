"""The journal of attempts: what was tried, what came of it, and what is like it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hardwon.api import attempt_stats
from hardwon.api.attempt_stats import Stats
from hardwon.capture import attempts as intake
from hardwon.capture import past_failures, record
from hardwon.capture.attempts import kept, spellings
from hardwon.capture.past_failures import PastFailures
from hardwon.clock import now
from hardwon.errors import HardwonError, NotAllowed
from hardwon.home import failure_memory_off, switched_off
from hardwon.model.attempt import Attempt, Similar
from hardwon.model.outcome import FAILED, Outcome
from hardwon.recall.similar_attempts import similar
from hardwon.scrub.scrubber import Scrubber
from hardwon.store import attempts, events
from hardwon.store.attempts import AttemptRow
from hardwon.store.database import Database
from hardwon.store.events import Happened
from hardwon.store.meta import scrubber

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon

Outcomes = Sequence[Outcome | str] | None
"""None means any outcome."""

_OWN = "journal"


class Journal:
    """`memory.journal`: attempts logged, found again, counted."""

    def __init__(self, memory: Hardwon, actor: str = _OWN) -> None:
        self._memory = memory
        self._actor = actor

    def log_attempt(self, attempt: Attempt) -> int:
        """Write an attempt into the journal; returns its id."""
        return self.log_attempts([attempt])[0]

    def log_attempts(self, entries: Iterable[Attempt]) -> list[int]:
        """Write many in one go, all or none."""
        if switched_off():
            raise HardwonError("HARDWON_OFF is set: nothing is written; unset it to go on")
        db = self._memory.writing()
        scrub = scrubber(db)
        with db.transaction():
            numbers = [self._log(db, entry, scrub) for entry in entries]
            if self._actor != _OWN:
                self._tell(db, numbers)
            return numbers

    def _tell(self, db: Database, numbers: Sequence[int]) -> None:
        """What others log is on record with their name."""
        rows = [row for number in numbers if (row := attempts.get(db, number))]
        events.record(db, self._actor, now(), [Happened("log", row.id, {}, {"outcome": row.outcome}) for row in rows])

    def _log(self, db: Database, entry: Attempt, scrub: Scrubber) -> int:
        row = intake.stored(entry, kept(db, entry.project), scrub, _key_of(db, entry.retry_of))
        failed = row.outcome in (*FAILED, Outcome.PARTIAL)
        found = record.recognised([row.test_results]) if failed and row.test_results else None
        return record.save(db, row, record.occurrence(row, found) if found else None)

    def find_similar(self, task_description: str, limit: int = 5, include_outcomes: Outcomes = None) -> list[Attempt]:
        """The attempts most like a task, of all there are, the most alike first."""
        found = self.similar(task_description, limit=limit, outcomes=include_outcomes)
        return [entry.attempt for entry in found]

    def similar(
        self,
        task: str,
        *,
        files: Sequence[str] = (),
        outcomes: Outcomes = None,
        project: str | None = None,
        limit: int = 5,
    ) -> list[Similar]:
        """The same, with how alike each is and by which words."""
        db = self._reading()
        if db is None:
            return []
        paths = [intake.file_path(path) for path in files]
        named = self._memory.project(project)
        alike = similar(db, task, files=paths, outcomes=outcomes, project=named, limit=limit)
        rows = attempts.by_id(db, [entry.id for entry in alike])
        given = {one.key: one for one in _given(db, rows.values())}
        return [Similar(attempt=given[entry.id], score=entry.score, matched=entry.matched) for entry in alike]

    def get_success_rate(self) -> dict[str, float]:
        """`overall` of those whose outcome is known (0.0 when none is), the count of each outcome, `total`."""
        db = self._reading()
        group = attempt_stats.group("", attempts.tallies(db, "") if db else [])
        return {"overall": group.success_rate.value or 0.0, **group.outcomes, "total": group.attempts}

    def get_recent_failures(self, limit: int = 10) -> list[Attempt]:
        """What failed or was rolled back, the newest first."""
        return self.recent(outcomes=FAILED, limit=limit)

    def recent(
        self, *, outcomes: Outcomes = None, project: str | None = None, run: str | None = None, limit: int = 10
    ) -> list[Attempt]:
        """Attempts of any outcome, the newest first."""
        db = self._reading()
        if db is None:
            return []
        named = self._memory.project(project)
        root = intake.run_name(run) if run is not None else None
        return _given(db, attempts.listed(db, outcomes=outcomes, project=named, root=root, limit=limit))

    def get_by_id(self, id: int) -> Attempt | None:
        db = self._reading()
        row = attempts.get(db, id) if db else None
        return _given(db, [row])[0] if db and row else None

    def update_reflection(self, id: int, reflection: str) -> bool:
        """Write what was learned from an attempt; False when there is no such attempt."""
        if self._reading() is None:
            return False
        db = self._memory.writing()
        with db.transaction():
            words = intake.reflection_text(reflection, scrubber(db))
            return attempts.update_reflection(db, id, words, actor=self._actor)

    def get_attempts_for_file(self, file_path: str, limit: int = 10, project: str | None = None) -> list[Attempt]:
        """Attempts that touched a file, or a file below a folder, the newest first.

        The path is relative to the root of the repository, or absolute.
        """
        db = self._reading()
        if db is None:
            return []
        asked = spellings(intake.file_path(file_path))
        return _given(db, attempts.of_file(db, asked, project=self._memory.project(project), limit=limit))

    def stats(self, *, project: str | None = None, since: int = 0) -> Stats:
        """How attempts went, overall and by project, agent, phase and month, each with its interval."""
        db = self._reading()
        return attempt_stats.stats(db, self._memory.project(project) if db else None, since)

    def past_failures(
        self, *, run: str = "", project: str | None = None, task: str = "", only_here: bool = False
    ) -> PastFailures:
        """What a next try should avoid: this run's newest failures, then the likeliest from before.

        Its text is empty when there is nothing to say, and when failure memory is switched off.
        """
        db = None if failure_memory_off() else self._reading()
        if db is None:
            return past_failures.NOTHING
        named = self._memory.project(project)
        root = intake.run_name(run)
        return past_failures.block(
            db, self._memory.config, now(), run=root, project=named, task=task, only_here=only_here
        )

    def _reading(self) -> Database | None:
        """None while there is no store: the journal is then empty."""
        return self._memory.reading() if self._memory.exists else None


def _key_of(db: Database, number: int | None) -> str:
    if number is None:
        return ""
    row = attempts.get(db, number)
    if row is None:
        raise NotAllowed(f"retry_of names attempt {number}, which is not in the journal")
    return row.id


def _given(db: Database, rows: Iterable[AttemptRow]) -> list[Attempt]:
    found = list(rows)
    tried_before = attempts.numbers(db, [row.retry_of for row in found if row.retry_of])
    return [intake.attempt(row, tried_before.get(row.retry_of)) for row in found]
