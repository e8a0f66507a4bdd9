"""ShareGPT rows, Hermes' trajectories among them: a conversation a line, tools as tags in the text."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import msgspec
from msgspec.structs import replace

from hardwon.clock import microseconds
from hardwon.model.session import Record, Session
from hardwon.sessions import openai_chat
from hardwon.sessions.hermes_cli import as_gateway
from hardwon.sessions.lines import json_object, text_of
from hardwon.sessions.reader import Source

NAME = "sharegpt"
AGENT = "sharegpt"
READS = "`conversations` of `from` and `value`, with Hermes' `<tool_call>` and `<tool_response>` tags"
VERSIONS = "read from the published description, *unverified*"

_ROLES = {
    "system": "system",
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "chatgpt": "assistant",
    "tool": "tool",
    "observation": "tool",
}
_THOUGHTS = ("think", "REASONING_SCRATCHPAD")


def recognises(source: Source) -> bool:
    return '"conversations"' in source.beginning and _is_row(next(openai_chat.rows(source, _is_row), {}))


def read(source: Source) -> list[Session]:
    conversations = openai_chat.rows(source, _is_row)
    return [_session(source.path, row, name) for name, row in openai_chat.named(source.stem, conversations)]


def _is_row(row: Record) -> bool:
    turns = row.get("conversations")
    return (
        isinstance(turns, list)
        and bool(turns)
        and all(isinstance(turn, dict) and "from" in turn and isinstance(turn.get("value"), str) for turn in turns[:8])
    )


def _session(path: Path, row: Record, name: str) -> Session:
    turns = row.get("conversations")
    chat = _Chat()
    for turn in turns if isinstance(turns, list) else ():
        chat.add(turn)
    at = microseconds(row.get("timestamp"))
    if isinstance(row.get("completed"), bool):  # only Hermes says so, and its tools answer in its own way
        session = replace(as_gateway(path, {}, chat.messages), external_id=name, format=NAME)
    else:
        conversation = openai_chat.Conversation()
        conversation.add_all(chat.messages)
        session = Session(external_id=name, agent=AGENT, format=NAME, messages=tuple(conversation.messages))
    return replace(session, started_at=at, ended_at=at, unknown_records=chat.unknown)


class _Chat:
    """Turns become chat messages; the results stand in the order of the calls."""

    def __init__(self) -> None:
        self.messages: list[Record] = []
        self.unknown = 0
        self._waiting: deque[str] = deque()
        self._made = 0

    def add(self, turn: object) -> None:
        speaker = turn.get("from") if isinstance(turn, dict) else None
        role = _ROLES.get(speaker) if isinstance(speaker, str) else None
        if not isinstance(turn, dict) or role is None:
            self.unknown += 1
            return
        value = text_of(turn.get("value"))
        if role == "assistant":
            self.messages.append(self._said(value))
        elif role == "tool":
            _, responses = _cut_out(value, "tool_response")
            self.messages.extend(self._answer(response) for response in responses or [value])
        else:
            self.messages.append({"role": role, "content": value})

    def _said(self, value: str) -> Record:
        for thought in _THOUGHTS:
            value, _ = _cut_out(value, thought)
        text, written = _cut_out(value, "tool_call")
        calls = []
        for call in written:
            made = json_object(call) or {}
            self._made += 1
            self._waiting.append(f"call-{self._made}")
            function = {"name": text_of(made.get("name")), "arguments": made.get("arguments")}
            calls.append({"id": self._waiting[-1], "type": "function", "function": function})
        return {"role": "assistant", "content": text.strip(), "tool_calls": calls}

    def _answer(self, response: str) -> Record:
        body = json_object(response) or {}
        content = body.get("content", response)
        if not isinstance(content, str):
            content = msgspec.json.encode(content).decode()
        call_id = self._waiting.popleft() if self._waiting else ""
        return {"role": "tool", "tool_call_id": call_id, "content": content.strip()}


def _cut_out(text: str, tag: str) -> tuple[str, list[str]]:
    """The text without `<tag>…</tag>`, and what stood between them."""
    start, end = f"<{tag}>", f"</{tag}>"
    outside: list[str] = []
    inside: list[str] = []
    at = 0
    while (found := text.find(start, at)) >= 0:
        closed = text.find(end, found)
        if closed < 0:
            break
        outside.append(text[at:found])
        inside.append(text[found + len(start) : closed].strip())
        at = closed + len(end)
    outside.append(text[at:])
    return "".join(outside), inside
