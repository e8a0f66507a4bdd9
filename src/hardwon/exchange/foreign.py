"""Another system's SQLite database: read only, trusted in nothing, and whole or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from hardwon.errors import HardwonError, NotFound
from hardwon.sessions.source import Source, columns, opened_database

_HEADER = b"SQLite format 3\x00"


class Foreign:
    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        self.path = path
        self._connection = connection

    @property
    def changed(self) -> int:
        """When the file was written last, in microseconds: for rows that do not say when."""
        return self.path.stat().st_mtime_ns // 1000

    def refuse_damage(self) -> None:
        """Before anything is taken: a page that cannot be read may come late, or not be noticed at all."""
        said = str(self._value("PRAGMA quick_check(1)"))
        if said != "ok":
            raise apsw.CorruptError(" ".join(said.split()))

    def columns(self, table: str) -> set[str]:
        return columns(self._connection, table)

    def rows(self, table: str, defaults: Mapping[str, object], order: str = "id") -> Iterator[dict[str, Any]]:
        """The named columns of every row; those that an older database lacks have their default."""
        there = [name for name in defaults if name in self.columns(table)]
        if not there:
            return
        # As bytes, for nothing says that what such a database calls text is UTF-8.
        wanted = ", ".join(f"iif(typeof({name}) = 'text', CAST({name} AS BLOB), {name})" for name in there)
        for row in self._connection.execute(f"SELECT {wanted} FROM {table} ORDER BY {order}"):
            yield {**defaults, **dict(zip(there, map(_decoded, row), strict=True))}

    def count(self, table: str, where: str = "TRUE") -> int:
        return int(self._value(f"SELECT count(*) FROM {table} WHERE {where}"))

    def largest(self, table: str, column: str) -> int:
        value = self._value(f"SELECT max({column}) FROM {table}")
        return value if isinstance(value, int) else 0

    def others(self, known: Mapping[str, Collection[str]]) -> list[str]:
        """Tables and columns that hold something and are not among the known ones."""
        names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name"
        tables = [str(name) for (name,) in self._connection.execute(names)]
        found = [name for name in tables if name not in known and self._holds(name)]
        for table in known:
            found += [f"{table}.{column}" for column in sorted(self.columns(table) - set(known[table]))]
        return found

    def _holds(self, table: str) -> bool:
        quoted = table.replace('"', '""')
        return bool(self._value(f'SELECT EXISTS (SELECT 1 FROM "{quoted}")'))

    def _value(self, sql: str) -> Any:
        return next(iter(self._connection.execute(sql)))[0]


def _decoded(value: object) -> object:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def is_database(path: Path) -> bool:
    if not path.is_file():
        raise NotFound(f"no such file: {path}")
    try:
        with path.open("rb") as file:
            return file.read(len(_HEADER)) == _HEADER
    except OSError as error:
        raise HardwonError(f"cannot read {path}: {error.strerror}") from error


@contextmanager
def database(path: Path, name: str, needs: Mapping[str, frozenset[str]]) -> Iterator[Foreign]:
    """Open a database that has at least these columns; any trouble with it is told in one line."""
    try:
        if not is_database(path):
            raise HardwonError(f"{path} is not a SQLite database")
        connection = opened_database(Source(path))
    except (OSError, apsw.Error) as error:
        raise HardwonError(f"cannot read {path}: {error}") from error
    try:
        foreign = Foreign(path, connection)
        if not any(foreign.columns(table) >= wanted for table, wanted in needs.items()):
            raise HardwonError(f"{path} is not {name}: it has no table {' or '.join(needs)} with the columns of one")
        connection.execute("BEGIN")
        foreign.refuse_damage()
        yield foreign
    except apsw.Error as error:
        raise HardwonError(f"{path} is damaged: {error}; nothing was imported") from error
    finally:
        connection.close()
