"""Hermes' database: sessions and messages as rows, of which only the active ones are counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path

import apsw
import msgspec
from msgspec.structs import replace

from hardwon.clock import microseconds
from hardwon.model.session import Damage, Message, Record, Session
from hardwon.sessions.hermes_cli import as_gateway
from hardwon.sessions.lines import json_object, text_of
from hardwon.sessions.reader import Source, columns, opened_database

NAME = "hermes-state"
AGENT = "hermes"
READS = "the sessions and messages of state.db"
VERSIONS = "schema 16 to 30, read from the published description, *unverified*"

_SESSION_COLUMNS = frozenset(("id", "source", "started_at"))
_MESSAGE_COLUMNS = frozenset(("id", "session_id", "role", "content", "tool_calls", "timestamp"))
_LATER_COLUMNS = frozenset(("tool_call_id", "tool_name", "_compressed_summary", "display_kind"))
_LISTED_CONTENT = ("\x00json:", "\x01json:")


def recognises(source: Source) -> bool:
    if not source.is_database:
        return False
    try:
        with closing(opened_database(source)) as database:
            kept, said = columns(database, "sessions"), columns(database, "messages")
    except apsw.Error:
        return False
    return kept >= _SESSION_COLUMNS and said >= _MESSAGE_COLUMNS


def read(source: Source) -> list[Session]:
    try:
        with closing(opened_database(source)) as database:
            sessions = list(_sessions(source, database))
    except apsw.Error as error:
        source.damaged.append(_damage(error))
        return []
    return sorted(sessions, key=lambda session: (session.started_at or 0, session.external_id, session.subagent))


def _sessions(source: Source, database: apsw.Connection) -> Iterator[Session]:
    kept = {text_of(row.get("id")): row for row in _rows(source, database, "SELECT * FROM sessions")}
    messages = _rows(source, database, _active_messages(columns(database, "messages")))
    for name, said in groupby(messages, key=lambda message: text_of(message.get("session_id"))):
        yield _session(source.path, name, kept.pop(name, {}), said)
    for name, row in kept.items():
        yield _session(source.path, name, row, ())


def _damage(error: Exception) -> Damage:
    return Damage(0, f"the database could not be read to its end: {error}")


def _active_messages(columns: set[str]) -> str:
    """What was rewound or compacted stays in the table as inactive rows."""
    wanted = ", ".join(sorted(columns & (_MESSAGE_COLUMNS | _LATER_COLUMNS)))
    return f"SELECT {wanted} FROM messages {'WHERE active = 1' if 'active' in columns else ''} ORDER BY session_id, id"


def _rows(source: Source, database: apsw.Connection, query: str) -> Iterator[Record]:
    names: list[str] = []
    try:
        cursor = database.execute(query)
        for row in cursor:
            names = names or [name for name, _ in cursor.get_description()]
            yield dict(zip(names, row, strict=True))
    except (apsw.Error, UnicodeDecodeError) as error:
        source.damaged.append(_damage(error))


def _session(path: Path, name: str, row: Record, said: Iterable[Record]) -> Session:
    meta = {"session_id": name, "cwd": row.get("cwd"), "git_branch": row.get("git_branch")}
    session = as_gateway(path, meta, map(_message, said))
    caller = _caller(row)
    return replace(
        session,
        external_id=caller or session.external_id,
        format=NAME,
        subagent=name if caller else "",
        messages=tuple(map(_from_agent, session.messages)) if caller else session.messages,
        started_at=microseconds(row.get("started_at")) or session.started_at,
        ended_at=microseconds(row.get("ended_at")) or session.ended_at,
    )


def _message(row: Record) -> Record:
    """A row as the gateway would write it; what the client put in the user's place is a system message."""
    put_in = row.get("_compressed_summary") == 1 or row.get("display_kind") == "hidden"
    role = "system" if put_in and row.get("role") == "user" else row.get("role")
    return {
        "role": role,
        "content": _content(row.get("content")),
        "tool_calls": _decoded(row.get("tool_calls")),
        "tool_call_id": row.get("tool_call_id"),
        "tool_name": row.get("tool_name"),
        "timestamp": row.get("timestamp"),
    }


def _content(content: object) -> object:
    """Content in parts is stored as JSON behind a mark that no text begins with."""
    if isinstance(content, str) and content.startswith(_LISTED_CONTENT):
        return _decoded(content[len(_LISTED_CONTENT[0]) :])
    return content


def _decoded(value: object) -> object:
    if not isinstance(value, str):
        return None
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError, ValueError):
        return None


def _caller(row: Record) -> str:
    """The session that a sub-agent worked for; empty for a session of the user's own."""
    config = json_object(row.get("model_config")) or {}
    marked = text_of(config.get("_delegate_from"))
    if marked or row.get("source") == "subagent":
        return text_of(row.get("parent_session_id")) or marked
    return ""


def _from_agent(message: Message) -> Message:
    """A sub-agent's "user" is the agent that called it."""
    return replace(message, origin="agent") if message.origin == "user" else message
