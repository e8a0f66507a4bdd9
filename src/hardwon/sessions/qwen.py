"""Qwen Code: a record a line with an envelope like Claude Code's, around messages like Gemini's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from msgspec.structs import replace

from hardwon.clock import Period
from hardwon.model.session import Message, Record, Session, ToolCall, ToolResult
from hardwon.sessions.gemini import Recording, document, function_calls, parts_of, plain, responses, result_of, speakers
from hardwon.sessions.lines import text_of
from hardwon.sessions.origin import user_message
from hardwon.sessions.reader import Source

NAME = "qwen-code"
AGENT = "qwen-code"
READS = "chat records: messages, sub-agents, tool calls and results, rewinds; the JSON documents of 2025"
VERSIONS = "chat records of 2026 from a fixture; failed calls, sub-agents, rewinds and 2025 *unverified*"

_KINDS = frozenset(("user", "assistant", "tool_result", "system"))
_NOT_TYPED = ("notification", "cron", "goal_runtime")
_NOT_TYPED_SOURCES = ("system", "goal_runtime", "goal_control")


def recognises(source: Source) -> bool:
    for record in _first_records(source):
        if text_of(record.get("type")) not in _KINDS or not isinstance(record.get("sessionId"), str):
            continue
        message = record.get("message")
        if "uuid" in record and isinstance(message, dict):
            if isinstance(message.get("parts"), list):
                return True
            if "content" in message:
                break  # Claude Code's
        if record.get("type") == "system" and "subtype" in record and "systemPayload" in record:
            return True
    found = document(source)
    return found is not None and "qwen" in speakers(found)


def _first_records(source: Source) -> Sequence[Record]:
    """The head, or the first record alone where a long prompt or history makes it longer than the head."""
    if source.head:
        return source.head if source.head.mentions(b'"sessionId"') else ()
    if '"parentUuid"' not in source.beginning[:400]:
        return ()
    return list(islice(source.records(), 1))


def read(source: Source) -> list[Session]:
    if (found := document(source)) is not None:
        recording = Recording("qwen")
        recording.add(found)
        return [recording.session(source, NAME, AGENT)]
    streams: dict[tuple[str, str], _Stream] = {}
    seen: set[str] = set()
    stray = 0
    for record in source.records():
        if text_of(record.get("type")) not in _KINDS:
            stray += 1
            continue
        uuid = text_of(record.get("uuid"))
        if uuid in seen:
            continue
        if uuid:
            seen.add(uuid)
        key = (text_of(record.get("sessionId")) or source.stem, _subagent(record))
        stream = streams.get(key) or streams.setdefault(key, _Stream())
        stream.add(uuid, record)
    sessions = [stream.session(*key) for key, stream in streams.items()]
    return [replace(sessions[0], unknown_records=stray), *sessions[1:]] if sessions else []


def _subagent(record: Record) -> str:
    return text_of(record.get("agentId")) or ("sidechain" if record.get("isSidechain") is True else "")


class _Stream:
    """The records of one conversation."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._calls: dict[str, ToolCall] = {}
        self._length_after: dict[str, int] = {}
        self._cwd = self._branch = self._version = ""
        self._period = Period()

    def add(self, uuid: str, record: Record) -> None:
        at = self._period.add(record.get("timestamp"))
        self._cwd = self._cwd or text_of(record.get("cwd"))
        self._branch = self._branch or text_of(record.get("gitBranch"))
        self._version = self._version or text_of(record.get("version"))
        if record.get("type") == "system":
            if record.get("subtype") == "rewind":
                self._rewind(record.get("parentUuid"))
        else:
            self._add_message(uuid, record, at)
        if uuid:
            self._length_after[uuid] = len(self._messages)

    def _rewind(self, parent: object) -> None:
        """The conversation goes on behind the parent; without one, from its beginning."""
        if parent is None:
            self._messages.clear()
        elif isinstance(parent, str) and parent in self._length_after:
            del self._messages[self._length_after[parent] :]

    def _add_message(self, uuid: str, record: Record, at: int | None) -> None:
        message = record.get("message")
        parts = parts_of(message.get("parts") if isinstance(message, dict) else None)
        if record.get("type") == "assistant":
            calls = tuple(function_calls(parts, uuid or f"#{len(self._messages)}"))
            self._calls.update((call.id, call) for call in calls)
            text = plain(parts)
            if text or calls:
                self._messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=calls))
            return
        results = self._results(record, list(responses(parts)))
        if results:
            self._messages.append(Message(role="tool", origin="tool", at=at, results=results))
        if record.get("type") == "user" and (written := plain(parts)).strip():
            self._messages.append(_user_message(record, written, at))

    def _results(self, record: Record, answers: list[Record]) -> tuple[ToolResult, ...]:
        outer = record.get("toolCallResult")
        verdict: Record = outer if isinstance(outer, dict) else {}
        if not answers and verdict:
            answers = [{"id": verdict.get("callId"), "response": text_of(verdict.get("resultDisplay"))}]
        return tuple(self._result(answer, verdict) for answer in answers)

    def _result(self, answer: Record, verdict: Record) -> ToolResult:
        call = self._calls.get(text_of(answer.get("id"))) or self._calls.get(text_of(verdict.get("callId")))
        result = result_of(call, answer, text_of(verdict.get("status")))
        display = verdict.get("resultDisplay")
        code = display.get("exitCode") if isinstance(display, dict) else None
        if isinstance(code, int) and not isinstance(code, bool) and result.evidence not in ("rejected", "interrupted"):
            result = replace(result, exit_code=code)
            if code or result.outcome == "ok":
                result = replace(result, outcome="error" if code else "ok", evidence="exit-code")
        return result

    def session(self, external_id: str, subagent: str) -> Session:
        return Session(
            external_id=external_id,
            agent=AGENT,
            format=NAME,
            version=self._version,
            subagent=subagent,
            cwd=self._cwd,
            branch=self._branch,
            started_at=self._period.first,
            ended_at=self._period.last,
            messages=tuple(self._messages),
        )


def _user_message(record: Record, written: str, at: int | None) -> Message:
    """What the client shows is what was typed; what it sends may hold files and hooks' text as well."""
    payload = record.get("systemPayload")
    shown = text_of(payload.get("displayText")) if isinstance(payload, dict) else ""
    is_clients = record.get("subtype") in _NOT_TYPED or record.get("provenance") in _NOT_TYPED_SOURCES
    return user_message(shown or written, at, "injected" if is_clients else "agent" if _subagent(record) else "user")
