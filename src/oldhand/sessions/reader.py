"""Which format a file is, told from its content; and the one way to read it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from oldhand.errors import NotASession, NotFound
from oldhand.model.session import Record, Session, Transcript
from oldhand.sessions import claude_code, codex, failed_tests, hermes
from oldhand.sessions.source import Source


class Format(Protocol):
    """What a format module provides. To add a format: write the module, add it to FORMATS."""

    NAME: str
    AGENT: str
    READS: str
    VERSIONS: str

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]: ...
    def recognises(self, source: Source) -> bool: ...
    def read(self, source: Source) -> list[Session]: ...


FORMATS: tuple[Format, ...] = (claude_code, codex, hermes)


def read(path: Path) -> Transcript:
    """Read a whole transcript. Raises NotFound, or NotASession with the reason."""
    source = Source(path)
    format, sessions = _read(source)
    return Transcript(path=str(path), format=format, sessions=tuple(sessions), damaged=tuple(source.damaged))


def peek(path: Path) -> Session | None:
    """The first session of a file from its beginning alone: enough for its place and start."""
    _, sessions = _read(Source(path, head_only=True))
    return sessions[0] if sessions else None


def _read(source: Source) -> tuple[str, list[Session]]:
    path = source.path
    if not path.exists():
        raise NotFound(f"no such file: {path}")
    if not path.is_file():
        raise NotASession(f"{path} is not a regular file")
    try:
        for candidate in FORMATS:
            if candidate.recognises(source):
                return candidate.NAME, [failed_tests.judge(session) for session in candidate.read(source)]
        reason = _why_not(source.head)
    except OSError as error:
        raise NotASession(f"{path} cannot be read: {error.strerror or error}") from error
    raise NotASession(f"{path} is not a session: {reason}")


def _why_not(head: list[Record]) -> str:
    if not head:
        return "it holds no JSON records"
    keys = set(head[0])
    if {"session_id", "ts", "text"} <= keys or {"display", "project"} <= keys:
        return "it is a history of prompts, without what the agent did"
    if {"ts", "dir", "kind"} <= keys:
        return "it is a terminal UI's event log, not a transcript"
    if "session_id" in keys and head[0].get("type") in ("system", "user", "assistant"):
        return "it is an SDK stream (stream-json), not a transcript"
    known = ", ".join(entry.NAME for entry in FORMATS)
    return f"its records look like none of {known} (keys: {', '.join(sorted(keys)[:6])})"
