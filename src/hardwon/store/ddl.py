"""How tables and columns are declared (see `schema.py`), and the SQL by which each engine makes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from hardwon.store.database import Database, Row

Type = Literal["TEXT", "INTEGER", "REAL", "BLOB"]
Effect = Literal[
    "", "mask", "row", "erase", "avoid", "project", "session", "failure", "fix", "lesson", "attempt", "interaction",
    "document", "chunk",
]  # fmt: skip
"""What becomes of a row that has words in it that are to be forgotten: `mask` puts a mark in their place, `row` drops
the row, `erase` empties an event, `avoid` leaves the step out, a noun drops the whole thing that the row belongs to."""

CASCADE = "CASCADE"
ROWS_PER_PAGE = 2000
"""A store may be larger than the memory: tables are read this many rows at a time."""

_TYPES: dict[str, dict[Type, str]] = {
    "sqlite": {"TEXT": "TEXT", "INTEGER": "INTEGER", "REAL": "REAL", "BLOB": "BLOB"},
    "postgresql": {"TEXT": 'TEXT COLLATE "C"', "INTEGER": "BIGINT", "REAL": "DOUBLE PRECISION", "BLOB": "BYTEA"},
}


class Reference(NamedTuple):
    table: str
    column: str = "id"
    on_delete: str = ""
    on_update: str = ""


class Index(NamedTuple):
    name: str
    columns: str
    """With spaces between."""
    since: int = 0
    """The schema that brought it; 0: the one that brought its table."""


class Column(NamedTuple):
    name: str
    type: Type
    null: bool = False
    default: str | float | None = None
    """What rows have that do not say; a column that is added to a table of old must have one or be `null`."""
    unique: bool = False
    one_of: tuple[str, ...] = ()
    check: str = ""
    refers: Reference | None = None
    forget: Effect = ""
    """For words of people, agents and tools; empty where there are only ids, hashes and words of our own."""
    json: bool = False
    """The words are inside JSON."""
    sealed: bool = False
    """The row's `seal` covers it."""
    content: bool = True
    """Part of what was learned, and so of the content hash."""
    since: int = 0
    """The schema that brought it; 0: the one that brought its table."""


ours = partial(Column, type="TEXT")
"""Ids, hashes and words of our own."""
integer = partial(Column, type="INTEGER")
real = partial(Column, type="REAL")
blob = partial(Column, type="BLOB")


def said(name: str, forget: Effect, **more: Any) -> Column:
    """Text that may hold anything, and what forgetting words in it does."""
    return Column(name, "TEXT", forget=forget, **more)


