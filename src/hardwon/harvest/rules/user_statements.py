"""What the user laid down: in so many words, by several weak signs together, or by saying it twice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from hardwon.failures.tools import brief
from hardwon.harvest.rules.lesson_rule import Rule, dropped
from hardwon.harvest.rules.sentences import (
    Cue,
    Statement,
    cued,
    fact,
    lasting,
    plain,
    practice,
    specific,
    spelled,
    without_lead,
)
from hardwon.model.lesson import Draft, Kind, Source
from hardwon.text.lazy_pattern import lazy_pattern
from hardwon.text.words import terms

# Whether a sentence lays something down for good: by its form, how general it is and what reason it gives.

_WEIGHT_OF_A_RULE, _WEIGHT_OF_A_RULE_IN_A_REQUEST = 3, 4
_FEWEST_WORDS_OF_A_RULE, _MOST_WORDS_OF_A_RULE = 4, 45

_WORDS = (
    *(
        "should",
        "must",
        "need",
        "have to",
        "has to",
        "ought",
        "supposed",
        "allowed",
        "meant to",
        "only",
        "stay",
        "remain",
    ),
    *("want", "like", "care about", "prefer", "expect", "never", "n't", "not ", "avoid", "stop", "no more"),
)
"""One of them stands in every sentence of the forms below, but for a plain order."""
_OBLIGES = lazy_pattern(
    r"\b(?:you|we|agents?|everyone|they)\s+(?:\w+ ){0,2}?(?:should|shouldn't|must|mustn't|have to|need to|ought to)\b|"
    r"\b(?:you|we)(?:'re| are| were) (?:not )?(?:supposed|allowed|meant) to\b|"
    r"\bwe (?:\w+ )?(?:don't )?want to (?:use|keep|have|avoid|support|stay|follow)\b",
    re.IGNORECASE,
)
_WANTS = lazy_pattern(
    r"\b(?:I|we)(?:'d| would| really| actually| definitely| basically| only| also)*\s+"
    r"(?:(?:do not|don't|never) )?(?:want|like|need|care about|prefer|expect)\b",
    re.IGNORECASE,
)
_HOLDS = lazy_pattern(
    r"^(?!(?:you|we|I|it|this|that|they|these|those|there|he|she)\b)[\w`./@*:'-]+(?: [\w`./@*:'-]+){0,6}? "
    r"(?:should|shouldn't|must|mustn't|needs? to|has to|have to|can only|may only|stays?|remains?)\b",
    re.IGNORECASE,
)
_ORDERS = lazy_pattern(
    r"^(?:let'?s? )?(?:always |only |just )?(?:use|run|keep|put|follow|ask|commit|push|deploy|"
    r"write|name|call|prefer|stick|treat|assume|make sure|ensure|leave|reuse|ignore|skip|go with|respect|match|"
    r"store)\b",
    re.IGNORECASE,
)
_FORBIDS = lazy_pattern(
    r"^(?:do not|don't|never|avoid|stop|no more)\b|\b(?:must not|mustn't|should not|shouldn't|not allowed|"
    r"(?:we|you|to|should|must) never|(?:don't|do not) want|not acceptable|(?:you|we) (?:can't|cannot))\b",
    re.IGNORECASE,
)
_AT_ALL_TIMES = lazy_pattern(
    r"\b(?:always|never|ever|every|each|whenever|everywhere|in general|generally|by default|as usual|as a rule|"
    r"exclusively|going forward|in (?:the )?future)\b",
    re.IGNORECASE,
)
_OF_ALL = lazy_pattern(r"\b(?:any|all|entire|whole|across the|default)\b", re.IGNORECASE)
_ON_CONDITION = lazy_pattern(r"\b(?:when|before|after|while|if|unless|until|once)\s+(?:you|we|\w+ing\b)", re.IGNORECASE)
_GIVES_A_REASON = lazy_pattern(
    r"\b(?:because|since|otherwise|so that|to avoid|due to|that is why|that's why|even (?:if|though)|in case|"
    r"as (?:it|they|we) (?:is|are|will|would|need))\b",
    re.IGNORECASE,
)
_CONTRASTS = lazy_pattern(
    r"\b(?:instead of|rather than|unless|except|not just|but not|only|without)\b|,\s+(?:and )?not\b", re.IGNORECASE
)
_CORRECTS = lazy_pattern(r"\bshould(?:'ve| have)? (?:be|been) \w+ing\b", re.IGNORECASE)
_PART_OF_IT = lazy_pattern(
    r"\b(?:the|our) [\w-]+ (?:module|service|class|helper|component|trait|(?:sub-?)?agents?|skill|package|factory|"
    r"wrapper|"
    r"mixin|middleware|decorator|MCP|script)\b|(?<=[a-z] )(?!I\b)(?-i:[A-Z][a-z]{2,}\b)",
    re.IGNORECASE,
)
_DONE_ONCE = (
    r"(?!make sure\b|do(?: not|n't)\b)(?:add|creat|fix|remov|delet|renam|mak|updat|chang|implement|build|show|mov|"
    r"refactor|replac|convert|generat|complet|finish|continu|start|open|look|check|review|read|explain|tell|give|help|"
    r"find|see|do|get|try|set|drop|rewrit|redo|sort|merg|revert|undo|clean|investigat|analy[sz]|debug|wir|extract|copy|"
    r"split|install|talk|go)\w{0,3}\b"
)
_THE_TASK = lazy_pattern(
    rf"^(?:let'?s? |now |then |also |just |first )*{_DONE_ONCE}|"
    rf"\b(?:I|we|you) (?:\w+ )?(?:should|must|need|have|want|like)(?: you)?(?: to)? (?:also |just |now )?{_DONE_ONCE}",
    re.IGNORECASE,
)
_AT_HAND = lazy_pattern(
    r"\b(?:this|that|these|those)\b(?! (?:project|repo|codebase|work|is why))|\b(?:here|there|above|below|it|as well|"
    r"too)\b|"
    r"^\S+ \S+ the \w+\W*$|\bthe (?:provided|given|existing|same|new|old|current|first|second|other|following)\b",
    re.IGNORECASE,
)
_PASSING = lazy_pattern(
    r"\b(?:when|once|if|after) (?:you(?:'re| are)? )?(?:done|finished|ready|complete|needed|necessary|"
    r"possible|need|want)\b|"
    r"\b(?:for now|right now|at the moment|this time|today|tonight|now|again|still|yet|later|earlier|"
    r"(?:I|you|we|it) (?:just |already |also )?(?:ran|did|didn't|got|get|tried|added|removed|created|made|saw|see|"
    r"noticed|broke|changed|deleted|was|were(?! supposed)|had(?! been)|think|guess|assume|feel|wonder|missed|forgot)|"
    r"works|worked|(?:n't|not) work\w*|failed|"
    r"fails?|failing|broken|error|bug|crash\w*|looks?|seems?|maybe|perhaps|probably|sorry|thanks?)\b|"
    r"\b(?:image|screenshot|pasted|attached|option|step|phase|part|line|row|column|commit) ?#?\d|#\d|\bL\d+|\[[A-Z]",
    re.IGNORECASE,
)
_ON_SCREEN = lazy_pattern(
    r"\b(?:screens?|buttons?|modals?|icons?|colou?rs?|fonts?|headers?|footers?|menus?|labels?|padding|margins?|"
    r"centered|"
    r"layout|columns?|tabs|clicks?|clicking|drop-?downs?|tooltips?|placeholders?|sidebar|animation)\b",
    re.IGNORECASE,
)
_OF_A_SYMBOL = lazy_pattern(
    r"^(?:the )?`?(?:[a-z]+_\w+|[a-zA-Z]+[a-z](?-i:[A-Z])\w*|\w+\(\))`? (?:should|shouldn't|must|needs? to|has to)\b",
    re.IGNORECASE,
)
_PROPOSES = lazy_pattern(r"^let'?s\b", re.IGNORECASE)
_REPORTS = lazy_pattern(
    r"^\w*(?:Error|Exception|Warning)\b|\b(?:should|must|need to|have to) (?:also )?be able\b|^as a result\b|"
    r"^\S+ is \w+ed\b|"
    r"^(?:don't|do|does|did|isn't|aren't|can't|won't|shouldn't|should|must) (?:we|you|I|it|they|this|that)\b",
    re.IGNORECASE,
)
_NUMBER = lazy_pattern(r"(?:^|\b[a-z]\S* |[(<>] ?)\d+(?:px|%|x\d+)?(?![\w.])")
"""A number that is no version: one stands after a name."""


class Laid(NamedTuple):
    kind: Kind
    weight: int


def orders(sentence: str) -> bool:
    """It tells how to work: said twice in a session, it is a rule and not a step."""
    return bool(_ORDERS.search(sentence))


def laid_down(sentence: str, *, first: bool, repeated: bool = False) -> Laid | None:
    """What kind of rule a sentence is; None when it is none, or too little speaks for it.

    `sentence` is spelled out and without the words that lead up to it (`spelled` and `without_lead` of `sentences.py`).
    """
    if "?" in sentence or not _FEWEST_WORDS_OF_A_RULE <= sentence.count(" ") + 1 <= _MOST_WORDS_OF_A_RULE:
        return None
    ordered = _ORDERS.match(sentence)
    if ordered is None and not any(word in sentence.lower() for word in _WORDS):
        return None
    holds, forbids = _HOLDS.match(sentence), _FORBIDS.search(sentence)
    obliges = bool(ordered or holds or forbids or _OBLIGES.search(sentence))
    wants = not obliges and bool(_WANTS.search(sentence))
    if not (obliges or wants) or (first and _PROPOSES.match(sentence)) or _REPORTS.search(sentence):
        return None
    enough = _WEIGHT_OF_A_RULE_IN_A_REQUEST if first else _WEIGHT_OF_A_RULE
    signs = _signs(sentence)
    weight = obliges + 2 * repeated + signs + bool(forbids and signs)  # most prohibitions are of the task at hand
    if weight < enough - 1:
        return None
    weight -= _doubts(sentence)
    if weight < enough - 1:
        return None
    names = specific(sentence) or bool(_PART_OF_IT.search(sentence))
    if weight + names < enough or not (names or practice(sentence)):
        return None
    return Laid("decision" if (holds or wants) and not ordered else "preference", weight + names)


def _signs(sentence: str) -> int:
    """What speaks for a rule."""
    return (
        2 * bool(_AT_ALL_TIMES.search(sentence))
        + bool(_OF_ALL.search(sentence))
        + bool(_ON_CONDITION.search(sentence))
        + bool(_GIVES_A_REASON.search(sentence))
        + bool(_CONTRASTS.search(sentence))
        + bool(_CORRECTS.search(sentence))
    )


def _doubts(sentence: str) -> int:
    """What speaks for the task of the moment, or for a report."""
    return (
        2 * bool(_THE_TASK.search(sentence))
        + 2 * bool(_OF_A_SYMBOL.search(sentence))
        + 3 * bool(_PASSING.search(sentence))
        + bool(_AT_HAND.search(sentence))
        + bool(_ON_SCREEN.search(sentence))
        + bool(_NUMBER.search(sentence))
    )


# What the user had to say twice: an order that comes back in a session is a rule, not a step.

_SHARE_OF_WORDS_IN_A_REPEAT = 0.75
"""The share of the shorter one's words that the other has, too."""
_FEWEST_TERMS_OF_A_REPEAT = 2


