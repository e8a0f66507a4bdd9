"""Which format a file is, told from its content; and the one way to read it."""

from __future__ import annotations

import stat
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from hardwon.errors import NotASession, NotFound
from hardwon.model.session import Session, Transcript
from hardwon.sessions import tool_calls
from hardwon.sessions.source import Source


class Format(Protocol):
    """What a format module provides. To add a format: write the module, add its name and what its files have to
    `_TESTS`, and where the agent keeps its transcripts to `agent_folders.py`."""

    NAME: str
    AGENT: str
    READS: str
    VERSIONS: str

    def recognises(self, source: Source) -> bool:
        """Whether a file is of this format, told from its beginning."""

    def read(self, source: Source) -> list[Session]:
        """Its sessions; what cannot be read is added to `source.damaged`. Raises OSError."""


Test = Callable[[Source], bool]


def _lines(*words: bytes) -> Test:
    """Its first records have one of the words."""
    return lambda file: file.head.mentions(*words)


def _begins(*words: bytes) -> Test:
    """One of the words stands in its first 32 KiB."""
    return lambda file: file.mentions(*words)


def _lines_or_document(in_lines: Sequence[bytes], in_document: Sequence[bytes]) -> Test:
    return lambda file: file.head.mentions(*in_lines) if any(file.head) else file.mentions(*in_document)


def _has_role(file: Source) -> bool:
    return bool(file.head) and "role" in file.head[0]


def _is_database(file: Source) -> bool:
    return file.is_database


# Each format's module, and what every file of the format has: only of files that have it is the module asked, and only
# then is it loaded. Those of which there are thousands first, the quickest to say no before the others; Qwen before
# Claude Code, whose envelope it wears.
_TESTS: dict[str, Test] = {
    "specstory": _begins(b"SpecStory", b"_**User"),
    "aider": _begins(b"# aider chat started at "),
    "hermes": _has_role,
    "codex": _lines(b'"payload"', b'"instructions"'),
    "qwen": _lines_or_document(
        (b'"parts"', b'"systemPayload"', b'"projectHash"'), (b'"parentUuid"', b'"projectHash"', b'"lastUpdated"')
    ),
    "claude_code": _lines(b'"message"', b'"leafUuid"', b'"sessionId"', b'"messageId"', b'"loglines"'),
    "gemini": _lines_or_document((b'"gemini"', b'"projectHash"'), (b'"projectHash"', b'"lastUpdated"')),
    "copilot": _lines(b'"parentId"'),
    "vscode_copilot": _begins(b'"responderUsername"', b'"requesterUsername"', b'"initialLocation"', b'"creationDate"'),
    "droid": _lines(b"session_start"),
    "kiro": _lines(b'"kind"'),
    "amp": _begins(b'"T-'),
    "cursor": _is_database,
    "cursor_cli": _has_role,
    "zed": _is_database,
    "continue_dev": _begins(b'"history"', b'"workspaceDirectory"'),
    "hermes_cli": _begins(b'"session_start"', b'"last_updated"', b'"platform"', b'"base_url"', b'"producer"'),
    "hermes_state": _is_database,
    "opencode": lambda file: file.is_database or file.mentions(b'"ses_'),
    "pi": _lines(b'"session"'),
    "cline": _begins(b'"updated_at"', b'"<task>', b'"<user_message>'),
    "goose": lambda file: file.is_database or file.head.mentions(b'"created"', b'"message_count"'),
    "atif": _begins(b'"steps"', b'"schema_version"'),
    "openhands": _begins(b'"source"', b'"instruction"', b'"history"', b'"workspace"'),
    "swe_agent": _begins(b'"trajectory"', b'"history"', b'"messages"', b'"role"'),
    "sharegpt": _begins(b'"conversations"'),
    "openai_chat": _begins(b'"messages"', b'"traj"', b'"role"'),
}
# Markdown and databases, which can quote JSON anywhere but at their beginning.
_OF_TEXT = ("specstory", "aider", "cursor", "zed", "hermes_state", "opencode", "goose")
_OF_JSON = tuple(name for name in _TESTS if name not in ("specstory", "aider", "cursor", "zed", "hermes_state"))


@cache
def formats() -> tuple[Format, ...]:
    """All modules that read a format, in the order in which a file is tried."""
    return tuple(_module(name) for name in _TESTS)


@cache
def _module(name: str) -> Format:
    return cast(Format, import_module(f"hardwon.sessions.{name}"))


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
        for name in _OF_JSON if source.is_json else _OF_TEXT:
            if _TESTS[name](source) and _module(name).recognises(source):
                return _module(name)
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
