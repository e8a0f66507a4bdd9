"""The error in an attempt's output, as an occurrence of a failure."""

from __future__ import annotations

from collections.abc import Iterable

from hardwon.failures.fingerprint import Fingerprint, fingerprint
from hardwon.failures.ledger import Findings
from hardwon.failures.signature import signature
from hardwon.model.failure import Occurrence
from hardwon.store import attempts, failures, stale
from hardwon.store.attempts import AttemptRow
from hardwon.store.database import Database
from hardwon.store.failures import Place


def recognised(outputs: Iterable[str]) -> Fingerprint | None:
    """The first output in which a tool's own kind of error is found; else any that says something."""
    found = [print_ for output in outputs if (print_ := fingerprint(output)) is not None]
    return next((print_ for print_ in found if print_.family != "generic"), found[0] if found else None)


def occurrence(row: AttemptRow, found: Fingerprint, *, shown: str = "", command: str = "") -> Occurrence:
    """`shown` is what is told of it, where that is not drawn from the output."""
    return Occurrence(
        message_index=0,
        call_index=0,
        at=row.started_at,
        tool=row.source,
        command=command,
        exit_code=row.exit_code,
        fingerprint=found.id,
        family=found.family,
        error_type=found.error_type,
        signature=shown or signature(found),
        excerpt=found.excerpt,
    )


def save(db: Database, row: AttemptRow, error: Occurrence | None, friction: str = "") -> int:
    """Keep an attempt and its error; called inside a transaction. Returns the attempt's number."""
    known = attempts.numbers(db, [row.id])
    if row.id in known:
        return known[row.id]
    number = attempts.save(db, row)
    if error is not None:
        root = row.root or row.session or row.id
        place = Place(row.id, root, row.project, row.agent, row.started_at, row.phase, friction)
        failures.refresh(db, failures.save(db, place, Findings([error], [], []), {}))
        if row.project:
            stale.mark(db, [row.project])
    return number
