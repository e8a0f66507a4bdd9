"""Requests that were answered, so that one that is sent again is not done again."""

from __future__ import annotations

from typing import NamedTuple

from oldhand.store.database import Database, insert

KEPT_FOR = 24 * 3600 * 1_000_000
_COLUMNS = ("caller", "key", "request", "item", "at")


class Answered(NamedTuple):
    request: str
    """A hash of what was asked."""
    item: str
    """What came of it; empty while nobody knows."""


def claim(db: Database, caller: str, key: str, request: str, at: int) -> Answered | None:
    """Take a key for a request; what stands there already, if another was first. Inside a transaction."""
    db.execute("DELETE FROM answered WHERE at < ?", (at - KEPT_FOR,))
    rows = db.query("SELECT request, item FROM answered WHERE caller = ? AND key = ?", (caller, key))
    if rows:
        return Answered(*rows[0])
    db.execute(insert("answered", _COLUMNS), (caller, key, request, "", at))
    return None


def settle(db: Database, caller: str, key: str, item: str) -> None:
    db.execute("UPDATE answered SET item = ? WHERE caller = ? AND key = ?", (item, caller, key))


def release(db: Database, caller: str, key: str) -> None:
    """Nothing came of it: the same key may be tried again."""
    db.execute("DELETE FROM answered WHERE caller = ? AND key = ? AND item = ''", (caller, key))
