"""Lines as hooks need them: with their cost, what is never withheld, and enough of them for other settings."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

from hardwon.briefing.compose import cost, reading_order
from hardwon.briefing.policy import LESSONS_TOLD, SPARE_OF_EACH
from hardwon.briefing.rank import Request, Scored, ranked
from hardwon.model.bootstrap import Line
from hardwon.store.assignment import Prepared, exempt
from hardwon.store.database import Database
from hardwon.text.briefing import FAILURES, KNOWN
from hardwon.text.fence import one_line

LESSONS_PREPARED = 200


def prepared_lines(db: Database, request: Request, half_life_days: float, now: int) -> list[Prepared]:
    """All that a session may be told under any bar and budget, in the order they are read."""
    scored, likely = ranked(db, request, half_life_days, now, [])
    kept = sorted(for_any_bar(scored), key=lambda one: reading_order(one.lesson.kind))
    return [*map(of_lesson, kept), *map(of_failure, likely)]


def for_any_bar(scored: Iterable[Scored]) -> list[Scored]:
    """Without those that have enough better ones at least as sure: these leave them no place, whatever the bar is."""
    kept: list[Scored] = []
    confidences: list[float] = []
    for one in scored:
        as_sure = len(confidences) - bisect_left(confidences, one.lesson.confidence)
        if as_sure < LESSONS_TOLD + SPARE_OF_EACH and len(kept) < LESSONS_PREPARED:
            kept.append(one)
            insort(confidences, one.lesson.confidence)
    return kept


def of_lesson(one: Scored) -> Prepared:
    lesson = one.lesson
    never = exempt(lesson.kind, lesson.trust, pinned=lesson.pinned)
    return (*_priced(KNOWN, lesson.id, one_line(lesson.text)), int(never), one.score)


def of_failure(line: Line) -> Prepared:
    return (*_priced(FAILURES, line.id, line.text), 0, line.score)


def _priced(heading: str, id: str, text: str) -> tuple[str, str, str, int]:
    return heading, id, text, cost(f"- {text}")
