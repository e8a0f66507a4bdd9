"""Agents' own SQLite databases: opened read-only, trusted in nothing."""

from __future__ import annotations

from urllib.parse import quote

import apsw

from hardwon.sessions.source import Source

_BUSY_MILLISECONDS = 1_000
_WAL = "\x02"
"""The byte of the file's header that says it is in WAL mode."""


def opened(source: Source) -> apsw.Connection:
    """Read-only. What nobody has open is not even locked: that would leave files beside it."""
    path = source.path.absolute()
    in_use = path.with_name(path.name + "-wal").exists()
    unlocked = source.beginning[18:19] == _WAL and not in_use
    uri = f"file:{quote(str(path))}?mode=ro" + ("&immutable=1" if unlocked else "")
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def columns(database: apsw.Connection, table: str) -> set[str]:
    """Of a table only: a view could be made to never end."""
    query = "SELECT c.name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name = ?"
    return {str(name) for (name,) in database.execute(query, (table,))}
