"""goose: one chat message a line, or a database of the same messages; a shell's exit code only in newer versions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import closing
from typing import Any

import apsw
import msgspec
from msgspec.structs import replace

from hardwon.clock import Period
from hardwon.model.session import Damage, Evidence, Message, Origin, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.lines import joined, json_object, text_of
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import Source, columns, opened_database
from hardwon.sessions.tool_calls import result_origin, tool_call

NAME = "goose"
AGENT = "goose"
READS = "JSON lines and the SQLite store: messages, sub-agents, tool calls and results"
VERSIONS = "read from the published source, *unverified*"

_SESSION_COLUMNS = {"id", "working_dir", "created_at", "updated_at"}
_MESSAGE_COLUMNS = {"id", "session_id", "role", "content_json", "created_timestamp"}
_REQUESTS = frozenset(("toolRequest", "frontendToolRequest"))
_KNOWN = _REQUESTS | frozenset(
    "text image toolResponse toolConfirmationRequest actionRequired thinking redactedThinking reasoning "
    "contextLengthExceeded summarizationRequested conversationCompacted systemNotification".split()
)
_DECLINED = "The user has declined to run this tool"
_STATUS = re.compile(r"\n\nCommand exited with code -?\d{1,9}\Z")
_MAX_STATUS_CHARACTERS = 60


def recognises(source: Source) -> bool:
    if source.is_database:
        return _holds_sessions(source)
    head = source.head
    if head and _is_header(head[0]):
        return len(head) == 1 or _is_message(head[1])
    return bool(head) and _is_message(head[0]) and all(_kind(item) in _KNOWN for item in head[0]["content"])


def read(source: Source) -> list[Session]:
    if source.is_database:
        return _from_database(source)
    conversation = _Conversation()
    for record in source.records():
        if _is_header(record):
            conversation.describe(record)
        else:
            conversation.add(record.get("role"), record.get("content"), record.get("created"), record.get("metadata"))
    return [conversation.session(source.stem)]


def _is_header(record: Record) -> bool:
    return "role" not in record and all(key in record for key in ("description", "message_count", "total_tokens"))


def _is_message(record: Record) -> bool:
    content = record.get("content")
    if record.get("role") not in ("user", "assistant") or "created" not in record or "type" in record:
        return False
    return isinstance(content, list) and all(isinstance(item, dict) for item in content)


def _kind(item: Record) -> str:
    return text_of(item.get("type"))


def _holds_sessions(source: Source) -> bool:
    try:
        with closing(opened_database(source)) as database:
            kept, said = columns(database, "sessions"), columns(database, "messages")
    except (apsw.Error, UnicodeDecodeError):
        return False
    return kept >= _SESSION_COLUMNS and said >= _MESSAGE_COLUMNS


def _from_database(source: Source) -> list[Session]:
    sessions: list[Session] = []
    try:
        with closing(opened_database(source)) as database:
            kind = "session_type" if "session_type" in columns(database, "sessions") else "''"
            notes = "metadata_json" if "metadata_json" in columns(database, "messages") else "NULL"
            fields = ("id", "working_dir", "created_at", "updated_at", "session_type")
            for row in database.execute(
                f"SELECT id, working_dir, created_at, updated_at, {kind} FROM sessions ORDER BY id"
            ):
                conversation = _Conversation()
                conversation.describe(dict(zip(fields, row, strict=True)))
                # As bytes, so that a row with bad text is lost alone.
                for role, content, created, metadata in database.execute(
                    f"SELECT role, CAST(content_json AS BLOB), created_timestamp, CAST({notes} AS BLOB) "
                    "FROM messages WHERE session_id = ? ORDER BY id",
                    (row[0],),
                ):
                    conversation.add(role, _decoded(content), created, json_object(metadata))
                sessions.append(conversation.session(text_of(row[0])))
    except (apsw.Error, UnicodeDecodeError) as error:
        source.damaged.append(Damage(0, f"the database could not be read to its end: {error}"))
    return sessions


class _Conversation:
    def __init__(self) -> None:
        self._cwd = ""
        self._is_subagent = False
        self._messages: list[Message] = []
        self._calls: dict[str, ToolCall] = {}
        self._unknown = 0
        self._period = Period()

    def describe(self, header: Record) -> None:
        self._cwd = self._cwd or text_of(header.get("working_dir"))
        self._is_subagent = header.get("session_type") == "sub_agent"
        self._period.add(header.get("created_at"))
        self._period.add(header.get("updated_at"))

    def add(self, role: object, content: object, created: object, metadata: object) -> None:
        if role not in ("user", "assistant") or not isinstance(content, list):
            self._unknown += 1
            return
        at = self._period.add(created)
        items = [item for item in content if isinstance(item, dict) and _kind(item) in _KNOWN]
        self._unknown += len(content) - len(items)
        results = tuple(self._result(item) for item in items if _kind(item) == "toolResponse")
        if results:
            self._messages.append(Message(role="tool", origin="tool", at=at, results=results))
        text = joined([item for item in items if _kind(item) == "text"])
        if role == "assistant":
            calls = tuple(_call(item) for item in items if _kind(item) in _REQUESTS)
            self._calls.update((call.id, call) for call in calls)
            if text or calls:
                self._messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=calls))
        elif text.strip():
            self._add_user(text, at, hidden=isinstance(metadata, dict) and metadata.get("userVisible") is False)

    def _add_user(self, text: str, at: int | None, *, hidden: bool) -> None:
        # What is hidden is a summary or a reminder, meant for the model alone.
        by: Origin = "injected" if hidden else "agent" if self._is_subagent else "user"
        self._messages.append(user_message(text, at, by))

    def _result(self, item: Record) -> ToolResult:
        call = self._calls.get(text_of(item.get("id")))
        answer = item.get("toolResult")
        body: Record = answer if isinstance(answer, dict) else {}
        value = body.get("value")
        inner: Record = value if isinstance(value, dict) else {"content": value}
        text = joined(_for_the_agent(inner.get("content"))) or text_of(body.get("error"))
        code = _exit_code(inner.get("structuredContent"))
        outcome: Outcome = "error"
        evidence: Evidence = "flag"
        if text.startswith(_DECLINED):
            evidence = "rejected"
        elif code is not None:
            outcome, evidence = ("error" if code else "ok"), "exit-code"
            if status := _STATUS.search(text, max(0, len(text) - _MAX_STATUS_CHARACTERS)):
                text = text[: status.start()]
        elif body.get("status") == "error" or inner.get("isError") is True:
            pass
        elif body.get("status") == "success" and not (call is not None and call.action == "run"):
            outcome = "ok"
        else:  # older shells call a command that ended a success, however it ended
            outcome, evidence = "unknown", "none"
        return ToolResult(
            call_id=text_of(item.get("id")),
            outcome=outcome,
            evidence=evidence,
            text="" if text == "(no output)" else text,
            exit_code=code,
            origin=result_origin(call),
        )

    def session(self, session_id: str) -> Session:
        return Session(
            external_id=session_id,
            agent=AGENT,
            format=NAME,
            subagent=session_id if self._is_subagent else "",
            cwd=self._cwd,
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
            unknown_records=self._unknown,
        )


def _decoded(value: object) -> object:
    try:
        return msgspec.json.decode(value) if isinstance(value, str | bytes) else None
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def _call(item: Record) -> ToolCall:
    wrapped = item.get("toolCall")
    value = wrapped.get("value") if isinstance(wrapped, dict) else None
    body: Record = value if isinstance(value, dict) else {}
    name, arguments = text_of(body.get("name")), body.get("arguments")
    kind = name.rsplit("__", 1)[-1]  # behind the extension's name
    if kind == "text_editor" and isinstance(arguments, dict):
        kind = "view" if arguments.get("command") == "view" else "edit"
    return replace(tool_call(text_of(item.get("id")), kind, arguments), name=name)


def _for_the_agent(content: object) -> Iterable[Any]:
    """A shell's output is written twice, once for each who reads it."""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return [part for part in parts if _audience(part) != ["user"]] or parts


def _audience(part: Record) -> object:
    notes = part.get("annotations")
    return notes.get("audience") if isinstance(notes, dict) else None


def _exit_code(structured: object) -> int | None:
    code = structured.get("exit_code") if isinstance(structured, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None
