"""What must be recounted: marked with the change, recounted once when a harvest is done.

Recounting at every session would cost as much as there is, not as much as is new. A harvest that was
killed leaves its marks, and the next one starts with them.
"""

from __future__ import annotations

from collections.abc import Iterable

from oldhand.store import failures, lessons
from oldhand.store.sqlite import Database

_AT_ONCE = 500


def mark(db: Database, items: Iterable[str]) -> None:
    db.bulk("INSERT INTO stale (item) VALUES (?) ON CONFLICT (item) DO NOTHING", ((item,) for item in items))


def recount(db: Database) -> set[str]:
    """Bring every marked count up to date; returns the projects concerned."""
    projects: set[str] = set()
    while items := [row[0] for row in db.query("SELECT item FROM stale ORDER BY item LIMIT ?", (_AT_ONCE,))]:
        with db.transaction():
            projects |= failures.projects_of(db, items) | lessons.projects_of(db, items)
            failures.refresh(db, (item for item in items if item.startswith("F")))
            lessons.refresh(db, (item for item in items if item.startswith("L")))
            db.bulk("DELETE FROM stale WHERE item = ?", ((item,) for item in items))
    return projects
