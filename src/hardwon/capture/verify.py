"""Is "done" backed by evidence? By what a run measured last, and what of it still fails; not by somebody's word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from hardwon.capture.attempts import AGAINST_WORD, MEASURED
from hardwon.failures import tools
from hardwon.model.attempt import Outcome
from hardwon.store import attempts
from hardwon.store.attempts import AttemptRow
from hardwon.store.database import Database
from hardwon.text.normalise import normalised
from hardwon.text.shown import ago, one_line

Verdict = Literal["backed", "contradicted", "unproven"]
_FAILED = ("failure", "rollback")
_MAX_CHARACTERS = 160
_MAX_TOLD = 10


class Verified(Struct, frozen=True, kw_only=True):
    """Whether a run may be called done. Only `backed` is."""

    verdict: Verdict
    reasons: tuple[str, ...]
    """What speaks against it; what it rests on, where nothing does."""
    attempts: int
    """Of the run, whatever came of them."""
    last: int | None
    """The newest attempt whose outcome was measured."""
    open: tuple[int, ...]
    """Attempts that failed and that none since has mended, the newest first."""

    @property
    def done(self) -> bool:
        return self.verdict == "backed"


_NO_RECORD = "nothing of this run is on record"
NOTHING = Verified(verdict="unproven", reasons=(_NO_RECORD,), attempts=0, last=None, open=())


def verify(db: Database, run: str, now: int, *, project: str | None = None) -> Verified:
    """By the last test report or exit code, and the failures that are still open; a stated success proves nothing."""
    rows = attempts.listed(db, root=run, project=project)
    measured = [row for row in rows if _is_measured(row)]
    last = measured[0] if measured else None
    failing = [row for at, row in enumerate(rows) if row.outcome in _FAILED and not _mended(row, rows[:at])]
    reasons = [_of_last(last, now)] if last and last.outcome in _FAILED else []
    reasons += [f"still open: {_told(row)}" for row in failing if last is None or row.id != last.id]
    if rows and rows[0].evidence.startswith(("signal", "interrupted")):
        reasons.append(f"the last try did not end: {_told(rows[0])}")
    verdict: Verdict = "contradicted"
    if not reasons and last is not None and last.outcome == Outcome.SUCCESS:
        verdict, reasons = "backed", [_of_last(last, now)]
    elif not reasons:
        verdict = "unproven"
        stated = any(row.outcome == Outcome.SUCCESS for row in rows)
        reasons = [
            "only somebody's word says so: no test report, no exit code"
            if stated
            else "nothing of this run was measured"
            if rows
            else _NO_RECORD
        ]
    return Verified(
        verdict=verdict,
        reasons=tuple(reasons[:_MAX_TOLD]),
        attempts=len(rows),
        last=last.number if last else None,
        open=tuple(row.number for row in failing),
    )


def _mended(failed: AttemptRow, later: Sequence[AttemptRow]) -> bool:
    """By a later success that names it, has its task, or ran its command; what was measured, by what was as well."""
    return any(
        row.retry_of == failed.id
        or normalised(row.task) == normalised(failed.task)
        or (row.source == failed.source == "run" and tools.alike(row.approach, failed.approach))
        for row in later
        if row.outcome == Outcome.SUCCESS and (_is_measured(row) or not _is_measured(failed))
    )


def _is_measured(row: AttemptRow) -> bool:
    return row.evidence.removesuffix(AGAINST_WORD) in MEASURED


def _of_last(row: AttemptRow, now: int) -> str:
    denied = ", which was called a success" if row.evidence.endswith(AGAINST_WORD) else ""
    by = row.evidence.removesuffix(AGAINST_WORD)
    return f"the last {by}, {ago(row.started_at, now)}, says {row.outcome}{denied}: {_told(row)}"


def _told(row: AttemptRow) -> str:
    said = one_line(row.failure_analysis or row.approach or row.task if row.outcome in _FAILED else row.task)
    return f"attempt {row.number}, {said[:_MAX_CHARACTERS]}"
