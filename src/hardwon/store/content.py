"""One hash over what a store holds: two stores with the same hash know the same, whatever engine they are on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from operator import attrgetter

import msgspec

from hardwon.store.database import Database
from hardwon.store.ddl import Table
from hardwon.store.schema import copied

_SIZE = 16


def content_hash(db: Database) -> str:
    """Of what was learned and decided: equal after the same files, however often the harvest was interrupted.

    Nothing in it depends on the engine or on when it was done, but secrets are marked by the store's own key.
    Counts that are marked stale are as they stand: recount first.
    """
    learned = {table: [column.name for column in table.columns if column.content] for table in copied()}
    return _hash(db, {table: names for table, names in learned.items() if table.content})


def whole_hash(db: Database) -> str:
    """Of every row that a copy of the store must have."""
    return _hash(db, {table: table.names for table in copied()})


def is_empty(db: Database) -> bool:
    """Whether a store holds nothing yet but its own keys."""
    kept = (table for table in copied() if table.name != "meta")
    return not any(db.query(f"SELECT 1 FROM {table.name} LIMIT 1") for table in kept)


def _hash(db: Database, chosen: Mapping[Table, Sequence[str]]) -> str:
    total = blake2b(digest_size=_SIZE)
    encoder = msgspec.json.Encoder()
    for table in sorted(chosen, key=attrgetter("name")):
        total.update(encoder.encode((table.name, chosen[table])))
        for rows in table.rows(db, chosen[table]):
            total.update(encoder.encode_lines(rows))
    return total.hexdigest()