def said_again(said: Sequence[Statement]) -> set[tuple[int, str]]:
    """Message and text of every order that another message repeats, in its shortest form.

    A message that was only sent again does not count.
    """
    ordered = [one for one in said if not one.first and orders(without_lead(one.text))]
    if not ordered or ordered[0].message == ordered[-1].message:
        return set()
    whole: dict[int, tuple[str, ...]] = defaultdict(tuple)
    for one in said:
        whole[one.message] += (one.text,)
    known = [(one, frozenset(terms(one.text))) for one in ordered]
    return {
        (one.message, one.text)
        for at, (one, words) in enumerate(known)
        if any(
            _same(words, others) and whole[other.message] != whole[one.message]
            for later, (other, others) in enumerate(known)
            if (len(words), at) < (len(others), later) and other.message != one.message
        )
    }


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    fewer = min(len(one), len(other))
    return fewer >= _FEWEST_TERMS_OF_A_REPEAT and len(one & other) >= _SHARE_OF_WORDS_IN_A_REPEAT * fewer


# What the user said in so many words: directives, preferences, corrections.

RULES = (
    Rule("user-directive", 4, ("preference",), "what the user wants always, never, or from now on"),
    Rule("user-permission", 2, ("preference",), "what the user wants to be asked before"),
    Rule("user-condition", 2, ("preference",), "what the user wants done whenever something else is"),
    Rule("user-remember", 3, ("fact", "preference"), "what the user asked to be remembered"),
    Rule("user-preference", 4, ("preference",), "what the user said they prefer"),
    Rule("user-house-rule", 3, ("preference",), "what the project uses or does, and what it does not"),
    Rule("user-location", 2, ("fact",), "where the user says that a part of the project is"),
    Rule("user-about-project", 2, ("fact",), "what the user says that the project is, or has several of"),
    Rule("user-environment", 1, ("fact",), "where the user says that it all runs"),
    Rule("user-standing", 1, ("preference", "decision"), "what sounds like a rule by form, generality and reason"),
    Rule("user-prohibition", 2, ("preference",), "what the user does not want done, said after the first request"),
    Rule("user-correction", 3, ("preference",), "what the user corrected, most of all after stopping the agent"),
)
_CONFIDENCE_OF_A_CORRECTION = 0.6
_CONFIDENCE_OF_WEAK_SIGNS = 0.65
_FEWEST_WORDS_OF_A_CUE = 3


