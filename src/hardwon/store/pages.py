"""Rows a page at a time: each page begins behind the last row of the one before, whatever was added meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hardwon.model.lesson import StoredLesson
from hardwon.store import attempts, events, lessons
from hardwon.store.attempts import AttemptRow
from hardwon.store.database import Database, Row, marks
from hardwon.store.events import Event
from hardwon.store.sessions import CallRow, SessionRow

Key = tuple[int | str, ...]
"""The columns of a row that its place in the order depends on."""

_EVERYWHERE = (
    "f.id, f.family, coalesce(nullif(f.words, ''), f.signature), f.occurrences, f.sessions, f.first_seen, f.last_seen, "
    "'', ''"
)
_IN_PROJECT = (
    "f.id, f.family, coalesce(nullif(p.words, ''), f.signature), p.occurrences, p.sessions, p.first_seen, "
    "p.last_seen, p.command, p.agents "
    "FROM failure_in_project p JOIN failure f ON f.id = p.failure"
)


class FailureLine(NamedTuple):
    """A failure as it stands in one project, or everywhere; then without command and agents."""

    id: str
    family: str
    error: str
    occurrences: int
    sessions: int
    first_seen: int
    last_seen: int
    command: str
    agents: str


class DocumentRow(NamedTuple):
    id: str
    path: str
    project: str | None
    title: str
    type: str
    updated_at: int


class ChunkRow(NamedTuple):
    id: str
    heading_path: str
    content: str


class ProjectRow(NamedTuple):
    id: str
    key: str
    name: str
    description: str
    status: str
    sessions: int


class Wanted:
    """Conditions that all hold, and their values."""

    def __init__(self) -> None:
        self._conditions: list[str] = []
        self.values: list[Any] = []

    def add(self, condition: str, *values: Any) -> Wanted:
        self._conditions.append(condition)
        self.values += values
        return self

    def equal(self, column: str, value: Any) -> Wanted:
        return self if value is None else self.add(f"{column} = ?", value)

    def behind(self, columns: Sequence[str], key: Key | None) -> Wanted:
        """Further down an order in which the highest come first."""
        return self.add(f"({', '.join(columns)}) < ({marks(columns)})", *key) if key else self

    @property
    def sql(self) -> str:
        return f"WHERE {' AND '.join(self._conditions)}" if self._conditions else ""


def of_lessons(
    db: Database, *, project: str | None, kind: str | None, status: str | None, after: Key | None, limit: int
) -> list[StoredLesson]:
    """The newest first; with a project, also the global ones."""
    columns = ("l.last_confirmed", "l.id")

    def some(where: Wanted) -> list[tuple[int, str]]:
        where.equal("l.kind", kind).equal("l.status", status).behind(columns, after)
        order = "ORDER BY l.last_confirmed DESC, l.id DESC LIMIT ?"
        return db.query(f"SELECT l.last_confirmed, l.id FROM lesson l {where.sql} {order}", (*where.values, limit))

    if project is None:
        found = some(Wanted())
    else:  # each part can follow its index
        found = some(Wanted().add("l.project = ?", project)) + some(Wanted().add("l.project IS NULL"))
    chosen = [id for _, id in sorted(found, reverse=True)[:limit]]
    by_id = {lesson.id: lesson for lesson in lessons.named(db, chosen)}
    return [by_id[id] for id in chosen]


def of_failures(db: Database, *, project: str | None, after: Key | None, limit: int) -> list[FailureLine]:
    """The most widespread first."""
    table = "f" if project is None else "p"
    source = f"{_EVERYWHERE} FROM failure f" if project is None else _IN_PROJECT
    columns = (f"{table}.sessions", f"{table}.occurrences", f"{table}.last_seen", "f.id")
    where = Wanted().equal("p.project", project).behind(columns, after)
    order = ", ".join(f"{column} DESC" for column in columns)
    rows = db.query(f"SELECT {source} {where.sql} ORDER BY {order} LIMIT ?", (*where.values, limit))
    return [FailureLine(*row) for row in rows]


def failure_in(db: Database, id: str, project: str) -> FailureLine | None:
    rows = db.query(f"SELECT {_IN_PROJECT} WHERE p.project = ? AND p.failure = ?", (project, id))
    return FailureLine(*rows[0]) if rows else None


def of_sessions(
    db: Database, *, project: str | None, agent: str | None, after: Key | None, limit: int
) -> list[SessionRow]:
    """The newest first."""
    where = Wanted().equal("project", project).equal("agent", agent).behind(("started_at", "id"), after)
    return [SessionRow(*row) for row in _sessions(db, f"{where.sql} ORDER BY started_at DESC, id DESC LIMIT ?",
                                                  (*where.values, limit))]  # fmt: skip


def session(db: Database, id: str) -> tuple[SessionRow, list[CallRow]] | None:
    rows = _sessions(db, "WHERE id = ?", (id,))
    calls = db.query(f"SELECT {', '.join(CallRow._fields)} FROM call WHERE session = ? ORDER BY position", (id,))
    return (SessionRow(*rows[0]), [CallRow(*call) for call in calls]) if rows else None


def _sessions(db: Database, rest: str, values: Sequence[Any]) -> list[Row]:
    return db.query(f"SELECT {', '.join(SessionRow._fields)} FROM session {rest}", values)


def of_attempts(
    db: Database,
    *,
    project: str | None,
    outcomes: Sequence[str] | None,
    run: str | None,
    after: Key | None,
    limit: int,
) -> list[AttemptRow]:
    """The newest first."""
    where = Wanted().equal("project", project).equal("root", run).behind(("started_at", "number"), after)
    if outcomes:
        where.add(f"outcome IN ({marks(outcomes)})", *outcomes)
    order = "ORDER BY started_at DESC, number DESC LIMIT ?"
    ids = [row[0] for row in db.query(f"SELECT id FROM attempt {where.sql} {order}", (*where.values, limit))]
    by_id = attempts.by_id(db, ids)
    return [by_id[id] for id in ids]


def of_documents(db: Database, *, project: str | None, after: Key | None, limit: int) -> list[DocumentRow]:
    """The newest first; with a project, also those of none."""
    where = Wanted().behind(("updated_at", "id"), after)
    if project is not None:
        where.add("(project = ? OR project IS NULL)", project)
    rows = db.query(
        f"SELECT {', '.join(DocumentRow._fields)} FROM document {where.sql} ORDER BY updated_at DESC, id DESC LIMIT ?",
        (*where.values, limit),
    )
    return [DocumentRow(*row) for row in rows]


def document(db: Database, id: str) -> tuple[DocumentRow, list[ChunkRow]] | None:
    rows = db.query(f"SELECT {', '.join(DocumentRow._fields)} FROM document WHERE id = ?", (id,))
    chunks = db.query("SELECT id, heading_path, content FROM chunk WHERE document = ? ORDER BY position", (id,))
    return (DocumentRow(*rows[0]), [ChunkRow(*chunk) for chunk in chunks]) if rows else None


def of_projects(db: Database, *, only: Sequence[str], after: Key | None, limit: int) -> list[ProjectRow]:
    """By id; `only` these, if any are named."""
    where = Wanted()
    if only:
        where.add(f"p.id IN ({marks(only)})", *only)
    if after:
        where.add("p.id > ?", *after)
    rows = db.query(
        "SELECT p.id, p.key, p.name, p.description, p.status, (SELECT count(*) FROM session s WHERE s.project = p.id "
        f"AND s.subagent = '') FROM project p {where.sql} ORDER BY p.id LIMIT ?",
        (*where.values, limit),
    )
    return [ProjectRow(*row) for row in rows]


def of_events(db: Database, *, after: Key | None, limit: int) -> list[Event]:
    """The newest first."""
    return events.recent(db, limit, before=int(after[0]) if after else None)
