"""Kiro's command line: a record a line; where and when a session was held stands in a document beside it.

Shapes from published readers of real sessions of version 2 (2026). The IDE keeps its sessions in another way.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from hardwon.clock import Period
from hardwon.model.session import Evidence, Message, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.lines import json_object, text_of
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, tool_call

NAME = "kiro-cli"
AGENT = "kiro-cli"
READS = "JSON lines with the document beside them: messages, sub-agents, tool calls and results"
VERSIONS = "2 of 2026, read from published descriptions, *unverified*"

_KINDS = ("Prompt", "AssistantMessage", "ToolResults")
_SILENT = frozenset(("Compaction", "Summary", "Clear", "ResetTo", "Thinking", "SessionMetadata"))
_MAX_NOTES_BYTES = 16 * 1024 * 1024
_STATUS = re.compile(r"(?:exit (?:status|code): )?(-?\d{1,9})\Z")


def recognises(source: Source) -> bool:
    if not source.head.mentions(b'"kind"'):
        return False
    return any(record.get("kind") in _KINDS and isinstance(record.get("data"), dict) for record in source.head)


def read(source: Source) -> list[Session]:
    conversation = _Conversation(_notes(source.path))
    for record in source.records():
        conversation.add(record)
    return [conversation.session(source.stem)]


def _notes(path: Path) -> Record:
    try:
        with path.with_suffix(".json").open("rb") as file:
            return json_object(file.read(_MAX_NOTES_BYTES)) or {}
    except OSError:
        return {}


class _Conversation:
    def __init__(self, notes: Record) -> None:
        self._notes = notes
        self._caller = text_of(notes.get("parent_session_id"))
        self._messages: list[Message] = []
        self._calls: dict[str, ToolCall] = {}
        self._unknown = 0
        self._period = Period()
        self._period.add(notes.get("created_at"))
        self._period.add(notes.get("updated_at"))

    def add(self, record: Record) -> None:
        kind, data = text_of(record.get("kind")), record.get("data")
        if kind not in _KINDS or not isinstance(data, dict):
            self._unknown += kind not in _SILENT
            return
        content, meta = data.get("content"), data.get("meta")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        at = self._period.add(meta.get("timestamp")) if isinstance(meta, dict) else None
        text = "\n".join(text_of(block.get("data")) for block in blocks if block.get("kind") == "text")
        if kind == "ToolResults":
            results = tuple(self._result(block) for block in blocks if block.get("kind") == "toolResult")
            self._messages.append(Message(role="tool", origin="tool", at=at, results=results))
        elif kind == "AssistantMessage":
            calls = tuple(_call(block) for block in blocks if block.get("kind") == "toolUse")
            self._calls.update((call.id, call) for call in calls)
            if text or calls:
                self._messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=calls))
        elif text.strip():
            self._messages.append(user_message(text, at, "agent" if self._caller else "user"))

    def _result(self, block: Record) -> ToolResult:
        inner = block.get("data")
        data: Record = inner if isinstance(inner, dict) else {}
        call = self._calls.get(text_of(data.get("toolUseId")))
        text, code = _output(data.get("content"))
        status = data.get("status")
        outcome: Outcome = "unknown"
        evidence: Evidence = "none"
        if code is not None:
            outcome, evidence = ("error" if code else "ok"), "exit-code"
        elif status == "error":
            outcome, evidence = "error", "flag"
        elif status == "success" and call is not None and call.action != "run":
            outcome, evidence = "ok", "flag"
        return ToolResult(
            call_id=text_of(data.get("toolUseId")),
            outcome=outcome,
            evidence=evidence,
            text=text,
            exit_code=code,
            origin=result_origin(call),
        )

    def session(self, fallback_id: str) -> Session:
        id = text_of(self._notes.get("session_id")) or fallback_id
        return Session(
            external_id=self._caller or id,
            agent=AGENT,
            format=NAME,
            subagent=id if self._caller else "",
            cwd=text_of(self._notes.get("cwd")),
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )


def _call(block: Record) -> ToolCall:
    inner = block.get("data")
    data: Record = inner if isinstance(inner, dict) else {}
    arguments = data.get("input")
    operations = arguments.get("operations") if isinstance(arguments, dict) else None
    if isinstance(operations, list) and operations and isinstance(operations[0], dict):
        arguments = operations[0]  # several files read at once
    return tool_call(text_of(data.get("toolUseId")), text_of(data.get("name")), arguments)


def _output(content: object) -> tuple[str, int | None]:
    """A shell's two streams and its exit code, or the text of another tool."""
    parts = content if isinstance(content, list) else [{"kind": "text", "data": content}]
    texts: list[str] = []
    code = None
    for part in parts:
        data = part.get("data") if isinstance(part, dict) else None
        if isinstance(data, dict) and ("stdout" in data or "stderr" in data):
            texts += [text_of(data.get("stdout")), text_of(data.get("stderr"))]
            code = _exit_code(data.get("exit_status"))
        else:
            texts.append(data if isinstance(data, str) else msgspec.json.encode(data).decode() if data else "")
    return "\n".join(filter(None, texts)), code


def _exit_code(status: object) -> int | None:
    if isinstance(status, int) and not isinstance(status, bool):
        return status
    found = _STATUS.match(text_of(status))
    return int(found.group(1)) if found else None
