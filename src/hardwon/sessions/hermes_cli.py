"""Hermes CLI: a whole session in one document, its messages those that the gateway writes as lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from hardwon.clock import microseconds
from hardwon.model.session import Message, Record, Session
from hardwon.sessions import hermes
from hardwon.sessions.lines import leniently, text_of
from hardwon.sessions.reader import Source

NAME = "hermes-cli"
AGENT = "hermes"
READS = "session documents, and archives of them"
VERSIONS = "an archive of 0.9.0 from a fixture; CLI sessions of 2026, read from the published description, *unverified*"

# What a document has besides its messages; an archive has none of these.
_OWN_KEYS = ("session_start", "last_updated", "platform", "base_url")

T = TypeVar("T")


def recognises(source: Source) -> bool:
    if not any(f'"{key}"' in source.beginning for key in (*_OWN_KEYS, "producer")):
        return False
    document = source.document
    if not isinstance(document, dict) or not isinstance(document.get("session_id"), str):
        return False
    messages = document.get("messages")
    archived = _is_archive(document)
    return (
        (archived or any(key in document for key in _OWN_KEYS))
        and isinstance(messages, list)
        and all(
            isinstance(message, dict) and "role" in message and ("text" in message) == archived
            for message in messages[:5]
        )
    )


def _is_archive(document: Record) -> bool:
    return text_of(document.get("producer")).startswith("hermes/") and "messages" in document


def read(source: Source) -> list[Session]:
    document = source.document
    if not isinstance(document, dict):
        return []
    listed = document.get("messages")
    messages: list[object] = listed if isinstance(listed, list) else []
    if _is_archive(document):
        document = {
            **document,
            "cwd": document.get("repository_cwd"),
            "version": text_of(document.get("producer")).partition("/")[2],
            "session_start": document.get("created_at"),
            "last_updated": document.get("ended_at"),
        }
        messages = [record for message in messages for record in _unarchived(message)]
    session = as_gateway(source.path, document, messages)
    return [
        replace(
            session,
            format=NAME,
            messages=(*_prompt(document, session.messages), *session.messages),
            started_at=microseconds(document.get("session_start")) or session.started_at,
            ended_at=microseconds(document.get("last_updated")) or session.ended_at,
        )
    ]


def _unarchived(message: object) -> Iterator[object]:
    """A message of an archive as the gateway would have written it; one that was rewound is gone."""
    if not isinstance(message, dict) or message.get("state") == "rewound":
        return
    at = message.get("timestamp")
    if message.get("role") != "tool":
        calls = [
            {"id": call.get("action_id"), "name": call.get("tool_name"), "arguments": call.get("arguments_json")}
            for call in _listed(message.get("tool_calls"))
        ]
        yield {"role": message.get("role"), "content": message.get("text"), "timestamp": at, "tool_calls": calls}
    for result in _listed(message.get("tool_results")):
        told = {
            "output": text_of(result.get("output_preview")),
            "exit_code": result.get("exit_code"),
            "success": result.get("is_error") is not True,
        }
        content = msgspec.json.encode(told).decode()
        yield {"role": "tool", "tool_call_id": result.get("action_id"), "content": content, "timestamp": at}


def _listed(value: object) -> list[Record]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def as_gateway(path: Path, meta: Record, messages: Iterable[object]) -> Session:
    """Read messages from elsewhere just as the gateway's lines are read."""
    known: list[Record] = [{**meta, "role": "session_meta"}]
    dropped = 0
    for message in messages:
        if isinstance(message, dict) and isinstance(message.get("role"), str):
            known.append(message)
        else:
            dropped += 1
    (session,) = hermes.read(_Lines(path, known))
    return replace(session, unknown_records=session.unknown_records + dropped)


def _prompt(document: Record, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    text = text_of(document.get("system_prompt"))
    if not text or (messages and messages[0].role == "system"):
        return ()
    return (Message(role="system", origin="injected", text=text),)


class _Lines(Source):
    """Records that are at hand already, in the place of a file's lines."""

    def __init__(self, path: Path, records: list[Record]) -> None:
        super().__init__(path)
        self._at_hand = records

    def records(self) -> Iterator[Record]:
        return iter(self._at_hand)

    def typed(self, struct: type[T]) -> Iterator[T]:
        return (leniently(record, struct) for record in self._at_hand)
