"""Cline: an SDK session beside its manifest, or a VS Code task whose tools and results may be text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from hardwon.clock import Period, microseconds
from hardwon.model.session import Message, Origin, Record, Session, ToolCall, ToolResult
from hardwon.sessions.cline_session import (
    ROLES,
    forked_at,
    is_session,
    is_summary,
    manifest_of,
    session_verdict,
    session_words,
)
from hardwon.sessions.cline_task import (
    ASKING,
    CONTEXT,
    blocks_of,
    is_task,
    task_verdict,
    task_words,
    with_results,
    without_xml,
    words_to_user,
)
from hardwon.sessions.loose import joined
from hardwon.sessions.loose import text as text_of
from hardwon.sessions.source import Source
from hardwon.sessions.tools import result_origin, tool_call

NAME = "cline"
AGENT = "cline"
READS = "SDK sessions with their manifest, and VS Code tasks with tools as blocks or as XML in the text"
VERSIONS = "SDK sessions of 2026; VS Code tasks *unverified*"

_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_TASK_FILE = "api_conversation_history"
_MOST_WAITING = 50

_FOLDER = re.compile(r"^# Current (?:Working|Workspace) Directory \((?!Primary: )(.+)\) Files$", re.MULTILINE)
_REMOTE = re.compile(r'"origin: ([^"\s]+)"')


def roots(environment: Mapping[str, str], home: Path) -> list[Path]:
    data = Path(environment.get("CLINE_DATA_DIR") or Path(environment.get("CLINE_DIR") or home / ".cline") / "data")
    sessions = Path(environment.get("CLINE_SESSION_DATA_DIR") or data / "sessions")
    settings = (
        Path(environment.get("XDG_CONFIG_HOME") or home / ".config"),
        home / "Library" / "Application Support",
        Path(environment.get("APPDATA") or home / "AppData" / "Roaming"),
    )
    extension = Path("User", "globalStorage", "saoudrizwan.claude-dev", "tasks")
    return [sessions, data / "tasks", *(place / editor / extension for place in settings for editor in _EDITORS)]


def recognises(source: Source) -> bool:
    beginning = source.beginning.lstrip("\ufeff \t\r\n")
    if beginning.startswith("{") and '"sessionId"' in beginning and '"updated_at"' in beginning:
        return is_session(source.document)
    if beginning.startswith("[") and ('"<task>' in beginning or '"<user_message>' in beginning):
        return is_task(source.document)
    return False


def read(source: Source) -> list[Session]:
    found = source.document
    if isinstance(found, dict):
        return [_read_session(source, found)]
    conversation = _Conversation(is_task=True)
    for entry in found if isinstance(found, list) else ():
        conversation.add(entry)
    task_id = source.path.parent.name if source.stem == _TASK_FILE else source.stem
    return [conversation.session(task_id)]


def _read_session(source: Source, found: Record) -> Session:
    session_id = text_of(found.get("sessionId")) or source.stem
    manifest = manifest_of(source.path)
    agent = text_of(found.get("agent"))
    conversation = _Conversation(is_task=False, subagent=agent if agent != "lead" else "")
    conversation.cwd = text_of(manifest.get("cwd")) or text_of(manifest.get("workspace_root"))
    if manifest.get("session_id") == session_id:
        conversation.period.add(manifest.get("started_at"))
        conversation.period.add(manifest.get("ended_at"))
    if prompt := text_of(found.get("system_prompt")):
        conversation.messages.append(Message(role="system", origin="injected", text=prompt))
    left_at = forked_at(source.path, manifest)
    messages = found.get("messages")
    for entry in messages if isinstance(messages, list) else ():
        said_at = microseconds(entry.get("ts")) if isinstance(entry, dict) else None
        if left_at is None or said_at is None or said_at >= left_at:
            conversation.add(entry)
    return conversation.session(session_id)


class _Conversation:
    """Messages in order; a result without an id belongs to the first call that still waits for one."""

    def __init__(self, *, is_task: bool, subagent: str = "") -> None:
        self.messages: list[Message] = []
        self.period = Period()
        self.cwd = ""
        self._remote = ""
        self._is_task = is_task
        self._subagent = subagent
        self._calls: dict[str, ToolCall] = {}
        self._waiting: dict[str, ToolCall] = {}
        self._unknown = 0

    def add(self, entry: object) -> None:
        role = entry.get("role") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or role not in ROLES:
            self._unknown += 1
            return
        at = self.period.add(entry.get("ts"))
        blocks = blocks_of(entry.get("content"))
        if role == "assistant":
            self._add_assistant(blocks, at)
        elif role == "error":
            self.messages.append(Message(role="system", origin="injected", at=at, text=joined(blocks)))
        else:
            self._add_user(blocks, at, summary=is_summary(entry))

    def _add_assistant(self, blocks: list[Record], at: int | None) -> None:
        texts: list[str] = []
        calls: list[ToolCall] = []
        for block in blocks:
            text, used = self._taken_apart(block)
            texts.append(text)
            for call_id, name, values in used:
                arguments = {} if name in ASKING else _arguments(values)
                calls.append(tool_call(call_id or f"{len(self.messages)}#{len(calls)}", name, arguments))
                texts.append(words_to_user(name, values))
        self._calls.update((call.id, call) for call in calls)
        self._waiting = {call.id: call for call in calls}
        text = "\n".join(filter(None, (part.strip() for part in texts)))
        if text or calls:
            self.messages.append(Message(role="assistant", origin="agent", at=at, text=text, calls=tuple(calls)))

    def _taken_apart(self, block: Record) -> tuple[str, list[tuple[str, str, object]]]:
        if block.get("type") == "tool_use":
            return "", [(text_of(block.get("id")), text_of(block.get("name")), block.get("input"))]
        text = text_of(block.get("text")) if block.get("type") == "text" else ""
        return without_xml(text) if self._is_task else (text, [])

    def _add_user(self, blocks: list[Record], at: int | None, *, summary: bool) -> None:
        results: list[ToolResult] = []
        said: list[tuple[str, Origin]] = []
        words_of = task_words if self._is_task else session_words
        for block in with_results(blocks) if self._is_task else blocks:
            text = text_of(block.get("text")).strip()
            if block.get("type") == "tool_result":
                results.append(self._result(block))
                answer, origin = task_words(results[-1].text)
                if origin == "user" and self._name_of(results[-1]) in ASKING:
                    said.append((answer, origin))
            elif block.get("type") == "text" and text:
                self._look_around(text)
                if not text.startswith(CONTEXT):
                    said.append(words_of(text))
        if results:
            self.messages.append(Message(role="tool", origin="tool", at=at, results=tuple(results)))
        for text, origin in said:
            who: Origin = "injected" if summary else "agent" if self._subagent and origin == "user" else origin
            self.messages.append(Message(role="user", origin=who, at=at, text=text))

    def _look_around(self, text: str) -> None:
        if self.cwd or CONTEXT not in text:
            return
        folder, remote = _FOLDER.search(text), _REMOTE.search(text)
        self.cwd = folder.group(1) if folder else ""
        self._remote = remote.group(1) if remote else ""

    def _name_of(self, result: ToolResult) -> str:
        call = self._calls.get(result.call_id)
        return call.name if call is not None else ""

    def _result(self, block: Record) -> ToolResult:
        call = self._answered(text_of(block.get("tool_use_id")), text_of(block.get("name")))
        text, outcome, evidence, exit_code = task_verdict(block, call) if self._is_task else session_verdict(block)
        return ToolResult(
            call_id=call.id if call is not None else text_of(block.get("tool_use_id")),
            outcome=outcome,
            evidence=evidence,
            text=text,
            exit_code=exit_code,
            origin=result_origin(call),
        )

    def _answered(self, call_id: str, name: str) -> ToolCall | None:
        call = self._calls.get(call_id) if call_id else None
        if not call_id and self._waiting:
            waiting = list(islice(self._waiting.values(), _MOST_WAITING))
            call = next((one for one in waiting if one.name == name), waiting[0])
        if call is not None:
            self._waiting.pop(call.id, None)
        return call

    def session(self, session_id: str) -> Session:
        if self.period.first is None and session_id.isdecimal():
            self.period.add(int(session_id[:20]))  # a task is named by the moment it began
        return Session(
            external_id=session_id,
            agent=AGENT,
            format=NAME,
            subagent=self._subagent,
            cwd=self.cwd,
            remote=self._remote,
            started_at=self.period.first,
            ended_at=self.period.last,
            messages=tuple(self.messages),
            unknown_records=self._unknown,
        )


def _arguments(values: object) -> object:
    """A call for several commands or files at once, as one call is told."""
    if not isinstance(values, dict):
        return values
    commands = values.get("commands")
    if isinstance(commands, list):
        return {"command": "\n".join(filter(None, map(_command_line, commands)))}
    for key in ("files", "file_paths", "paths", "requests"):
        several = values.get(key)
        first = several[0] if isinstance(several, list) and several else several
        if isinstance(first, dict | str):
            return first if isinstance(first, dict) else {"path": first}
    return {"command": commands} if isinstance(commands, str) else values


def _command_line(command: object) -> str:
    if isinstance(command, dict):
        words = command.get("args")
        parts = [command.get("command"), *(words if isinstance(words, list) else ())]
        return shlex.join(part for part in parts if isinstance(part, str))
    return text_of(command)
