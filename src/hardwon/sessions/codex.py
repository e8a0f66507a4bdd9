"""Codex CLI rollouts: `{timestamp, type, payload}` a line; errors only as exit codes inside output."""

from __future__ import annotations

import re

from msgspec import Raw, Struct

from hardwon.clock import Period
from hardwon.model.session import Evidence, Message, Outcome, Record, Session, Summary, ToolCall, ToolResult
from hardwon.sessions.counter import Tally
from hardwon.sessions.lines import joined, json_object, text_of
from hardwon.sessions.origin import INTERRUPTED, user_message
from hardwon.sessions.project import project_key, without_login
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, runs_commands, tool_call

NAME = "codex"
AGENT = "codex"
READS = "rollouts, compressed or not: messages, tool calls and results in the three output shapes"
VERSIONS = "0.34 to 0.142; older ones without envelopes *unverified*"

_KNOWN = frozenset("session_meta turn_context response_item event_msg compacted".split())
_SILENT_ITEMS = frozenset("reasoning ghost_snapshot web_search_call token_count compaction compaction_summary".split())
CALLS = frozenset(("function_call", "custom_tool_call", "local_shell_call"))
OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output"))

_EXIT = re.compile(r"^(?:Exit code: |.*?Process exited with code )(-?\d{1,9})\b", re.MULTILINE)
_OUTPUT_FOLLOWS = re.compile(r"^(?:Output|Original token count: \d+\nOutput):\n", re.MULTILINE)
_GOES_ON = re.compile(r"^Process running with session ID (\d{1,9})$", re.MULTILINE)
_POLL = "write_stdin"
"""By which an agent asks a process that goes on for what it has printed since."""
_MAX_ENVELOPE_CHARACTERS = 600
_INNER_EXIT = re.compile(r'^\{"exit_code": ?(-?\d{1,9})')
_REFUSED = re.compile(
    r"^(?:failed in sandbox|execution error|exec_command failed|apply_patch verification failed"
    r"|command timed out|failed to parse function arguments|unsupported call)",
    re.IGNORECASE,
)
_REJECTED = re.compile(r"^(?:exec command )?(?:rejected by user|aborted by user)", re.IGNORECASE)


def recognises(source: Source) -> bool:
    head = source.head
    if head.mentions(b'"payload"') and any(
        text_of(record.get("type")) in _KNOWN and isinstance(record.get("payload"), dict) for record in head
    ):
        return True
    return bool(head) and {"id", "timestamp", "instructions"} <= set(head[0]) and "type" not in head[0]


def read(source: Source) -> list[Session]:
    stream = _Stream()
    for record in source.records():
        stream.add(record)
    return [stream.session(source.stem)]


