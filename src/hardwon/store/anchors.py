"""The file that a lesson speaks of, and what it looked like then."""

from __future__ import annotations

from typing import NamedTuple

from hardwon.store.database import Database


class Anchor(NamedTuple):
    lesson: str
    path: str
    """Below the project's root."""
    sketch: str


def of_project(db: Database, project: str) -> list[Anchor]:
    rows = db.query(
        "SELECT id, anchor_path, anchor_hash FROM lesson WHERE project = ? AND anchor_path <> '' ORDER BY id",
        (project,),
    )
    return [Anchor(*row) for row in rows]


def without(db: Database, project: str) -> list[tuple[str, str]]:
    """(id, text) of the project's lessons that no file is known for."""
    return db.query(
        "SELECT id, text FROM lesson WHERE project = ? AND anchor_path = '' AND status IN ('active', 'candidate') "
        "ORDER BY id",
        (project,),
    )


def save(db: Database, anchors: list[Anchor]) -> None:
    """Inside a transaction."""
    db.bulk(
        "UPDATE lesson SET anchor_path = ?, anchor_hash = ? WHERE id = ?",
        ((path, hash, id) for id, path, hash in anchors),
    )


def roots(db: Database, project: str) -> list[str]:
    return [row[0] for row in db.query("SELECT path FROM project_root WHERE project = ? ORDER BY path", (project,))]
