"""Questions that a session left open: the user's that nobody answered, the agent's that the user did not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hardwon.harvest.rules import lazily
from hardwon.harvest.rules.rule import Rule
from hardwon.harvest.rules.typed import LONGEST, Statement
from hardwon.harvest.rules.wording import plain, specific
from hardwon.model.lesson import Draft, Source
from hardwon.model.session import Message, Session

RULES = (
    Rule("user-question", 1, ("question",), "what the user asked last, when the session ended without an answer"),
    Rule("agent-question", 1, ("question",), "what the agent asked last, when the user never answered"),
)
_ASKS = lazily.pattern(r"\?\W*$")
_REQUEST = lazily.pattern(
    r"^(?:\W|\b(?:ok|so|hmm|and|also|but)\b)*(?:can|could|would|will) (?:you|we|I)\b|\bplease\b", re.IGNORECASE
)
_OFFER = lazily.pattern(
    r"\b(?:(?:could|can|would|will) you|please|would you like|shall I|should I|do you want|want me to|"
    r"let me know|can I|may I|how can I help|"
    r"anything else|ready to|what would you like|is there anything|sound good|what should I)\b",
    re.IGNORECASE,
)
_LAST_SENTENCE = lazily.pattern(r"(?:^|[.!\n:]\s*)([^.!?\n]{12,260}\?)\W*$")
_FEWEST_WORDS = 6


def drafts(session: Session, said: Sequence[Statement]) -> list[Draft]:
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
    found = _LAST_SENTENCE.search(message.text[-2 * LONGEST :].rstrip())
    question = " ".join(found[1].split()) if found else ""
    if not question or _OFFER.search(question) or not _worth_asking(question):
        return []
    return [_draft(last, question, "agent")]


def _worth_asking(question: str) -> bool:
    return question.count(" ") + 1 >= _FEWEST_WORDS and len(question) <= LONGEST and specific(question)


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
