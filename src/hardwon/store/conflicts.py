"""Lessons that contradict each other and are not told until a person decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hardwon.store.database import Database, marks

_DISPUTED = (
    "SELECT m.conflict, m.lesson, c.opened_at FROM conflict_member m JOIN conflict c ON c.id = m.conflict "
    "JOIN lesson l ON l.id = m.lesson WHERE c.status = 'open' AND l.status = 'active'"
)


class Open(NamedTuple):
    id: str
    since: int
    lessons: tuple[str, ...]


def open_ones(db: Database, project: str | None = None) -> list[Open]:
    """The oldest first; one of which less than two lessons are believed has settled itself."""
    held = " AND (l.project = ? OR l.project IS NULL)" if project else ""
    members: dict[str, list[str]] = {}
    since: dict[str, int] = {}
    for id, lesson, at in db.query(
        f"{_DISPUTED}{held} ORDER BY c.opened_at, m.conflict, m.lesson", [project] if project else []
    ):
        members.setdefault(id, []).append(lesson)
        since[id] = at
    return [Open(id, since[id], tuple(lessons)) for id, lessons in members.items() if len(lessons) > 1]


def disputed(db: Database) -> set[str]:
    """Lessons that are believed and contradict another that is."""
    return {lesson for one in open_ones(db) for lesson in one.lessons}


def superseded_in(db: Database, id: str) -> list[str]:
    """The lessons of a conflict that gave way to another of it."""
    rows = db.query("SELECT lesson FROM conflict_member WHERE conflict = ? ORDER BY lesson", (id,))
    members: Sequence[str] = [row[0] for row in rows]
    if not members:
        return []
    rows = db.query(
        f"SELECT id FROM lesson WHERE id IN ({marks(members)}) AND status = 'superseded' "
        f"AND superseded_by IN ({marks(members)}) ORDER BY id",
        [*members, *members],
    )
    return [row[0] for row in rows]


def contradicted(db: Database, id: str) -> list[str]:
    """Lessons that are believed and say the opposite of this one."""
    rows = db.query(
        "SELECT l.id FROM lesson l WHERE l.status = 'active' AND l.id IN ("
        "SELECT other FROM lesson_link WHERE lesson = ? AND relation = 'contradicts' UNION "
        "SELECT lesson FROM lesson_link WHERE other = ? AND relation = 'contradicts') ORDER BY l.id",
        (id, id),
    )
    return [row[0] for row in rows]
