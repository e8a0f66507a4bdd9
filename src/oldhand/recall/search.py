"""Search lessons and failures by words; query text is never query syntax."""

from __future__ import annotations

from msgspec import Struct

from oldhand.store import failures, lessons
from oldhand.store.database import Database
from oldhand.text.words import unique_terms

_OVERSAMPLE = 5
_TYPES = ("lesson", "failure")


class Hit(Struct, frozen=True, kw_only=True):
    id: str
    type: str
    kind: str
    text: str
    score: float
    project: str
    at: int


def search(db: Database, query: str, *, project: str | None = None, limit: int = 10) -> list[Hit]:
    """The best matches, a higher score better."""
    hits: list[Hit] = []
    for item, type, score in db.matches(unique_terms(query), limit * _OVERSAMPLE, types=_TYPES):
        hit = _lesson_hit(db, item, score) if type == "lesson" else _failure_hit(db, item, score, project)
        if hit is not None and (project is None or hit.project in (project, "")):
            hits.append(hit)
        if len(hits) == limit:
            break
    return hits


def relevance(db: Database, task: str, limit: int = 200) -> dict[str, float]:
    """How well each item fits a task, the best 1.0."""
    found = db.matches(unique_terms(task), limit, types=_TYPES)
    best = max((score for _, _, score in found), default=0.0)
    return {item: max(0.0, score / best) for item, _, score in found} if best > 0 else {}


def _lesson_hit(db: Database, id: str, score: float) -> Hit | None:
    lesson = lessons.get(db, id)
    if lesson is None:
        return None
    return Hit(
        id=id,
        type="lesson",
        kind=lesson.kind,
        text=lesson.text,
        score=round(score, 4),
        project=lesson.project,
        at=lesson.last_confirmed,
    )


def _failure_hit(db: Database, id: str, score: float, project: str | None) -> Hit | None:
    failure = failures.get(db, id)
    if failure is None or (project and not failures.in_project(db, id, project)):
        return None
    return Hit(
        id=id,
        type="failure",
        kind=failure.family,
        text=failure.signature,
        score=round(score, 4),
        project=project or "",
        at=failure.last_seen,
    )
