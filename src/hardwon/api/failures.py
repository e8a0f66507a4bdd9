"""What keeps failing, and what fixed it: `memory.failures`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hardwon.api import convert
from hardwon.api.connection import Part
from hardwon.clock import now
from hardwon.errors import NotFound
from hardwon.home import switched_off
from hardwon.model.nouns import Failure, FailureCost, FailureDetails, KnownFailure
from hardwon.model.times import microseconds
from hardwon.recall.known_failure import recall
from hardwon.store import failures, pages
from hardwon.store.database import Database
from hardwon.store.failures import FailureRow
from hardwon.store.pages import Key
from hardwon.store.refingerprint import Regrouped, refingerprint

MAX_LISTED = 1000


class Failures(Part):
    """What keeps failing, and what fixed it."""

    def list(
        self,
        *,
        project: str | None = None,
        since: datetime | None = None,
        only_open: bool = False,
        only_here: bool = False,
    ) -> list[Failure]:
        """At most 1000 failures with their fixes, the most widespread first.

        `only_open` leaves out what a fix is known for; `only_here` tells no fix that only other projects have seen.
        Raises `NotFound` for an unknown project.
        """
        db, holder = self._memory.reading(), self._memory.project(project)
        rows = listed(db, holder, since=microseconds(since), only_open=only_open, limit=MAX_LISTED)
        return with_fixes(db, rows, holder if only_here else None)

    def get(self, id: str, *, project: str | None = None) -> FailureDetails:
        """A failure, what fixed it and where it was met; with a project, only what that project has seen of it.

        Raises `NotFound`.
        """
        db, holder = self._memory.reading(), self._memory.project(project)
        row = failures.get(db, id) if holder is None else pages.failure_in(db, id, holder)
        if row is None:
            raise NotFound(f"no failure {id}: `hardwon failures` lists them")
        (found,) = with_fixes(db, [row], holder)
        return FailureDetails(
            failure=found, occurrences=[*map(convert.occurrence, failures.occurrences(db, id, project=holder))]
        )

    def recall(
        self, text: str, *, command: str = "", project: str | None = None, only_here: bool = False
    ) -> KnownFailure:
        """What is known of an error, from the output of what failed; with `only_here`, by the project alone.

        Raises `NotFound` for an unknown project.
        """
        if switched_off() or not self._memory.exists:
            return KnownFailure(known=False)
        holder = self._memory.project(project)
        return recall(self._memory.reading(), text, command, holder, now(), only_here=only_here)

    def costs(self, ids: Sequence[str], *, since: datetime | None = None) -> dict[str, FailureCost]:
        """Failure id → when it happened and what its calls cost."""
        found = failures.costs(self._memory.reading(), ids, microseconds(since))
        return {id: convert.cost(each) for id, each in found.items()}

    def outdated(self) -> int:
        """How many failures were recognised by an older version of the fingerprint."""
        return failures.outdated(self._memory.reading())

    def refingerprint(self) -> Regrouped:
        """Recognise failures of an older version anew, from the error text that was kept of each."""
        done = refingerprint(self._memory.writing())
        self._memory.refresh_standing()
        return done


def listed(
    db: Database,
    project: str | None,
    *,
    since: int = 0,
    only_open: bool = False,
    after: Key | None = None,
    limit: int,
) -> Sequence[FailureRow]:
    """The most widespread first, behind the row with the key `after`; as they stand in the project, or everywhere."""
    if since or only_open or (project is None and limit >= MAX_LISTED):
        rows = failures.listed(db, project, since, MAX_LISTED, only_open=only_open)
        rows.sort(key=key, reverse=True)
        return [row for row in rows if after is None or key(row) < after][:limit]
    lines = pages.of_failures(db, project=project, after=after, limit=limit)
    return [failures.get(db, line.id) or line for line in lines] if project is None else lines


def key(row: FailureRow) -> Key:
    """The place of a row in the list."""
    return row.sessions, row.occurrences, row.last_seen, row.id


def with_fixes(db: Database, rows: Sequence[FailureRow], only_in: str | None) -> list[Failure]:
    """With what fixed each, anywhere or in one project only."""
    fixes = failures.fixes(db, [row.id for row in rows], only_in, only_here=only_in is not None)
    return [convert.failure(row, fixes[row.id]) for row in rows]
