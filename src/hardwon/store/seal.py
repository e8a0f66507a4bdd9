"""A hash in every row that cannot be made again, so that a flipped bit on the disk is noticed.

What is counted (failures, fixes) needs none: it is recounted from the rows of the sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hardwon.store.database import Database, Row
from hardwon.text.digest import digest

SEALED: dict[str, tuple[str, ...]] = {
    "lesson": (
        "id", "kind", "text", "scope", "project", "agent", "base_confidence", "confidence", "status", "trust", "rule",
        "failure", "first_seen", "last_confirmed", "source_count", "tags", "valid_from", "valid_until",
        "superseded_by", "pinned", "kept",
    ),
    "attempt": (
        "id", "source", "session", "root", "agent", "task", "approach", "phase", "outcome", "evidence", "exit_code",
        "diff", "test_results", "failure_analysis", "reflection", "retry_count", "retry_of", "git_commit", "tokens",
        "started_at", "duration",
    ),
    "interaction": (
        "id", "session", "client", "prompt", "response", "response_summary", "context", "lessons_used", "chunks_used",
        "created_at",
    ),
}  # fmt: skip
"""Table → the columns that its seal covers."""


def of(values: Iterable[Any]) -> str:
    return digest(*[f"{value:.9g}" if value.__class__ is float else repr(value) for value in values])


def renew(db: Database, table: str, ids: Sequence[str]) -> None:
    """Seal rows again after a change that was meant."""
    for id in ids:
        for row in _rows(db, table, "WHERE id = ?", (id,)):
            db.execute(f"UPDATE {table} SET seal = ? WHERE id = ?", (of(row[1:]), id))


def broken(db: Database, table: str) -> list[str]:
    """The ids of the rows that are not what was written; those from before there were seals have none."""
    return [str(row[1]) for row in _rows(db, table) if row[0] not in ("", of(row[1:]))]


def _rows(db: Database, table: str, where: str = "", values: Sequence[str] = ()) -> list[Row]:
    return db.query(f"SELECT seal, {', '.join(SEALED[table])} FROM {table} {where}", values)
