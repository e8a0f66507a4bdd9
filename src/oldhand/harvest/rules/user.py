"""What the user said in so many words: directives, preferences, corrections, decisions."""

from __future__ import annotations

import re
from typing import NamedTuple

from oldhand.model.lesson import Draft, Kind, Source
from oldhand.model.session import Message, Session
from oldhand.sessions.origin import INTERRUPTED

SHORTEST, LONGEST = 8, 280
_LONGEST_TYPED = 3_000
# Trajectories: a harness or another model speaks in the user's place.
_NOBODY_TYPES = frozenset(("swe-agent", "openhands", "openai-chat", "sharegpt", "atif"))
_QUOTED_BLOCKS = re.compile(r"```.*?(?:```|\Z)|^\s*>.*$", re.DOTALL | re.MULTILINE)
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`])|\n+")
_LOG_LINE = re.compile(r"^\s*(?:at |File \"|\[?\d{2,4}[-:/]|[$>#❯]\s|[-+]{3}\s|\w+:\d+|\W{4,})|\{.*\}$|[│┃━]")
_QUESTION = re.compile(
    r"\?\s*$|^(?:should|could|can|would|do|does|did|is|are|why|what|how|when|where)\b", re.IGNORECASE
)
_ABOUT_THIS_ONCE = re.compile(
    r"\b(?:for now|this time|right now|just once|today|never ?mind|for the moment)\b", re.IGNORECASE
)
_POINTS_BACK = re.compile(r"\b(?:it|this|that|them|those|these)\W*$", re.IGNORECASE)
_LEAD = r"^(?:(?:and|also|please|ok(?:ay)?|so|but|remember|important|note|for the record)[,:!]?\s+)*"


class _Cue(NamedTuple):
    rule: str
    kind: Kind
    confidence: float
    pattern: re.Pattern[str]


def _cue(rule: str, kind: Kind, confidence: float, pattern: str) -> _Cue:
    return _Cue(rule, kind, confidence, re.compile(pattern, re.IGNORECASE))


_CUES = (
    _cue("directive", "preference", 0.9, _LEAD + r"(?:always|never)\s+(?!mind|been|was|had|seen|works?\b|worked)\w+"),
    _cue(
        "directive",
        "preference",
        0.9,
        r"\b(?:you|we|agents?|everyone)\s+(?:should|must|need to|have to)\s+(?:always|never)\b",
    ),
    _cue("directive", "preference", 0.9, r"^(?:from now on|going forward|in future|in the future)\b"),
    _cue("directive", "preference", 0.9, _LEAD + r"(?:don't|do not)\s+ever\b"),
    _cue("remember", "fact", 0.9, r"^(?:please\s+)?(?:remember|keep in mind)(?:\s+that\b|:|,)"),
    _cue("preference", "preference", 0.85, r"^(?:I|we)(?:'d| would)?\s+(?:much\s+|strongly\s+)?prefer\b"),
    _cue(
        "house-rule",
        "preference",
        0.8,
        _LEAD + r"(?:in this (?:project|repo|repository|codebase),?\s+)?(?:we|this (?:project|repo|repository))\s+"
        r"(?:only\s+)?(?:uses?|don't use|do not use|never use|doesn't use)\s+\S.*"
        r"(?:,\s*not\b|\binstead of\b|\bnever\b|\bonly\b|\bnot\s+\w+)",
    ),
    _cue(
        "decision",
        "decision",
        0.8,
        _LEAD + r"(?:we(?:'ve| have)?\s+(?:decided|agreed)\s+(?:to|on|that|not)\b|decision:)",
    ),
)
_CORRECTION = re.compile(
    r"^(?:no|nope|stop|wait|don't|do not)\b[\s,.:;!—–-]*.*\b(?:use|run|call|write|put|edit)\b.*[`/\w]{3,}",
    re.IGNORECASE,
)
_LEADING_NO = re.compile(r"^(?:no|nope|stop|wait|ok(?:ay)?|for the record)[,.:;!]\s+(?=\S{2})", re.IGNORECASE)
_INSTEAD = re.compile(r"\binstead\b|\bnot\b|\bdon't\b|\bdo not\b|[—–,;-]\s*use\b", re.IGNORECASE)


def drafts(session: Session) -> list[Draft]:
    found: list[Draft] = []
    stopped = False
    for index, message in enumerate(session.messages):
        if message.origin == "user" and not session.subagent and session.format not in _NOBODY_TYPES:
            found.extend(_from_message(index, message, after_interruption=stopped))
        stopped = _was_stopped(message) or (stopped and message.role != "assistant" and message.origin != "user")
    return found


def _was_stopped(message: Message) -> bool:
    return message.text == INTERRUPTED or any(
        result.evidence in ("rejected", "interrupted") for result in message.results
    )


def _from_message(index: int, message: Message, *, after_interruption: bool) -> list[Draft]:
    typed = _QUOTED_BLOCKS.sub("\n", message.text)
    if len(typed) > _LONGEST_TYPED:
        return []  # a paste: what of it are the user's own words cannot be told
    sentences = [" ".join(part.split()) for part in _SENTENCES.split(typed)]
    found = []
    for sentence in sentences:
        if not SHORTEST <= len(sentence) <= LONGEST or _LOG_LINE.search(sentence):
            continue
        if _QUESTION.search(sentence) or _ABOUT_THIS_ONCE.search(sentence) or _POINTS_BACK.search(sentence):
            continue
        cue = next((cue for cue in _CUES if cue.pattern.search(sentence)), None)
        if cue is not None:
            found.append(_draft(index, sentence, cue.kind, cue.confidence, f"user-{cue.rule}"))
        elif _CORRECTION.search(sentence) and _INSTEAD.search(sentence):
            # Most corrections are about the moment; one that names a command after a stop is a rule.
            confidence = 0.8 if after_interruption and "`" in sentence else 0.6
            found.append(_draft(index, sentence, "preference", confidence, "user-correction"))
    return found


def _draft(index: int, sentence: str, kind: Kind, confidence: float, rule: str) -> Draft:
    plain = _LEADING_NO.sub("", sentence)
    text = plain[0].upper() + plain[1:]
    return Draft(
        kind=kind,
        text=text if text.endswith((".", "!")) else text + ".",
        confidence=confidence,
        rule=rule,
        source=Source(message_index=index, quote=sentence, origin="user"),
    )
