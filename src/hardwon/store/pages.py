"""Rows a page at a time: each page begins behind the last row of the one before, whatever was added meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hardwon.model.lesson import StoredLesson
from hardwon.store import attempts, events, lessons
from hardwon.store.attempts import AttemptRow
from hardwon.store.database import Database, Row, marks
from hardwon.store.events import EventRow
from hardwon.store.failures import FailureRow
from hardwon.store.sessions import CallRow, SessionRow

Key = tuple[int | str, ...]
"""The columns of a row that its place in the order depends on."""

_EVERYWHERE = (
    "f.id, f.family, f.signature, coalesce(nullif(f.words, ''), f.signature), f.occurrences, "
    "f.sessions, f.first_seen, f.last_seen, '', ''"
)
_IN_PROJECT = (
    "f.id, f.family, f.signature, coalesce(nullif(p.words, ''), f.signature), p.occurrences, p.sessions, p.first_seen, "
    "p.last_seen, p.command, p.agents "
    "FROM failure_in_project p JOIN failure f ON f.id = p.failure"
)


class ProjectRow(NamedTuple):
    id: str
    key: str
    name: str
    description: str
    status: str
    sessions: int


class Conditions:
    """Conditions that all hold, and their values."""

    def __init__(self) -> None:
        self._conditions: list[str] = []
        self.values: list[Any] = []

    def add(self, condition: str, *values: Any) -> Conditions:
        self._conditions.append(condition)
        self.values += values
        return self

    def equal(self, column: str, value: Any) -> Conditions:
        return self if value is None else self.add(f"{column} = ?", value)

    def behind(self, columns: Sequence[str], key: Key | None) -> Conditions:
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

    def some(where: Conditions) -> list[tuple[int, str]]:
        where.equal("l.kind", kind).equal("l.status", status).behind(columns, after)
        order = "ORDER BY l.last_confirmed DESC, l.id DESC LIMIT ?"
        return db.query(f"SELECT l.last_confirmed, l.id FROM lesson l {where.sql} {order}", (*where.values, limit))

    if project is None:
        found = some(Conditions())
    else:  # each part can follow its index
        found = some(Conditions().add("l.project = ?", project)) + some(Conditions().add("l.project IS NULL"))
    chosen = [id for _, id in sorted(found, reverse=True)[:limit]]
    by_id = {lesson.id: lesson for lesson in lessons.named(db, chosen)}
    return [by_id[id] for id in chosen]


def of_failures(db: Database, *, project: str | None, after: Key | None, limit: int) -> list[FailureRow]:
    """The most widespread first."""
    table = "f" if project is None else "p"
    source = f"{_EVERYWHERE} FROM failure f" if project is None else _IN_PROJECT
    columns = (f"{table}.sessions", f"{table}.occurrences", f"{table}.last_seen", "f.id")
    where = Conditions().equal("p.project", project).behind(columns, after)
    order = ", ".join(f"{column} DESC" for column in columns)
    rows = db.query(f"SELECT {source} {where.sql} ORDER BY {order} LIMIT ?", (*where.values, limit))
    return [FailureRow(*row) for row in rows]


def failure_in(db: Database, id: str, project: str) -> FailureRow | None:
    rows = db.query(f"SELECT {_IN_PROJECT} WHERE p.project = ? AND p.failure = ?", (project, id))
    return FailureRow(*rows[0]) if rows else None


def of_sessions(
    db: Database, *, project: str | None, agent: str | None, after: Key | None, limit: int
) -> list[SessionRow]:
    """The newest first."""
    where = Conditions().equal("project", project).equal("agent", agent).behind(("started_at", "id"), after)
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
    where = Conditions().equal("project", project).equal("root", run).behind(("started_at", "number"), after)
    if outcomes:
        where.add(f"outcome IN ({marks(outcomes)})", *outcomes)
    order = "ORDER BY started_at DESC, number DESC LIMIT ?"
    ids = [row[0] for row in db.query(f"SELECT id FROM attempt {where.sql} {order}", (*where.values, limit))]
    by_id = attempts.by_id(db, ids)
    return [by_id[id] for id in ids]


def of_projects(db: Database, *, only: Sequence[str], after: Key | None, limit: int) -> list[ProjectRow]:
    """By id; `only` these, if any are named."""
    where = Conditions()
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


def of_events(db: Database, *, after: Key | None, limit: int) -> list[EventRow]:
    """The newest first."""
    return events.recent(db, limit, before=int(after[0]) if after else None)