class _Stream:
    def __init__(self) -> None:
        self._meta: Record = {}
        self._cwd = ""
        self._items: list[Message] = []
        self._events: list[Message] = []
        self._asked: dict[int, str] = {}
        """Where items in the user's role stand, as they were written."""
        self._typed: set[str] = set()
        self._calls: dict[str, ToolCall] = {}
        self._polls: dict[str, str] = {}
        """Call → the process that it asks."""
        self._running: dict[str, tuple[str, str]] = {}
        """Process → the call that started it, and what it has printed."""
        self._unknown = 0
        self._period = Period()

    def add(self, record: Record) -> None:
        kind, payload = text_of(record.get("type")), record.get("payload")
        if not isinstance(payload, dict):
            self._add_bare(record)
            return
        if kind not in _KNOWN:
            self._unknown += 1
            return
        at = self._period.add(record.get("timestamp") or payload.get("timestamp"))
        if kind == "session_meta":
            self._meta = self._meta or payload
        elif kind == "turn_context":
            self._cwd = self._cwd or text_of(payload.get("cwd"))
        elif kind == "response_item":
            self._add_item(payload, at)
        elif kind == "event_msg":
            self._add_event(payload, at)

    def _add_bare(self, record: Record) -> None:
        """A line of the oldest rollouts: the meta line, items and state without an envelope."""
        if "record_type" in record:
            return
        if "type" not in record and "id" in record and not self._meta:
            self._meta = record
            self._period.add(record.get("timestamp"))
        else:
            self._add_item(record, self._period.add(record.get("timestamp")))

    def _add_item(self, item: Record, at: int | None) -> None:
        kind = text_of(item.get("type"))
        if kind == "message" or (not kind and "role" in item):
            self._add_message(self._items, text_of(item.get("role")), joined(item.get("content")), at)
        elif kind in CALLS:
            arguments = item.get("arguments", item.get("input", item.get("action")))
            name = text_of(item.get("name")) or kind
            call = tool_call(text_of(item.get("call_id")), name, arguments)
            self._calls[call.id] = call
            if name == _POLL:
                self._polls[call.id] = str((json_object(arguments) or {}).get("session_id"))
            self._items.append(Message(role="assistant", origin="agent", at=at, calls=(call,)))
        elif kind in OUTPUTS:
            results = self._results(text_of(item.get("call_id")), item.get("output"))
            self._items.append(Message(role="tool", origin="tool", at=at, results=results))
        elif kind not in _SILENT_ITEMS:
            self._unknown += 1

    def _add_event(self, event: Record, at: int | None) -> None:
        """Events repeat the items; only an interruption and, without items, the messages count."""
        kind = text_of(event.get("type"))
        if kind == "turn_aborted":
            self._items.append(Message(role="user", origin="injected", at=at, text=INTERRUPTED))
        elif kind == "user_message":
            self._typed.add(text_of(event.get("message")).strip())
            self._add_message(self._events, "user", text_of(event.get("message")), at)
        elif kind == "agent_message":
            self._add_message(self._events, "assistant", text_of(event.get("message")), at)

    def _add_message(self, into: list[Message], role: str, text: str, at: int | None) -> None:
        if not text.strip():
            return
        if role == "user":
            if into is self._items:
                self._asked[len(into)] = text
            into.append(user_message(text, at))
        elif role == "assistant":
            into.append(Message(role="assistant", origin="agent", at=at, text=text))
        else:
            into.append(Message(role="system", origin="injected", at=at, text=text))

    def _results(self, call_id: str, output: object) -> tuple[ToolResult, ...]:
        """What came back; of a poll by which a process is over, also what the call that started it has come to."""
        text, exit_code, outcome, evidence = verdict(output)
        process = self._polls.get(call_id) or _process(output)
        if process:
            started_by, printed = self._running.get(process, (call_id, ""))
            self._running[process] = started_by, printed + text
            if exit_code is not None and started_by != call_id:
                polled = self._result(call_id, text, None, "ok", "exit-code")
                return polled, self._result(started_by, printed + text, exit_code, outcome, evidence)
        return (self._result(call_id, text, exit_code, outcome, evidence),)

    def _result(
        self, call_id: str, text: str, exit_code: int | None, outcome: Outcome, evidence: Evidence
    ) -> ToolResult:
        return ToolResult(
            call_id=call_id,
            outcome=outcome,
            evidence=evidence,
            text=text,
            exit_code=exit_code,
            origin=result_origin(self._calls.get(call_id)),
        )

    def session(self, stem: str) -> Session:
        said = any(message.role in ("user", "assistant") and message.text for message in self._items)
        messages = self._items if said else _in_order(self._items, self._events)
        for index, text in self._asked.items():
            # The client tells of what was typed by an event as well, and of nothing that it adds itself.
            if self._typed and text.strip() not in self._typed:
                self._items[index] = user_message(text, self._items[index].at, "injected")
        git = self._meta.get("git")
        source = self._meta.get("source")
        return Session(
            external_id=text_of(self._meta.get("id")) or stem,
            agent=AGENT,
            format=NAME,
            version=text_of(self._meta.get("cli_version")),
            subagent=next(iter(source), "sub-agent") if isinstance(source, dict) else "",
            cwd=text_of(self._meta.get("cwd")) or self._cwd,
            remote=without_login(text_of(git.get("repository_url"))) if isinstance(git, dict) else "",
            branch=text_of(git.get("branch")) if isinstance(git, dict) else "",
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(messages),
            unknown_records=self._unknown,
        )


def _in_order(items: list[Message], events: list[Message]) -> list[Message]:
    return sorted(items + events, key=lambda message: message.at or 0)


def verdict(output: object) -> tuple[str, int | None, Outcome, Evidence]:
    """The plain output, the exit code, and what they say of the call."""
    text, exit_code = _unwrap(output)
    if exit_code is not None:
        return text, exit_code, "error" if exit_code else "ok", "exit-code"
    if _REJECTED.match(text):
        return text, None, "error", "rejected"
    if _REFUSED.match(text):
        return text, None, "error", "text"
    return text, None, "unknown", "none"


