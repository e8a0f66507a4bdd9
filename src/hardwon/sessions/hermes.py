"""Hermes gateway: one chat message a line; a tool's verdict stands inside its JSON output."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct, field

from hardwon.clock import microseconds
from hardwon.model.session import Evidence, Message, Outcome, Record, Session, Summary, ToolCall, ToolResult
from hardwon.sessions.counter import Tally
from hardwon.sessions.lines import joined, json_object, text_of
from hardwon.sessions.origin import user_message
from hardwon.sessions.project import project_key
from hardwon.sessions.reader import Source
from hardwon.sessions.tool_calls import result_origin, runs_commands, tool_call, working_directory
from hardwon.text.shown import TAGS

NAME = "hermes"
AGENT = "hermes"
READS = "gateway JSON lines"
VERSIONS = "gateway sessions of 2026, read from the published description, *unverified*"

_ROLES = frozenset(("user", "assistant", "tool", "system", "session_meta"))
_OURS = re.compile("|".join(f"\n\n<{tag}" for tag in TAGS))
"""What our plugin puts behind the output of a call that failed begins so."""
_NAME_TIME = re.compile(r"(?:^|_)(\d{8}_\d{6})(?:_|$)")
CHANGED_INTO = re.compile(r"(?:^|&&|;)\s*cd\s+(/[^\s;&|'\"]+)")


def recognises(source: Source) -> bool:
    head = source.head
    for record in islice(head, 5):
        if "type" in record or text_of(record.get("role")) not in _ROLES:
            return False
    return any(
        record.get("role") == "session_meta" or "timestamp" in record or "tool_name" in record for record in head
    )


def read(source: Source) -> list[Session]:
    stem = source.stem
    meta: Record = {}
    messages: list[Message] = []
    calls: dict[str, ToolCall] = {}
    folders: Counter[str] = Counter()
    unknown = 0
    for record in source.records():
        role = text_of(record.get("role"))
        if role == "session_meta":
            meta = meta or record
        elif role not in _ROLES:
            unknown += 1
        else:
            messages.append(_message(role, record, calls, folders))
    times = [message.at for message in messages if message.at is not None]
    started = min(times, default=None) or time_in_name(stem)
    return [
        Session(
            external_id=text_of(meta.get("session_id")) or stem.removeprefix("session_"),
            agent=AGENT,
            format=NAME,
            version=text_of(meta.get("version")),
            cwd=text_of(meta.get("cwd")) or (folders.most_common(1)[0][0] if folders else ""),
            branch=text_of(meta.get("git_branch")),
            started_at=started,
            ended_at=max(times, default=started),
            messages=tuple(messages),
            unknown_records=unknown,
        )
    ]


def _message(role: str, record: Record, calls: dict[str, ToolCall], folders: Counter[str]) -> Message:
    at = microseconds(record.get("timestamp"))
    text = joined(record.get("content"))
    if role == "tool":
        result = _result(record, text, calls)
        return Message(role="tool", origin="tool", at=at, results=(result,))
    if role == "assistant":
        made = tuple(_calls(record.get("tool_calls"), folders))
        calls.update((call.id, call) for call in made)
        return Message(role="assistant", origin="agent", at=at, text=text, calls=made)
    if role == "user":
        return user_message(text, at)
    return Message(role="system", origin="injected", at=at, text=text)


def _calls(raw: object, folders: Counter[str]) -> Iterable[ToolCall]:
    for entry in raw if isinstance(raw, list) else ():
        if not isinstance(entry, dict):
            continue
        function = entry.get("function")
        body: dict[str, Any] = function if isinstance(function, dict) else entry
        call_id = text_of(entry.get("id")) or text_of(entry.get("call_id"))
        call = tool_call(call_id, text_of(body.get("name")), body.get("arguments"))
        folder = working_directory(body.get("arguments"))
        for named in [folder] if folder else CHANGED_INTO.findall(call.command):
            folders[named] += 1
        yield call


def _result(record: Record, content: str, calls: dict[str, ToolCall]) -> ToolResult:
    call_id = text_of(record.get("tool_call_id"))
    text, exit_code, outcome, evidence = verdict(content)
    return ToolResult(
        call_id=call_id,
        outcome=outcome,
        evidence=evidence,
        text=text,
        exit_code=exit_code,
        origin=result_origin(calls.get(call_id)),
    )


def verdict(text: str) -> tuple[str, int | None, Outcome, Evidence]:
    """The plain output, the exit code, and what they say of the call."""
    outcome: Outcome = "unknown"
    evidence: Evidence = "none"
    exit_code: int | None = None
    if text.startswith("{"):
        ours = _OURS.search(text)
        told, said = (text[: ours.start()], text[ours.start() :]) if ours else (text, "")
        body = json_object(told)
        if body is not None:
            code, error = body.get("exit_code", body.get("returncode")), body.get("error")
            if isinstance(code, int) and not isinstance(code, bool):
                exit_code, evidence = code, "exit-code"
                outcome = "error" if code else "ok"
            elif isinstance(body.get("success"), bool):
                outcome, evidence = ("ok" if body["success"] else "error"), "flag"
            elif error:
                outcome, evidence = "error", "flag"
            plain = "\n".join(filter(None, (text_of(body.get("output")), text_of(error))))
            text = plain + said if plain else text
    elif text.startswith(("Error:", "Error executing ")):
        outcome, evidence = "error", "text"
    return text, exit_code, outcome, evidence


def time_in_name(stem: str) -> int | None:
    if found := _NAME_TIME.search(stem):
        try:
            moment = datetime.strptime(found.group(1), "%Y%m%d_%H%M%S").replace(tzinfo=UTC)
        except ValueError:
            return None
        return int(moment.timestamp() * 1_000_000)
    return None


# Hermes gateway sessions counted without building them.

_COUNTED_ROLES = frozenset(("user", "assistant", "tool", "system"))


class Part(Struct, gc=False):
    text: str = ""


class Function(Struct, gc=False):
    name: str = ""
    arguments: str | None = None


class Call(Struct, gc=False):
    id: str = ""
    call_id: str = ""
    name: str = ""
    arguments: str | None = None
    function: Function | None = None


class Line(Struct, gc=False):
    role: str = ""
    content: str | list[Part] | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: str = ""
    timestamp: str | int | float | None = None
    session_id: str = ""
    cwd: str = ""


class Where(Struct, gc=False):
    """The arguments of a call that tell where it ran."""

    workdir: str = ""
    cwd: str = ""
    working_directory: str = ""
    dir_path: str = ""
    directory: str = ""
    command: str | list[str] = ""

    def folders(self) -> list[str]:
        named = self.workdir or self.cwd or self.working_directory or self.dir_path or self.directory
        if named:
            return [named]
        return CHANGED_INTO.findall(self.command) if isinstance(self.command, str) and "cd" in self.command else []


_where = msgspec.json.Decoder(Where).decode


class Counting(Tally):
    stem: str = ""
    session: str = ""
    cwd: str = ""
    has_meta: bool = False
    folders: dict[str, int] = field(default_factory=dict)
    is_odd: bool = False
    """Whether a call is of a shape that only reading it whole does justice to."""

    def add(self, lines: list[Line]) -> None:
        times: list[object] = []
        for line in lines:
            if line.role == "session_meta":
                self._describe(line)
            elif line.role in _COUNTED_ROLES:
                times.append(line.timestamp)
                self.message()
                if line.role == "tool":
                    text, _, outcome, _ = verdict(_text(line.content))
                    self.result(line.tool_call_id, outcome, text)
                elif line.role == "assistant" and line.tool_calls:
                    for call in line.tool_calls:
                        self._call(call)
        self.took_place(times)

    def _describe(self, meta: Line) -> None:
        if not self.has_meta:
            self.has_meta, self.session, self.cwd = True, meta.session_id, meta.cwd

    def _call(self, call: Call) -> None:
        body = call.function or Function(call.name, call.arguments)
        arguments = (body.arguments or "{}").encode()
        try:
            where = _where(arguments)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
            self.is_odd = True
            return
        self.calls += 1
        for folder in where.folders():
            self.folders[folder] = self.folders.get(folder, 0) + 1
        if runs_commands(body.name, arguments):
            self.runs.add(call.id or call.call_id)

    def summaries(self) -> list[Summary] | None:
        if self.is_odd:
            return None
        started = self.first or time_in_name(self.stem)
        cwd = self.cwd or max(self.folders, key=self.folders.__getitem__, default="")
        return [
            Summary(
                external_id=self.session or self.stem.removeprefix("session_"),
                agent=AGENT,
                format=NAME,
                project=project_key(cwd),
                started_at=started,
                ended_at=self.last or started,
                messages=self.messages,
                tool_calls=self.calls,
                errors=self.errors,
                outcome=self.outcome,
            )
        ]


def _text(content: str | list[Part] | None) -> str:
    if isinstance(content, list):
        return "\n".join(part.text for part in content)
    return content or ""
