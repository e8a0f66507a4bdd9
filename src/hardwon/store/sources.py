"""Files that were looked at: what lets an unchanged file go unread."""

from __future__ import annotations

from hardwon.store.database import Database


def known(db: Database, harvester_version: int) -> dict[str, tuple[int, int]]:
    """Path → (size, modification time) of every file this harvester has dealt with."""
    rows = db.query("SELECT path, size, modified FROM source WHERE harvester_version = ?", (harvester_version,))
    return {path: (size, modified) for path, size, modified in rows}


def save(
    db: Database,
    path: str,
    stamp: tuple[int, int],
    *,
    refused: str = "",
    damaged: int = 0,
    harvester_version: int,
) -> None:
    db.execute(
        "INSERT INTO source (path, size, modified, harvester_version, refused, damaged) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET size = excluded.size, "
        "modified = excluded.modified, "
        "harvester_version = excluded.harvester_version, refused = excluded.refused, damaged = excluded.damaged",
        (path, *stamp, harvester_version, refused, damaged),
    )


def totals(db: Database) -> tuple[int, int, int]:
    """(files, refused files, damaged stretches)."""
    row = db.query("SELECT count(*), count(*) FILTER (WHERE refused <> ''), coalesce(sum(damaged), 0) FROM source")[0]
    return int(row[0]), int(row[1]), int(row[2])
