"""What an agent says was decided, or was the cause: a claim, which waits until another session makes it, too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hardwon.harvest.rules.lesson_rule import Rule, dropped
from hardwon.harvest.rules.said import against
from hardwon.harvest.rules.sentences import NOBODY_TYPES, SHORTEST_SENTENCE, specific
from hardwon.model.lesson import Draft, Kind, Source
from hardwon.model.session import Session
from hardwon.text.lazy_pattern import lazy_pattern

RULES = (
    Rule("agent-root-cause", 2, ("pitfall",), "what an agent names as the root cause of a failure"),
    Rule("agent-decision", 2, ("decision",), "what stands under a heading Decision or Constraint in an agent's text"),
)
_HEADING = lazy_pattern(
    r"^\s*(?:#{1,4}\s*|[-*]\s+)?\**(?:key |design |architectur\w+ )*(?:decision|constraint|"
    r"invariant)s?(?:\**\s*:\**\s*(?P<rest>.*)|\**\s*$)",
    re.IGNORECASE,
)
_ROOT_CAUSE = lazy_pattern(
    r"^[^\w\n]{0,8}root cause(?: identified| found|"
    r" confirmed)?\**\s*:\**\s+(?P<cause>[^\n]{8,400}?)(?:(?<=[a-z`)])\.(?=\s|$)|$)|"
    r"\bthe root cause (?:is|was)(?: that)?:?\s+(?P<other>[^\n]{8,400}?)(?:(?<=[a-z`)])\.(?=\s|$)|$)",
    re.IGNORECASE | re.MULTILINE,
)
_A_LINE = lazy_pattern(r":\d+|\bline \d", re.IGNORECASE)
_ITEM = lazy_pattern(r"^\s*(?:[-*]|\d{1,2}[.)])\s+(?P<text>.*\S)")
_MARKS = lazy_pattern(r"\*\*|__")
_MENTIONED = lazy_pattern(r"^[^\w\n]*(?:\w+ ){0,2}(?:[Dd]ecision|[Cc]onstraint|[Ii]nvariant)s?\b", re.MULTILINE)
_CHOICE = lazy_pattern(r"\b(?:instead of|rather than|never|must|not|only|over|because|so that|always)\b", re.IGNORECASE)
_ITEMS_PER_HEADING = 5
_FEWEST_SPACES = 3
_LONGEST = 200
_CHARACTERS_READ_PER_MESSAGE = 20_000
_MAY_BE = frozenset(("reports", "speaks of something that stands elsewhere", "leads up to something else"))
"""What a cause may do."""


def claims(session: Session) -> list[Draft]:
    """Of an agent's messages, what stands under a heading of decisions, and what it calls the root cause."""
    if session.format in NOBODY_TYPES:
        return []
    found: list[Draft] = []
    for index, message in enumerate(session.messages):
        if message.origin != "agent" or not message.text:
            continue
        text = message.text[:_CHARACTERS_READ_PER_MESSAGE]
        if "oot cause" in text:
            found += (_cause(index, said) for said in _causes(text))
        if any(word in text for word in ("ecision", "onstraint", "nvariant")) and _MENTIONED.search(text):
            found += (_decision(index, said) for said in _headed(text))
    return [draft for draft in found if len(draft.source.quote) >= SHORTEST_SENTENCE]


def _causes(text: str) -> Iterator[str]:
    for found in _ROOT_CAUSE.finditer(text):
        yield " ".join((found["cause"] or found["other"]).split())


def _headed(text: str) -> Iterator[str]:
    left = 0
    for line in text.split("\n"):
        heading, item = _HEADING.match(line), _ITEM.match(line) if left else None
        if heading is not None:
            left = _ITEMS_PER_HEADING
            yield " ".join((heading["rest"] or "").split())
        elif item is not None:
            left -= 1
            yield " ".join(item["text"].split())
        elif line.strip():
            left = 0


def _cause(index: int, said: str) -> Draft:
    why = against(_MARKS.sub("", said))
    passing = (why and why not in _MAY_BE) or _A_LINE.search(said)
    return _claim(index, said, "pitfall", "agent-root-cause", "about the moment" if passing else "")


def _decision(index: int, said: str) -> Draft:
    why = "about the moment" if against(_MARKS.sub("", said)) else ""
    tells = not why and not _CHOICE.search(said)
    return _claim(index, said, "decision", "agent-decision", "tells what is, not what was chosen" if tells else why)


def _claim(index: int, said: str, kind: Kind, rule: str, why: str) -> Draft:
    sentence = " ".join(_MARKS.sub("", said).split()).rstrip(" .,;:")
    text = f"Root cause seen here: {sentence}." if kind == "pitfall" else f"{sentence[:1].upper()}{sentence[1:]}."
    if not specific(sentence) or sentence.count(" ") < _FEWEST_SPACES:
        why = "names nothing"
    elif len(text) > _LONGEST:
        why = "too short or too long"
    source = Source(message_index=index, quote=said, origin="agent")
    return dropped(Draft(kind=kind, text=text, confidence=0.5, rule=rule, source=source), why)
