"""Standing lines: what a project's next session is handed, kept ready for the hook."""

from __future__ import annotations

from collections.abc import Iterable

from hardwon.store.assignment import Standing
from hardwon.store.database import Database, insert

_COLUMNS = "project agent rank section item text tokens exempt spare score".split()


def replace(db: Database, project: str, agent: str, lines: Iterable[Standing]) -> None:
    """`lines` in the order they are shown, then the spare ones; an empty agent is any other."""
    db.execute("DELETE FROM standing WHERE project = ? AND agent = ?", (project, agent))
    db.bulk(
        insert("standing", _COLUMNS),
        ((project, agent, rank, *line) for rank, line in enumerate(lines)),
    )
