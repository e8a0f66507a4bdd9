"""What keeps failing, and what fixed it: `memory.failures`."""

from __future__ import annotations

import builtins
import json
from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from hardwon.api import convert
from hardwon.api.connection import Part
from hardwon.clock import moment, now, to_microseconds
from hardwon.errors import NotFound
from hardwon.failures import tools
from hardwon.failures.fingerprint import Fingerprint, fingerprint
from hardwon.failures.shell import suits
from hardwon.failures.told import error_line
from hardwon.home import switched_off
from hardwon.model.failure import Step
from hardwon.model.nouns import Failure, FailureCost, FailureDetails, KnownFailure, KnownFix, each_name
from hardwon.store import failures, pages, projects
from hardwon.store.database import Database, marks
from hardwon.store.failures import FailureRow
from hardwon.store.integrity import Happened
from hardwon.store.lifecycle import change_besides
from hardwon.store.pages import Key
from hardwon.store.refingerprint import Regrouped, refingerprint
from hardwon.text.shown import ago, one_line, remedy

MAX_LISTED = 1000

# Has this failure been seen before, and what fixed it then? Asked at the moment it happens.


def recall(
    db: Database, output: str, command: str, project: str | None, now: int, *, only_here: bool = False
) -> KnownFailure:
    """Look an error up by its text alone; fixes that worked for the command and in the project come first.

    `only_here` tells nothing that the project itself has not seen.
    """
    found = fingerprint(output, command)
    here = (project or "") if only_here else None
    row = _get(db, found.id, here) if found else None
    if row is None and (quoted := failures.quoted_as(db, output, here)):
        row = _get(db, quoted, here)
    if row is None and found and (alike := failures.begun_like(db, found.beginning, here)):
        met = _begun_alike(db, alike, here, now)
        return _with_fix_of_kind(db, met, found, project, failures.mostly_met_in(db, alike), same=False)
    if row is None and found:
        unknown = KnownFailure(
            known=False, fingerprint=found.id, family=found.family, text=error_line(found, command, command)
        )
        elsewhere = "" if only_here else failures.mostly_of_kind_in(db, found.family, found.error_type)
        return _with_fix_of_kind(db, unknown, found, project, elsewhere)
    if row is None:
        return KnownFailure(known=False)
    fixes = [
        fix
        for fix in failures.fixes(db, [row.id], project, only_here=only_here)[row.id]
        if fix.status == "active" and suits(fix.steps, fix.succeeded_as, command)
    ]
    if command and len(fixes) > 1:
        failed = failures.fixed_commands(db, row.id)
        fixes.sort(key=lambda fix: not any(tools.alike(command, other) for other in failed.get(fix.id, ())))
    known = [
        KnownFix(
            id=fix.id,
            steps=[*map(_told, fix.steps), *([f"use `{fix.succeeded_as}`"] if fix.succeeded_as else [])],
            confirmed=fix.confirmed,
            failed_again=fix.failed_again,
        )
        for fix in fixes
    ]
    avoid = list(dict.fromkeys(_told(step) for fix in fixes for step in fix.avoid))[: failures.MAX_AVOIDED]
    met = KnownFailure(
        known=True,
        said=_said(row, known, avoid, now),
        fingerprint=row.id,
        family=row.family,
        text=row.error,
        occurrences=row.occurrences,
        sessions=row.sessions,
        last_seen=moment(row.last_seen),
        fixes=known,
        avoid=avoid,
    )
    if known or not found:
        return met
    return _with_fix_of_kind(db, met, found, project, failures.mostly_met_in(db, row.id))


def _with_fix_of_kind(
    db: Database, met: KnownFailure, found: Fingerprint, project: str | None, elsewhere: str, *, same: bool = True
) -> KnownFailure:
    """With what mended the same in other files of the project; of the one `elsewhere` where none was asked about."""
    fix = failures.fix_of_kind(db, found.family, found.error_type, project or elsewhere)
    if fix is None:
        return met
    files, steps, succeeded_as, id, confirmed, failed_again = fix
    told = [*(_told(Step(*step)) for step in json.loads(steps)), *([f"use `{succeeded_as}`"] if succeeded_as else [])]
    seen = (met.said.partition(";")[0] if same else "") or "Not seen in this file"
    places = f"{files} other files" if files > 1 else "another file"
    of = "" if project else f" of {projects.names(db)[elsewhere]}"
    said = one_line(f"{seen}; the same in {places}{of} was fixed by: {', then '.join(told)}.")
    own = KnownFix(id=id, steps=told, confirmed=confirmed, failed_again=failed_again)
    return replace(met, text=met.text if same else error_line(found), said=said, fixes=[own])


