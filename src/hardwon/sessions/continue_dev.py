"""Continue: a session a document; what was typed stands in the editor's own document beside the message.

Shapes from Continue's published types (`Session`, `ChatHistoryItem`, `ToolCallState`) and readers of real sessions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hardwon.clock import Period
from hardwon.model.session import Evidence, Message, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.discover import local_path
from hardwon.sessions.lines import joined, text_of
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, tool_call

NAME = "continue"
AGENT = "continue"
READS = "sessions: messages, tool calls and results"
VERSIONS = "sessions of 2025 and 2026, read from the published source, *unverified*"

_EXITED = re.compile(r"Command failed with exit code (-?\d{1,9})")
_COMPLETED = "Command completed"
_MAX_NODES = 10_000


def recognises(source: Source) -> bool:
    beginning = source.beginning
    if '"history"' not in beginning and '"workspaceDirectory"' not in beginning:
        return False
    found = source.document if '"sessionId"' in beginning else None
    history = found.get("history") if isinstance(found, dict) else None
    return isinstance(history, list) and all(
        isinstance(item, dict) and isinstance(item.get("message"), dict) for item in history[:3]
    )


def read(source: Source) -> list[Session]:
    found = source.document if isinstance(source.document, dict) else {}
    conversation = _Conversation()
    history = found.get("history")
    for item in history if isinstance(history, list) else ():
        conversation.add(item)
    folder = text_of(found.get("workspaceDirectory"))
    cwd = local_path(folder) if "://" in folder else folder
    return [conversation.session(text_of(found.get("sessionId")) or source.stem, cwd)]


class _Conversation:
    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._calls: dict[str, ToolCall] = {}
        self._answered: set[str] = set()
        self._unknown = 0
        self._period = Period()

    def add(self, item: object) -> None:
        message = item.get("message") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(message, dict):
            self._unknown += 1
            return
        at = self._period.add(item.get("timestamp"))
        role = text_of(message.get("role"))
        if role == "user":
            self._add_user(item, joined(message.get("content")), at)
        elif role == "assistant":
            self._add_assistant(item, message, at)
        elif role == "tool":
            self._add_result(text_of(message.get("toolCallId")), joined(message.get("content")), at)
        elif role not in ("system", "thinking"):
            self._unknown += 1

    def _add_user(self, item: Record, content: str, at: int | None) -> None:
        editor = item.get("editorState")
        typed = "\n".join(_paragraphs(editor)) if isinstance(editor, dict | list) else text_of(editor) or content
        if typed.strip():
            self._messages.append(user_message(typed, at))
        attached = joined([{"text": one.get("content")} for one in _listed(item.get("contextItems"))])
        if attached.strip():
            self._messages.append(Message(role="user", origin="injected", at=at, text=attached))

    def _add_assistant(self, item: Record, message: Record, at: int | None) -> None:
        states = _listed(item.get("toolCallStates")) or _listed([item.get("toolCallState")])
        asked = [state.get("toolCall") for state in states] or _listed(message.get("toolCalls"))
        calls = [_call(one, f"{len(self._messages)}#{number}") for number, one in enumerate(asked)]
        self._calls.update((call.id, call) for call in calls)
        text = joined(message.get("content"))
        if text or calls:
            self._messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=tuple(calls)))
        results = [_result(call, state) for call, state in zip(calls, states, strict=False)]
        if told := tuple(filter(None, results)):
            self._answered.update(result.call_id for result in told)
            self._messages.append(Message(role="tool", origin="tool", at=at, results=told))

    def _add_result(self, id: str, text: str, at: int | None) -> None:
        """What the model was told again, unless the call's state has told it already."""
        if id in self._answered:
            return
        call = self._calls.get(id)
        told = ToolResult(call_id=id, outcome="unknown", evidence="none", text=text, origin=result_origin(call))
        self._messages.append(Message(role="tool", origin="tool", at=at, results=(told,)))

    def session(self, id: str, cwd: str) -> Session:
        return Session(
            external_id=id,
            agent=AGENT,
            format=NAME,
            cwd=cwd,
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )


def _listed(value: object) -> list[Record]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _paragraphs(document: object) -> Iterator[str]:
    """The texts of an editor's document, without the blocks of code that were put in it."""
    waiting: list[object] = [document]
    for _ in range(_MAX_NODES):
        if not waiting:
            return
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node[::-1]
        elif isinstance(node, dict) and node.get("type") == "paragraph":
            yield "".join(text_of(one.get("text")) for one in _listed(node.get("content")))
        elif isinstance(node, dict) and node.get("type") == "doc":
            waiting.append(node.get("content"))


def _call(asked: object, fallback_id: str) -> ToolCall:
    body: Record = asked if isinstance(asked, dict) else {}
    function = body.get("function")
    named: Record = function if isinstance(function, dict) else {}
    return tool_call(text_of(body.get("id")) or fallback_id, text_of(named.get("name")), named.get("arguments"))


def _result(call: ToolCall, state: Record) -> ToolResult | None:
    """None for a call that did not end."""
    status, output = state.get("status"), state.get("output")
    items = _listed(output)
    text = joined([{"text": one.get("content")} for one in items]) or text_of(output)
    said = " ".join(text_of(one.get("status")) for one in items)
    code = int(found.group(1)) if (found := _EXITED.search(said[:200])) else None
    outcome: Outcome = "error"
    evidence: Evidence = "flag"
    if status == "canceled":
        evidence = "rejected"
    elif status == "done" and code is not None:
        evidence = "exit-code"
    elif status == "done" and call.action == "run":
        outcome, evidence = ("ok", "text") if said.startswith(_COMPLETED) else ("unknown", "none")
    elif status == "done":
        outcome = "ok"
    elif status != "errored":
        return None
    return ToolResult(
        call_id=call.id, outcome=outcome, evidence=evidence, text=text, exit_code=code, origin=result_origin(call)
    )
