"""Open the store that the settings name."""

from __future__ import annotations

from pathlib import Path

from hardwon.errors import BadConfig, StoreError
from hardwon.store.database import WAIT_MILLISECONDS, Database


def connect(place: Path | str, *, write: bool = False, wait: int = WAIT_MILLISECONDS) -> Database:
    """A path is a SQLite file, `postgresql://…` a server. `wait` is how many milliseconds a lock is worth."""
    if isinstance(place, Path):
        from hardwon.store.sqlite import SqliteDatabase  # noqa: PLC0415 - which is written against this module

        return SqliteDatabase(place, write=write, wait=wait)
    if not place.startswith(("postgresql://", "postgres://")):
        raise BadConfig(f"database '{place}' is neither empty (a file of its own) nor postgresql://…")
    try:
        from hardwon.store.postgres import PostgresDatabase  # noqa: PLC0415 - psycopg is an extra, and slow to load
    except ImportError as error:
        raise StoreError("PostgreSQL needs an extra: pip install 'hardwon[postgres]'") from error
    return PostgresDatabase(place, write=write, wait=wait)
