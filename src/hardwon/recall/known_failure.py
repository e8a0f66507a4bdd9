"""Has this failure been seen before, and what fixed it then? Asked at the moment it happens."""

from __future__ import annotations

from msgspec import Struct

from hardwon.clock import ago
from hardwon.failures import tools
from hardwon.failures.fingerprint import fingerprint
from hardwon.failures.phrase import remedy
from hardwon.failures.signature import signature
from hardwon.model.failure import Step
from hardwon.store import failures, pages
from hardwon.store.database import Database
from hardwon.text.fence import one_line


class KnownFix(Struct, frozen=True, kw_only=True):
    """A fix, and how often it helped and did not."""

    id: str
    steps: list[str]
    """Each as it would be told; the last is the call that then worked, if it was another one."""
    confirmed: int
    failed_again: int


class Recalled(Struct, frozen=True, kw_only=True):
    """What is known of a failure. Without a `fingerprint`, the text says nothing to go by."""

    known: bool
    fingerprint: str = ""
    family: str = ""
    text: str = ""
    occurrences: int = 0
    sessions: int = 0
    last_seen: int | None = None
    fixes: list[KnownFix] = []
    avoid: list[str] = []

    def said(self, now: int) -> str:
        """`Seen 8 times in 5 sessions, last 2 days ago; this fixed it: …`, or nothing."""
        if not self.known or self.last_seen is None:
            return ""
        times = "once" if self.occurrences == 1 else f"{self.occurrences} times"
        places = "one session" if self.sessions == 1 else f"{self.sessions} sessions"
        seen = f"Seen {times} in {places}, last {ago(self.last_seen, now)}"
        if not self.fixes:
            return f"{seen}; no fix is known."
        tried = f" Did not help: {', '.join(self.avoid)}." if self.avoid else ""
        return one_line(f"{seen}; this fixed it: {', then '.join(self.fixes[0].steps)}.{tried}")


def recall(
    db: Database, output: str, command: str = "", project: str | None = None, *, only_here: bool = False
) -> Recalled:
    """Look an error up by its text alone; fixes that worked for the command and in the project come first.

    `only_here` tells nothing that the project itself has not seen.
    """
    found = fingerprint(output, command)
    if found is None:
        return Recalled(known=False)
    row = pages.failure_in(db, found.id, project or "") if only_here else failures.get(db, found.id)
    if row is None and (alike := failures.begun_like(db, found.beginning, project if only_here else None)):
        return _begun_alike(db, alike, project, only_here=only_here)
    if row is None:
        return Recalled(known=False, fingerprint=found.id, family=found.family, text=signature(found))
    fixes = [
        fix for fix in failures.fixes(db, [row.id], project, only_here=only_here)[row.id] if fix.status == "active"
    ]
    if command and len(fixes) > 1:
        failed = failures.fixed_commands(db, row.id)
        fixes.sort(key=lambda fix: not any(tools.alike(command, other) for other in failed.get(fix.id, ())))
    return Recalled(
        known=True,
        fingerprint=row.id,
        family=row.family,
        text=row.error,
        occurrences=row.occurrences,
        sessions=row.sessions,
        last_seen=row.last_seen,
        fixes=[
            KnownFix(
                id=fix.id,
                steps=[*map(_told, fix.steps), *([f"use `{fix.succeeded_as}`"] if fix.succeeded_as else [])],
                confirmed=fix.confirmed,
                failed_again=fix.failed_again,
            )
            for fix in fixes
        ],
        avoid=list(dict.fromkeys(_told(step) for fix in fixes for step in fix.avoid))[: failures.MAX_AVOIDED],
    )


def _begun_alike(db: Database, id: str, project: str | None, *, only_here: bool) -> Recalled:
    """The output of an earlier failure began the same way; what mended that one need not mend this."""
    row = pages.failure_in(db, id, project or "") if only_here else failures.get(db, id)
    if row is None:
        return Recalled(known=False)
    return Recalled(
        known=True,
        fingerprint=row.id,
        family=row.family,
        text=row.error,
        occurrences=row.occurrences,
        sessions=row.sessions,
        last_seen=row.last_seen,
    )


def _told(step: Step) -> str:
    return remedy([step], "")
