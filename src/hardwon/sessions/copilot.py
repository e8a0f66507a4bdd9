"""GitHub Copilot CLI: an event a line; a shell's exit code stands in the last line of its output."""

from __future__ import annotations

import re

from hardwon.clock import Period
from hardwon.model.session import Evidence, Message, Origin, Outcome, Record, Session, ToolCall, ToolResult
from hardwon.sessions.lines import joined, text_of
from hardwon.sessions.origin import INTERRUPTED, user_message
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, tool_call

NAME = "copilot-cli"
AGENT = "copilot-cli"
READS = "events.jsonl: messages, sub-agents, tool calls and results"
VERSIONS = "1.0.34 to 1.0.68; refused calls, sub-agents and rewinds *unverified*"

_TELLING = frozenset(
    "session.start user.message assistant.message assistant.turn_start tool.execution_start "
    "tool.execution_complete".split()
)
_SILENT = frozenset(
    "assistant.turn_start assistant.turn_end assistant.intent assistant.reasoning assistant.reasoning_delta "
    "assistant.message_start assistant.message_delta assistant.streaming_delta assistant.tool_call_delta "
    "assistant.usage assistant.idle tool.user_requested tool.execution_partial_result tool.execution_progress".split()
)
_BOOKKEEPING = frozenset(
    "session hook permission skill subagent user_input elicitation external_tool command commands capabilities "
    "exit_plan_mode mcp mcp_app sampling pending_messages model auto_mode_switch".split()
)
_SHELLS = frozenset("read_bash write_bash read_powershell write_powershell".split())
_EXIT = re.compile(r"\n?<(?:shellId: [^<>\n]{1,80} completed|exited) with exit code (-?\d{1,9})>\s*$")
_TAIL_CHARACTERS_SEARCHED = 200
_REFUSED = ("rejected", "denied")
_STOPPED = ("cancelled", "aborted")


def recognises(source: Source) -> bool:
    return any(
        text_of(record.get("type")) in _TELLING and isinstance(record.get("data"), dict) and "parentId" in record
        for record in source.head
    )


def read(source: Source) -> list[Session]:
    start = _Start()
    streams: dict[str, _Stream] = {"": _Stream()}
    seen: set[str] = set()
    for record in source.records():
        event_id, data = text_of(record.get("id")), record.get("data")
        if event_id in seen:  # a sync conflict wrote it again
            continue
        if event_id:
            seen.add(event_id)
        if not isinstance(data, dict):
            streams[""].unknown += 1
            continue
        kind = text_of(record.get("type"))
        if kind in ("session.start", "session.resume", "session.context_changed"):
            start.add(data)
        subagent = text_of(record.get("agentId")) or text_of(data.get("parentToolCallId"))
        stream = streams.get(subagent) or streams.setdefault(subagent, _Stream(is_subagent=True))
        stream.add(kind, event_id, data, record.get("timestamp"))
    return [
        stream.session(start, start.id or _id_in_path(source), subagent)
        for subagent, stream in streams.items()
        if stream.messages or not subagent
    ]


def _id_in_path(source: Source) -> str:
    return source.path.parent.name if source.stem == "events" else source.stem


class _Start:
    """Where the session ran, told when it starts, resumes or moves: the first telling counts."""

    def __init__(self) -> None:
        self.id = self.version = self.cwd = self.branch = self.remote = ""

    def add(self, data: Record) -> None:
        context = data.get("context")
        place = context if isinstance(context, dict) else data
        self.id = self.id or text_of(data.get("sessionId"))
        self.version = self.version or text_of(data.get("copilotVersion"))
        self.cwd = self.cwd or text_of(place.get("cwd"))
        self.branch = self.branch or text_of(place.get("branch"))
        repository = text_of(place.get("repository"))
        if repository and place.get("hostType") in (None, "github"):
            self.remote = self.remote or f"https://{text_of(place.get('repositoryHost')) or 'github.com'}/{repository}"


