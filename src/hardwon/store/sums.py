"""A sum over every table, so that a flipped bit anywhere in the file is noticed, also in rows without a seal.

Each row that comes or goes is mixed into its table's sum by exclusive or, whoever writes it; the sums are stored
by the transaction that changed them. SQLite only; PostgreSQL has checksums of its pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import apsw
import msgspec

from hardwon.store import schema
from hardwon.store.database import Row

TABLE = "table_sum"
_encode = msgspec.msgpack.Encoder().encode


class Sums:
    """Watches what a connection writes."""

    def __init__(self, connection: apsw.Connection, columns: dict[str, list[str]]) -> None:
        self._connection = connection
        self._watched = {table: names for table, names in columns.items() if _watched(table)}
        self._changes: dict[str, int] = {}
        if not _known(connection) >= set(self._watched):
            self._begin()
        connection.preupdate_hook(self._change)

    def _change(self, row: apsw.PreUpdate) -> None:
        table = row.table_name
        if table in self._watched:
            for values in (row.old, row.new):
                if values is not None:
                    self._changes[table] = self._changes.get(table, 0) ^ _of_row(values)

    def settle(self) -> None:
        """Store the sums with what changed them; SQLite has no exclusive or: a ^ b is (a | b) - (a & b)."""
        if self._changes:
            mixed = [(value, value, table) for table, value in self._changes.items()]
            self._changes.clear()
            self._connection.executemany(f"UPDATE {TABLE} SET value = (value | ?) - (value & ?) WHERE name = ?", mixed)

    def undo(self) -> None:
        """What was written has been taken back."""
        self._changes.clear()

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.execute(
                f"CREATE TABLE IF NOT EXISTS {TABLE} (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT"
            )
            missing = set(self._watched) - _known(self._connection)
            rows = [(table, _of_table(self._connection, table, self._watched[table])) for table in sorted(missing)]
            self._connection.executemany(f"INSERT INTO {TABLE} (name, value) VALUES (?, ?)", rows)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def forget(connection: apsw.Connection) -> None:
    """After a change that nobody watched, such as a migration; they are made anew."""
    connection.execute(f"DROP TABLE IF EXISTS {TABLE}")


def broken(connection: apsw.Connection, columns: dict[str, list[str]]) -> list[str]:
    """The tables whose rows are not what was written. Rows and sums must be of the same moment."""
    if not _known(connection):
        return []
    said: Iterable[Any] = connection.execute(f"SELECT name, value FROM {TABLE} ORDER BY name").fetchall()
    return [
        table for table, value in said if table not in columns or _of_table(connection, table, columns[table]) != value
    ]


def _watched(name: str) -> bool:
    declared = schema.named().get(name)
    return declared is None or declared.summed


def _known(connection: apsw.Connection) -> set[Any]:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (TABLE,)).get:
        return set()
    return {row[0] for row in connection.execute(f"SELECT name FROM {TABLE}")}


def _of_table(connection: apsw.Connection, table: str, columns: list[str]) -> int:
    total = 0
    for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table}"):
        total ^= _of_row(row)
    return total


def _of_row(values: Row) -> int:
    return int.from_bytes(blake2b(_encode(values), digest_size=7).digest(), "big")
