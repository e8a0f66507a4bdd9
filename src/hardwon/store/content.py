"""One hash over what a store holds: two stores with the same hash know the same, whatever engine they are on."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

import msgspec

from hardwon.store.database import Database
from hardwon.store.schema import Table, copied

NO_CONTENT = frozenset(
    (
        "embedding",  # made from the texts
        "event",  # tells when and by whom, with salts; what came of it is in the rows
        "hook_run",  # how long things took
        "meta",  # the store's own keys
        "metric_snapshot",  # measured at some moment
        "source",  # files of this machine, with their times
        "stale",  # work that is left to do
        "standing",  # ranked from the rows and the clock
        "tombstone",  # hashed with the store's own key
    )
)
"""Tables that say nothing about what was learned: they differ from machine to machine, or with the clock."""
NO_CONTENT_COLUMNS: Mapping[str, frozenset[str]] = {
    "attempt": frozenset(("number", "seal")),  # numbered in the order of arrival
    "interaction": frozenset(("seal",)),
    "lesson": frozenset(("seal",)),
    "session": frozenset(("seal",)),
}

_SIZE = 16


def content_hash(db: Database) -> str:
    """Of what was learned and decided: equal after the same files, however often the harvest was interrupted.

    Nothing in it depends on the engine or on when it was done, but secrets are marked by the store's own key.
    Counts that are marked stale are as they stand: recount first.
    """
    return _hash(db, [_content_of(table) for table in copied() if table.name not in NO_CONTENT])


def whole_hash(db: Database) -> str:
    """Of every row that a copy of the store must have."""
    return _hash(db, copied())


def _content_of(table: Table) -> Table:
    left_out = NO_CONTENT_COLUMNS.get(table.name, frozenset())
    return table._replace(columns=tuple(name for name in table.columns if name not in left_out))


def is_empty(db: Database) -> bool:
    """Whether a store holds nothing yet but its own keys."""
    kept = (table for table in copied() if table.name != "meta")
    return not any(db.query(f"SELECT 1 FROM {table.name} LIMIT 1") for table in kept)


def _hash(db: Database, chosen: tuple[Table, ...] | list[Table]) -> str:
    total = blake2b(digest_size=_SIZE)
    encoder = msgspec.json.Encoder()
    for table in sorted(chosen):
        total.update(encoder.encode((table.name, table.columns)))
        for rows in table.rows(db):
            total.update(encoder.encode_lines(rows))
    return total.hexdigest()
