"""Decisions, constraints, root causes, and the questions that a session left open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hardwon.harvest.rules.lesson_rule import Rule, dropped
from hardwon.harvest.rules.sentences import (
    LONGEST_SENTENCE,
    NOBODY_TYPES,
    SHORTEST_SENTENCE,
    Statement,
    lasting,
    plain,
    specific,
    spelled,
)
from hardwon.model.lesson import Draft, Source
from hardwon.model.session import Message, Session
from hardwon.text.lazy_pattern import lazy_pattern

DECISION_RULES = (
    Rule("user-decision", 4, ("decision",), "what the user says was decided"),
    Rule("user-constraint", 2, ("decision",), "what the user says must, must not or may only be"),
    Rule("agent-root-cause", 1, ("pitfall",), "what an agent names as the root cause of a failure"),
    Rule("agent-decision", 1, ("decision",), "what stands under a heading Decision or Constraint in an agent's text"),
)
_LEAD = r"^(?:(?:and|also|ok(?:ay)?|so|but|no|btw|yes|yeah|sure|then|for the record)[,:!.]?\s+)*"
_SETTLED = lazy_pattern(
    _LEAD
    + r"(?:we(?:['’]ve| have)?\s+(?:\w+ )?(?:decided|agreed|settled|standardi[sz]ed|opted)\s+(?:to|on|that|not|for)\b|"
    r"decision:)",
    re.IGNORECASE,
)
_DECIDED = lazy_pattern(
    _LEAD + r"let['’]s (?:stick with|go with|use|keep)\s+(?!.*\d).*\b(?:instead of|rather than|not)\b|"
    r"\bwe (?:explicitly |really |definitely )?(?:don['’]t|do not|never) want (?!(?:to )?(?:this|that|it|the)\b)|"
    r"\bwe only want (?!(?:to|this|that|it)\b)\S|"
    r"\bwe(?:['’]re| are) going to start \w+ing\b",
    re.IGNORECASE,
)
_OF_A_THING = lazy_pattern(r"\bwant to \w+ the\b", re.IGNORECASE)
_MUST = lazy_pattern(
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
_ANY_RESULT = lazy_pattern(
    r"^(?:the|a|an) (?:result|output|value|list|string|text|button|answer|return value|response)s?\b", re.I
)
_OF_THE_REQUEST = lazy_pattern(
    r"\b(?:I|you) (?:should|can|must|may)\b|\b(?:that|this|it|which|there|we) (?:should|can|must|"
    r"may)\b(?!.*\binstead\b)|\bas a result\b|\bexpect",
    re.IGNORECASE,
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
_WAS = lazy_pattern(r"^.{0,60}?\b(?:was|were|had)\b")
_A_LINE = lazy_pattern(r":\d+|\bline \d", re.IGNORECASE)
_ITEM = lazy_pattern(r"^\s*(?:[-*]|\d{1,2}[.)])\s+(?P<text>.*\S)")
_MARKS = lazy_pattern(r"\*\*|__")
_ITEMS_PER_HEADING = 5
_FEWEST_SPACES_IN_A_CLAIM = 3
_FORBIDS = lazy_pattern(r"\bmust (?:never|not)\b", re.IGNORECASE)
_MENTIONED = lazy_pattern(r"^[^\w\n]*(?:\w+ ){0,2}(?:[Dd]ecision|[Cc]onstraint|[Ii]nvariant)s?\b", re.MULTILINE)
_CHOICE = lazy_pattern(r"\b(?:instead of|rather than|never|must|not|only|over|because|so that|always)\b", re.IGNORECASE)
_CHARACTERS_READ_PER_MESSAGE = 20_000


def decided(session: Session, said: Sequence[Statement]) -> list[Draft]:
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
            and _MENTIONED.search(message.text[:_CHARACTERS_READ_PER_MESSAGE])
        ):
            yield from _headed(index, message)


def _causes(session: Session) -> Iterator[Draft]:
    if session.format in NOBODY_TYPES:
        return
    for index, message in enumerate(session.messages):
        if message.origin != "agent" or "oot cause" not in message.text:
            continue
        for found in _ROOT_CAUSE.finditer(message.text[:_CHARACTERS_READ_PER_MESSAGE]):
            said = " ".join((found["cause"] or found["other"]).split())
            sentence = " ".join(_MARKS.sub("", said).split())
            if not SHORTEST_SENTENCE <= len(sentence) <= LONGEST_SENTENCE:
                continue
            source = Source(message_index=index, quote=said, origin="agent")
            text = f"Root cause seen here: {plain(sentence)}"
            draft = Draft(kind="pitfall", text=text, confidence=0.5, rule="agent-root-cause", source=source)
            if not specific(sentence) or sentence.count(" ") < _FEWEST_SPACES_IN_A_CLAIM:
                yield dropped(draft, "names nothing")
            else:
                passing = _A_LINE.search(sentence) or _WAS.match(sentence) or not lasting(sentence)
                yield dropped(draft, "about the moment" if passing else "")


def _headed(index: int, message: Message) -> Iterator[Draft]:
    left = 0
    for line in message.text[:_CHARACTERS_READ_PER_MESSAGE].split("\n"):
        heading, item = _HEADING.match(line), _ITEM.match(line) if left else None
        if heading is not None:
            left, said = _ITEMS_PER_HEADING, heading["rest"] or ""
        elif item is not None:
            left, said = left - 1, item["text"]
        else:
            left = 0 if line.strip() else left
            continue
        sentence = " ".join(_MARKS.sub("", said).split())
        if not SHORTEST_SENTENCE <= len(sentence) <= LONGEST_SENTENCE:
            continue
        draft = Draft(
            kind="decision",
            text=plain(sentence),
            confidence=0.5,
            rule="agent-decision",
            source=Source(message_index=index, quote=" ".join(said.split()), origin="agent"),
        )
        why = ""
        if not specific(sentence) or sentence.count(" ") < _FEWEST_SPACES_IN_A_CLAIM:
            why = "names nothing"
        elif not lasting(sentence):
            why = "about the moment"
        elif not _CHOICE.search(sentence):
            why = "tells what is, not what was chosen"
        yield dropped(draft, why)


# Questions that a session left open: the user's that nobody answered, the agent's that the user did not.

QUESTION_RULES = (
    Rule("user-question", 1, ("question",), "what the user asked last, when the session ended without an answer"),
    Rule("agent-question", 1, ("question",), "what the agent asked last, when the user never answered"),
)
_ASKS = lazy_pattern(r"\?\W*$")
_REQUEST = lazy_pattern(
    r"^(?:\W|\b(?:ok|so|hmm|and|also|but)\b)*(?:can|could|would|will) (?:you|we|I)\b|\bplease\b", re.IGNORECASE
)
_OFFER = lazy_pattern(
    r"\b(?:(?:could|can|would|will) you|please|would you like|shall I|should I|do you want|want me to|"
    r"let me know|can I|may I|how can I help|"
    r"anything else|ready to|what would you like|is there anything|sound good|what should I)\b",
    re.IGNORECASE,
)
_LAST_SENTENCE = lazy_pattern(r"(?:^|[.!\n:]\s*)([^.!?\n]{12,260}\?)\W*$")
_FEWEST_WORDS_OF_A_QUESTION = 6


def open_questions(session: Session, said: Sequence[Statement]) -> list[Draft]:
    if session.subagent:
        return []
    last = next((at for at in range(len(session.messages) - 1, -1, -1) if _says_something(session.messages[at])), None)
    if last is None:
        return []
    message = session.messages[last]
    if message.origin == "user":
        return _users(said, last)
    return _agents(last, message) if message.role == "assistant" and not message.calls else []


def _says_something(message: Message) -> bool:
    return bool(message.text.strip() or message.calls or message.results) and message.origin != "injected"


def _users(said: Sequence[Statement], last: int) -> list[Draft]:
    asked = [
        statement.text
        for statement in said
        if statement.message == last and _ASKS.search(statement.text) and not _REQUEST.search(statement.text)
    ]
    return [_draft(last, question, "user") for question in asked if _worth_asking(question)][:1]


def _agents(last: int, message: Message) -> list[Draft]:
    found = _LAST_SENTENCE.search(message.text[-2 * LONGEST_SENTENCE :].rstrip())
    question = " ".join(found[1].split()) if found else ""
    if not question or _OFFER.search(question) or not _worth_asking(question):
        return []
    return [_draft(last, question, "agent")]


def _worth_asking(question: str) -> bool:
    enough = question.count(" ") + 1 >= _FEWEST_WORDS_OF_A_QUESTION
    return enough and len(question) <= LONGEST_SENTENCE and specific(question)


def _draft(index: int, question: str, origin: str) -> Draft:
    rule = "user-question" if origin == "user" else "agent-question"
    text = plain(question).rstrip(".")
    return Draft(
        kind="question",
        text=text,
        confidence=0.5,
        rule=rule,
        source=Source(message_index=index, quote=question, origin="user" if origin == "user" else "agent"),
    )
