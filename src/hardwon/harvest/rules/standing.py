"""Whether a sentence lays something down for good: by its form, how general it is and what reason it gives.

A cue of `cues.py` is a phrase that says so by itself. Most people use none of them: what tells a rule from the task of
the moment is then several weak signs together, so they are added up.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hardwon.harvest.rules import lazily
from hardwon.harvest.rules.wording import practice, specific
from hardwon.model.lesson import Kind

_ENOUGH, _ENOUGH_IN_A_REQUEST = 3, 4
_FEWEST_WORDS, _MOST_WORDS = 4, 45

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
_OBLIGES = lazily.pattern(
    r"\b(?:you|we|agents?|everyone|they)\s+(?:\w+ ){0,2}?(?:should|shouldn't|must|mustn't|have to|need to|ought to)\b|"
    r"\b(?:you|we)(?:'re| are| were) (?:not )?(?:supposed|allowed|meant) to\b|"
    r"\bwe (?:\w+ )?(?:don't )?want to (?:use|keep|have|avoid|support|stay|follow)\b",
    re.IGNORECASE,
)
_WANTS = lazily.pattern(
    r"\b(?:I|we)(?:'d| would| really| actually| definitely| basically| only| also)*\s+"
    r"(?:(?:do not|don't|never) )?(?:want|like|need|care about|prefer|expect)\b",
    re.IGNORECASE,
)
_HOLDS = lazily.pattern(
    r"^(?!(?:you|we|I|it|this|that|they|these|those|there|he|she)\b)[\w`./@*:'-]+(?: [\w`./@*:'-]+){0,6}? "
    r"(?:should|shouldn't|must|mustn't|needs? to|has to|have to|can only|may only|stays?|remains?)\b",
    re.IGNORECASE,
)
_ORDERS = lazily.pattern(
    r"^(?:let'?s? )?(?:always |only |just )?(?:use|run|keep|put|follow|ask|commit|push|deploy|"
    r"write|name|call|prefer|stick|treat|assume|make sure|ensure|leave|reuse|ignore|skip|go with|respect|match|"
    r"store)\b",
    re.IGNORECASE,
)
_FORBIDS = lazily.pattern(
    r"^(?:do not|don't|never|avoid|stop|no more)\b|\b(?:must not|mustn't|should not|shouldn't|not allowed|"
    r"(?:we|you|to|should|must) never|(?:don't|do not) want|not acceptable|(?:you|we) (?:can't|cannot))\b",
    re.IGNORECASE,
)
_AT_ALL_TIMES = lazily.pattern(
    r"\b(?:always|never|ever|every|each|whenever|everywhere|in general|generally|by default|as usual|as a rule|"
    r"exclusively|going forward|in (?:the )?future)\b",
    re.IGNORECASE,
)
_OF_ALL = lazily.pattern(r"\b(?:any|all|entire|whole|across the|default)\b", re.IGNORECASE)
_ON_CONDITION = lazily.pattern(
    r"\b(?:when|before|after|while|if|unless|until|once)\s+(?:you|we|\w+ing\b)", re.IGNORECASE
)
_GIVES_A_REASON = lazily.pattern(
    r"\b(?:because|since|otherwise|so that|to avoid|due to|that is why|that's why|even (?:if|though)|in case|"
    r"as (?:it|they|we) (?:is|are|will|would|need))\b",
    re.IGNORECASE,
)
_CONTRASTS = lazily.pattern(
    r"\b(?:instead of|rather than|unless|except|not just|but not|only|without)\b|,\s+(?:and )?not\b", re.IGNORECASE
)
_CORRECTS = lazily.pattern(r"\bshould(?:'ve| have)? (?:be|been) \w+ing\b", re.IGNORECASE)
_PART_OF_IT = lazily.pattern(
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
_THE_TASK = lazily.pattern(
    rf"^(?:let'?s? |now |then |also |just |first )*{_DONE_ONCE}|"
    rf"\b(?:I|we|you) (?:\w+ )?(?:should|must|need|have|want|like)(?: you)?(?: to)? (?:also |just |now )?{_DONE_ONCE}",
    re.IGNORECASE,
)
_AT_HAND = lazily.pattern(
    r"\b(?:this|that|these|those)\b(?! (?:project|repo|codebase|work|is why))|\b(?:here|there|above|below|it|as well|"
    r"too)\b|"
    r"^\S+ \S+ the \w+\W*$|\bthe (?:provided|given|existing|same|new|old|current|first|second|other|following)\b",
    re.IGNORECASE,
)
_PASSING = lazily.pattern(
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
_ON_SCREEN = lazily.pattern(
    r"\b(?:screens?|buttons?|modals?|icons?|colou?rs?|fonts?|headers?|footers?|menus?|labels?|padding|margins?|"
    r"centered|"
    r"layout|columns?|tabs|clicks?|clicking|drop-?downs?|tooltips?|placeholders?|sidebar|animation)\b",
    re.IGNORECASE,
)
_OF_A_SYMBOL = lazily.pattern(
    r"^(?:the )?`?(?:[a-z]+_\w+|[a-zA-Z]+[a-z](?-i:[A-Z])\w*|\w+\(\))`? (?:should|shouldn't|must|needs? to|has to)\b",
    re.IGNORECASE,
)
_PROPOSES = lazily.pattern(r"^let'?s\b", re.IGNORECASE)
_REPORTS = lazily.pattern(
    r"^\w*(?:Error|Exception|Warning)\b|\b(?:should|must|need to|have to) (?:also )?be able\b|^as a result\b|"
    r"^\S+ is \w+ed\b|"
    r"^(?:don't|do|does|did|isn't|aren't|can't|won't|shouldn't|should|must) (?:we|you|I|it|they|this|that)\b",
    re.IGNORECASE,
)
_NUMBER = lazily.pattern(r"(?:^|\b[a-z]\S* |[(<>] ?)\d+(?:px|%|x\d+)?(?![\w.])")
"""A number that is no version: one stands after a name."""


class Laid(NamedTuple):
    kind: Kind
    weight: int


def orders(sentence: str) -> bool:
    """It tells how to work: said twice in a session, it is a rule and not a step."""
    return bool(_ORDERS.search(sentence))


def laid_down(sentence: str, *, first: bool, repeated: bool = False) -> Laid | None:
    """What kind of rule a sentence is; None when it is none, or too little speaks for it.

    `sentence` is spelled out and without the words that lead up to it (`wording.spelled`, `cues.without_lead`).
    """
    if "?" in sentence or not _FEWEST_WORDS <= sentence.count(" ") + 1 <= _MOST_WORDS:
        return None
    ordered = _ORDERS.match(sentence)
    if ordered is None and not any(word in sentence.lower() for word in _WORDS):
        return None
    holds, forbids = _HOLDS.match(sentence), _FORBIDS.search(sentence)
    obliges = bool(ordered or holds or forbids or _OBLIGES.search(sentence))
    wants = not obliges and bool(_WANTS.search(sentence))
    if not (obliges or wants) or (first and _PROPOSES.match(sentence)) or _REPORTS.search(sentence):
        return None
    enough = _ENOUGH_IN_A_REQUEST if first else _ENOUGH
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
