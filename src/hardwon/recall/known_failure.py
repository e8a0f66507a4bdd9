"""Has this failure been seen before, and what fixed it then? Asked at the moment it happens."""

from __future__ import annotations

from hardwon.clock import ago
from hardwon.failures import tools
from hardwon.failures.fingerprint import fingerprint
from hardwon.failures.phrase import remedy
from hardwon.failures.signature import signature
from hardwon.model.failure import Step
from hardwon.model.nouns import KnownFailure, KnownFix
from hardwon.model.times import moment
from hardwon.store import failures, pages
from hardwon.store.database import Database
from hardwon.store.failures import FailureRow
from hardwon.text.fence import one_line


def recall(
    db: Database, output: str, command: str, project: str | None, now: int, *, only_here: bool = False
) -> KnownFailure:
    """Look an error up by its text alone; fixes that worked for the command and in the project come first.

    `only_here` tells nothing that the project itself has not seen.
    """
    found = fingerprint(output)
    if found is None:
        return KnownFailure(known=False)
    row = pages.failure_in(db, found.id, project or "") if only_here else failures.get(db, found.id)
    if row is None:
        return KnownFailure(known=False, fingerprint=found.id, family=found.family, text=signature(found))
    fixes = [
        fix for fix in failures.fixes(db, [row.id], project, only_here=only_here)[row.id] if fix.status == "active"
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
    return KnownFailure(
        known=True,
        said=_said(row, known, avoid, now),
        fingerprint=row.id,
        family=row.family,
        text=row.signature,
        occurrences=row.occurrences,
        sessions=row.sessions,
        last_seen=moment(row.last_seen),
        fixes=known,
        avoid=avoid,
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
