"""Factory's Droid: a record a line, a session's start and then messages of blocks as its model's interface has them.

Shapes from published readers of real sessions of 2025 and 2026. Whether a failed command is flagged is not known: only
what is flagged is an error.
"""

from __future__ import annotations

from hardwon.clock import Period
from hardwon.model.session import Evidence, Message, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.lines import joined, text_of
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, tool_call

NAME = "droid"
AGENT = "droid"
READS = "JSON lines: messages, tool calls and results, sub-agents"
VERSIONS = "sessions of 2025 and 2026, read from published descriptions, *unverified*"

_SILENT = frozenset(("session_start", "session_end", "todo_state", "compaction_state"))
_SUBAGENT = "# Task Tool Invocation"


def recognises(source: Source) -> bool:
    head = source.head
    if not head.mentions(b"session_start") or not head or head[0].get("type") != "session_start":
        return False
    start = head[0]
    return "id" in start and ("cwd" in start or "title" in start) and (len(head) == 1 or "type" in head[1])


def read(source: Source) -> list[Session]:
    conversation = _Conversation()
    for record in source.records():
        conversation.add(record)
    return [conversation.session(source.stem)]


class _Conversation:
    def __init__(self) -> None:
        self._start: Record = {}
        self._caller = ""
        self._messages: list[Message] = []
        self._calls: dict[str, ToolCall] = {}
        self._unknown = 0
        self._period = Period()

    def add(self, record: Record) -> None:
        kind, message = text_of(record.get("type")), record.get("message")
        at = self._period.add(record.get("timestamp"))
        if kind == "session_start" and not self._start:
            self._start, self._caller = record, text_of(record.get("callingSessionId"))
        elif kind == "message" and isinstance(message, dict) and message.get("role") in ("user", "assistant"):
            content = message.get("content")
            listed = content if isinstance(content, list) else [{"type": "text", "text": content}]
            blocks = [block for block in listed if isinstance(block, dict)]
            if message["role"] == "user":
                self._add_user(blocks, at)
            else:
                self._add_assistant(blocks, at)
        elif kind not in _SILENT:
            self._unknown += 1

    def _add_user(self, blocks: list[Record], at: int | None) -> None:
        results = tuple(self._result(block) for block in blocks if block.get("type") == "tool_result")
        if results:
            self._messages.append(Message(role="tool", origin="tool", at=at, results=results))
        for block in blocks:  # reminders stand in blocks of their own
            if block.get("type") == "text" and (said := text_of(block.get("text"))).strip():
                if not self._caller and said.startswith(_SUBAGENT):
                    self._caller = text_of(self._start.get("id"))
                self._messages.append(user_message(said, at, "agent" if self._caller else "user"))

    def _add_assistant(self, blocks: list[Record], at: int | None) -> None:
        uses = [block for block in blocks if block.get("type") == "tool_use"]
        calls = tuple(tool_call(text_of(use.get("id")), text_of(use.get("name")), use.get("input")) for use in uses)
        self._calls.update((call.id, call) for call in calls)
        text = joined([block for block in blocks if block.get("type") == "text"])
        if text or calls:
            self._messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=calls))

    def _result(self, block: Record) -> ToolResult:
        call = self._calls.get(text_of(block.get("tool_use_id")))
        outcome: Outcome = "ok"
        evidence: Evidence = "no-flag"
        if block.get("is_error") is True:
            outcome, evidence = "error", "flag"
        elif call is None or call.action == "run":
            outcome, evidence = "unknown", "none"
        return ToolResult(
            call_id=text_of(block.get("tool_use_id")),
            outcome=outcome,
            evidence=evidence,
            text=joined(block.get("content")),
            origin=result_origin(call),
        )

    def session(self, fallback_id: str) -> Session:
        id = text_of(self._start.get("id")) or fallback_id
        return Session(
            external_id=self._caller or id,
            agent=AGENT,
            format=NAME,
            version=text_of(self._start.get("version")),
            subagent=id if self._caller else "",
            cwd=text_of(self._start.get("cwd")),
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )
