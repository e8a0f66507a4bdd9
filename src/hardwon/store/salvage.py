"""Copying out of a damaged SQLite file whatever can be read, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Protocol

import apsw

from hardwon.store import fts5, migrations
from hardwon.store.database import Row, insert
from hardwon.store.sqlite import SqliteDatabase, create_tables

_MOST_MISSED = 20_000


class Refused(Protocol):
    """Where rows go that the new store does not take."""

    def add(self, why: str, table: str, columns: list[str], rows: Iterable[Row]) -> int: ...


def salvage(source: apsw.Connection, new: Path, refused: Refused) -> tuple[int, list[str]]:
    """Make a new store of the same schema with the rows that can be read; returns how many, and what was done."""
    total, done = 0, []
    version = _version(source)
    with suppress(apsw.Error):
        source.execute("PRAGMA writable_schema = ON")  # one table that is not understood does not hide the others
    with closing(apsw.Connection(str(new))) as target:
        target.execute("PRAGMA synchronous = OFF")  # it is of no use before it is whole
        tables = migrations.tables_at(version)
        create_tables(target, tables.values())
        for statement in fts5.statements(0, version):
            target.execute(statement)
        target.execute(f"PRAGMA user_version = {version}")
        for table in tables.values():
            if table.salvaged:
                taken, told = _copy(source, target, table.name, list(table.names), refused)
                total += taken
                done += told
    SqliteDatabase(new, write=True).close()  # an older schema is brought up to date
    return total, done


def _version(source: apsw.Connection) -> int:
    """The schema of the damaged file; where that cannot be read, the newest is the likeliest."""
    with suppress(apsw.Error):
        version = int(source.execute("PRAGMA user_version").get)
        migrations.is_behind(version, "the damaged store")
        return version or migrations.newest()
    return migrations.newest()


def _copy(
    source: apsw.Connection, target: apsw.Connection, table: str, columns: list[str], refused: Refused
) -> tuple[int, list[str]]:
    put = insert(table, columns)
    taken = 0
    rejected: list[Row] = []
    reading = _Reading(source, table, columns)
    with target:
        for row in reading.rows():
            try:
                target.execute(put, row)
                taken += 1
            except (apsw.ConstraintError, apsw.MismatchError):  # damaged, or the same row found twice
                rejected.append(row)
    refused.add("the new store does not take it", table, columns, rejected)
    done = [f"read {taken} rows of {table}, with gaps where it is damaged"] if reading.damaged else []
    if rejected:
        done.append(f"took out {len(rejected)} rows of {table} that no store could hold")
    return taken, done


class _Reading:
    """All rows of a table that can be read; `damaged` tells whether that may not be all."""

    def __init__(self, source: apsw.Connection, table: str, columns: list[str]) -> None:
        self._source = source
        self._table = table
        # A flipped bit can make text that is no text; as bytes it can be read all the same.
        self._columns = ", ".join(map(_raw, columns))
        self.damaged = False

    def rows(self) -> Iterator[Row]:
        try:
            self._source.execute(f"EXPLAIN SELECT {self._columns} FROM {self._table}")
        except apsw.Error:  # not even the schema tells of it
            self.damaged = True
            return
        try:
            highest = self._source.execute(f"SELECT max(rowid) FROM {self._table}").get
        except apsw.SQLError:  # it has no such numbers
            yield from self._from_both_ends()
            return
        except apsw.Error:
            highest = None
        yield from self._by_number(highest)

    def _by_number(self, highest: Any) -> Iterator[Row]:
        """In order as far as that goes, then number by number up to the highest that anybody can tell."""
        last = None
        try:
            for row in self._source.execute(f"SELECT rowid, {self._columns} FROM {self._table} ORDER BY rowid"):
                last = row[0]
                yield _plain(row[1:])
            return
        except apsw.Error:
            self.damaged = True
        first = (last if last is not None else 0) + 1
        highest = highest if isinstance(highest, int) else first + _MOST_MISSED
        missed = 0
        for number in range(first, highest + 1):
            found: list[Row] = []
            with suppress(apsw.Error):
                sql = f"SELECT {self._columns} FROM {self._table} WHERE rowid = ?"
                found = self._source.execute(sql, (number,)).fetchall()
            yield from map(_plain, found)
            missed = 0 if found else missed + 1
            if missed > _MOST_MISSED:
                return

    def _from_both_ends(self) -> Iterator[Row]:
        """A table that is its own index can be walked from its beginning and from its end."""
        seen = set()
        for order in ("ASC", "DESC"):
            key = [row[1] for row in self._source.execute(f"PRAGMA table_info({self._table})") if row[5]]
            by = ", ".join(f"{name} {order}" for name in key)
            try:
                for row in self._source.execute(f"SELECT {self._columns} FROM {self._table} ORDER BY {by}"):
                    plain = _plain(row)
                    if plain not in seen:
                        seen.add(plain)
                        yield plain
                return
            except apsw.Error:
                self.damaged = True


def _raw(column: str) -> str:
    text = f"typeof({column}) = 'text'"
    return f"{text}, CASE WHEN {text} THEN CAST({column} AS BLOB) ELSE {column} END"


def _plain(raw: Row) -> Row:
    """(whether it is text, its bytes or value, …) as values; what is no UTF-8 any more will break the row's seal."""
    return tuple(
        value.decode("utf-8", "replace") if text else value for text, value in zip(raw[::2], raw[1::2], strict=True)
    )
