"""What a model answered, as items of a known shape; and whether the words it cites bear each out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from hardwon.harvest.llm.model import Passing
from hardwon.harvest.llm.window import Shown
from hardwon.model.lesson import Draft, Source
from hardwon.model.session import Origin

RULE = "model"
_SHORTEST, _LONGEST = 8, 280
_SHORTEST_QUOTE, _LONGEST_QUOTE = 12, 600
_NAMED = re.compile(
    r"`([^`]+)`|((?<![\w-])--?[A-Za-z][\w-]*)|(\b[\w.-]*/[\w./-]+)|(\b\w+\.[A-Za-z]{1,5}\b)|(\b\w*\d[\w.]*)|"
    r"(\b\w+_\w+\b)|"
    r"(\b[a-z]+[A-Z]\w*\b)|(\b[A-Z][a-z0-9]+[A-Z]\w*\b)|(\b[A-Z]{2,}\b)"
)


class Item(Struct, frozen=True):
    message: int
    quote: str
    claim: str
    category: Literal["fact", "pitfall", "pattern", "tool-quirk", "question"]
    confidence: float


class Items(Struct, frozen=True):
    items: list[Item]


class Supported(Struct, frozen=True):
    supported: list[int]


ITEMS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["items"],
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["message", "quote", "claim", "category", "confidence"],
                "properties": {
                    "message": {"type": "integer"},
                    "quote": {"type": "string"},
                    "claim": {"type": "string"},
                    "category": {"enum": ["fact", "pitfall", "pattern", "tool-quirk", "question"]},
                    "confidence": {"type": "number"},
                },
            },
        }
    },
}
SUPPORTED: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["supported"],
    "properties": {"supported": {"type": "array", "items": {"type": "integer"}}},
}


def items(value: Any) -> list[Item]:
    """Raises Passing when the answer has another shape."""
    try:
        return msgspec.convert(value, Items).items
    except msgspec.ValidationError as error:
        raise Passing(f"the answer has another shape: {error}") from error


def supported(value: Any) -> set[int]:
    try:
        return set(msgspec.convert(value, Supported).supported)
    except msgspec.ValidationError as error:
        raise Passing(f"the answer has another shape: {error}") from error


def grounded(item: Item, shown: Sequence[Shown]) -> tuple[Draft | None, str]:
    """The item as a draft, or why it is none. A claim is the model's, whoever said the words it cites."""
    quote = " ".join(item.quote.split())
    if not _SHORTEST <= len(item.claim) <= _LONGEST or not _SHORTEST_QUOTE <= len(quote) <= _LONGEST_QUOTE:
        return None, "too short or too long"
    if not 0 <= item.confidence <= 1:
        return None, "no confidence"
    said = next((one for one in shown if one.message == item.message and quote in " ".join(one.text.split())), None)
    if said is None:
        return None, "the quote does not stand in the message"
    if not all(_stands_in(name, quote) for name in _named(item.claim)):
        return None, "names what the quote does not"
    origin: Origin = "agent" if said.origin in ("user", "agent") else said.origin
    return (
        Draft(
            kind=item.category,
            text=item.claim,
            confidence=min(item.confidence, 0.8),
            rule=RULE,
            source=Source(message_index=item.message, quote=quote, origin=origin),
        ),
        "",
    )


def _named(claim: str) -> set[str]:
    """Identifiers, paths, flags and numbers."""
    return {next(filter(None, found)).strip(".") for found in _NAMED.findall(claim)}


def _stands_in(name: str, quote: str) -> bool:
    """As a whole: port 80 does not stand in port 8080."""
    edges = rf"(?<!\w){re.escape(name)}(?!\w)"
    return bool(re.search(edges, quote, re.IGNORECASE))
