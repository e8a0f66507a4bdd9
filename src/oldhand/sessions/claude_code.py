"""Claude Code: one JSON record a line, an API message split over records, errors flagged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oldhand.model.session import Evidence, Message, Origin, Outcome, Record, Session, ToolCall, ToolResult
from oldhand.sessions.clock import microseconds
from oldhand.sessions.loose import joined
from oldhand.sessions.loose import text as text_of
from oldhand.sessions.origin import INTERRUPTED, user_text
from oldhand.sessions.source import Source
from oldhand.sessions.tools import result_origin, tool_call

NAME = "claude-code"
AGENT = "claude-code"
READS = "JSON lines of 1.x and 2.x: messages, sub-agents, tool calls and results"
VERSIONS = "1.0.0 to 2.1.19"

_MESSAGES = ("user", "assistant")
_BOOKKEEPING = frozenset(
    "system summary file-history-snapshot file-history-delta queue-operation progress custom-title "
    "ai-title agent-name agent-color agent-setting attachment last-prompt tag pr-link mode "
    "permission-mode worktree-state content-replacement".split()
)
_REJECTED = "The user doesn't want to proceed with this tool use"
_NOT_GRANTED = "Claude requested permissions to"


def roots(environment: Mapping[str, str], home: Path) -> list[Path]:
    if moved := environment.get("CLAUDE_CONFIG_DIR"):
        return [Path(moved) / "projects"]
    return [home / ".claude" / "projects", home / ".config" / "claude" / "projects"]


def recognises(source: Source) -> bool:
    for record in source.head:
        kind = record.get("type")
        message = record.get("message")
        if kind in _MESSAGES and isinstance(message, dict):
            return "content" in message and "session_id" not in record
        if kind == "summary" and "leafUuid" in record:
            return True
        if kind in _BOOKKEEPING and ("sessionId" in record or "messageId" in record):
            return True
    return False


def read(source: Source) -> list[Session]:
    streams: dict[tuple[str, str], _Stream] = {}
    side_chains: dict[str, str] = {}
    seen: set[str] = set()
    latest: _Stream | None = None
    stray = 0
    for record in source.records():
        kind = record.get("type")
        if kind not in _MESSAGES:
            stray += kind not in _BOOKKEEPING
            continue
        uuid = text_of(record.get("uuid"))
        if uuid:
            if uuid in seen:  # a sync conflict or a resume wrote it again
                continue
            seen.add(uuid)
        key = (text_of(record.get("sessionId")) or source.stem, _subagent(record, uuid, side_chains))
        latest = streams.get(key) or streams.setdefault(key, _Stream())
        latest.add(record)
    if latest is not None:
        latest.unknown += stray
    return [stream.session(*key) for key, stream in streams.items()]


def _subagent(record: Record, uuid: str, side_chains: dict[str, str]) -> str:
    """Inline side chains carry no id of their own: each is named by the record it began with."""
    if agent := text_of(record.get("agentId")):
        return agent
    if record.get("isSidechain") is not True:
        return ""
    chain = side_chains.get(text_of(record.get("parentUuid"))) or uuid or "sidechain"
    side_chains[uuid] = chain
    return chain


class _Stream:
    """The records of one conversation, joined to messages as they come."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.unknown = 0
        self._cwd = self._branch = self._version = ""
        self._first: int | None = None
        self._last: int | None = None
        self._calls: dict[str, ToolCall] = {}
        self._by_id: dict[str, int] = {}

    def add(self, record: Record) -> None:
        at = microseconds(record.get("timestamp"))
        if at is not None:
            self._first = at if self._first is None else min(self._first, at)
            self._last = at if self._last is None else max(self._last, at)
        self._cwd = self._cwd or text_of(record.get("cwd"))
        self._branch = self._branch or text_of(record.get("gitBranch"))
        self._version = self._version or text_of(record.get("version"))
        body = record.get("message")
        if not isinstance(body, dict):
            self.unknown += 1
            return
        content = body.get("content")
        blocks: list[Any] = content if isinstance(content, list) else [{"type": "text", "text": content}]
        if record.get("type") == "assistant":
            self._add_assistant(text_of(body.get("id")), blocks, at)
        else:
            self._add_user(record, blocks, at)

    def _add_assistant(self, message_id: str, blocks: list[Any], at: int | None) -> None:
        texts: list[str] = []
        calls: list[ToolCall] = []
        for block in blocks:
            if not isinstance(block, dict):
                continue
            if block.get("type") == "text":
                texts.append(text_of(block.get("text")))
            elif block.get("type") in ("tool_use", "server_tool_use"):
                call = tool_call(text_of(block.get("id")), text_of(block.get("name")), block.get("input"))
                self._calls[call.id] = call
                calls.append(call)
        text = "\n".join(filter(None, texts))
        known = self._by_id.get(message_id) if message_id else None
        if known is not None:
            earlier = self.messages[known]
            self.messages[known] = Message(
                role="assistant",
                origin="agent",
                at=earlier.at,
                text="\n".join(filter(None, (earlier.text, text))),
                calls=earlier.calls + tuple(calls),
            )
            return
        if message_id:
            self._by_id[message_id] = len(self.messages)
        self.messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=tuple(calls)))

    def _add_user(self, record: Record, blocks: list[Any], at: int | None) -> None:
        results = [
            self._result(block) for block in blocks if isinstance(block, dict) and block.get("type") == "tool_result"
        ]
        if results:
            self.messages.append(Message(role="tool", origin="tool", at=at, results=tuple(results)))
        written = "\n".join(
            text_of(block.get("text")) for block in blocks if isinstance(block, dict) and block.get("type") == "text"
        )
        if not written.strip():
            return
        text, origin = user_text(written)
        if record.get("isMeta") is True or record.get("isCompactSummary") is True:
            origin = "injected"
        if record.get("isSidechain") is True and origin == "user":
            origin = "agent"  # a sub-agent's "user" is the agent that called it
        if text.startswith("[Request interrupted by user"):
            text = INTERRUPTED
        self.messages.append(Message(role="user", origin=origin, at=at, text=text))

    def _result(self, block: Record) -> ToolResult:
        call_id = text_of(block.get("tool_use_id"))
        text = joined(block.get("content"))
        outcome: Outcome = "error" if block.get("is_error") is True else "ok"
        evidence: Evidence = "flag" if outcome == "error" else "no-flag"
        exit_code: int | None = None
        if outcome == "error":
            if text.startswith((_REJECTED, _NOT_GRANTED)):
                evidence = "rejected"
            elif text.startswith("[Request interrupted by user"):
                evidence = "interrupted"
            first, _, rest = text.partition("\n")
            if first.startswith("Exit code ") and first[10:].isdigit():
                exit_code, text = int(first[10:]), rest
        origin: Origin = result_origin(self._calls.get(call_id))
        return ToolResult(
            call_id=call_id,
            outcome=outcome,
            evidence=evidence,
            text=text,
            exit_code=exit_code,
            origin=origin,
        )

    def session(self, external_id: str, subagent: str) -> Session:
        return Session(
            external_id=external_id,
            agent=AGENT,
            format=NAME,
            version=self._version,
            subagent=subagent,
            cwd=self._cwd,
            branch=self._branch,
            started_at=self._first,
            ended_at=self._last,
            messages=tuple(self.messages),
            unknown_records=self.unknown,
        )
