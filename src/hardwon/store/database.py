"""How tables are declared and made, what a store must be able to do, and how to open one."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property, partial
from graphlib import TopologicalSorter
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from msgspec import Struct
from msgspec.structs import replace

from hardwon.errors import BadConfig, NotAllowed, StoreError

try:
    import fcntl
except ImportError:  # Windows, where everybody asks SQLite at once
    fcntl = None  # type: ignore[assignment]


# How tables and columns are declared (see `schema.py`), and the SQL by which each engine makes them.

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
    sent: tuple[str, ...] = ()
    """The columns that `hardwon push` sends of a session's rows; nothing else ever leaves the machine."""

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


def table(
    name: str, *columns: Column, key: str = "id", indexes: Sequence[Index] = (), sent: str = "", **more: Any
) -> Table:
    return Table(name, columns, key=tuple(key.split()), indexes=tuple(indexes), sent=tuple(sent.split()), **more)


class Declared(tuple[Table, ...]):
    """All tables of a store but the full-text index."""

    @cached_property
    def named(self) -> dict[str, Table]:
        return {table.name: table for table in self}

    @cached_property
    def in_order(self) -> tuple[Table, ...]:
        """Those that others refer to first."""
        parents = {name: [parent for _, parent, _ in self.named[name].refers] for name in sorted(self.named)}
        return tuple(self.named[name] for name in TopologicalSorter(parents).static_order())

    @cached_property
    def copied(self) -> tuple[Table, ...]:
        """Those that a dump or a copy of the store has, in order."""
        return tuple(table for table in self.in_order if table.copied)

    @cached_property
    def evidence(self) -> tuple[str, ...]:
        """The names of those of what was found in a source."""
        return tuple(table.name for table in self if table.evidence)

    @cached_property
    def sealed(self) -> tuple[str, ...]:
        """The names of those whose rows carry a seal."""
        return tuple(table.name for table in self if table.sealed)

    def referring(self, to: str) -> list[tuple[str, str]]:
        """(table, column) of what refers to rows of a table."""
        return [(table.name, column) for table in self for column, parent, _ in table.refers if parent == to]


def declared(*tables: Table) -> Declared:
    return Declared(tables)


def create_sql(table: Table, engine: str) -> list[str]:
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


# What a store must be able to do: the few primitives that every module of SQL here is written against.
#
# SQL is written once, in the dialect both engines share, with `?` for values. What they do not share (full text,
# vectors, claiming rows, checking the file) is a method of the two drivers.

Row = tuple[Any, ...]

WAIT_MILLISECONDS = 20_000
"""How long a writer waits for another, unless it is told otherwise."""
LONGEST_STATEMENT_MILLISECONDS = 60_000
"""A server gives up what takes longer, unless it is told otherwise."""

LEAST_SIMILARITY = -2.0
"""A similarity that everything has."""

VALUES_PER_STATEMENT = 500
"""Engines bound how many `?` a statement may have."""

T = TypeVar("T")
_ROWS_PER_PAGE = 20_000


class Entry(NamedTuple):
    """An item of the full-text index: terms of our own tokenizer, with spaces between."""

    item: str
    type: str
    terms: str
    hash: str = ""
    """Of the text that the terms are of: tells whether its vector still fits."""


class Vector(NamedTuple):
    """What a text means, as a direction; of any length but 0."""

    item: str
    value: Sequence[float]
    hash: str = ""
    """Of the text, as in the index."""


class Neighbour(NamedTuple):
    item: str
    similarity: float
    """Cosine, 1.0 for the same direction."""


class Check(Struct, frozen=True):
    """One thing that was looked at, and what was seen."""

    name: str
    ok: bool
    says: str


Found = TypeVar("Found")


def kept(db: Database, ask: Callable[..., Found], *asked: Hashable) -> Found:
    """What `ask(db, *asked)` finds; not to be changed.

    A replay asks the same for many sessions: its store keeps the answer until one comes in that left something. Any
    other keeps it while things are `asked_together`.
    """
    answers: dict[tuple[Hashable, ...], Found] | None = getattr(db, "kept", None)
    if answers is None:
        return ask(db, *asked)
    if (ask, asked) not in answers:
        answers[ask, asked] = ask(db, *asked)
    return answers[ask, asked]


