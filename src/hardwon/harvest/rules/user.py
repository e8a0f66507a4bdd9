"""What the user said in so many words: directives, preferences, corrections."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from hardwon.failures.tools import brief
from hardwon.harvest.rules import lazily, repeats
from hardwon.harvest.rules.cues import Cue, cued, without_lead
from hardwon.harvest.rules.rule import Rule, dropped
from hardwon.harvest.rules.standing import laid_down
from hardwon.harvest.rules.typed import Statement
from hardwon.harvest.rules.wording import fact, lasting, plain, practice, specific, spelled
from hardwon.model.lesson import Draft, Kind, Source

RULES = (
    Rule("user-directive", 4, ("preference",), "what the user wants always, never, or from now on"),
    Rule("user-permission", 2, ("preference",), "what the user wants to be asked before"),
    Rule("user-condition", 2, ("preference",), "what the user wants done whenever something else is"),
    Rule("user-remember", 3, ("fact", "preference"), "what the user asked to be remembered"),
    Rule("user-preference", 4, ("preference",), "what the user said they prefer"),
    Rule("user-house-rule", 3, ("preference",), "what the project uses or does, and what it does not"),
    Rule("user-location", 2, ("fact",), "where the user says that a part of the project is, or on which port it runs"),
    Rule("user-about-project", 2, ("fact",), "what the user says of the project: generated, deprecated, supported"),
    Rule("user-environment", 1, ("fact",), "where the user says that it all runs, and what is installed there"),
    Rule("user-standing", 1, ("preference", "decision"), "what sounds like a rule by form, generality and reason"),
    Rule("user-prohibition", 2, ("preference",), "what the user does not want done, said after the first request"),
    Rule("user-correction", 3, ("preference",), "what the user corrected, most of all after stopping the agent"),
)
_WEAKEST = 0.6
_STANDING = 0.65
_FEWEST_WORDS = 3


# What a program should do, more often than what an agent should.
_ALWAYS_DO = lazily.pattern(
    r"\b(?:always|never|ever)\s+(?!show|display|be\b|do\b|have|make|get|go\b|see\b|return|print|render|include|update|"
    r"the\b|a\b|an\b)[a-z]+(?:\W+\w+){2,}",
    re.IGNORECASE,
)
_OPENS_WITH_NO = lazily.pattern(r"^(?:no+|nope|stop|wait|don't|do not|that's not|thats not)\b", re.IGNORECASE)
_DO = "use|run|call|write|put|mock|lint|edit|import|build|test|go through|push|commit|deploy|install"
_SAYS_WHAT_INSTEAD = lazily.pattern(
    rf"\b(?:{_DO})\b.*(?:\binstead\b|\bnot\b|\bdon't\b|\bdo not\b|\s[—–-]\s(?:use|just|run|mock|put)\b|"
    rf"[,;.]\s+(?:use|just|run|mock|put)\b|,\s+no\b)|"
    rf"\b(?:don't|do not|not)\s+(?:{_DO}|do an?|touch)\b.*[—–,;.]\s+\w+|"
    rf"^(?:don't|do not)\s+(?:{_DO})\b.*\b(?:use|run|call|mock|just)\b|"
    rf"\b(?:just|only)\s+(?:{_DO})\b|\bthat's what\s+\S+\s+is for\b|"
    r"\b(?:supposed to|should|needs? to) be (?:in|at|under|called|named)\b.*,?\s+not\b",
    re.IGNORECASE,
)
_USE_NOT = lazily.pattern(
    rf"^(?:{_DO}|keep|name|store|move to|stick (?:to|with))\b.*(?:\binstead of\b|\brather than\b|\bnot (?:in|at|"
    rf"under|the|"
    r"with|plain|directly)\b|,\s*(?:and )?(?:no|not|never)\b)",
    re.IGNORECASE,
)
_SHOULD = lazily.pattern(
    r"^(?!(?:we|you|I|it|this|that|they|these|those|there)\b|.*\balso\b)(?:(?:the|all|"
    r"our)\s+)?[\w`./()-]+(?:\s+\w+)?\s+(?:should|must|needs? to|has to)\s+(?!be (?:able|that|"
    r"it)\b)\w+\s.{10,}",
    re.IGNORECASE,
)
_PATH = lazily.pattern(r"\S*/\S*")
_ONCE = lazily.pattern(
    r"\b(?:add|create|rename|remove|delete|move|drop|show|tell|explain|catch|in those tests|function like|"
    r"the comment|commit message|modify)\b|^I\b",
    re.IGNORECASE,
)
_ABOUT_IT = lazily.pattern(r"^(?:no,? |just |then |please )*\w+ (?:it|them)\b", re.IGNORECASE)
_ALL_ELSE = lazily.pattern(r"\b(?:other|others|else|another|the rest)\b", re.IGNORECASE)
"""What the task is not about."""
_ONE_FILE = lazily.pattern(
    r"\b(?:touch|modify|chang|edit|delet|remov|renam|refactor|reformat|rewrit|mov|updat)(?:e|ing|ify|ifying)?\s+"
    r"(?:the |@)?`?[\w.@/-]*\.[a-z]{1,5}`?(?![\w/*])",
    re.IGNORECASE,
)
_CODE_AT_HAND = lazily.pattern(r"\bself\.|\b\w+\(\)|\b[A-Za-z]+_[A-Z]+\b|\bparam")
_DOES_IT = lazily.pattern(r"[,:]\s*(?:\w+ )?\w+ (?:it|them|that)\b", re.IGNORECASE)
_CHANGES_A_SYMBOL = lazily.pattern(
    r"\b(?:modif|chang|edit|renam|touch|remov|delet|refactor|wrap|return|throw|rais|cach|stor)\w*\s+(?:\w+ )?(?:`\w+`|"
    r"[a-z]+_\w+(?![\w.]*/)|[a-z]+[A-Z]\w*)",
)
_NAMES_COMMAND = lazily.pattern(
    r"^(?:\w+[,.]?\s+)?(?:it's|its|use|run|try|do|just|the command is)\s+`(?P<command>[^`]{3,80})`\W*$", re.IGNORECASE
)


def drafts(said: Sequence[Statement]) -> list[Draft]:
    return [draft for statement in said if (draft := _draft(statement)) is not None]


def standing(said: Sequence[Statement], known: Collection[tuple[int, str]]) -> list[Draft]:
    """What no phrase gives away, of the sentences that no other rule speaks for."""
    again = repeats.said_again(said)
    found = []
    for statement in said:
        place = statement.message, statement.text
        if place in known:
            continue
        laid = laid_down(without_lead(spelled(statement.text)), first=statement.first, repeated=place in again)
        if laid is not None:
            found.append(_said(statement, laid.kind, _STANDING, "user-standing"))
    return found


def _draft(statement: Statement) -> Draft | None:
    sentence = statement.text
    if statement.refused and (named := _NAMES_COMMAND.match(sentence)):
        return _instead(statement, named["command"])
    said = without_lead(spelled(sentence))
    cue, found = cued(said) or (None, None)
    if cue is None or found is None or cue.rule == "user-prohibition":
        correction = _correction(statement)  # what to do instead says more than what not to do
        if cue is None or found is None or (correction is not None and not correction.dropped):
            return correction
    draft = _said(statement, cue.kind, cue.confidence, cue.rule)
    return dropped(draft, _shortcoming(statement, cue, said[found.end() - 1 :]))


def _shortcoming(statement: Statement, cue: Cue, rest: str) -> str:
    sentence = spelled(statement.text)
    if statement.first and not cue.standing:
        return "part of the task"
    if not lasting(sentence, by_itself=cue.kind != "fact") or (
        cue.rule == "user-condition" and _DOES_IT.search(sentence)
    ):
        return "about the moment"
    forbids = cue.rule == "user-prohibition"
    if forbids and (_ALL_ELSE.search(sentence) or _ONE_FILE.search(sentence)):
        return "part of the task"
    if forbids and (_CODE_AT_HAND.search(sentence) or _CHANGES_A_SYMBOL.search(sentence)):
        return "about the code at hand"
    about = rest if forbids else sentence
    says_what = not cue.names or specific(about) or practice(about)
    if cue.rule == "user-directive":
        says_what = says_what or bool(_ALWAYS_DO.search(sentence))
    counted = sentence.isascii()  # where words are written together they cannot be counted
    enough = not counted or len(sentence.split()) >= _FEWEST_WORDS
    return "" if says_what and enough else "names nothing"


def _instead(statement: Statement, command: str) -> Draft | None:
    refused = brief(statement.refused.replace("2>&1", "").strip(), 60)
    draft = _said(statement, "preference", 0.8, "user-correction")
    return replace(draft, text=f"Use `{command}`, not `{refused}`.") if "…" not in refused else None


def _correction(statement: Statement) -> Draft | None:
    """Most corrections are about the moment: one must say what to do instead, and name it."""
    sentence = statement.text
    opens = bool(_OPENS_WITH_NO.search(sentence))
    reacts = (opens or statement.stopped) and _SAYS_WHAT_INSTEAD.search(_PATH.sub("/", sentence))
    reacts = reacts or (statement.stopped and _SHOULD.search(sentence))
    if not reacts and not _USE_NOT.search(without_lead(sentence)):
        return None
    # One after a stop is a rule.
    draft = _said(statement, "preference", 0.8 if statement.stopped else _WEAKEST, "user-correction")
    if (statement.first and not (opens and reacts)) or _ALL_ELSE.search(sentence):
        return dropped(draft, "part of the task")
    if not lasting(sentence) or _ONCE.search(sentence) or _ABOUT_IT.search(sentence):
        return dropped(draft, "about the moment")
    if _CODE_AT_HAND.search(sentence):
        return dropped(draft, "about the code at hand")
    says_what = specific(sentence) or (statement.stopped and _USE_NOT.search(without_lead(sentence)))
    return draft if says_what else dropped(draft, "names nothing")


def _said(statement: Statement, kind: Kind, confidence: float, rule: str) -> Draft:
    return Draft(
        kind=kind,
        text=fact(statement.text) if kind == "fact" else plain(statement.text),
        confidence=confidence,
        rule=rule,
        source=Source(message_index=statement.message, quote=statement.text, origin="user"),
    )
