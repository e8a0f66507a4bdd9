"""SQLite through apsw: WAL, FULL, every write in an immediate transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import apsw

from oldhand.errors import StoreCorrupt, StoreError, StoreTooNew

Row = tuple[Any, ...]
BUSY_MILLISECONDS = 10_000


class Database:
    """One connection. Reads outside a transaction, writes only inside one."""

    def __init__(self, path: Path, *, write: bool = False) -> None:
        self.path = path
        flags = apsw.SQLITE_OPEN_READWRITE if path.exists() else 0
        if write:
            _make_home(path.parent)
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        elif not path.exists():
            raise StoreError(f"there is no store at {path.parent} yet: run `oldhand up` first")
        with _explained(path):
            self._connection = apsw.Connection(str(path), flags=flags)
            self._connection.set_busy_timeout(BUSY_MILLISECONDS)
            self._connection.execute("PRAGMA foreign_keys = ON")
            if not write:
                self._connection.execute("PRAGMA query_only = ON")
            else:
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
            self._bring_up_to_date(write=write)

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

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        with _explained(self.path):
            self._connection.execute(sql, parameters)

    def bulk(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with _explained(self.path):
            self._connection.executemany(sql, rows)

    def close(self) -> None:
        self._connection.close()

    def _bring_up_to_date(self, *, write: bool) -> None:
        scripts = migrations()
        current = self._version()
        if current > len(scripts):
            raise StoreTooNew(
                f"{self.path} was written by a newer Oldhand (schema {current}, this one knows "
                f"{len(scripts)}): upgrade Oldhand"
            )
        if current == len(scripts):
            return
        if not write:
            raise StoreError(f"{self.path} has an older schema: run `oldhand up` once to upgrade it")
        for _ in range(current, len(scripts)):
            with self.transaction():
                at = self._version()  # another process may have been first
                if at < len(scripts):
                    self._connection.execute(scripts[at])
                    self._connection.execute(f"PRAGMA user_version = {at + 1}")

    def _version(self) -> int:
        row = self._connection.execute("PRAGMA user_version").fetchone()
        return int(row[0]) if row else 0


def migrations() -> list[str]:
    """The numbered scripts, oldest first; a store at schema N has run the first N."""
    folder = resources.files("oldhand.store") / "migrations"
    scripts = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda e: e.name)
    return [script.read_text(encoding="utf-8") for script in scripts]


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
            f"{path} is damaged or not a database: move it away and run `oldhand up` to build it anew"
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
