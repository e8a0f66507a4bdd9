"""Standing lines: what a project's next session is handed, kept ready for the hook."""

from __future__ import annotations

from collections.abc import Iterable

from oldhand.store.database import Database


def replace(db: Database, project: str, agent: str, lines: Iterable[tuple[str, str, str]]) -> None:
    """`lines` are (section, item, text) in the order they are shown; an empty agent is any other."""
    db.execute("DELETE FROM standing WHERE project = ? AND agent = ?", (project, agent))
    db.bulk(
        "INSERT INTO standing (project, agent, rank, section, item, text) VALUES (?, ?, ?, ?, ?, ?)",
        ((project, agent, rank, *line) for rank, line in enumerate(lines)),
    )
