"""Scrub a session before anything is learned from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from hardwon.model.session import Message, Session, ToolCall, ToolResult
from hardwon.scrub.scrubber import Scrubber

MAX_NAME_CHARACTERS = 200
MAX_TEXT_CHARACTERS = 20_000
MAX_OUTPUT_CHARACTERS = 60_000
_PLAIN = re.compile(r"[A-Z]?[0-9a-f]{0,32}|[A-Za-z_-]{0,20}")
"""Ids and words of our own."""


def scrubbed(session: Session, scrubber: Scrubber) -> Session:
    """The session with everything scrubbed that can reach the store, also where a secret stands before it is told.

    The output of calls that worked stays as it is: rules only compare against it and keep none of it.
    """
    clean = _scrubbed(session, scrubber, Short(scrubber).scrub)
    return stored(clean, scrubber.without_known) if scrubber.remembers else clean


T = TypeVar("T")


def stored(value: T, scrub: Callable[[str], str]) -> T:
    """What is kept, with every text in it scrubbed as it is kept: lines that were joined or cut may tell a secret."""
    found: Any = value
    if isinstance(found, str):
        found = found if _PLAIN.fullmatch(found) else scrub(found)
    elif isinstance(found, Struct):
        changed = {name: new for name, old in _fields(found) if (new := stored(old, scrub)) is not old}
        found = replace(found, **changed) if changed else found
    elif isinstance(found, (list, tuple)):
        parts = [stored(part, scrub) for part in found]
        if any(new is not old for new, old in zip(parts, found, strict=True)):
            found = type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    return cast(T, found)


def _fields(value: Struct) -> Iterator[tuple[str, Any]]:
    return ((name, getattr(value, name)) for name in value.__struct_fields__)


def _scrubbed(session: Session, scrubber: Scrubber, scrub: Callable[[str], str]) -> Session:
    return replace(
        session,
        external_id=scrub(session.external_id[:MAX_NAME_CHARACTERS]),
        subagent=scrub(session.subagent[:MAX_NAME_CHARACTERS]),
        version=scrub(session.version[:MAX_NAME_CHARACTERS]),
        cwd=scrub(session.cwd),
        remote=scrub(session.remote),
        branch=scrub(session.branch),
        messages=tuple([_message(message, scrubber, scrub) for message in session.messages]),
    )


class Short:
    """Scrubs names, commands and paths, which a session repeats; what has no secret in it is scrubbed once."""

    def __init__(self, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self._harmless: dict[str, str] = {"": ""}

    def scrub(self, text: str) -> str:
        known = self._harmless.get(text)
        if known is not None:
            return known
        before = self._scrubber.redactions
        clean = self._scrubber.scrub(text)
        if self._scrubber.redactions == before:
            self._harmless[text] = clean
        return clean


def _message(message: Message, scrubber: Scrubber, scrub: Callable[[str], str]) -> Message:
    return replace(
        message,
        text=scrubber.scrub(ends(message.text, MAX_TEXT_CHARACTERS)) if message.is_sent else message.text,
        calls=tuple([_call(call, scrub) for call in message.calls]),
        results=tuple([_result(result, scrubber) for result in message.results]),
    )


def _call(call: ToolCall, scrub: Callable[[str], str]) -> ToolCall:
    return replace(
        call,
        name=scrub(call.name[:MAX_NAME_CHARACTERS]),
        command=scrub(call.command),
        target=scrub(call.target),
        detail=scrub(call.detail),
        others=tuple(map(scrub, call.others)),
    )


def _result(result: ToolResult, scrubber: Scrubber) -> ToolResult:
    if result.outcome != "error":
        return result
    return replace(result, text=scrubber.scrub(ends(result.text, MAX_OUTPUT_CHARACTERS)))


def ends(text: str, longest: int) -> str:
    """The beginning and end of a long text, cut at line ends so that no secret is cut in two."""
    if len(text) <= longest:
        return text
    half = longest // 2
    head = text[:half].rpartition("\n")[0]
    tail = text[-half:].partition("\n")[2]
    return f"{head}\n…\n{tail}"
