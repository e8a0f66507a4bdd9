"""A session as a model is shown it: numbered messages, scrubbed, in windows that fit."""

from __future__ import annotations

from typing import NamedTuple

from hardwon.harvest.clean import ends
from hardwon.model.session import Message, Origin, Session
from hardwon.scrub.scrubber import Scrubber
from hardwon.text.fence import TAG
from hardwon.text.tokens import estimate

MOST_TOKENS = 12_000
_LONGEST_SAID = 3_000
_LONGEST_OUTPUT = 800
OPENING = f'<{TAG} purpose="harvest">'
"""What every prompt of ours begins with, so that a session made by it is never harvested."""


class Shown(NamedTuple):
    message: int
    origin: Origin
    text: str


class Window(NamedTuple):
    shown: tuple[Shown, ...]
    text: str
    tokens: int


def windows(session: Session, scrubber: Scrubber, most: int = MOST_TOKENS) -> list[Window]:
    found: list[Window] = []
    part: list[Shown] = []
    size = 0
    for one in _shown(session, scrubber):
        tokens = estimate(one.text) + 8
        if part and size + tokens > most:
            found.append(_window(part))
            part, size = [], 0
        part.append(one)
        size += tokens
    return [*found, _window(part)] if part else found


def _shown(session: Session, scrubber: Scrubber) -> list[Shown]:
    shown: list[Shown] = []
    for index, message in enumerate(session.messages):
        if message.origin == "injected":
            continue
        if message.text.strip():
            shown.append(Shown(index, message.origin, scrubber.scrub(ends(message.text, _LONGEST_SAID))))
        shown += _calls(index, message, scrubber)
    return shown


def _calls(index: int, message: Message, scrubber: Scrubber) -> list[Shown]:
    ran = [Shown(index, "agent", f"$ {scrubber.scrub(call.command)}") for call in message.calls if call.command]
    came = [
        Shown(index, result.origin, scrubber.scrub(ends(result.text, _LONGEST_OUTPUT)))
        for result in message.results
        if result.text.strip()
    ]
    return ran + came


def _window(part: list[Shown]) -> Window:
    lines = "\n".join(f"[{one.message}] {one.origin}: {one.text}" for one in part)
    text = f"{OPENING}\n---\n{lines}"
    return Window(tuple(part), text, estimate(text))
