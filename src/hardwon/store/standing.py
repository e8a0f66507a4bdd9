"""Standing lines: what a project's next session may be handed, kept ready for the hook."""

from __future__ import annotations

from collections.abc import Iterable

from hardwon.store import meta, stale
from hardwon.store.assignment import Prepared
from hardwon.store.database import Database, insert

_COLUMNS = "project agent rank section item text tokens exempt score".split()
_PREPARED_AS = "2"
"""Changes with the code that prepares them: lines of older code are prepared anew by the next refresh."""


def replace(db: Database, project: str, agent: str, lines: Iterable[Prepared]) -> None:
    """`lines` in the order they are read; an empty agent is any other. Called inside a transaction."""
    db.execute("DELETE FROM standing WHERE project = ? AND agent = ?", (project, agent))
    db.bulk(
        insert("standing", _COLUMNS),
        ((project, agent, rank, *line) for rank, line in enumerate(lines)),
    )
    if _are_older(db):
        meta.set_note(db, "standing", _PREPARED_AS)


def mark_if_older(db: Database) -> None:
    """Lines that older code prepared are behind."""
    if _are_older(db) and db.query("SELECT 1 FROM standing LIMIT 1"):
        with db.transaction():
            stale.mark_projects(db, [None])
            meta.set_note(db, "standing", _PREPARED_AS)


def _are_older(db: Database) -> bool:
    return meta.note(db, "standing") != _PREPARED_AS
