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
from hardwon.store import index, spool
from hardwon.store.database import Database, insert
from hardwon.store.schema import Table, tables
from hardwon.store.sqlite import SqliteDatabase

_FIXED = "(SELECT failure FROM fix WHERE status = 'active')"
_READ = {
    "meta": "key IN ('fence_key', 'forget_key')",  # forgetting goes through copies, too
    "project": "id <> ''",
    "project_root": "project <> ''",
    "standing": "project <> ''",
    "lesson": "status = 'active'",
    "conflict": "status = 'open'",
    "conflict_member": "conflict IN (SELECT id FROM conflict WHERE status = 'open') "
    "AND lesson IN (SELECT id FROM lesson WHERE status = 'active')",
    "failure": f"id IN {_FIXED}",
    "failure_in_project": f"failure IN {_FIXED}",
    "fix": "status = 'active'",
}
"""Table → the rows of it that hooks read."""


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
                    if table.name in _READ:
                        _copy(db, copy, table)
                index.complete(copy)
            copy.query("PRAGMA journal_mode = DELETE")  # one file, which can be put in place of another
        finally:
            copy.close()
        settle(unfinished, path)
    finally:
        _remove(unfinished)


def _copy(db: Database, copy: Database, table: Table) -> None:
    rows = db.query(f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE {_READ[table.name]}")
    copy.bulk(insert(table.name, table.columns, "ON CONFLICT DO NOTHING"), rows)


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).unlink()
