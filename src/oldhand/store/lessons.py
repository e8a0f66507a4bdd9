"""Lessons and where they come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from oldhand.model.lesson import Draft, Lesson, Status, Trust
from oldhand.store import index
from oldhand.store.ids import derived
from oldhand.store.sqlite import Database

PER_SESSION = 0.08
HIGHEST = 0.95


class SourceRow(NamedTuple):
    session: str
    path: str
    agent: str
    at: int
    message_index: int
    quote: str
    origin: str


_COLUMNS = (
    "l.id, l.kind, l.text, l.scope, coalesce(l.project, ''), l.agent, l.confidence, l.status, l.trust, l.rule, "
    "l.first_seen, l.last_confirmed, l.source_count, l.failure"
)


def of_session(db: Database, session: str) -> set[str]:
    return {row[0] for row in db.query("SELECT lesson FROM lesson_source WHERE session = ?", (session,))}


def save(
    db: Database,
    draft: Draft,
    *,
    session: str,
    project: str | None,
    agent: str,
    status: Status,
    trust: Trust,
    at: int,
    harvester_version: int,
) -> str:
    """Add a draft, or its source to the lesson that says the same. Counts come with `refresh`."""
    id = _id(draft.kind, draft.scope, project or "", agent, draft.text)
    db.execute(
        "INSERT INTO lesson VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT (id) DO NOTHING",
        (
            id,
            draft.kind,
            draft.text,
            draft.scope,
            project if draft.scope == "project" else None,
            agent if draft.scope == "agent" else "",
            draft.confidence,
            draft.confidence,
            status,
            trust,
            draft.rule,
            draft.failure,
            at,
            at,
            harvester_version,
        ),
    )
    source = draft.source
    db.execute(
        "INSERT INTO lesson_source VALUES (?, ?, ?, ?, ?) ON CONFLICT (lesson, session, message_index) DO NOTHING",
        (id, session, source.message_index, source.quote, source.origin),
    )
    return id


def _id(kind: str, scope: str, project: str, agent: str, text: str) -> str:
    holder = {"project": project, "agent": agent, "global": ""}[scope]
    return derived("L", kind, scope, holder, " ".join(text.casefold().split()))


def move(db: Database, old: str, new: str) -> set[str]:
    """Give a project's lessons to another, joining those that it has already; returns their ids."""
    moved = set()
    rows = db.query("SELECT id, kind, scope, agent, text FROM lesson WHERE project = ?", (old,))
    for id, kind, scope, agent, text in rows:
        target = _id(kind, scope, new, agent, text)
        moved.add(target)
        if db.query("SELECT 1 FROM lesson WHERE id = ?", (target,)):
            db.execute(
                "INSERT INTO lesson_source SELECT ?, session, message_index, quote, origin FROM lesson_source "
                "WHERE lesson = ? ON CONFLICT (lesson, session, message_index) DO NOTHING",
                (target, id),
            )
            db.execute("DELETE FROM lesson WHERE id = ?", (id,))
        else:
            db.execute("UPDATE lesson SET id = ?, project = ? WHERE id = ?", (target, new, id))
        index.remove(db, id)
    return moved


def refresh(db: Database, ids: Iterable[str]) -> None:
    """Recount sources and confidence; a lesson that nothing supports any more is gone."""
    for id in sorted(ids):
        row = db.query(
            "SELECT count(*), count(DISTINCT s.agent || s.external_id), min(s.started_at), max(s.started_at) "
            "FROM lesson_source o JOIN session s ON s.id = o.session WHERE o.lesson = ?",
            (id,),
        )[0]
        if row[0] == 0:
            db.execute("DELETE FROM lesson WHERE id = ?", (id,))
            index.remove(db, id)
            continue
        db.execute(
            "UPDATE lesson SET source_count = ?, first_seen = ?, last_confirmed = ?, "
            "confidence = max(base_confidence, min(?, base_confidence + ? * (? - 1))) WHERE id = ?",
            (row[1], row[2], row[3], HIGHEST, PER_SESSION, row[1], id),
        )
        text = db.query("SELECT text FROM lesson WHERE id = ?", (id,))[0][0]
        index.add(db, id, "lesson", text)


def projects_of(db: Database, ids: Sequence[str]) -> set[str]:
    marks = ", ".join("?" * len(ids))
    rows = db.query(f"SELECT DISTINCT project FROM lesson WHERE id IN ({marks}) AND project IS NOT NULL", ids)
    return {row[0] for row in rows}


def listed(
    db: Database, *, project: str | None = None, kind: str | None = None, status: str | None = None
) -> list[Lesson]:
    """Lessons, the best known first. With a project, also the global ones."""
    rows = db.query(
        f"SELECT {_COLUMNS} FROM lesson l WHERE (? IS NULL OR l.project = ? OR l.scope <> 'project') "
        "AND (? IS NULL OR l.kind = ?) AND (? IS NULL OR l.status = ?) "
        "ORDER BY l.confidence DESC, l.last_confirmed DESC, l.id",
        (project, project, kind, kind, status, status),
    )
    return [_lesson(row) for row in rows]


def get(db: Database, id: str) -> Lesson | None:
    rows = db.query(f"SELECT {_COLUMNS} FROM lesson l WHERE l.id = ?", (id,))
    return _lesson(rows[0]) if rows else None


def sources(db: Database, id: str) -> list[SourceRow]:
    rows = db.query(
        "SELECT o.session, s.path, s.agent, s.started_at, o.message_index, o.quote, o.origin "
        "FROM lesson_source o JOIN session s ON s.id = o.session WHERE o.lesson = ? "
        "ORDER BY s.started_at, o.session, o.message_index",
        (id,),
    )
    return [SourceRow(*row) for row in rows]


def count(db: Database) -> int:
    return int(db.query("SELECT count(*) FROM lesson")[0][0])


def _lesson(row: tuple[object, ...]) -> Lesson:
    return Lesson(**dict(zip(Lesson.__struct_fields__, row, strict=True)))  # type: ignore[arg-type]
