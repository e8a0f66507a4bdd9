"""What the hook reads, on plain tuples: it starts cold and imports only apsw."""

from __future__ import annotations

import os

import apsw

TYPE_CHECKING = False  # of `typing`, which is slow to load
if TYPE_CHECKING:
    from hardwon.store.assignment import Standing

_BUSY_MILLISECONDS = 200


def connect(path: str) -> apsw.Connection:
    if not os.access(os.path.dirname(path), os.W_OK):
        return _as_it_is(path)
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    try:
        connection.execute("PRAGMA query_only = ON; PRAGMA schema_version").fetchall()
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError):
        journal = path + "-wal"
        if os.path.exists(journal) and os.path.getsize(journal):
            raise
        return _as_it_is(path)  # the disk is full, and all there is stands in the file itself
    return connection


def _as_it_is(path: str) -> apsw.Connection:
    """Without the files beside it that WAL wants to write, even to read."""
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return apsw.Connection(f"file:{name}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def fence_key(db: apsw.Connection) -> bytes:
    row = db.execute("SELECT value FROM meta WHERE key = 'fence_key'").fetchone()
    return bytes.fromhex(row[0]) if row else b""


def project_of(db: apsw.Connection, key: str, roots: list[str]) -> str:
    """The project with this key, or else the one that lives in the nearest of the folders."""
    for sql, values in (
        ("SELECT id FROM project WHERE key = ?", [key]),
        ("SELECT project FROM project_root WHERE path = ?", roots),
    ):
        for value in values:
            row = db.execute(sql, (value,)).fetchone()
            if row:
                return str(row[0])
    return ""


def standing_lines(db: apsw.Connection, project: str, agent: str) -> list[Standing]:
    """In order, spare ones last; an agent that was never seen here gets what holds for any."""
    for name in (agent, ""):
        rows = db.execute(
            "SELECT section, item, text, tokens, exempt, spare, score FROM standing "
            "WHERE project = ? AND agent = ? ORDER BY rank",
            (project, name),
        )
        if lines := list(rows):
            return lines
    return []


def known_failure(db: apsw.Connection, id: str) -> tuple[str, int, int, int, str, str, str] | None:
    """(signature, occurrences, sessions, last seen, steps as JSON, the call that worked, avoid as JSON)."""
    return db.execute(
        "SELECT f.signature, f.occurrences, f.sessions, f.last_seen, x.steps, x.succeeded_as, x.avoid "
        "FROM failure f JOIN fix x ON x.failure = f.id WHERE f.id = ? AND f.status = 'active' AND x.status = 'active' "
        "ORDER BY x.confirmed - x.failed_again DESC, x.last_seen DESC, x.id LIMIT 1",
        (id,),
    ).fetchone()
