"""Decisions and constraints: what was settled, and what must hold, in the user's words or under such a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hardwon.harvest.rules import lazily
from hardwon.harvest.rules.rule import Rule, dropped
from hardwon.harvest.rules.typed import LONGEST, NOBODY_TYPES, SHORTEST, Statement
from hardwon.harvest.rules.wording import lasting, plain, specific, spelled
from hardwon.model.lesson import Draft, Source
from hardwon.model.session import Message, Session

RULES = (
    Rule("user-decision", 4, ("decision",), "what the user says was decided"),
    Rule("user-constraint", 2, ("decision",), "what the user says must, must not or may only be"),
    Rule("agent-root-cause", 1, ("pitfall",), "what an agent names as the root cause of a failure"),
    Rule("agent-decision", 1, ("decision",), "what stands under a heading Decision or Constraint in an agent's text"),
)
_LEAD = r"^(?:(?:and|also|ok(?:ay)?|so|but|no|btw|yes|yeah|sure|then|for the record)[,:!.]?\s+)*"
_SETTLED = lazily.pattern(
    _LEAD
    + r"we(?:['’]ve| have)?\s+(?:\w+ )?(?:decided|agreed|settled|standardi[sz]ed|opted)\s+(?:to|on|that|not|for)\b",
    re.IGNORECASE,
)
_DECIDED = lazily.pattern(
    _LEAD + r"let['’]s (?:stick with|go with|use|keep)\s+(?!.*\d).*\b(?:instead of|rather than|not)\b|"
    r"\bwe (?:explicitly |really |definitely )?(?:don['’]t|do not|never) want (?!(?:to )?(?:this|that|it|the)\b)|"
    r"\bwe only want (?!(?:to|this|that|it)\b)\S|"
    r"\bwe(?:['’]re| are) going to start \w+ing\b",
    re.IGNORECASE,
)
_OF_A_THING = lazily.pattern(r"\bwant to \w+ the\b", re.IGNORECASE)
_MUST = lazily.pattern(
    r"^(?!(?:it|this|that|they|you|he|she)\b)(?=.*\b(?:must|should|may|can)(?:n['’]t\b|\s+(?:never|not|only|always)\b)|"
    r".*\bmustn['’]t\b|.*\b(?:needs?|has|have) to (?:work|run|stay|remain|be (?:compatible|idempotent|backward)|"
    r"come from|"
    r"go through|support)\b|.*\bshould (?:be|have|go|live|use|come|return|contain)\b.*,?\s+not\b|"
    r".*\bshould be (?:called|named) (?!(?:this|that|it)\b)\S|.*\bis (?:not a|a non-?) ?goal\b|.*\border (?:should|"
    r"must|has to) be\b|"
    r".*\bis only (?:for|meant for|used (?:by|for))\b)[\w`./@].{10,}",
    re.IGNORECASE,
)
_MUST_WORDS = ("must", "should", "may", "can", "need", "has to", "have to", "goal", "is only")
_ANY_RESULT = lazily.pattern(
    r"^(?:the|a|an) (?:result|output|value|list|string|text|button|answer|return value|response)s?\b", re.I
)
_OF_THE_REQUEST = lazily.pattern(
    r"\b(?:I|you) (?:should|can|must|may)\b|\b(?:that|this|it|which|there|we) (?:should|can|must|"
    r"may)\b(?!.*\binstead\b)|\bas a result\b|\bexpect",
    re.IGNORECASE,
)
_HEADING = lazily.pattern(
    r"^\s*(?:#{1,4}\s*|[-*]\s+)?\**(?:key |design |architectur\w+ )*(?:decision|constraint|"
    r"invariant)s?(?:\**\s*:\**\s*(?P<rest>.*)|\**\s*$)",
    re.IGNORECASE,
)
_ROOT_CAUSE = lazily.pattern(
    r"^[^\w\n]{0,8}root cause(?: identified| found|"
    r" confirmed)?\**\s*:\**\s+(?P<cause>[^\n]{8,400}?)(?:(?<=[a-z`)])\.(?=\s|$)|$)|"
    r"\bthe root cause (?:is|was)(?: that)?:?\s+(?P<other>[^\n]{8,400}?)(?:(?<=[a-z`)])\.(?=\s|$)|$)",
    re.IGNORECASE | re.MULTILINE,
)
_WAS = lazily.pattern(r"^.{0,60}?\b(?:was|were|had)\b")
_A_LINE = lazily.pattern(r":\d+|\bline \d", re.IGNORECASE)
_ITEM = lazily.pattern(r"^\s*(?:[-*]|\d{1,2}[.)])\s+(?P<text>.*\S)")
_MARKS = lazily.pattern(r"\*\*|__")
_MOST_UNDER_HEADING = 5
_FEWEST_SPACES = 3
_FORBIDS = lazily.pattern(r"\bmust (?:never|not)\b", re.IGNORECASE)
_MENTIONED = lazily.pattern(r"^[^\w\n]*(?:\w+ ){0,2}(?:[Dd]ecision|[Cc]onstraint|[Ii]nvariant)s?\b", re.MULTILINE)
_CHOICE = lazily.pattern(
    r"\b(?:instead of|rather than|never|must|not|only|over|because|so that|always)\b", re.IGNORECASE
)
_LONGEST_MESSAGE = 20_000


def drafts(session: Session, said: Sequence[Statement]) -> list[Draft]:
    return [*_stated(said), *_under_headings(session), *_causes(session)]


def _stated(said: Sequence[Statement]) -> Iterator[Draft]:
    for statement in said:
        sentence = spelled(statement.text)
        settled = _SETTLED.match(sentence)
        if settled or _DECIDED.search(sentence):
            rule, confidence = "user-decision", 0.8
        elif (
            any(word in sentence.lower() for word in _MUST_WORDS)
            and _MUST.match(sentence)
            and not _OF_THE_REQUEST.search(sentence)
        ):
            rule, confidence = "user-constraint", 0.75
        else:
            continue
        quoted = Source(message_index=statement.message, quote=statement.text, origin="user")
        draft = Draft(kind="decision", text=plain(sentence), confidence=confidence, rule=rule, source=quoted)
        why = ""
        if statement.first and not settled:
            why = "part of the task"
        elif not lasting(sentence):
            why = "about the moment"
        elif (rule == "user-constraint" and not _says_of_what(sentence)) or (
            _OF_A_THING.search(sentence) and not specific(sentence)
        ):
            why = "names nothing"
        yield dropped(draft, why)


def _says_of_what(sentence: str) -> bool:
    return specific(sentence) or bool(_FORBIDS.search(sentence) and not _ANY_RESULT.search(sentence))


def _under_headings(session: Session) -> Iterator[Draft]:
    if session.format in NOBODY_TYPES:
        return
    for index, message in enumerate(session.messages):
        if (
            message.origin == "agent"
            and ("ecision" in message.text or "onstraint" in message.text or "nvariant" in message.text)
            and _MENTIONED.search(message.text[:_LONGEST_MESSAGE])
        ):
            yield from _headed(index, message)


def _causes(session: Session) -> Iterator[Draft]:
    if session.format in NOBODY_TYPES:
        return
    for index, message in enumerate(session.messages):
        if message.origin != "agent" or "oot cause" not in message.text:
            continue
        for found in _ROOT_CAUSE.finditer(message.text[:_LONGEST_MESSAGE]):
            said = " ".join((found["cause"] or found["other"]).split())
            sentence = " ".join(_MARKS.sub("", said).split())
            if not SHORTEST <= len(sentence) <= LONGEST:
                continue
            source = Source(message_index=index, quote=said, origin="agent")
            text = f"Root cause seen here: {plain(sentence)}"
            draft = Draft(kind="pitfall", text=text, confidence=0.5, rule="agent-root-cause", source=source)
            if not specific(sentence) or sentence.count(" ") < _FEWEST_SPACES:
                yield dropped(draft, "names nothing")
            else:
                passing = _A_LINE.search(sentence) or _WAS.match(sentence) or not lasting(sentence)
                yield dropped(draft, "about the moment" if passing else "")


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
