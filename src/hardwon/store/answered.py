"""Requests that were answered, so that one that is sent again is not done again."""

from __future__ import annotations

from typing import NamedTuple

from hardwon.store.database import Database, insert

KEPT_FOR = 24 * 3600 * 1_000_000
LEASE = 5 * 60 * 1_000_000
"""For so long a request that nobody has answered counts as under way; then its process is taken to be dead."""
_COLUMNS = ("caller", "key", "request", "item", "at")


class Answered(NamedTuple):
    request: str
    """A hash of what was asked."""
    item: str
    """What came of it; empty while nobody knows."""


def claim(db: Database, caller: str, key: str, request: str, at: int) -> Answered | None:
    """Take a key for a request; what stands there already, if another was first. Inside a transaction."""
    db.execute("DELETE FROM answered WHERE at < ? OR (item = '' AND at < ?)", (at - KEPT_FOR, at - LEASE))
    rows = db.query("SELECT request, item FROM answered WHERE caller = ? AND key = ?", (caller, key))
    if rows:
        return Answered(*rows[0])
    db.execute(insert("answered", _COLUMNS), (caller, key, request, "", at))
    return None


def settle(db: Database, caller: str, key: str, at: int, item: str) -> None:
    """What came of the request that took the key at that time."""
    db.execute("UPDATE answered SET item = ? WHERE caller = ? AND key = ? AND at = ?", (item, caller, key, at))


def release(db: Database, caller: str, key: str, at: int) -> None:
    """Nothing came of it: the same key may be tried again."""
    db.execute("DELETE FROM answered WHERE caller = ? AND key = ? AND at = ? AND item = ''", (caller, key, at))
