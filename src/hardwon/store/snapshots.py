"""Metrics as they were at some moment, to see where they go."""

from __future__ import annotations

from collections.abc import Iterable

from hardwon.store.database import Database, insert

_COLUMNS = ("at", "scope", "name", "value", "numerator", "denominator")


def save(db: Database, at: int, scope: str, values: Iterable[tuple[str, float | None, int]]) -> None:
    """(name, value, n) of each, for a project or, with an empty scope, for all. Called inside a transaction."""
    replace = "ON CONFLICT (at, scope, name) DO UPDATE SET value = excluded.value, denominator = excluded.denominator"
    rows = [(at, scope, name, value, None, float(n)) for name, value, n in values]
    db.bulk(insert("metric_snapshot", _COLUMNS, replace), rows)


def latest(db: Database, scope: str) -> int:
    """When the last one was taken; 0 if none was."""
    return int(db.query("SELECT coalesce(max(at), 0) FROM metric_snapshot WHERE scope = ?", (scope,))[0][0])


def before(db: Database, at: int, scope: str) -> dict[str, float]:
    """Name → value in the newest snapshot that is not younger than this."""
    rows = db.query(
        "SELECT name, value FROM metric_snapshot WHERE scope = ? AND value IS NOT NULL AND at = "
        "(SELECT max(at) FROM metric_snapshot WHERE scope = ? AND at <= ?)",
        (scope, scope, at),
    )
    return dict(rows)


def series(db: Database, name: str, scope: str) -> list[tuple[int, float]]:
    return [
        (row[0], row[1])
        for row in db.query(
            "SELECT at, value FROM metric_snapshot WHERE name = ? AND scope = ? AND value IS NOT NULL ORDER BY at",
            (name, scope),
        )
    ]
