"""Every text that a store holds, wherever it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hardwon.store.database import Database

_ROWS = 20_000


class StoredText(NamedTuple):
    table: str
    row: str
    """The first column of its row, which is the key or the first part of it."""
    column: str
    text: str


def texts(db: Database) -> Iterator[StoredText]:
    for table, columns in db.columns().items():
        every = ", ".join(columns)
        done = 0
        while rows := db.query(f"SELECT {every} FROM {table} ORDER BY {every} LIMIT ? OFFSET ?", (_ROWS, done)):
            for row in rows:
                for column, value in zip(columns, row, strict=True):
                    if isinstance(value, str) and value:
                        yield StoredText(table, str(row[0]), column, value)
            done += len(rows)
