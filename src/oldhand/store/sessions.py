"""Sessions and their calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from oldhand.model.session import Session
from oldhand.store.ids import derived
from oldhand.store.sqlite import Database


class SessionRow(NamedTuple):
    id: str
    agent: str
    external_id: str
    subagent: str
    project: str | None
    format: str
    version: str
    path: str
    branch: str
    started_at: int
    ended_at: int
    messages: int
    user_messages: int
    tool_calls: int
    errors: int
    unknown_records: int
    redactions: int
    content_hash: str
    harvester_version: int


class CallRow(NamedTuple):
    session: str
    position: int
    message_index: int
    at: int | None
    tool: str
    action: str
    subject: str
    outcome: str
    evidence: str
    exit_code: int | None


def session_id(session: Session) -> str:
    return derived("S", session.agent, session.external_id, session.subagent)


def held(db: Database, id: str) -> tuple[int, str, int] | None:
    """(messages, content hash, harvester version) of the copy that the store holds."""
    rows = db.query("SELECT messages, content_hash, harvester_version FROM session WHERE id = ?", (id,))
    return (rows[0][0], rows[0][1], rows[0][2]) if rows else None


def replace(db: Database, row: SessionRow, calls: Iterable[CallRow]) -> None:
    """Write a session anew; what an earlier reading of it left goes with the old row."""
    db.execute("DELETE FROM session WHERE id = ?", (row.id,))
    db.execute(f"INSERT INTO session VALUES ({_marks(SessionRow)})", row)
    db.bulk(f"INSERT INTO call VALUES ({_marks(CallRow)})", calls)


def totals(db: Database) -> dict[str, int]:
    names = ("sessions", "messages", "tool_calls", "errors", "redactions")
    row = db.query(
        "SELECT count(*), coalesce(sum(messages), 0), coalesce(sum(tool_calls), 0), coalesce(sum(errors), 0), "
        "coalesce(sum(redactions), 0) FROM session"
    )[0]
    return dict(zip(names, row, strict=True))


def _marks(row_type: type[SessionRow] | type[CallRow]) -> str:
    return ", ".join("?" * len(row_type._fields))
