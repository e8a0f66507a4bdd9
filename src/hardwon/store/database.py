"""What a store must be able to do: the few primitives that every module of SQL here is written against.

SQL is written once, in the dialect both engines share, with `?` for values. What they do not share
(full text, vectors, claiming rows, checking the file) is a method of the two drivers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from hardwon.errors import BadConfig, StoreError

Row = tuple[Any, ...]

WAIT_MILLISECONDS = 20_000
"""How long a writer waits for another, unless it is told otherwise."""


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


class Database(Protocol):
    """One connection. Reads outside a transaction, writes only inside one."""

    engine: str
    place: str
    """Where it is, fit to be shown: never with a password."""

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing, and alone: what was read inside it is still true when it commits.

        One inside another is taken back by itself when it fails, and kept when the other is.
        """
        ...

    def snapshot(self) -> AbstractContextManager[None]:
        """All that is read inside it is of one moment; nobody has to wait for it."""
        ...

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]: ...

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Returns how many rows were changed."""
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


def connect(place: Path | str, *, write: bool = False, create: bool = True, wait: int = WAIT_MILLISECONDS) -> Database:
    """A path is a SQLite file, `postgresql://…` a server. `wait` is how many milliseconds a lock is worth.

    One that writes makes the store if there is none, unless `create` says that there must be one.
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
        raise StoreError("PostgreSQL needs an extra: pip install 'hardwon[postgres]'") from error
    return PostgresDatabase(place, write=write, create=create, wait=wait)


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