def _get(db: Database, id: str, project: str | None) -> FailureRow | None:
    return failures.get(db, id) if project is None else pages.failure_in(db, id, project)


def _begun_alike(db: Database, id: str, project: str | None, now: int) -> KnownFailure:
    """The output of an earlier failure began the same way; what mended that one need not mend this."""
    row = _get(db, id, project)
    if row is None:
        return KnownFailure(known=False)
    return KnownFailure(
        known=True,
        said=_said(row, [], [], now),
        fingerprint=row.id,
        family=row.family,
        text=row.error,
        occurrences=row.occurrences,
        sessions=row.sessions,
        last_seen=moment(row.last_seen),
    )


def _said(row: FailureRow, fixes: list[KnownFix], avoid: list[str], now: int) -> str:
    """`Seen 8 times in 5 sessions, last 2 days ago; this fixed it: …`"""
    times = "once" if row.occurrences == 1 else f"{row.occurrences} times"
    places = "one session" if row.sessions == 1 else f"{row.sessions} sessions"
    seen = f"Seen {times} in {places}, last {ago(row.last_seen, now)}"
    if not fixes:
        return f"{seen}; no fix is known."
    tried = f" Did not help: {', '.join(avoid)}." if avoid else ""
    return one_line(f"{seen}; this fixed it: {', then '.join(fixes[0].steps)}.{tried}")


def _told(step: Step) -> str:
    return remedy([step], "")


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
        rows = listed(db, holder, since=to_microseconds(since), fixed=False if only_open else None, limit=MAX_LISTED)
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

    def costs(self, ids: str | Sequence[str], *, since: datetime | None = None) -> dict[str, FailureCost]:
        """Failure id → when it happened and what its calls cost."""
        found = failures.costs(self._memory.reading(), each_name(ids), to_microseconds(since))
        return {id: convert.cost(each) for id, each in found.items()}

    def mute(self, ids: str | Sequence[str], *, muted: bool = True, why: str = "") -> builtins.list[int]:
        """Hear no more of failures, or again: agents are not told of them, nor what worked, and pages list them apart.

        Returns the events, which `review.undo` takes. All or none; one that is so already has none. Raises `NotFound`.
        """
        ids = each_name(ids)
        status, action = ("muted", "mute") if muted else ("active", "unmute")

        def step(db: Database) -> builtins.list[int]:
            rows = db.query(f"SELECT id, status FROM failure WHERE id IN ({marks(ids)})", ids) if ids else []
            known: dict[str, str] = dict(rows)
            if unknown := next((id for id in ids if id not in known), ""):
                raise NotFound(f"no failure {unknown}: `hardwon failures` lists them")
            return [
                change_besides(
                    db, "failure", id, {"status": status}, Happened(action, id, {}, {}, clean), self._actor()
                )
                for id in dict.fromkeys(ids)
                if known[id] != status
            ]

        clean = self._memory.scrubber().scrub(why)
        return self._change(step)

    def outdated(self) -> int:
        """How many failures were recognised by an older version of the fingerprint."""
        return failures.outdated(self._memory.reading())

    def refingerprint(self) -> Regrouped:
        """Recognise failures of an older version anew, from the error text that was kept of each."""
        db = self._memory.writing()
        with db.unhurried():
            done = refingerprint(db)
            self._memory.refresh_standing()
        return done


def listed(
    db: Database,
    project: str | None,
    *,
    since: int = 0,
    fixed: bool | None = None,
    after: Key | None = None,
    limit: int,
) -> Sequence[FailureRow]:
    """The most widespread first, behind the row with the key `after`; as they stand in the project, or everywhere."""
    if since or (project is None and limit >= MAX_LISTED):
        rows = failures.listed(db, project, since, MAX_LISTED, fixed=fixed)
        rows.sort(key=key, reverse=True)
        return [row for row in rows if after is None or key(row) < after][:limit]
    lines = pages.of_failures(db, project=project, fixed=fixed, after=after, limit=limit)
    return [failures.get(db, line.id) or line for line in lines] if project is None else lines


def key(row: FailureRow) -> Key:
    """The place of a row in the list."""
    return row.sessions, row.occurrences, row.last_seen, row.id


def with_fixes(db: Database, rows: Sequence[FailureRow], only_in: str | None) -> list[Failure]:
    """With what fixed each, anywhere or in one project only."""
    fixes = failures.fixes(db, [row.id for row in rows], only_in, only_here=only_in is not None)
    evidence = failures.evidence(db, [fix.id for known in fixes.values() for fix in known], only_in)
    return [convert.failure(row, fixes[row.id], evidence) for row in rows]