class _Stream:
    """The events of one agent."""

    def __init__(self, *, is_subagent: bool = False) -> None:
        self.messages: list[Message] = []
        self.unknown = 0
        self._is_subagent = is_subagent
        self._calls: dict[str, ToolCall] = {}
        self._length_before: dict[str, int] = {}
        self._period = Period()

    def add(self, kind: str, event_id: str, data: Record, timestamp: object) -> None:
        at = self._period.add(timestamp)
        self._length_before[event_id] = len(self.messages)
        if kind == "user.message":
            self._add_user(data, at)
        elif kind == "assistant.message":
            self._add_assistant(data, at)
        elif kind == "tool.execution_start":
            self._add_start(data, at)
        elif kind == "tool.execution_complete":
            self.messages.append(Message(role="tool", origin="tool", at=at, results=(self._result(data),)))
        elif kind in ("system.message", "system.notification"):
            self.messages.append(Message(role="system", origin="injected", at=at, text=joined(data.get("content"))))
        elif kind == "abort":
            self.messages.append(Message(role="user", origin="injected", at=at, text=INTERRUPTED))
        elif kind == "session.snapshot_rewind":
            self._rewind(text_of(data.get("upToEventId")))
        elif kind not in _SILENT and kind.partition(".")[0] not in _BOOKKEEPING:
            self.unknown += 1

    def _rewind(self, event_id: str) -> None:
        if event_id and event_id in self._length_before:
            del self.messages[self._length_before[event_id] :]

    def _add_user(self, data: Record, at: int | None) -> None:
        typed = joined(data.get("content"))
        goes_on = data.get("isAutopilotContinuation") is True or data.get("source") not in (None, "", "user")
        by: Origin = "injected" if goes_on or not typed.strip() else "agent" if self._is_subagent else "user"
        text = typed if typed.strip() else joined(data.get("transformedContent"))
        if text.strip():
            self.messages.append(user_message(text, at, by))

    def _add_assistant(self, data: Record, at: int | None) -> None:
        requests = data.get("toolRequests")
        calls = tuple(
            tool_call(text_of(request.get("toolCallId")), text_of(request.get("name")), request.get("arguments"))
            for request in (requests if isinstance(requests, list) else ())
            if isinstance(request, dict)
        )
        self._calls.update((call.id, call) for call in calls)
        text = joined(data.get("content"))
        if text or calls:
            self.messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=calls))

    def _add_start(self, data: Record, at: int | None) -> None:
        """A start repeats the assistant's request, unless the user asked for the tool."""
        call_id = text_of(data.get("toolCallId"))
        if call_id not in self._calls:
            call = tool_call(call_id, text_of(data.get("toolName")), data.get("arguments"))
            self._calls[call_id] = call
            self.messages.append(Message(role="assistant", origin="agent", at=at, calls=(call,)))

    def _result(self, data: Record) -> ToolResult:
        call_id = text_of(data.get("toolCallId"))
        call = self._calls.get(call_id)
        error = data.get("error")
        reason: Record = error if isinstance(error, dict) else {"message": error}
        text, exit_code = _output(data.get("result"), call)
        outcome: Outcome = "unknown"
        evidence: Evidence = "none"
        if data.get("success") is False:
            outcome, evidence = "error", "flag"
            if reason.get("code") in _REFUSED:
                evidence = "rejected"
            elif reason.get("code") in _STOPPED:
                evidence = "interrupted"
        elif exit_code is not None:
            outcome, evidence = ("error" if exit_code else "ok"), "exit-code"
        elif data.get("success") is True:
            outcome, evidence = "ok", "flag"
        return ToolResult(
            call_id=call_id,
            outcome=outcome,
            evidence=evidence,
            text=text or text_of(reason.get("message")),
            exit_code=exit_code,
            origin=result_origin(call),
        )

    def session(self, start: _Start, external_id: str, subagent: str) -> Session:
        return Session(
            external_id=external_id,
            agent=AGENT,
            format=NAME,
            version=start.version,
            subagent=subagent,
            cwd=start.cwd,
            remote=start.remote,
            branch=start.branch,
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self.messages),
            unknown_records=self.unknown,
        )


def _output(result: object, call: ToolCall | None) -> tuple[str, int | None]:
    """The plain output; a command that fails still counts as a successful call, its exit code is the last line."""
    text = joined(result.get("content") if isinstance(result, dict) else result)
    if call is not None and (call.action == "run" or call.name in _SHELLS):
        found = _EXIT.search(text[-_TAIL_CHARACTERS_SEARCHED:])
        if found is not None:
            return text[: len(text) - len(found.group())], int(found.group(1))
    return text, None
