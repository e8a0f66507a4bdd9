"""Hashes that tell whether rows, tables and whole stores are what was written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from operator import attrgetter
from typing import Any, NamedTuple

import apsw
import msgspec

from hardwon.store import schema
from hardwon.store.database import Database, Row
from hardwon.store.ddl import Table
from hardwon.store.schema import copied
from hardwon.text.normalise import digest

# A hash in every row that cannot be made again, so that a flipped bit on the disk is noticed.

Tables = Mapping[str, Table]
SUMS_TABLE = "table_sum"
_HASH_BYTES = 16


class Sealed(NamedTuple):
    id: str
    was: str
    """The seal as it stands; rows from before there were seals have none."""
    now: str
    """As it should be."""

    @property
    def broken(self) -> bool:
        return self.was not in ("", self.now)


def seal_of(values: Iterable[Any]) -> str:
    return digest(*[f"{value:.9g}" if value.__class__ is float else repr(value) for value in values])


def seal_of_fields(table: str, fields: Mapping[str, Any], more: Iterable[Any] = ()) -> str:
    """The seal of a row that is about to be written; `more` are the values of rows that it covers as well."""
    declared = schema.named()[table]
    own = {**declared.defaults, **fields}
    return seal_of((*map(own.get, declared.sealed), *more))


def reseal(db: Database, table: str, ids: Iterable[str]) -> None:
    """Seal rows again after a change that was meant."""
    for id in ids:
        for row in stored_seals(db, table, schema.named(), "WHERE id = ?", (id,)):
            db.execute(f"UPDATE {table} SET seal = ? WHERE id = ?", (row.now, id))


def broken_seals(db: Database, table: str) -> list[str]:
    """The ids of the rows that are not what was written."""
    return [row.id for row in stored_seals(db, table, schema.named()) if row.broken]


def stored_seals(
    db: Database, name: str, tables: Tables, where: str = "", values: Sequence[str] = ()
) -> Iterator[Sealed]:
    """Every row with its seal as it stands and as it should be, by the declaration that is given."""
    table = tables[name]
    covered = tables[table.sealed_with] if table.sealed_with else None
    for seal, *own in db.query(f"SELECT seal, {', '.join(table.sealed)} FROM {name} {where} ORDER BY id", values):
        more = [value for row in _covered(db, covered, name, own[0]) for value in row] if covered else []
        yield Sealed(own[0], seal, seal_of((*own, *more)))


def _covered(db: Database, table: Table, by: str, id: str) -> list[tuple[Any, ...]]:
    key = ", ".join(table.key)
    return db.query(f"SELECT {', '.join(table.names)} FROM {table.name} WHERE {by} = ? ORDER BY {key}", (id,))


# A sum over every table, so that a flipped bit anywhere in the file is noticed, also in rows without a seal.

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
            self._connection.executemany(
                f"UPDATE {SUMS_TABLE} SET value = (value | ?) - (value & ?) WHERE name = ?", mixed
            )

    def changes(self) -> dict[str, int]:
        """What is not stored yet, for `undo`."""
        return dict(self._changes)

    def undo(self, before: dict[str, int]) -> None:
        """What was written since then has been taken back."""
        self._changes = dict(before)

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.execute(
                f"CREATE TABLE IF NOT EXISTS {SUMS_TABLE} (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT"
            )
            missing = set(self._watched) - _known(self._connection)
            rows = [(table, sum_of_table(self._connection, table, self._watched[table])) for table in sorted(missing)]
            self._connection.executemany(f"INSERT INTO {SUMS_TABLE} (name, value) VALUES (?, ?)", rows)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def forget_sums(connection: apsw.Connection) -> None:
    """After a change that nobody watched, such as a migration; they are made anew."""
    connection.execute(f"DROP TABLE IF EXISTS {SUMS_TABLE}")


def broken_sums(connection: apsw.Connection, columns: dict[str, list[str]]) -> list[str]:
    """The tables whose rows are not what was written. Rows and sums must be of the same moment."""
    return [
        table
        for table, value in stored_sums(connection).items()
        if table not in columns or sum_of_table(connection, table, columns[table]) != value
    ]


def stored_sums(connection: apsw.Connection) -> dict[str, int]:
    """Table → the sum over its rows, as they were written; empty where no sums are kept."""
    if not _known(connection):
        return {}
    rows: Iterable[Any] = connection.execute(f"SELECT name, value FROM {SUMS_TABLE} ORDER BY name").fetchall()
    return dict(rows)


def _watched(name: str) -> bool:
    declared = schema.named().get(name)
    return declared is None or declared.summed


def _known(connection: apsw.Connection) -> set[Any]:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (SUMS_TABLE,)).get:
        return set()
    return {row[0] for row in connection.execute(f"SELECT name FROM {SUMS_TABLE}")}


def sum_of_table(connection: apsw.Connection, table: str, columns: list[str]) -> int:
    """Over its rows as they are."""
    total = 0
    for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table}"):
        total ^= _of_row(row)
    return total


def _of_row(values: Row) -> int:
    return int.from_bytes(blake2b(_encode(values), digest_size=7).digest(), "big")


# One hash over what a store holds: two stores with the same hash know the same, whatever engine they are on.


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
    total = blake2b(digest_size=_HASH_BYTES)
    encoder = msgspec.json.Encoder()
    for table in sorted(chosen, key=attrgetter("name")):
        total.update(encoder.encode((table.name, chosen[table])))
        for rows in table.rows(db, chosen[table]):
            total.update(encoder.encode_lines(rows))
    return total.hexdigest()
