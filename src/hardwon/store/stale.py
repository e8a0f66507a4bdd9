"""What must be recounted: marked with the change, recounted once when the change is done.

Recounting at every session would cost as much as there is, not as much as is new. A harvest that was
killed leaves its marks, and the next one starts with them. A marked project has standing lines that are behind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from hardwon.store import failures, lessons
from hardwon.store.database import Database, insert

_ITEMS_PER_TRANSACTION = 500
_RULES = "R"
"""Before a project's id: the rules over its sessions must be applied again."""
_MARK = insert("stale", ("item",), "ON CONFLICT (item) DO NOTHING")


def mark(db: Database, items: Iterable[str]) -> None:
    db.bulk(_MARK, ((item,) for item in items))


def clear(db: Database, items: Iterable[str]) -> None:
    db.bulk("DELETE FROM stale WHERE item = ?", ((item,) for item in items))


def recount(db: Database) -> set[str]:
    """Bring every marked count up to date; returns the projects concerned, which are marked in turn."""
    projects: set[str] = set()
    while True:
        with db.transaction():
            items = [
                row[0]
                for row in db.claim(
                    "SELECT item FROM stale WHERE item < 'P' ORDER BY item LIMIT ?", (_ITEMS_PER_TRANSACTION,)
                )
            ]
            if not items:
                return projects
            concerned = failures.projects_of(db, items) | lessons.projects_of(db, items)
            failures.refresh(db, (item for item in items if item.startswith("F")))
            lessons.refresh(db, (item for item in items if item.startswith("L")))
            clear(db, items)
            mark(db, concerned)
            projects |= concerned


def projects(db: Database) -> list[str]:
    """The projects whose standing lines are behind."""
    return [row[0] for row in db.query("SELECT item FROM stale WHERE item >= 'P' AND item < 'Q' ORDER BY item")]


def mark_for_rules(db: Database, projects: Iterable[str]) -> None:
    """Sessions of these projects are new: the rules that count over all of them are behind."""
    mark(db, (_RULES + project for project in projects))


def for_rules(db: Database) -> list[str]:
    rows = db.query("SELECT item FROM stale WHERE item >= 'R' AND item < 'S' ORDER BY item")
    return [row[0][len(_RULES) :] for row in rows]


def rules_done(db: Database, project: str) -> None:
    clear(db, [_RULES + project])


def mark_projects_of(db: Database, lesson: str) -> None:
    """A lesson changed: the lines of its project are behind; those of every project, if it belongs to none."""
    mark_projects(db, {row[0] for row in db.query("SELECT project FROM lesson WHERE id = ?", (lesson,))})


def mark_projects(db: Database, holders: Collection[str | None]) -> None:
    """Lessons of these projects changed; `None` stands for one that belongs to none and may be told in all."""
    everywhere = any(holder is None for holder in holders)
    mark(db, (row[0] for row in db.query("SELECT id FROM project")) if everywhere else filter(None, holders))