class Table(Struct, frozen=True, dict=True):
    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ("id",)
    unique: tuple[tuple[str, ...], ...] = ()
    indexes: tuple[Index, ...] = ()
    rowid: bool = True
    """Whether SQLite numbers the rows; without, they are kept in the order of their key."""
    since: int = 1
    seal_order: tuple[str, ...] = ()
    """What the seal takes first, and in which order; columns that are declared as sealed follow as they come."""
    sealed_with: str = ""
    """A table whose rows are covered by the seal of the row that they belong to."""
    service: bool = False
    """Who may come in is decided where the store is: no copy or dump brings it along."""
    cache: bool = False
    """Made again from the texts; no copy or dump brings it along."""
    content: bool = True
    """Says what was learned; the others differ from machine to machine, or with the clock."""
    composed: bool = False
    """Made from the others: what those do not say are words of our own."""
    salvaged: bool = True
    """Copied out of a damaged store; what follows from the others is not."""
    summed: bool = True
    """SQLite keeps a sum of its rows."""
    evidence: bool = False
    """What was found in a session, attempt, interaction or chunk, which `source` names."""
    counted_for: str = ""
    """The table, and the column here, whose counts these rows make."""
    not_merged: str = ""
    """Why a dump that is loaded into a store with content leaves it out."""
    mirrored: str = ""
    """The condition of the rows that hooks read, of a store on a server from a file on this machine."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def sealed(self) -> tuple[str, ...]:
        """What the seal covers, in its order."""
        return (*self.seal_order, *(column.name for column in self.columns if column.sealed))

    @cached_property
    def defaults(self) -> dict[str, str | float | None]:
        """What a new row has in the columns that it does not name."""
        return {column.name: column.default for column in self.columns}

    @cached_property
    def free_text(self) -> dict[str, Effect]:
        """Column that may hold anything → what becomes of it when words in it are forgotten."""
        return {column.name: column.forget for column in self.columns if column.forget}

    @cached_property
    def refers(self) -> tuple[tuple[str, str, str], ...]:
        """(column, table and column that it refers to)."""
        return tuple((column.name, *column.refers[:2]) for column in self.columns if column.refers)

    @property
    def copied(self) -> bool:
        """Part of a dump and of a copy: all that the store knows, and nobody's right to use it."""
        return not self.service and not self.cache

    def column(self, name: str) -> Column:
        return self.columns[self.names.index(name)]

    def at(self, schema: int) -> Table:
        """The table as it was when that schema was the newest."""
        return replace(
            self,
            columns=tuple(column for column in self.columns if column.since <= schema),
            indexes=tuple(index for index in self.indexes if index.since <= schema),
        )

    def walk(self, db: Database, names: Sequence[str]) -> Iterator[tuple[Row, Row]]:
        """Every row as (key, these columns), in the order of the key; call it inside a snapshot or a transaction."""
        key = ", ".join(self.key)
        select = f"SELECT {', '.join((*self.key, *names))} FROM {self.name}"
        after = f"WHERE ({key}) > ({', '.join('?' * len(self.key))})"
        width = len(self.key)
        rows = db.query(f"{select} ORDER BY {key} LIMIT {ROWS_PER_PAGE}")
        while rows:
            yield from ((row[:width], row[width:]) for row in rows)
            if len(rows) < ROWS_PER_PAGE:
                return
            rows = db.query(f"{select} {after} ORDER BY {key} LIMIT {ROWS_PER_PAGE}", rows[-1][:width])

    def rows(self, db: Database, names: Sequence[str] = ()) -> Iterator[list[Row]]:
        """All rows in the order of their key, some at a time; all columns unless some are named."""
        found = (row for _, row in self.walk(db, names or self.names))
        while some := list(islice(found, ROWS_PER_PAGE)):
            yield some


def table(name: str, *columns: Column, key: str = "id", indexes: Sequence[Index] = (), **more: Any) -> Table:
    return Table(name, columns, key=tuple(key.split()), indexes=tuple(indexes), **more)


def create(table: Table, engine: str) -> list[str]:
    """The statements that make a table and its indexes."""
    parts = [column_sql(column, engine, alone=table.key == (column.name,)) for column in table.columns]
    parts += [f"UNIQUE ({', '.join(names)})" for names in table.unique]
    if len(table.key) > 1:
        parts.append(f"PRIMARY KEY ({', '.join(table.key)})")
    options = {"sqlite": " STRICT" if table.rowid else " STRICT, WITHOUT ROWID"}.get(engine, "")
    made = f"CREATE TABLE {table.name} ({', '.join(parts)}){options}"
    return [made, *(index_sql(table.name, index) for index in table.indexes)]


def column_sql(column: Column, engine: str, *, alone: bool = False) -> str:
    """`name TYPE …`; `alone` tells that it is the whole primary key."""
    parts = [column.name, _TYPES[engine][column.type]]
    if alone:
        parts.append("PRIMARY KEY")
    elif not column.null:
        parts.append("NOT NULL")
    if column.default is not None:
        parts.append(f"DEFAULT {_literal(column.default)}")
    if column.unique:
        parts.append("UNIQUE")
    if column.one_of:
        parts.append(f"CHECK ({column.name} IN ({', '.join(map(_literal, column.one_of))}))")
    if column.check:
        parts.append(f"CHECK ({column.check})")
    if column.refers:
        parts.append(f"REFERENCES {column.refers.table} ({column.refers.column})")
        parts += [f"ON DELETE {column.refers.on_delete}"] if column.refers.on_delete else []
        parts += [f"ON UPDATE {column.refers.on_update}"] if column.refers.on_update else []
    return " ".join(parts)


def index_sql(table: str, index: Index) -> str:
    return f"CREATE INDEX {index.name} ON {table} ({', '.join(index.columns.split())})"


def _literal(value: str | float) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
