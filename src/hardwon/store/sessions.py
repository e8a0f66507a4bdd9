"""Sessions and their calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hardwon.model.session import Session
from hardwon.store import index, schema, seal
from hardwon.store.database import Database, insert
from hardwon.store.ids import derived


class SessionRow(NamedTuple):
    id: str
    agent: str
    external_id: str
    subagent: str
    root: str
    project: str | None
    format: str
    version: str
    path: str
    branch: str
    task: str
    started_at: int
    ended_at: int
    messages: int
    user_messages: int
    tool_calls: int
    errors: int
    unknown_records: int
    redactions: int
    outcome: str
    content_hash: str
    harvester_version: int
    tokens_in: int | None = None
    """What the agent read and wrote, estimated from the transcript."""
    tokens_out: int | None = None


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
    tokens: int
    suggested: int = 0


def session_id(session: Session) -> str:
    return derived("S", session.agent, session.external_id, session.subagent)


def root_of(agent: str, external_id: str) -> str:
    """What counts as one session, however many sub-agents it had."""
    return f"{agent}:{external_id}"


def held(db: Database, id: str) -> tuple[int, str, int] | None:
    """(messages, content hash, harvester version) of the copy that the store holds."""
    rows = db.query("SELECT messages, content_hash, harvester_version FROM session WHERE id = ?", (id,))
    return (rows[0][0], rows[0][1], rows[0][2]) if rows else None


def of_file(db: Database, path: str) -> list[str]:
    return [row[0] for row in db.query("SELECT id FROM session WHERE path = ?", (path,))]


def add(db: Database, row: SessionRow, calls: Sequence[CallRow]) -> None:
    """Write a session; what an earlier reading of it left must have been removed."""
    sealed = seal.of_fields("session", row._asdict(), (value for call in calls for value in call))
    db.execute(insert("session", (*SessionRow._fields, "seal")), (*row, sealed))
    db.bulk(insert("call", CallRow._fields), calls)
    if row.task:
        index.add(db, row.id, "session", row.task)


def remove(db: Database, id: str) -> None:
    for table in schema.evidence():
        db.execute(f"DELETE FROM {table} WHERE source = ?", (id,))
    db.execute("DELETE FROM session WHERE id = ?", (id,))
    index.remove(db, id)


def starts(db: Database, project: str, limit: int) -> list[int]:
    """When the newest sessions of a project began, the earliest of them first; sub-agents are no sessions."""
    rows = db.query(
        "SELECT started_at FROM session WHERE project = ? AND subagent = '' ORDER BY started_at DESC LIMIT ?",
        (project, limit),
    )
    return [row[0] for row in reversed(rows)]


def totals(db: Database) -> dict[str, int]:
    names = ("sessions", "messages", "tool_calls", "errors", "redactions")
    row = db.query(
        "SELECT count(*), coalesce(sum(messages), 0), coalesce(sum(tool_calls), 0), coalesce(sum(errors), 0), "
        "coalesce(sum(redactions), 0) FROM session"
    )[0]
    return {name: int(value) for name, value in zip(names, row, strict=True)}
