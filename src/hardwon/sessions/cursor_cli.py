"""Cursor's transcripts, of its command line and beside its database: messages a line, without results and times.

Shapes from published readers of real transcripts of 2026. What one typed stands in the last `<user_query>`, behind
all that the client put before it; a session that the database has, too, is told there at greater length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path, PurePosixPath

from hardwon.clock import Period
from hardwon.model.session import Message, Origin, Record, Session, ToolCall
from hardwon.sessions.lines import joined, text_of
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import tool_call, working_directory

NAME = "cursor-cli"
AGENT = "cursor"
READS = "agent-transcripts: messages, sub-agents and tool calls; results are not in them"
VERSIONS = "transcripts of 2026, read from published descriptions, *unverified*"

_TRANSCRIPTS = "agent-transcripts"
_SUBAGENTS = "subagents"
_TYPED, _TYPED_ENDS = "<user_query>", "</user_query>"
_MAX_PATHS_SEARCHED = 20
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9]+")


def recognises(source: Source) -> bool:
    return bool(source.head) and _is_message(source.head[0])


def _is_message(record: Record) -> bool:
    message = record.get("message")
    if record.get("role") not in ("user", "assistant") or not isinstance(message, dict) or "type" in record:
        return False
    return isinstance(message.get("content"), list) and "role" not in message and "sessionId" not in record


def read(source: Source) -> list[Session]:
    folder = source.path.parent
    caller = folder.parent.name if folder.name == _SUBAGENTS else ""
    conversation = _Conversation(is_subagent=bool(caller))
    for record in source.records():
        conversation.add(record)
    return [conversation.session(source.stem, caller, _slug(source.path))]


def _slug(path: Path) -> str:
    """The name of the project's folder, which is its path with `-` for all that is no name."""
    parts = path.parts
    return parts[parts.index(_TRANSCRIPTS) - 1] if _TRANSCRIPTS in parts[1:] else ""


class _Conversation:
    def __init__(self, *, is_subagent: bool) -> None:
        self._is_subagent = is_subagent
        self._cwd = ""
        self._paths: dict[str, None] = {}
        self._messages: list[Message] = []
        self._calls = 0
        self._unknown = 0
        self._period = Period()

    def add(self, record: Record) -> None:
        if not _is_message(record):
            self._unknown += "type" not in record  # the end of a turn, and whatever else is no message
            return
        at = self._period.add(record.get("timestamp"))
        blocks = [block for block in record["message"]["content"] if isinstance(block, dict)]
        text = joined([block for block in blocks if block.get("type") == "text"])
        if record["role"] == "user":
            self._add_user(text, at)
            return
        calls = tuple(self._call(block) for block in blocks if block.get("type") == "tool_use")
        if text or calls:
            self._messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=calls))

    def _add_user(self, text: str, at: int | None) -> None:
        before, typed = _parted(text)
        if before.strip():
            origin: Origin = "agent" if self._is_subagent else "injected"
            self._messages.append(Message(role="user", origin=origin, at=at, text=before.strip()))
        if typed.strip():
            self._messages.append(user_message(typed, at, "agent" if self._is_subagent else "user"))

    def _call(self, block: Record) -> ToolCall:
        self._calls += 1
        arguments = block.get("input")
        call = tool_call(text_of(block.get("id")) or f"call {self._calls}", text_of(block.get("name")), arguments)
        self._cwd = self._cwd or working_directory(arguments)
        if call.target.startswith("/"):
            self._paths[call.target] = None
        return call

    def session(self, id: str, caller: str, slug: str) -> Session:
        return Session(
            external_id=caller or id,
            agent=AGENT,
            format=NAME,
            subagent=id if caller else "",
            cwd=next(_named(self._paths, slug), "") or self._cwd,
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )


def _parted(text: str) -> tuple[str, str]:
    """What the client put before, and what was typed: a tag in what it put there opens nothing."""
    body = text.rstrip()
    start = body.rfind(_TYPED)
    if start < 0 or not body.endswith(_TYPED_ENDS):
        return text, ""
    return body[:start], body[start + len(_TYPED) : -len(_TYPED_ENDS)]


def _named(paths: Mapping[str, None], slug: str) -> Iterator[str]:
    """The folders above these files whose name the project's folder has."""
    wanted = _plain(slug)
    above = chain.from_iterable(PurePosixPath(path).parents for path in islice(paths, _MAX_PATHS_SEARCHED))
    return (str(folder) for folder in above if wanted and _plain(str(folder)) == wanted)


def _plain(name: str) -> str:
    return _NOT_A_NAME.sub("-", name).strip("-")
