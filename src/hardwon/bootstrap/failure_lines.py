"""The failures that a session is likely to meet, as lines; the unlikely ones are not told, whatever room there is."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from hardwon.bootstrap.chance import REMEMBERED, Chance, Chances
from hardwon.bootstrap.policy import FAILURES_TOLD, SPARE_OF_EACH, against_failure
from hardwon.bootstrap.task import weight
from hardwon.failures import tools
from hardwon.failures.phrase import failure_line, remedy
from hardwon.failures.signature import informative
from hardwon.model.bootstrap import LeftOut, Line
from hardwon.store import failures, sessions
from hardwon.store.database import Database
from hardwon.store.failures import FailureRow, FixRow, Likely

if TYPE_CHECKING:
    from hardwon.bootstrap.lanes import Request

_CONSIDERED = 500
_DAY = 86_400_000_000
_FRESH = 7 * _DAY
_BAR = 0.2
"""How likely a failure must be, against the likeliest, to be worth a line."""


def failure_lines(
    db: Database, request: Request, fits: dict[str, float], now: int, left_out: list[LeftOut]
) -> list[Line]:
    """Best first; some more than are shown, for when one of those is withheld."""
    known = failures.likely(db, request.project, _CONSIDERED, [id for id in fits if id.startswith("F")])
    fixes = failures.fixes(db, [one.row.id for one in known], request.project, only_here=request.only_here)
    chances = Chances(known, sessions.starts(db, request.project, REMEMBERED), request.agent, now)
    scored = []
    for one in known:
        fix = best_fix(fixes[one.row.id])
        if reason := _not_told(one, fix, request, now):
            left_out.append(LeftOut(id=one.row.id, reason=reason))
            continue
        chance = chances.of(one)
        scored.append((chance.value * (1 + fits.get(one.row.id, 0.0)), one, fix, chance))
    scored.sort(key=lambda entry: (-entry[0], entry[1].row.id))
    best = scored[0][0] if scored else 1.0
    likely = [entry for entry in scored if entry[0] >= _BAR * best]
    left_out.extend(
        LeftOut(id=one.row.id, reason="far less likely to come back than others")
        for _, one, _, _ in scored[len(likely) :]
    )
    left_out.extend(
        LeftOut(id=one.row.id, reason="likelier failures fill the block") for _, one, _, _ in likely[FAILURES_TOLD:]
    )
    emphasis = weight(request.kind, "failure")
    return [
        as_line(one, fix, round(value / best * emphasis, 9), _why(one, fix, chance, fits.get(one.row.id, 0.0)))
        for value, one, fix, chance in likely[: FAILURES_TOLD + SPARE_OF_EACH]
    ]


def _not_told(one: Likely, fix: FixRow | None, request: Request, now: int) -> str:
    row = one.row
    if row.sessions == 1 and not fix and now - row.last_seen > _FRESH:
        return "seen in one session some time ago, and never fixed"
    if row.family == "generic" and not informative(row.signature):
        return "its words do not say what went wrong"
    if reason := against_failure(row.family, row.agents, request.agent):
        return reason
    return ""


def best_fix(fixes: list[FixRow]) -> FixRow | None:
    return next((fix for fix in fixes if fix.status == "active"), None)


def as_line(one: Likely, fix: FixRow | None, score: float = 0.0, why: str = "") -> Line:
    return Line(id=one.row.id, kind="failure", text=_text(one.row, fix), score=score, why=why, source=one.place)


@lru_cache(maxsize=4096)
def _text(row: FailureRow, fix: FixRow | None) -> str:
    return failure_line(
        signature=row.signature,
        command="" if tools.danger(row.command) else tools.gist(row.command),
        occurrences=row.occurrences,
        sessions=row.sessions,
        last_seen=row.last_seen,
        worked=remedy(fix.steps, fix.succeeded_as) if fix else "",
        avoid=fix.avoid if fix else (),
    )


def _why(one: Likely, fix: FixRow | None, chance: Chance, fit: float) -> str:
    return (
        f"{chance.sort} ({chance.came_back:.0%} of that sort came back) × memory {chance.memory:.2f}, "
        f"{chance.days:.0f} day(s) ago × fit {1 + fit:.2f}; "
        f"{one.row.occurrences} time(s) in {one.row.sessions} session(s)"
        + (f", fix confirmed in {fix.confirmed}" if fix else "")
    )
