"""Interactions, and what they did to the confidence of lessons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hardwon.store import fulltext, integrity
from hardwon.store.database import Database, Row, insert, marks
from hardwon.store.lessons import CONFIDENCE_PER_USE

_SUMMARY = (
    "i.id, i.prompt, i.response_summary, coalesce(i.project, ''), i.session, i.client, length(i.response), i.created_at"
)


class InteractionRow(NamedTuple):
    """An interaction as it is stored, already scrubbed; lists and the context as JSON."""

    id: str
    session: str
    project: str | None
    client: str
    prompt: str
    response: str
    response_summary: str
    context: str
    lessons_used: str
    chunks_used: str
    created_at: int


class UsedLesson(NamedTuple):
    """A lesson that an answer made use of."""

    lesson: str
    matcher: str
    overlap: float


class ReinforcementRow(NamedTuple):
    lesson: str
    text: str
    overlap: float
    before: float
    after: float


_COLUMNS = ", ".join(InteractionRow._fields)


def save(db: Database, row: InteractionRow) -> None:
    """Inside a transaction; one whose id is known stays as it is."""
    sealed = integrity.seal_of_fields("interaction", row._asdict())
    known = "ON CONFLICT (id) DO NOTHING"
    db.execute(insert("interaction", (*InteractionRow._fields, "seal"), known), (*row, sealed))
    fulltext.keep(db, row.id, "interaction", f"{row.prompt} {row.response or row.response_summary}")


def get(db: Database, id: str) -> InteractionRow | None:
    rows = db.query(f"SELECT {_COLUMNS} FROM interaction WHERE id = ?", (id,))
    return InteractionRow(*rows[0]) if rows else None


def summaries(
    db: Database,
    *,
    project: str | None = None,
    session: str = "",
    client: str = "",
    since: int = 0,
    before: tuple[int, str] | None = None,
    limit: int,
) -> list[Row]:
    """The newest first; `since` counts itself in, `before` is the time and id of the last row of the page before."""
    at, id = before or (1 << 62, "")
    return db.query(
        f"SELECT {_SUMMARY} FROM interaction i WHERE (? IS NULL OR i.project = ?) AND (? = '' OR i.session = ?) "
        "AND (? = '' OR i.client = ?) AND i.created_at >= ? AND (i.created_at < ? OR (i.created_at = ? AND i.id < ?)) "
        "ORDER BY i.created_at DESC, i.id DESC LIMIT ?",
        (project, project, session, session, client, client, since, at, at, id, limit),
    )


def applicable(db: Database, ids: Sequence[str], project: str | None) -> list[tuple[str, str]]:
    """(id, text) of those lessons that are active and of this project or of no project."""
    if not ids:
        return []
    return db.query(
        f"SELECT id, text FROM lesson WHERE id IN ({marks(ids)}) AND status = 'active' "
        "AND (scope <> 'project' OR project = ?) ORDER BY id",
        (*ids, project or ""),
    )


def open_questions(db: Database, project: str | None, before: int) -> list[tuple[str, str]]:
    """(id, text) of what is asked in this project, or in none, since before that moment."""
    return db.query(
        "SELECT id, text FROM lesson WHERE kind = 'question' AND status IN ('active', 'candidate') AND first_seen < ? "
        "AND (scope <> 'project' OR project = ?) ORDER BY id",
        (before, project or ""),
    )


def reinforce(db: Database, interaction: str, matches: Iterable[UsedLesson], at: int) -> list[ReinforcementRow]:
    """Raise active lessons' confidence by a step, once for an interaction. Inside a transaction."""
    steps = []
    for match in matches:
        rows = db.query("SELECT text, confidence FROM lesson WHERE id = ? AND status = 'active'", (match.lesson,))
        if not rows or _has(db, interaction, match.lesson):
            continue
        text, before = rows[0]
        after = min(1.0, before + CONFIDENCE_PER_USE)
        db.execute(
            insert("reinforcement", ("interaction", "lesson", "matcher", "overlap", "before", "after", "at")),
            (interaction, match.lesson, match.matcher, match.overlap, before, after, at),
        )
        db.execute(
            "UPDATE lesson SET confidence = ?, reference_count = reference_count + 1, last_referenced = "
            "CASE WHEN last_referenced > ? THEN last_referenced ELSE ? END WHERE id = ?",
            (after, at, at, match.lesson),
        )
        integrity.reseal(db, "lesson", [match.lesson])
        steps.append(ReinforcementRow(match.lesson, text, match.overlap, before, after))
    return steps


def mark_used(db: Database, session: str, lessons: Sequence[str]) -> int:
    """Note that lines which this session was shown were used in it. Inside a transaction."""
    if not session or not lessons:
        return 0
    return db.changed(
        f"UPDATE exposure SET used = 1 WHERE shown = 1 AND item IN ({marks(lessons)}) "
        "AND bootstrap IN (SELECT id FROM bootstrap WHERE session = ?)",
        (*lessons, session),
    )


def steps_of(db: Database, interaction: str) -> list[ReinforcementRow]:
    """What an interaction did, as it was noted."""
    rows = db.query(
        "SELECT r.lesson, l.text, r.overlap, r.before, r.after FROM reinforcement r JOIN lesson l ON l.id = r.lesson "
        "WHERE r.interaction = ? ORDER BY r.lesson",
        (interaction,),
    )
    return [ReinforcementRow(*row) for row in rows]


def _has(db: Database, interaction: str, lesson: str) -> bool:
    return bool(db.query("SELECT 1 FROM reinforcement WHERE interaction = ? AND lesson = ?", (interaction, lesson)))
