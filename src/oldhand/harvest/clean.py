"""Scrub a session before anything is learned from it."""

from __future__ import annotations

from msgspec.structs import replace

from oldhand.model.session import Message, Session, ToolCall, ToolResult
from oldhand.scrub.scrubber import Scrubber

LONGEST_NAME = 200
LONGEST_TEXT = 20_000
LONGEST_OUTPUT = 60_000


def scrubbed(session: Session, scrubber: Scrubber) -> Session:
    """The session with everything scrubbed that can reach the store.

    The output of calls that worked stays as it is: rules only compare against it and keep none of it.
    """
    return replace(
        session,
        external_id=scrubber.scrub(session.external_id[:LONGEST_NAME]),
        subagent=scrubber.scrub(session.subagent[:LONGEST_NAME]),
        version=scrubber.scrub(session.version[:LONGEST_NAME]),
        cwd=scrubber.scrub(session.cwd),
        branch=scrubber.scrub(session.branch),
        messages=tuple(_message(message, scrubber) for message in session.messages),
    )


def _message(message: Message, scrubber: Scrubber) -> Message:
    return replace(
        message,
        text=scrubber.scrub(ends(message.text, LONGEST_TEXT)) if message.origin == "user" else message.text,
        calls=tuple(_call(call, scrubber) for call in message.calls),
        results=tuple(_result(result, scrubber) for result in message.results),
    )


def _call(call: ToolCall, scrubber: Scrubber) -> ToolCall:
    return replace(
        call,
        name=scrubber.scrub(call.name[:LONGEST_NAME]),
        command=scrubber.scrub(call.command),
        target=scrubber.scrub(call.target),
        detail=scrubber.scrub(call.detail),
    )


def _result(result: ToolResult, scrubber: Scrubber) -> ToolResult:
    if result.outcome != "error":
        return result
    return replace(result, text=scrubber.scrub(ends(result.text, LONGEST_OUTPUT)))


def ends(text: str, longest: int) -> str:
    """The beginning and end of a long text, cut at line ends so that no secret is cut in two."""
    if len(text) <= longest:
        return text
    half = longest // 2
    head = text[:half].rpartition("\n")[0]
    tail = text[-half:].partition("\n")[2]
    return f"{head}\n…\n{tail}"