# What a program should do, more often than what an agent should.
_ALWAYS_DO = lazy_pattern(
    r"\b(?:always|never|ever)\s+(?!show|display|be\b|do\b|have|make|get|go\b|see\b|return|print|render|include|update|"
    r"the\b|a\b|an\b)[a-z]+(?:\W+\w+){2,}",
    re.IGNORECASE,
)
_OPENS_WITH_NO = lazy_pattern(r"^(?:no+|nope|stop|wait|don't|do not|that's not|thats not)\b", re.IGNORECASE)
_DO = "use|run|call|write|put|mock|lint|edit|import|build|test|go through|push|commit|deploy|install"
_SAYS_WHAT_INSTEAD = lazy_pattern(
    rf"\b(?:{_DO})\b.*(?:\binstead\b|\bnot\b|\bdon't\b|\bdo not\b|\s[—–-]\s(?:use|just|run|mock|put)\b|"
    rf"[,;.]\s+(?:use|just|run|mock|put)\b|,\s+no\b)|"
    rf"\b(?:don't|do not|not)\s+(?:{_DO}|do an?|touch)\b.*[—–,;.]\s+\w+|"
    rf"^(?:don't|do not)\s+(?:{_DO})\b.*\b(?:use|run|call|mock|just)\b|"
    rf"\b(?:just|only)\s+(?:{_DO})\b|\bthat's what\s+\S+\s+is for\b|"
    r"\b(?:supposed to|should|needs? to) be (?:in|at|under|called|named)\b.*,?\s+not\b",
    re.IGNORECASE,
)
_USE_NOT = lazy_pattern(
    rf"^(?:{_DO}|keep|name|store|move to|stick (?:to|with))\b.*(?:\binstead of\b|\brather than\b|\bnot (?:in|at|"
    rf"under|the|"
    r"with|plain|directly)\b|,\s*(?:and )?(?:no|not|never)\b)",
    re.IGNORECASE,
)
_SHOULD = lazy_pattern(
    r"^(?!(?:we|you|I|it|this|that|they|these|those|there)\b|.*\balso\b)(?:(?:the|all|"
    r"our)\s+)?[\w`./()-]+(?:\s+\w+)?\s+(?:should|must|needs? to|has to)\s+(?!be (?:able|that|"
    r"it)\b)\w+\s.{10,}",
    re.IGNORECASE,
)
_PATH = lazy_pattern(r"\S*/\S*")
_ONCE = lazy_pattern(
    r"\b(?:add|create|rename|remove|delete|move|drop|show|tell|explain|catch|in those tests|function like|"
    r"the comment|commit message|modify)\b|^I\b",
    re.IGNORECASE,
)
_ABOUT_IT = lazy_pattern(r"^(?:no,? |just |then |please )*\w+ (?:it|them)\b", re.IGNORECASE)
_ALL_ELSE = lazy_pattern(r"\b(?:other|others|else|another|the rest)\b", re.IGNORECASE)
"""What the task is not about."""
_ONE_FILE = lazy_pattern(
    r"\b(?:touch|modify|chang|edit|delet|remov|renam|refactor|reformat|rewrit|mov|updat)(?:e|ing|ify|ifying)?\s+"
    r"(?:the |@)?`?[\w.@/-]*\.[a-z]{1,5}`?(?![\w/*])",
    re.IGNORECASE,
)
_CODE_AT_HAND = lazy_pattern(r"\bself\.|\b\w+\(\)|\b[A-Za-z]+_[A-Z]+\b|\bparam")
_DOES_IT = lazy_pattern(r"[,:]\s*(?:\w+ )?\w+ (?:it|them|that)\b", re.IGNORECASE)
_CHANGES_A_SYMBOL = lazy_pattern(
    r"\b(?:modif|chang|edit|renam|touch|remov|delet|refactor|wrap|return|throw|rais|cach|stor)\w*\s+(?:\w+ )?(?:`\w+`|"
    r"[a-z]+_\w+(?![\w.]*/)|[a-z]+[A-Z]\w*)",
)
_NAMES_COMMAND = lazy_pattern(
    r"^(?:\w+[,.]?\s+)?(?:it's|its|use|run|try|do|just|the command is)\s+`(?P<command>[^`]{3,80})`\W*$", re.IGNORECASE
)


def drafts(said: Sequence[Statement]) -> list[Draft]:
    return [draft for statement in said if (draft := _draft(statement)) is not None]


def standing(said: Sequence[Statement], known: Collection[tuple[int, str]]) -> list[Draft]:
    """What no phrase gives away, of the sentences that no other rule speaks for."""
    again = said_again(said)
    found = []
    for statement in said:
        place = statement.message, statement.text
        if place in known:
            continue
        laid = laid_down(without_lead(spelled(statement.text)), first=statement.first, repeated=place in again)
        if laid is not None:
            found.append(_said(statement, laid.kind, _CONFIDENCE_OF_WEAK_SIGNS, "user-standing"))
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
    enough = not counted or len(sentence.split()) >= _FEWEST_WORDS_OF_A_CUE
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
    draft = _said(statement, "preference", 0.8 if statement.stopped else _CONFIDENCE_OF_A_CORRECTION, "user-correction")
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
