"""Decisions and constraints: what was settled, and what must hold, in the user's words or under such a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from oldhand.harvest.rules.rule import Rule, dropped
from oldhand.harvest.rules.typed import LONGEST, NOBODY_TYPES, SHORTEST, Statement, lasting, plain, specific
from oldhand.model.lesson import Draft, Source
from oldhand.model.session import Message, Session

RULES = (
    Rule("user-decision", 2, ("decision",), "what the user says was decided"),
    Rule("user-constraint", 1, ("decision",), "what the user says must, must not or may only be"),
    Rule("agent-decision", 1, ("decision",), "what stands under a heading Decision or Constraint in an agent's text"),
)
_DECIDED = re.compile(
    r"^(?:(?:and|also|ok(?:ay)?|so|but|no|for the record)[,:!.]?\s+)*(?:we(?:'ve| have)?\s+(?:decided|"
    r"agreed)\s+(?:to|on|that|not)\b|"
    r"decision:|let's (?:stick with|go with|use|keep)\s+.*\b(?:instead of|rather than|not)\b)|"
    r"\bwe (?:explicitly |really |definitely )?(?:don't|do not|never) want (?:to )?(?!(?:this|that|it|the)\b)",
    re.IGNORECASE,
)
_MUST = re.compile(
    r"^(?!(?:it|this|that|they|you|he|she)\b)(?=.*\b(?:must|should|may|can)\s+(?:never|not|only|always)\b|"
    r".*\bmustn't\b|"
    r".*\bis only (?:for|meant for|used (?:by|for))\b)\w.{10,}",
    re.IGNORECASE,
)
_OF_THE_REQUEST = re.compile(
    r"\b(?:I|you) (?:should|can|must|may)\b|\b(?:that|this|it|which|there|we) (?:should|can|must|"
    r"may)\b(?!.*\binstead\b)|\bas a result\b|\bexpect",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^\s*(?:#{1,4}\s*|[-*]\s+)?\**(?:key |design |architectur\w+ )*(?:decision|constraint|"
    r"invariant)s?(?:\**\s*:\**\s*(?P<rest>.*)|\**\s*$)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-*]|\d{1,2}[.)])\s+(?P<text>.*\S)")
_MARKS = re.compile(r"\*\*|__")
_MOST_UNDER_HEADING = 5
_FEWEST_SPACES = 3
_FORBIDS = re.compile(r"\bmust (?:never|not)\b", re.IGNORECASE)
_SETTLED = re.compile(r"\b(?:decided|agreed)\b|decision:", re.IGNORECASE)
_WORDS = ("ecision", "onstraint", "nvariant")
_MENTIONED = re.compile(r"^[^\w\n]*(?:\w+ ){0,2}(?:[Dd]ecision|[Cc]onstraint|[Ii]nvariant)s?\b", re.MULTILINE)
_CHOICE = re.compile(r"\b(?:instead of|rather than|never|must|not|only|over|because|so that|always)\b", re.IGNORECASE)
_LONGEST_MESSAGE = 20_000


def drafts(session: Session, said: Sequence[Statement]) -> list[Draft]:
    return [*_stated(said), *_under_headings(session)]


def _stated(said: Sequence[Statement]) -> Iterator[Draft]:
    for statement in said:
        sentence = statement.text
        if _DECIDED.search(sentence):
            rule, confidence = "user-decision", 0.8
        elif _MUST.search(sentence) and not _OF_THE_REQUEST.search(sentence):
            rule, confidence = "user-constraint", 0.75
        else:
            continue
        quoted = Source(message_index=statement.message, quote=sentence, origin="user")
        draft = Draft(kind="decision", text=plain(sentence), confidence=confidence, rule=rule, source=quoted)
        why = ""
        if statement.first and not _SETTLED.search(sentence):
            why = "part of the task"
        elif not lasting(sentence):
            why = "about the moment"
        elif rule == "user-constraint" and not specific(sentence) and not _FORBIDS.search(sentence):
            why = "names nothing"
        yield dropped(draft, why)


def _under_headings(session: Session) -> Iterator[Draft]:
    if session.format in NOBODY_TYPES:
        return
    for index, message in enumerate(session.messages):
        if (
            message.origin == "agent"
            and any(word in message.text for word in _WORDS)
            and _MENTIONED.search(message.text[:_LONGEST_MESSAGE])
        ):
            yield from _headed(index, message)


def _headed(index: int, message: Message) -> Iterator[Draft]:
    left = 0
    for line in message.text[:_LONGEST_MESSAGE].split("\n"):
        heading, item = _HEADING.match(line), _ITEM.match(line) if left else None
        if heading is not None:
            left, said = _MOST_UNDER_HEADING, heading["rest"] or ""
        elif item is not None:
            left, said = left - 1, item["text"]
        else:
            left = 0 if line.strip() else left
            continue
        sentence = " ".join(_MARKS.sub("", said).split())
        if not SHORTEST <= len(sentence) <= LONGEST:
            continue
        draft = Draft(
            kind="decision",
            text=plain(sentence),
            confidence=0.5,
            rule="agent-decision",
            source=Source(message_index=index, quote=" ".join(said.split()), origin="agent"),
        )
        why = ""
        if not specific(sentence) or sentence.count(" ") < _FEWEST_SPACES:
            why = "names nothing"
        elif not lasting(sentence):
            why = "about the moment"
        elif not _CHOICE.search(sentence):
            why = "tells what is, not what was chosen"
        yield dropped(draft, why)
