"""pi: a header and then one entry a line; errors flagged, the user's own shell commands beside the agent's."""

from __future__ import annotations

import os
import re
from pathlib import Path

from hardwon.clock import Period, microseconds
from hardwon.model.session import Evidence, Message, Outcome, Record, Role, Session, ToolCall, ToolResult
from hardwon.sessions.lines import joined, text_of
from hardwon.sessions.origin import INTERRUPTED, user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, tool_call

NAME = "pi"
AGENT = "pi"
READS = "JSON lines: messages, tool calls and results, the user's own shell commands, branches"
VERSIONS = "0.7.29; session versions 2 and 3 *unverified*"

_SUMMARIES = frozenset("compaction branch_summary".split())
_BOOKKEEPING = frozenset(
    "session model_change thinking_level_change custom label session_info checkpoint context_transform "
    "ephemeral".split()
)
_ENTRIES = _BOOKKEEPING | _SUMMARIES | {"message", "custom_message"}
_STATUS = re.compile(r"(?:\A|\n\n)(?:Command exited with code (-?\d{1,9})|Command aborted|Operation aborted)\Z")
_MAX_STATUS_CHARACTERS = 100
_SEPARATOR = re.compile(r"[\\/]")


def recognises(source: Source) -> bool:
    head = source.head
    if not head or head[0].get("type") != "session" or not isinstance(head[0].get("id"), str) or "cwd" not in head[0]:
        return False
    return len(head) == 1 or any(text_of(record.get("type")) in _ENTRIES for record in head[1:])


def read(source: Source) -> list[Session]:
    stream = _Stream(source.path)
    for record in source.records():
        stream.add(record)
    return [stream.session(source.stem)]


class _Stream:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._header: Record = {}
        self._branched_at: int | None = None
        self._messages: list[Message] = []
        self._calls: dict[str, ToolCall] = {}
        self._unknown = 0
        self._period = Period()

    def add(self, record: Record) -> None:
        kind, body = text_of(record.get("type")), record.get("message")
        if kind == "session" and not self._header:
            self._open(record)
            return
        at = microseconds(body.get("timestamp")) if isinstance(body, dict) else None
        at = at or microseconds(record.get("timestamp"))
        if self._branched_at is not None and at is not None and at < self._branched_at:
            return
        self._period.add(at)
        if kind == "message" and isinstance(body, dict):
            self._add_message(body, at)
        elif kind in _SUMMARIES:
            self._inject("system", text_of(record.get("summary")), at)
        elif kind == "custom_message":
            self._inject("user", joined(record.get("content")), at)
        elif kind not in _BOOKKEEPING:
            self._unknown += 1

    def _open(self, header: Record) -> None:
        """A branch begins with a copy of the session it left, which is not told twice where that lies beside it."""
        self._header = header
        began = self._period.add(header.get("timestamp"))
        parent = text_of(header.get("branchedFrom")) or text_of(header.get("parentSession"))
        name = _SEPARATOR.split(parent)[-1]
        if name and os.path.isfile(self._path.parent / name):
            self._branched_at = began

    def _add_message(self, body: Record, at: int | None) -> None:
        role = body.get("role")
        if role == "user":
            if (text := _text(body)).strip():
                self._messages.append(user_message(text, at))
        elif role == "assistant":
            self._add_assistant(body, at)
        elif role == "toolResult":
            result = _result(body, self._calls)
            self._messages.append(Message(role="tool", origin="tool", at=at, results=(result,)))
        elif role == "bashExecution":
            self._add_user_command(body, at)
        elif role in ("custom", "hookMessage"):
            self._inject("user", _text(body), at)
        elif role in ("compactionSummary", "branchSummary"):
            self._inject("system", text_of(body.get("summary")), at)
        else:
            self._unknown += 1

    def _inject(self, role: Role, text: str, at: int | None) -> None:
        if text.strip():
            self._messages.append(Message(role=role, origin="injected", at=at, text=text))

    def _add_assistant(self, body: Record, at: int | None) -> None:
        content = body.get("content")
        calls = tuple(
            tool_call(text_of(block.get("id")), text_of(block.get("name")), block.get("arguments"))
            for block in (content if isinstance(content, list) else ())
            if isinstance(block, dict) and block.get("type") == "toolCall"
        )
        self._calls.update((call.id, call) for call in calls)
        text = _text(body)
        if text or calls:
            self._messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=calls))
        if body.get("stopReason") == "aborted":
            self._messages.append(Message(role="user", origin="injected", at=at, text=INTERRUPTED))

    def _add_user_command(self, body: Record, at: int | None) -> None:
        """A command the user ran with `!`: an act, not words."""
        call = tool_call(f"bash-execution-{len(self._messages)}", "bash", {"command": body.get("command")})
        code = _code(body.get("exitCode"))
        outcome: Outcome = "unknown"
        evidence: Evidence = "none"
        if body.get("cancelled") is True:
            outcome, evidence = "error", "interrupted"
        elif code is not None:
            outcome, evidence = ("error" if code else "ok"), "exit-code"
        result = ToolResult(
            call_id=call.id, outcome=outcome, evidence=evidence, text=text_of(body.get("output")), exit_code=code
        )
        self._messages.append(Message(role="user", origin="injected", at=at, calls=(call,)))
        self._messages.append(Message(role="tool", origin="tool", at=at, results=(result,)))

    def session(self, stem: str) -> Session:
        return Session(
            external_id=text_of(self._header.get("id")) or stem,
            agent=AGENT,
            format=NAME,
            cwd=text_of(self._header.get("cwd")),
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )


def _text(body: Record) -> str:
    content = body.get("content")
    if isinstance(content, list):
        content = [block for block in content if isinstance(block, dict) and block.get("type") == "text"]
    return joined(content)


def _code(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _result(body: Record, calls: dict[str, ToolCall]) -> ToolResult:
    call_id, failed = text_of(body.get("toolCallId")), body.get("isError")
    text = _text(body)
    exit_code: int | None = None
    outcome: Outcome = "unknown"
    evidence: Evidence = "none"
    if isinstance(failed, bool):
        outcome, evidence = ("error" if failed else "ok"), "flag"
    if failed is True and (status := _STATUS.search(text, max(0, len(text) - _MAX_STATUS_CHARACTERS))):
        text = text[: status.start()].rstrip("\n")
        if status.group(1) is None:
            evidence = "interrupted"
        else:
            exit_code = int(status.group(1))
    return ToolResult(
        call_id=call_id,
        outcome=outcome,
        evidence=evidence,
        text="" if text == "(no output)" else text,
        exit_code=exit_code,
        origin=result_origin(calls.get(call_id)),
    )