@contextmanager
def asked_together(db: Database) -> Iterator[None]:
    """While this lasts, and nothing is written, what is asked again has the answer of before."""
    if hasattr(db, "kept"):
        yield
        return
    vars(db)["kept"] = {}
    try:
        yield
    finally:
        del vars(db)["kept"]


class Database(Protocol):
    """One connection. Reads outside a transaction, writes only inside one."""

    engine: str
    place: str
    """Where it is, fit to be shown: never with a password."""
    lane: int
    """Those who write at the same time are in different lanes; whoever is alone with the store is in lane 0."""

    def transaction(self, project: str | None = None) -> AbstractContextManager[None]:
        """All or nothing, and alone: what was read inside it is still true when it commits.

        With a project, others may write at the same time, but not to this project: all that is relied upon and written
        must be its own, new, or a failure that was asked for (`share_failures`). One inside another is taken back by
        itself when it fails, and kept when the other is; it cannot have more to itself than the other has.
        """
        ...

    def share_failures(self, ids: Iterable[str]) -> None:
        """In a project's transaction, once: have these failures to oneself, which belong to all projects."""
        ...

    def next_numbers(self, table: str, count: int, beside: str = "NULL") -> tuple[list[int], Any]:
        """For new rows of a table that numbers them: higher than all that are there; and what an expression says."""
        ...

    def unhurried(self) -> AbstractContextManager[None]:
        """Long work, whose statements a server gives any time."""
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """All that is read inside it is of one moment; nobody has to wait for it."""
        ...

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]: ...

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """A server is told with the next statement whose answer is needed: an error may come as late as that."""
        ...

    def changed(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """The same at once; returns how many rows were changed."""
        ...

    def bulk(self, sql: str, rows: Iterable[Sequence[Any]]) -> None: ...

    def claim(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Rows to work on inside a transaction, none of which another process is working on."""
        ...

    def index(self, entries: Iterable[Entry]) -> None:
        """Put items into the full-text index, in place of what it had for them."""
        ...

    def unindex(self, items: Iterable[str]) -> None: ...

    def matches(
        self,
        terms: Sequence[str],
        limit: int,
        types: Sequence[str] = (),
        *,
        phrases: Sequence[Sequence[str]] = (),
        also: Sequence[str] = (),
    ) -> list[tuple[str, str, float]]:
        """(item, type, score) of what holds any of the terms, best first; a score is 0 to 1.

        No types means any. `also` are items that are scored in any case. Of equals the higher id comes
        first: of what is made by hand, the newer.
        """
        ...

    def put_vectors(self, model: str, vectors: Iterable[Vector]) -> None: ...

    def nearest(
        self,
        model: str,
        vector: Sequence[float],
        limit: int,
        *,
        also: Sequence[str] = (),
        least: float = LEAST_SIMILARITY,
    ) -> list[Neighbour]:
        """The items whose vectors point most nearly the same way, and `also` these; best first.

        Similarities are exact. What is less near than the least is left out, unless it was asked for.
        An error if the vectors are of another model.
        """
        ...

    def columns(self) -> dict[str, list[str]]:
        """Table → its columns, both in order, without the engine's own."""
        ...

    def check(self) -> list[Check]:
        """What the engine can say about its own health."""
        ...

    def is_current(self) -> bool:
        """Whether it still speaks to the store at its place: not once that was moved, replaced or restarted."""
        ...

    def close(self) -> None: ...


def insert(table: str, columns: Sequence[str], conflict: str = "") -> str:
    """`INSERT INTO table (columns) VALUES (?, …)`, with what is to happen on a conflict."""
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) {conflict}".rstrip()


def batches(values: Iterable[T]) -> Iterator[list[T]]:
    """Some values at a time, as many as one statement is given."""
    listed = list(values)
    for start in range(0, len(listed), VALUES_PER_STATEMENT):
        yield listed[start : start + VALUES_PER_STATEMENT]


def marks(values: Sequence[object]) -> str:
    """`?, ?, ?`: as many as there are values."""
    return ", ".join("?" * len(values))


# Open the store that the settings name.

_WORKSPACE = re.compile(r"[a-z][a-z0-9_]{0,50}")


def address_of(database: str, workspace: str) -> str:
    """The address of a database with a workspace chosen; the extensions are found in `public`."""
    if not workspace:
        return database
    if not database:
        raise BadConfig(f"the workspace {workspace} needs a server: `hardwon config database postgresql://…`")
    need_workspace_name(workspace)
    parts = urlsplit(database)
    given = dict(parse_qsl(parts.query))
    given["options"] = f"{given.get('options', '')} -csearch_path={workspace},public".strip()
    return urlunsplit(parts._replace(query=urlencode(given, quote_via=quote)))


def need_workspace_name(name: str) -> None:
    if not _WORKSPACE.fullmatch(name) or name in ("public", "information_schema") or name.startswith("pg_"):
        raise NotAllowed(
            f"'{name}' cannot be the name of a workspace: use up to 51 small letters, digits and _, a letter first"
        )


def connect(
    place: Path | str,
    *,
    write: bool = False,
    create: bool = True,
    wait: int = WAIT_MILLISECONDS,
    longest: int = LONGEST_STATEMENT_MILLISECONDS,
) -> Database:
    """A path is a SQLite file, `postgresql://…` a server. `wait` is how many milliseconds a lock is worth.

    One that writes makes the store if there is none, unless `create` says that there must be one. `longest` is how many
    milliseconds a server may take for a statement.
    """
    if isinstance(place, Path):
        from hardwon.store.sqlite import SqliteDatabase  # noqa: PLC0415 - which is written against this module

        return SqliteDatabase(place, write=write, create=create, wait=wait)
    if not place.startswith(("postgresql://", "postgres://")):
        raise BadConfig(
            f"unknown database '{place}': give a postgresql:// address, or leave it empty for a file in the home folder"
        )
    try:
        from hardwon.store.postgres import PostgresDatabase  # noqa: PLC0415 - psycopg is an extra, and slow to load
    except ImportError as error:
        raise StoreError("PostgreSQL needs an extra: `hardwon extras add postgres`") from error
    return PostgresDatabase(place, write=write, create=create, wait=wait, longest=longest)


# Every text that a store holds, wherever it is.


class StoredText(NamedTuple):
    table: str
    row: str
    """The first column of its row, which is the key or the first part of it."""
    column: str
    text: str


def stored_texts(db: Database) -> Iterator[StoredText]:
    for table, columns in db.columns().items():
        every = ", ".join(columns)
        done = 0
        while rows := db.query(
            f"SELECT {every} FROM {table} ORDER BY {every} LIMIT ? OFFSET ?", (_ROWS_PER_PAGE, done)
        ):
            for row in rows:
                for column, value in zip(columns, row, strict=True):
                    if isinstance(value, str) and value:
                        yield StoredText(table, str(row[0]), column, value)
            done += len(rows)


# Waiting for one's turn to write: nobody is overtaken for ever, and nobody waits for a process that ended.

_SHORTEST_NAP, _LONGEST_NAP = 0.001, 0.03


class Patience:
    """For SQLite's lock; what it calls when that is taken.

    SQLite's own naps grow longer, and whoever has waited long is overtaken by those who just came. And whoever has just
    written is awake, and would mostly be the next to write again: so one at a time asks SQLite, the others wait behind
    it in naps of random length, for a lock on the folder.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        self._folder = folder
        self._seconds = seconds
        self._until = 0.0
        self._first = False

    @contextmanager
    def in_line(self) -> Iterator[None]:
        """While which SQLite is asked for its lock."""
        self._until = time.monotonic() + self._seconds
        file = self._opened()
        try:
            while file is not None and not _locked(file) and time.monotonic() < self._until:
                _nap(_LONGEST_NAP)
            self._first = file is not None
            yield
        finally:
            self._first = False
            if file is not None:
                os.close(file)  # which gives the lock back

    def __call__(self, tries: int) -> bool:
        now = time.monotonic()
        if tries == 0 and not self._first:
            self._until = now + self._seconds
        _nap(_SHORTEST_NAP if self._first else _LONGEST_NAP)
        return now < self._until

    def _opened(self) -> int | None:
        try:
            return os.open(self._folder, os.O_RDONLY) if fcntl else None
        except OSError:
            return None


def _locked(file: int) -> bool:
    """Whether it is ours now; where folders cannot be locked, as on some network disks, there is no line."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _nap(longest: float) -> None:
    import random  # noqa: PLC0415 - for who must wait alone

    time.sleep(random.uniform(_SHORTEST_NAP, longest))  # noqa: S311 - no secret
