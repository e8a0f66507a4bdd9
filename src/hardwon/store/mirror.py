"""What hooks say, in a file on this machine, when the store itself is on a server: hooks read a file only.

It has the tables of a store, with no more in them than hooks read, and is written anew as a whole.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from hardwon.durable import settle
from hardwon.errors import StoreError
from hardwon.home import MIRROR
from hardwon.store import fulltext, spool
from hardwon.store.database import Database, insert
from hardwon.store.ddl import Table
from hardwon.store.schema import tables
from hardwon.store.sqlite import SqliteDatabase


def mirror_for_hooks(db: Database, home: Path) -> None:
    """Hooks can do without it, and nobody else needs it: if it fails, the doctor hears of it and the work goes on."""
    try:
        write(db, home / MIRROR)
    except (OSError, StoreError) as error:
        spool.leave(str(home), "mirror", "", 0, f"{type(error).__name__}: {error}")


def write(db: Database, path: Path) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.new")
    _remove(unfinished)
    try:
        copy = SqliteDatabase(unfinished, write=True)
        try:
            with db.snapshot(), copy.transaction():
                for table in tables():
                    if table.mirrored:
                        _copy(db, copy, table)
                fulltext.complete(copy)
            copy.query("PRAGMA journal_mode = DELETE")  # one file, which can be put in place of another
        finally:
            copy.close()
        settle(unfinished, path)
    finally:
        _remove(unfinished)


def _copy(db: Database, copy: Database, table: Table) -> None:
    rows = db.query(f"SELECT {', '.join(table.names)} FROM {table.name} WHERE {table.mirrored}")
    copy.bulk(insert(table.name, table.names, "ON CONFLICT DO NOTHING"), rows)


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).unlink()
