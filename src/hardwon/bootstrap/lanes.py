"""What could be said to a session, ranked: lessons of its project, and failures likely to recur."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from hardwon.bootstrap.failure_lines import failure_lines
from hardwon.bootstrap.policy import FAILURES_TOLD, LESSONS_TOLD, SPARE_OF_EACH, against_lesson, below_bar, best
from hardwon.bootstrap.task import TaskType, task_type, weight
from hardwon.bootstrap.task_lanes import attempt_lines, chunk_lines
from hardwon.config import Config
from hardwon.failures.phrase import day
from hardwon.harvest.anchor import adrift
from hardwon.model.bootstrap import LeftOut, Line
from hardwon.model.lesson import Lesson
from hardwon.recall.search import relevance
from hardwon.store import lessons
from hardwon.store.database import Database
from hardwon.store.lessons import SourceRow
from hardwon.text.fence import one_line

_CONSIDERED = 500
_HOUR = 3_600_000_000
_LOWEST_RECENCY = 0.2
_FITS = 0.4
"""How well a lesson must fit a task, against the one that fits it best."""
_FEW = 12
"""So few lessons are told whatever the task is: the best fitting come first."""
_KIND_WEIGHT = {
    "preference": 1.2,
    "decision": 1.0,
    "pitfall": 1.0,
    "pattern": 0.9,
    "tool-quirk": 0.8,
    "fact": 0.9,
    "identity": 0.8,
    "question": 0.4,
}


class Request(NamedTuple):
    """Who is to be briefed. An empty agent or task is one that is not known."""

    project: str
    agent: str = ""
    task: str = ""
    only_here: bool = False
    """Told nothing that only other projects have seen."""

    @property
    def kind(self) -> TaskType:
        return task_type(self.task)


class Candidates(NamedTuple):
    lessons: list[Line]
    failures: list[Line]
    left_out: list[LeftOut]
    task_type: TaskType = ""
    spare: Sequence[Line] = ()
    """The next best of each lane, for when one of the others is withheld."""


class Scored(NamedTuple):
    """A lesson, and what its score is made of."""

    score: float
    lesson: Lesson
    fresh: float
    fit: float


def candidates(db: Database, request: Request, config: Config, now: int) -> Candidates:
    """Everything that clears the bar for this request, best first."""
    left_out: list[LeftOut] = []
    scored, likely = ranked(db, request, config.half_life_days, now, left_out)
    unsure = {one.lesson.id: below_bar(one.lesson.confidence, config.min_confidence) for one in scored}
    left_out.extend(LeftOut(id=id, reason=reason) for id, reason in unsure.items() if reason)
    sure = [one for one in scored if not unsure[one.lesson.id]]
    left_out.extend(LeftOut(id=one.lesson.id, reason="better lessons fill the block") for one in sure[LESSONS_TOLD:])
    told, spare = best(_lines(db, sure[: LESSONS_TOLD + SPARE_OF_EACH]), likely)
    of_lessons = [line for line in told if line.kind != "failure"]
    if request.task.strip():
        of_lessons += attempt_lines(
            db, request.project, request.task, lambda at: _recency(at, config.half_life_days, now)
        )
        of_lessons += chunk_lines(db, request.project, request.task)
    of_failures = [line for line in told if line.kind == "failure"]
    return Candidates(of_lessons, of_failures, left_out, request.kind, spare)


def ranked(
    db: Database, request: Request, half_life_days: float, now: int, left_out: list[LeftOut]
) -> tuple[list[Scored], list[Line]]:
    """(lessons, failures) that may be told, best first, whatever the bar and the budget are."""
    fits = relevance(db, request.task) if request.task.strip() else {}
    likely = failure_lines(db, request, fits, now, left_out)
    said = {line.id for line in likely[:FAILURES_TOLD]}
    disputed = lessons.disputed(db)
    lost = adrift(db, request.project)
    known = _known_lessons(db, request, fits)
    least = _FITS * max((fits.get(lesson.id, 0.0) for lesson in known), default=0.0) if len(known) > _FEW else 0.0
    scored = []
    for lesson in known:
        reason = against_lesson(
            lesson, project=request.project, agent=request.agent, now=now, disputed=lesson.id in disputed
        )
        if not reason and lesson.failure in said:
            reason = f"said by the failure {lesson.failure}"
        fit = fits.get(lesson.id, 0.0)
        if not reason and fit < least and not _always_told(lesson):
            reason = "does not fit the task"
        if reason := reason or lost.get(lesson.id, ""):
            left_out.append(LeftOut(id=lesson.id, reason=reason))
            continue
        fresh = _recency(lesson.last_confirmed, half_life_days, now)
        worth = lesson.confidence * _KIND_WEIGHT[lesson.kind] * weight(request.kind, lesson.kind)
        scored.append(Scored(round(worth * fresh * (1 + fit), 9), lesson, fresh, fit))
    scored.sort(key=lambda one: (-one.score, one.lesson.id))
    return scored, likely


def _lines(db: Database, scored: list[Scored]) -> list[Line]:
    sources = lessons.sources_of(db, [one.lesson.id for one in scored])
    return [_line(one, sources[one.lesson.id]) for one in scored]


def _always_told(lesson: Lesson) -> bool:
    """What a person laid down holds for every task."""
    return lesson.pinned or lesson.kind in ("preference", "decision", "identity")


def _known_lessons(db: Database, request: Request, fits: dict[str, float]) -> list[Lesson]:
    """The best known ones, and those that fit the task; never all there are."""
    best = lessons.listed(db, project=request.project, limit=_CONSIDERED)
    known = {lesson.id for lesson in best}
    fitting = lessons.named(db, [id for id in fits if id.startswith("L") and id not in known])
    return best + [lesson for lesson in fitting if lesson.project in (request.project, "")]


def _line(one: Scored, sources: list[SourceRow]) -> Line:
    score, lesson, fresh, fit = one
    return Line(
        id=lesson.id,
        kind=lesson.kind,
        text=one_line(lesson.text),
        score=score,
        why=f"{lesson.trust} {lesson.kind}, confidence {lesson.confidence:.2f} × recency {fresh:.2f} × "
        f"fit {1 + fit:.2f}; {lesson.source_count} session(s), last {day(lesson.last_confirmed)}",
        source=_source(sources),
    )


def _source(sources: list[SourceRow]) -> str:
    """The first one; what a person wrote into the store has none."""
    if not sources:
        return "a person"
    first = sources[0]
    return f"{first.path} message {first.message_index}" if first.path else first.source


def _recency(stamp: int, half_life_days: float, now: int) -> float:
    days = max(0, (now - stamp) // _HOUR) / 24  # whole hours, so that asking twice gives the same answer
    return max(_LOWEST_RECENCY, math.exp2(-days / half_life_days))
