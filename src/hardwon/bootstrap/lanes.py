"""What could be said to a session, ranked: lessons of its project, and failures likely to recur."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from hardwon.bootstrap.failure_lines import MOST as MOST_FAILURES
from hardwon.bootstrap.failure_lines import failure_lines
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

_MOST_LESSONS = 40
_SPARE = 8
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


def candidates(db: Database, request: Request, config: Config, now: int) -> Candidates:
    """Everything that clears the bar for this request, best first."""
    fits = relevance(db, request.task) if request.task.strip() else {}
    left_out: list[LeftOut] = []
    likely = failure_lines(db, request, fits, now, left_out)
    told = {line.id for line in likely[:MOST_FAILURES]}
    lesson_lines = _lessons(db, request, fits, config, now, told, left_out)
    spare = likely[MOST_FAILURES:] + lesson_lines[_MOST_LESSONS:]
    lesson_lines = lesson_lines[:_MOST_LESSONS]
    if request.task.strip():
        lesson_lines += attempt_lines(db, request.project, request.task, lambda at: _recency(at, config, now))
        lesson_lines += chunk_lines(db, request.project, request.task)
    return Candidates(lesson_lines, likely[:MOST_FAILURES], left_out, request.kind, spare)


def _lessons(
    db: Database,
    request: Request,
    fits: dict[str, float],
    config: Config,
    now: int,
    told: set[str],
    left_out: list[LeftOut],
) -> list[Line]:
    scored = []
    disputed = lessons.disputed(db)
    lost = adrift(db, request.project)
    known = _known_lessons(db, request, fits)
    bar = _FITS * max((fits.get(lesson.id, 0.0) for lesson in known), default=0.0) if len(known) > _FEW else 0.0
    for lesson in known:
        reason = (
            _not_injectable(lesson, request, config, told) or _not_settled(lesson, disputed, now) or lost.get(lesson.id)
        )
        if reason:
            left_out.append(LeftOut(id=lesson.id, reason=reason))
            continue
        fit = fits.get(lesson.id, 0.0)
        if fit < bar and not _always_told(lesson):
            left_out.append(LeftOut(id=lesson.id, reason="does not fit the task"))
            continue
        fresh = _recency(lesson.last_confirmed, config, now)
        worth = lesson.confidence * _KIND_WEIGHT[lesson.kind] * weight(request.kind, lesson.kind)
        scored.append((worth * fresh * (1 + fit), lesson, fresh, fit))
    scored.sort(key=lambda entry: (-entry[0], entry[1].id))
    left_out.extend(
        LeftOut(id=lesson.id, reason="better lessons fill the block") for _, lesson, _, _ in scored[_MOST_LESSONS:]
    )
    best = scored[: _MOST_LESSONS + _SPARE]
    sources = lessons.sources_of(db, [lesson.id for _, lesson, _, _ in best])
    return [_lesson(*entry, sources[entry[1].id]) for entry in best]


def _always_told(lesson: Lesson) -> bool:
    """What a person laid down holds for every task."""
    return lesson.pinned or lesson.kind in ("preference", "decision", "identity")


def _known_lessons(db: Database, request: Request, fits: dict[str, float]) -> list[Lesson]:
    """The best known ones, and those that fit the task; never all there are."""
    best = lessons.listed(db, project=request.project, limit=_CONSIDERED)
    known = {lesson.id for lesson in best}
    fitting = lessons.named(db, [id for id in fits if id.startswith("L") and id not in known])
    return best + [lesson for lesson in fitting if lesson.project in (request.project, "")]


def _lesson(score: float, lesson: Lesson, fresh: float, fit: float, sources: list[SourceRow]) -> Line:
    return Line(
        id=lesson.id,
        kind=lesson.kind,
        text=one_line(lesson.text),
        score=round(score, 9),
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


def _not_injectable(lesson: Lesson, request: Request, config: Config, told: set[str]) -> str:
    if lesson.status != "active":
        return f"{lesson.status}: waits for review" if lesson.status == "candidate" else lesson.status
    if lesson.confidence <= config.min_confidence:
        return f"confidence {lesson.confidence:.2f} is not above {config.min_confidence}"
    if lesson.scope == "agent" and lesson.agent != request.agent:
        return f"speaks of {lesson.agent} only"
    if lesson.failure in told:
        return f"said by the failure {lesson.failure}"
    return ""


def _not_settled(lesson: Lesson, disputed: set[str], now: int) -> str:
    if lesson.id in disputed:
        return "contradicts another lesson: waits for a person to decide"
    if (lesson.valid_from or now) > now or (lesson.valid_until or now) < now:
        return "not valid now"
    return ""


def _recency(stamp: int, config: Config, now: int) -> float:
    days = max(0, (now - stamp) // _HOUR) / 24  # whole hours, so that asking twice gives the same answer
    return max(_LOWEST_RECENCY, math.exp2(-days / config.half_life_days))
