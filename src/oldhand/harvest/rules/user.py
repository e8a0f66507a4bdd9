"""What the user said in so many words: directives, preferences, corrections."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from oldhand.failures.commands import brief
from oldhand.harvest.rules.rule import Rule, dropped
from oldhand.harvest.rules.typed import Statement, lasting, plain, specific
from oldhand.model.lesson import Draft, Kind, Source

RULES = (
    Rule("user-directive", 2, ("preference",), "what the user wants always, never, or from now on"),
    Rule("user-remember", 2, ("fact",), "what the user asked to be remembered"),
    Rule("user-preference", 2, ("preference",), "what the user said they prefer"),
    Rule("user-house-rule", 2, ("preference",), "what the project uses and what it does not"),
    Rule("user-correction", 2, ("preference",), "what the user corrected, most of all after stopping the agent"),
)
_LEAD = r"^(?:(?:and|also|please|ok(?:ay)?|so|but|no|remember|important|note|for the record)[,:!]?\s+)*"
_WEAKEST = 0.6


class _Cue(NamedTuple):
    rule: str
    kind: Kind
    confidence: float
    pattern: re.Pattern[str]


def _cue(rule: str, kind: Kind, confidence: float, pattern: str) -> _Cue:
    return _Cue(f"user-{rule}", kind, confidence, re.compile(pattern, re.IGNORECASE))


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
    _cue("directive", "preference", 0.85, _LEAD + r"(?:every time|each time|whenever)\s+you\b.{8,}"),
    _cue("directive", "preference", 0.85, _LEAD + r"(?:make|be) sure (?:you |to |that you )?(?:always|never)\b"),
    _cue("remember", "fact", 0.9, r"^(?:please\s+)?(?:remember|keep in mind|bear in mind)(?:\s+that\b|:|,)"),
    _cue("preference", "preference", 0.85, r"^(?:I|we)(?:'d| would)?\s+(?:much\s+|strongly\s+|really\s+)?prefer\b"),
    _cue("preference", "preference", 0.8, r"^(?:I|we)(?: really| strongly)?\s+(?:dislike|hate|don't like)\b"),
    _cue(
        "house-rule",
        "preference",
        0.8,
        _LEAD + r"(?:in this (?:project|repo|repository|codebase),?\s+)?(?:we|this (?:project|repo|repository))\s+"
        r"(?:only\s+)?(?:uses?|don't use|do not use|never use|doesn't use)\s+\S.*"
        r"(?:,\s*not\b|\binstead of\b|\bnever\b|\bonly\b|\bnot\s+\w+)",
    ),
)  # fmt: skip
# What a program should do, more often than what an agent should.
_ALWAYS_DO = re.compile(
    r"\b(?:always|never|ever)\s+(?!show|display|be\b|do\b|have|make|get|go\b|see\b|return|print|render|include|update|"
    r"the\b|a\b|an\b)[a-z]+(?:\W+\w+){2,}",
    re.IGNORECASE,
)
_OPENS_WITH_NO = re.compile(r"^(?:no+|nope|stop|wait|don't|do not|that's not|thats not)\b", re.IGNORECASE)
_DO = "use|run|call|write|put|mock|lint|edit|import|build|test|go through|push|commit|deploy|install"
_SAYS_WHAT_INSTEAD = re.compile(
    rf"\b(?:{_DO})\b.*(?:\binstead\b|\bnot\b|\bdon't\b|\bdo not\b|\s[—–-]\s(?:use|just|run|mock|put)\b|"
    rf"[,;.]\s+(?:use|just|run|mock|put)\b)|"
    rf"\b(?:don't|do not|not)\s+(?:{_DO}|do an?|touch)\b.*[—–,;.]\s+\w+|"
    rf"^(?:don't|do not)\s+(?:{_DO})\b.*\b(?:use|run|call|mock|just)\b|"
    rf"\b(?:just|only)\s+(?:{_DO})\b|\bthat's what\s+\S+\s+is for\b|"
    r"\b(?:supposed to|should|needs? to) be (?:in|at|under|called|named)\b.*,?\s+not\b",
    re.IGNORECASE,
)
_PATH = re.compile(r"\S*/\S*")
_ONCE = re.compile(
    r"\b(?:add|create|rename|remove|delete|move|drop|show|print|tell|explain|catch|in those tests|function like|"
    r"the comment|commit message|modify)\b|^I\b",
    re.IGNORECASE,
)
_ABOUT_IT = re.compile(r"^(?:no,? |just |then |please )*\w+ (?:it|them)\b", re.IGNORECASE)
_CODE_AT_HAND = re.compile(r"\bself\.|\b\w+\(\)|\b[A-Za-z]+_[A-Z]+\b|\bparam")
_NAMES_COMMAND = re.compile(
    r"^(?:\w+[,.]?\s+)?(?:it's|its|use|run|try|do|just|the command is)\s+`(?P<command>[^`]{3,80})`\W*$", re.IGNORECASE
)


def drafts(said: Sequence[Statement]) -> list[Draft]:
    return [draft for statement in said if (draft := _draft(statement)) is not None]


def _draft(statement: Statement) -> Draft | None:
    sentence = statement.text
    if statement.refused and (named := _NAMES_COMMAND.match(sentence)):
        return _instead(statement, named["command"])
    cue = next((cue for cue in _CUES if cue.pattern.search(sentence)), None)
    if cue is None:
        return _correction(statement)
    draft = _said(statement, cue.kind, cue.confidence, cue.rule)
    if not lasting(sentence):
        return dropped(draft, "about the moment")
    says_what = cue.rule != "user-directive" or _ALWAYS_DO.search(sentence) or specific(sentence)
    return draft if says_what else dropped(draft, "names nothing")


def _instead(statement: Statement, command: str) -> Draft | None:
    refused = brief(statement.refused.replace("2>&1", "").strip(), 60)
    draft = _said(statement, "preference", 0.8, "user-correction")
    return replace(draft, text=f"Use `{command}`, not `{refused}`.") if "…" not in refused else None


def _correction(statement: Statement) -> Draft | None:
    """Most corrections are about the moment: one must say what to do instead, and name it."""
    sentence = statement.text
    opens = bool(_OPENS_WITH_NO.search(sentence))
    if not (opens or statement.stopped) or not _SAYS_WHAT_INSTEAD.search(_PATH.sub("/", sentence)):
        return None
    # One after a stop is a rule.
    draft = _said(statement, "preference", 0.8 if statement.stopped else _WEAKEST, "user-correction")
    if statement.first and not opens:
        return dropped(draft, "part of the task")
    if not lasting(sentence) or _ONCE.search(sentence) or _ABOUT_IT.search(sentence):
        return dropped(draft, "about the moment")
    if _CODE_AT_HAND.search(sentence):
        return dropped(draft, "about the code at hand")
    return draft if specific(sentence) else dropped(draft, "names nothing")


def _said(statement: Statement, kind: Kind, confidence: float, rule: str) -> Draft:
    return Draft(
        kind=kind,
        text=plain(statement.text),
        confidence=confidence,
        rule=rule,
        source=Source(message_index=statement.message, quote=statement.text, origin="user"),
    )
