"""SQLite through apsw: WAL, FULL, every write in an immediate transaction."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from oldhand.errors import StoreCorrupt, StoreError
from oldhand.store import fts5, migrations, rank
from oldhand.store.database import Check, Entry, Neighbour, Row, Vector, insert
from oldhand.store.ids import text_hash
from oldhand.store.rank import best
from oldhand.store.vectors import Comparison, next_version, packed, refuse_other_model, refuse_other_size

BUSY_MILLISECONDS = 10_000
FIRST_SAFE_SQLITE = (3, 51, 3)


class SqliteDatabase:
    """A file on this machine."""

    engine = "sqlite"

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self.path = path
        self.place = str(path)
        self.comparison = Comparison(self, path.parent)
        flags = apsw.SQLITE_OPEN_READWRITE
        if write:
            _make_home(path.parent)
            flags |= apsw.SQLITE_OPEN_CREATE
        elif not path.exists():
            raise StoreError(f"there is no store at {path.parent} yet: run `oldhand up` first")
        with _explained(path):
            self._connection = apsw.Connection(str(path), flags=flags)
            self._connection.set_busy_timeout(BUSY_MILLISECONDS)
            if not write:
                self._connection.execute("PRAGMA query_only = ON")
            else:
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
                # What is deleted is overwritten: a forgotten text must not be left in a free page.
                self._connection.execute("PRAGMA secure_delete = ON")
            self._bring_up_to_date(write=write)
            self._connection.execute("PRAGMA foreign_keys = ON")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with _explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:  # an interruption, too, must leave nothing half written
                if self._connection.in_transaction:  # a full disk makes SQLite roll back by itself
                    self._connection.execute("ROLLBACK")
                raise

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with _explained(self.path):
            return list(self._connection.execute(sql, parameters))

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        with _explained(self.path):
            self._connection.execute(sql, parameters)
            return self._connection.changes()

    def bulk(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with _explained(self.path):
            self._connection.executemany(sql, rows)

    def claim(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        return self.query(sql, parameters)  # an immediate transaction is alone anyway

    def index(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.unindex([entry.item])
            self.execute(
                "INSERT INTO search_item (item, type, hash) VALUES (?, ?, ?)", (entry.item, entry.type, entry.hash)
            )
            self.execute(
                "INSERT INTO search_index (rowid, terms) VALUES (?, ?)",
                (self._connection.last_insert_rowid(), entry.terms),
            )

    def unindex(self, items: Iterable[str]) -> None:
        for item in items:
            for (row,) in self.query("SELECT id FROM search_item WHERE item = ?", (item,)):
                self.execute("DELETE FROM search_index WHERE rowid = ?", (row,))
                self.execute("DELETE FROM search_item WHERE id = ?", (row,))

    def matches(
        self,
        terms: Sequence[str],
        limit: int,
        types: Sequence[str] = (),
        *,
        phrases: Sequence[Sequence[str]] = (),
        also: Sequence[str] = (),
    ) -> list[tuple[str, str, float]]:
        if not terms:
            return []
        corpus = fts5.corpus(self, terms)
        found = {row[0]: row for row in fts5.candidates(self, corpus, 2 * limit, types)}
        found |= {row[0]: row for row in fts5.given(self, [item for item in also if item not in found])}
        return best(rank.ranked(corpus, phrases, found.values()), limit, also)

    def put_vectors(self, model: str, vectors: Iterable[Vector]) -> None:
        version = next_version(self)
        columns = ("item", "model", "dimensions", "value", "hash", "version")
        replace = ", ".join(f"{column} = excluded.{column}" for column in columns[1:])
        self.bulk(
            insert("embedding", columns, f"ON CONFLICT (item) DO UPDATE SET {replace}"),
            ((item, model, len(value), packed(value), hash, version) for item, value, hash in vectors),
        )

    def nearest(self, model: str, vector: Sequence[float], limit: int, *, also: Sequence[str] = ()) -> list[Neighbour]:
        refuse_other_model(self, model)
        refuse_other_size(self, model, len(vector))
        found = self.comparison.nearest(model, vector, limit) if limit > 0 else []
        seen = {near.item for near in found}
        found += self.comparison.given(model, vector, [item for item in also if item not in seen])
        return sorted(found, key=lambda near: (-near.similarity, near.item))

    def columns(self) -> dict[str, list[str]]:
        return {table: [row[1] for row in self.query(f"PRAGMA table_info({table})")] for table in self._tables()}

    def _tables(self) -> list[str]:
        rows = self.query(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' "
            "AND name NOT GLOB 'search_*' ORDER BY name"
        )
        return [row[0] for row in rows]

    def check(self) -> list[Check]:
        integrity = [str(row[0]) for row in self.query("PRAGMA integrity_check(5)")]
        dangling = self.query("PRAGMA foreign_key_check")
        entries = int(self.query("SELECT count(*) FROM search_index")[0][0])
        named = int(self.query("SELECT count(*) FROM search_item")[0][0])
        return [
            Check("integrity", integrity == ["ok"], "; ".join(integrity)),
            Check("references", not dangling, f"{len(dangling)} dangling"),
            Check("index", entries == named, f"{named} items, {entries} entries"),
        ]

    def copy_to(self, path: Path) -> None:
        """An exact copy while others go on reading and writing."""
        with _explained(path):
            target = apsw.Connection(str(path))
            with target.backup("main", self._connection, "main") as backup:
                while not backup.done:
                    backup.step(1000)
            target.execute("PRAGMA journal_mode = DELETE")
            target.close()

    def close(self) -> None:
        self._connection.close()

    def _bring_up_to_date(self, *, write: bool) -> None:
        current = self._version()
        if not migrations.pending(current, self.place):
            return
        if not write:
            raise StoreError(f"{self.path} has an older schema: run `oldhand up` once to upgrade it")
        if current:
            self._keep_a_copy(current)
        offer_functions(self._connection)
        while migrations.pending(self._version(), self.place):
            with self.transaction():
                at = self._version()  # another process may have been first
                if at < migrations.newest():
                    self._connection.execute(migrations.scripts()[at])
                    if broken := self.query("PRAGMA foreign_key_check"):
                        raise StoreError(f"{self.path} could not be upgraded: {len(broken)} dangling references")
                    self._connection.execute(f"PRAGMA user_version = {at + 1}")

    def _keep_a_copy(self, version: int) -> None:
        """The store as it was, beside the new one, before a migration touches it."""
        copy = self.path.with_name(f"{self.path.stem}.schema{version}.db")
        unfinished = copy.with_name(f"{copy.name}.{os.getpid()}.new")
        self.copy_to(unfinished)
        unfinished.replace(copy)

    def _version(self) -> int:
        row = self._connection.execute("PRAGMA user_version").fetchone()
        return int(row[0]) if row else 0


def offer_functions(connection: apsw.Connection) -> None:
    """What a migration needs beyond SQL."""
    connection.create_scalar_function("text_hash", lambda *text: text_hash(str(text[0])), 1, deterministic=True)


def engine_check() -> Check:
    """Whether the SQLite we run on can lose data when a WAL is reset."""
    version = apsw.sqlite_lib_version()
    safe = tuple(int(part) for part in version.split(".")[:3]) >= FIRST_SAFE_SQLITE
    return Check("sqlite", safe, version + ("" if safe else ": may lose data when a WAL is reset; upgrade apsw"))


def _make_home(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreError(
            f"cannot make {home}: {error.strerror}; set OLDHAND_HOME to a folder you can write to"
        ) from error


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """SQLite's errors as one sentence that says what to do."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise StoreCorrupt(
            f"{path} is damaged or not a database: `oldhand restore` brings back a backup; or move it away and run "
            "`oldhand up` to build it anew"
        ) from error
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError) as error:
        raise StoreError(
            f"cannot open or write {path}: {error}; check the folder's permissions or set OLDHAND_HOME"
        ) from error
    except apsw.FullError as error:
        raise StoreError(f"the disk of {path} is full: free some space and run again") from error
    except apsw.BusyError as error:
        raise StoreError(f"{path} is in use by another process: try again") from error
    except apsw.IOError as error:
        raise StoreError(f"cannot read or write {path}: {error}") from error
