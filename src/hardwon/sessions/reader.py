"""Which format a file is, told from its content; and the one way to read it."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from hardwon.errors import NotASession, NotFound
from hardwon.model.session import Session, Transcript
from hardwon.sessions import tool_calls
from hardwon.sessions.source import Source


class Format(Protocol):
    """What a format module provides. To add a format: write the module, add its name to _MODULES."""

    NAME: str
    AGENT: str
    READS: str
    VERSIONS: str

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """The folders and files where the agent keeps its transcripts, whether they are there or not."""

    def recognises(self, source: Source) -> bool:
        """Whether a file is of this format, told from its beginning."""

    def read(self, source: Source) -> list[Session]:
        """Its sessions; what cannot be read is added to `source.damaged`. Raises OSError."""


# Those of which there are thousands first, the quickest to say no before the others; Qwen before Claude Code,
# whose envelope it wears. They are loaded when a file is read: most commands read none.
_MODULES = """
    specstory aider hermes codex qwen claude_code gemini copilot vscode_copilot
    droid kiro amp cursor cursor_cli zed continue_dev hermes_cli hermes_state
    opencode pi cline goose atif openhands swe_agent sharegpt openai_chat
""".split()
# Markdown and databases, which can quote JSON anywhere but at their beginning.
_OF_TEXT = ("specstory", "aider", "cursor", "zed", "hermes_state", "opencode", "goose")
_OF_JSON = tuple(name for name in _MODULES if name not in ("specstory", "aider", "cursor", "zed", "hermes_state"))


@cache
def formats(names: Sequence[str] = tuple(_MODULES)) -> tuple[Format, ...]:
    """The modules that read each format, in the order in which a file is tried."""
    return tuple(cast(Format, import_module(f"hardwon.sessions.{name}")) for name in names)


_FIRST_LOOK_BYTES = 8 * 1024
"""So much of a file mostly tells where and when it was written."""


def read(path: Path) -> Transcript:
    """Read a whole transcript. Raises NotFound, or NotASession with the reason."""
    source = Source(path)
    format, sessions = _read(source)
    return Transcript(path=str(path), format=format, sessions=tuple(sessions), damaged=tuple(source.damaged))


def peek(path: Path) -> Session | None:
    """The first session of a file from its beginning alone: enough for its place and start."""
    try:
        session = _beginning(Source(path, head_only=True, head=_FIRST_LOOK_BYTES))
        if session and session.cwd and session.started_at is not None:
            return session
    except NotASession:
        pass  # more of it may tell
    return _beginning(Source(path, head_only=True))


def _beginning(source: Source) -> Session | None:
    sessions = _sessions(recognised(source), source)
    return sessions[0] if sessions else None


def recognised(source: Source) -> Format:
    """The format of a file. Raises NotFound, or NotASession with the reason."""
    path = source.name
    try:
        mode = source.status.st_mode
    except OSError as error:
        raise NotFound(f"no such file: {path}") from error
    if not stat.S_ISREG(mode):
        raise NotASession(f"{path} is not a regular file")
    try:
        for candidate in formats(_OF_JSON if source.is_json else _OF_TEXT):
            if candidate.recognises(source):
                return candidate
        reason = _why_not(source)
    except OSError as error:
        raise NotASession(f"{path} cannot be read: {error.strerror or error}") from error
    raise NotASession(f"{path} is not a session: {reason}")


def _read(source: Source) -> tuple[str, list[Session]]:
    format = recognised(source)
    return format.NAME, [tool_calls.judge(session) for session in _sessions(format, source)]


def _sessions(format: Format, source: Source) -> list[Session]:
    try:
        return format.read(source)
    except OSError as error:
        raise NotASession(f"{source.name} cannot be read: {error.strerror or error}") from error


def _why_not(source: Source) -> str:
    head = source.head
    if not source.is_json:
        return "it is neither JSON nor the Markdown or database of a known agent"
    if not head:
        return "it is a JSON document of an unknown format" if source.document is not None else "it has no JSON records"
    keys = set(head[0])
    if {"session_id", "ts", "text"} <= keys or {"display", "project"} <= keys:
        return "it is a history of prompts alone, without the agent's answers and tool calls"
    if {"ts", "dir", "kind"} <= keys:
        return "it is a terminal UI's event log, not a transcript"
    if "session_id" in keys and head[0].get("type") in ("system", "user", "assistant"):
        return "it is an SDK stream (stream-json), not a transcript"
    return f"its records are of an unknown format (keys: {', '.join(sorted(keys)[:6])})"