def _unwrap(output: object) -> tuple[str, int | None]:
    """The plain output and the exit code, out of whichever of the shapes this version wrote."""
    if isinstance(output, list):
        parts = [text_of(part.get("text")) for part in output if isinstance(part, dict)]
        codes = [int(found.group(1)) for part in parts if (found := _INNER_EXIT.match(part))]
        failed = next((code for code in codes if code), 0) if codes else None
        return "\n".join(parts), failed
    text = text_of(output)
    if text.startswith("{"):
        decoded = json_object(text)
        if decoded is not None and isinstance(decoded.get("output"), str):
            metadata = decoded.get("metadata")
            code = metadata.get("exit_code") if isinstance(metadata, dict) else None
            return decoded["output"], code if isinstance(code, int) else None
    envelope = text[:_MAX_ENVELOPE_CHARACTERS]
    body = _OUTPUT_FOLLOWS.search(text)
    if body and _process(text):
        return text[body.end() :], None
    found = _EXIT.search(envelope) if "xit code: " in envelope or "exited with" in envelope else None
    if found is None:
        return text, None
    return text[body.end() :] if body else text[found.end() :].lstrip("\n"), int(found.group(1))


def _process(output: object) -> str:
    """The process that a call has left running; empty where it is over."""
    found = _GOES_ON.search(text_of(output)[:_MAX_ENVELOPE_CHARACTERS])
    return found[1] if found else ""


# Codex rollouts counted without building them.

_NOTHING = Raw(b"null")


class Part(Struct, gc=False):
    text: str = ""


class Git(Struct, gc=False):
    repository_url: str = ""


class Payload(Struct, gc=False):
    """The fields stand as they are mostly written, in which order they are found fastest."""

    type: str = ""
    role: str | None = None
    content: str | list[Part] | None = None
    name: str = ""
    arguments: Raw = _NOTHING
    call_id: str = ""
    output: str | list[Part] = ""
    id: str = ""
    timestamp: str | int | float | None = None
    cwd: str = ""
    source: str | dict[str, Raw] | None = None
    git: Git | None = None


class Line(Struct, gc=False):
    timestamp: str | int | float | None = None
    type: str = ""
    payload: Payload | None = None


class Counting(Tally):
    stem: str = ""
    session: str = ""
    subagent: str = ""
    started_in: str = ""
    remote: str = ""
    cwd: str = ""
    said: bool = False

    def add(self, lines: list[Line]) -> None:
        times: list[object] = []
        for line in lines:
            payload = line.payload
            if payload is None:
                continue
            times.append(line.timestamp or payload.timestamp)
            kind = line.type
            if kind == "response_item":
                self._item(payload)
            elif kind == "event_msg":
                if payload.type == "turn_aborted":
                    self.message(stopped=True)
            elif kind == "turn_context":
                self.cwd = self.cwd or payload.cwd
            elif kind == "session_meta" and not self.session:
                self._describe(payload)
        self.took_place(times)

    def _describe(self, meta: Payload) -> None:
        self.session, self.started_in = meta.id, meta.cwd
        self.remote = without_login(meta.git.repository_url) if meta.git else ""
        self.subagent = next(iter(meta.source), "sub-agent") if isinstance(meta.source, dict) else ""

    def _item(self, item: Payload) -> None:
        kind = item.type
        if kind == "message" or (not kind and item.role is not None):
            if _has_words(item.content):
                self.message()
                self.said = self.said or item.role in ("user", "assistant")
        elif kind in CALLS:
            self.message()
            self.calls += 1
            if item.name == _POLL or runs_commands(item.name or kind, item.arguments):
                self.runs.add(item.call_id)
        elif kind in OUTPUTS:
            self.message()
            output = item.output if isinstance(item.output, str) else [{"text": part.text} for part in item.output]
            text, _, outcome, _ = verdict(output)
            self.result(item.call_id, outcome, text)

    def summaries(self) -> list[Summary] | None:
        """None for a rollout of events alone, which must be read whole to be put in order."""
        if not self.said:
            return None
        return [
            Summary(
                external_id=self.session or self.stem,
                agent=AGENT,
                format=NAME,
                subagent=self.subagent,
                project=project_key(self.started_in or self.cwd, self.remote),
                started_at=self.first,
                ended_at=self.last,
                messages=self.messages,
                tool_calls=self.calls,
                errors=self.errors,
                outcome=self.outcome,
            )
        ]


def _has_words(content: str | list[Part] | None) -> bool:
    if isinstance(content, list):
        for part in content:  # noqa: SIM110 - any() takes three times as long
            if part.text and not part.text.isspace():
                return True
        return False
    return bool(content) and not content.isspace() if content else False
