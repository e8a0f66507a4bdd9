"""What the user answered when an agent asked: a choice that was put to them in so many words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hardwon.harvest.rules import lazily
from hardwon.harvest.rules.rule import Rule, dropped
from hardwon.harvest.rules.typed import ASKING_TOOLS, LONGEST, NOBODY_TYPES
from hardwon.harvest.rules.wording import lasting, specific
from hardwon.model.lesson import Draft, Source
from hardwon.model.session import Session

RULES = (Rule("user-answer", 1, ("decision",), "what the user chose when an agent put a question to them"),)
_PAIR = lazily.pattern(r'"(?P<question>[^"\n]{8,240}\?)"="(?P<answer>[^"\n]{2,200})"')
_OF_THE_TASK = lazily.pattern(
    r"\b(?:should I|shall I|do you want|would you like|want me|can I|may I|proceed|next|first|look good|sound|ready|"
    r"this (?:plan|change|fix|approach|PR|session|run)|now)\b",
    re.IGNORECASE,
)
_SAYS_LITTLE = lazily.pattern(
    r"^(?:yes|no|y|n|ok(?:ay)?|sure|skip(?: it)?|both|neither|none|all(?: of them)?|either|combined|other|\d+|[a-d]|"
    r"not sure|you decide|up to you)\W*$",
    re.IGNORECASE,
)
_ADVICE = lazily.pattern(r"\s*\((?:recommended|default)\)", re.IGNORECASE)
_FEWEST_WORDS = 6


def drafts(session: Session) -> Iterator[Draft]:
    if session.format in NOBODY_TYPES or session.subagent:
        return
    asked = {call.id for message in session.messages for call in message.calls if call.name in ASKING_TOOLS}
    if not asked:
        return
    for index, message in enumerate(session.messages):
        for result in message.results:
            if result.call_id in asked and result.outcome == "ok":
                yield from _answers(index, result.text)


def _answers(index: int, text: str) -> Iterator[Draft]:
    for pair in _PAIR.finditer(text):
        question, answer = " ".join(pair["question"].split()), _ADVICE.sub("", pair["answer"]).strip()
        said = f"{question} {answer.rstrip('.')}."
        if len(said) > LONGEST:
            continue
        source = Source(message_index=index, quote=pair[0], origin="user")
        draft = Draft(kind="decision", text=said, confidence=0.75, rule=RULES[0].name, source=source)
        why = ""
        if _OF_THE_TASK.search(question):
            why = "part of the task"
        elif _SAYS_LITTLE.match(answer) or question.count(" ") + 1 < _FEWEST_WORDS or not specific(said):
            why = "names nothing"
        elif not lasting(answer):
            why = "about the moment"
        yield dropped(draft, why)
