"""How much meaning counts against words, told from the question and from how clearly words single something out.

The weights are those that `make train-fusion` finds; docs/retrieval.md has what they are worth elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hardwon.clock import moment
from hardwon.text.normalise import lazy_pattern

WEIGHT, TALK_WEIGHT = 0.7, 0.55
"""Of meaning, where words single nothing out by more than half. In a talk all turns are near to each other."""
SLOPE = 0.15
"""How much of that words take that single out a few."""
CODE_FACTOR = 0.4
"""What is left of it for an error, a command, a path: these are found by what they are, not by what they mean."""
_LEAST, _MOST = 0.05, 0.95
_BEHIND = 10
"""The best is compared with the match of this rank."""
_TRIFLE = 0.02
"""A lexical score that tells nothing."""
_CODE_SHARE = 0.2
_CODE = lazy_pattern(r"[_/\\=(){}\[\]<>:;|`\"$]|\w\.\w|[a-z][A-Z]|(?<!\w)--?\w")
NAMELESS_SHARE = 0.75
"""Of the vector of a question, that of it without names."""
SOMEBODY_ELSE = 0.75
"""What a turn counts that is not of whom the question names, if these take part in the talk."""
ANOTHER_MONTH = 0.85
"""What something counts that is not of the month that the question names."""
ASKS_BACK = 0.75
"""What a turn counts that is a question itself: the answer follows it."""
UNDATED = 0.9
"""What a turn counts that tells no time, if the question is when."""
_ASKS = lazy_pattern(
    r"(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would|"
    r"should)\b",
    re.IGNORECASE,
)
_ASKS_WHEN = lazy_pattern(
    r"(?:(?:since|until|by) )?when\b|(?:on|in|at|by) (?:what|which) (?:time|date|day|week|month|year)\b", re.IGNORECASE
)
_TIME = lazy_pattern(
    r"\b(?:yesterday|today|to(?:night|morrow)|morning|evening|(?:week)?days?|week(?:end)?s?|months?|years?|last|next|ago|"
    r"since|just|soon|recently|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|spring|summer|autumn|winter|january|"
    r"february|march|april|june|july|august|september|october|november|december|\d{4}|\d+(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)
_DID = lazy_pattern(r"\bdid\b", re.IGNORECASE)
_PAST = """become became begin began bite bit blow blew break broke bring brought build built buy bought catch caught
choose chose come came deal dealt dig dug draw drew drink drank drive drove eat ate fall fell feed fed feel felt fight
fought find found fly flew forget forgot freeze froze get got give gave go went grow grew hang hung hear heard hide hid
hold held keep kept know knew lead led leave left lend lent lie lay lose lost make made mean meant meet met pay paid
ride rode ring rang rise rose run ran say said see saw sell sold send sent shake shook shoot shot show showed sing sang
sink sank sit sat sleep slept speak spoke spend spent stand stood steal stole stick stuck strike struck swim swam take
took teach taught tear tore tell told think thought throw threw understand understood wake woke wear wore win won write
wrote"""
"""Verbs that no stemmer knows by their past, each followed by it."""
_SENTENCE_END = lazy_pattern(r"(?<=[.!?])\s+")
_NAME = lazy_pattern(r"(?<=[\w,] )[A-Z][a-z]+(?:['’]s)?(?![\w./-])")
_MIN_WORDS_WITHOUT_NAMES = 3
_SPEAKER = lazy_pattern(r"(?:[(\[][^)\]]{1,60}[)\]] )?([^\W\d_][\w ]{0,40}?)(?:: | said[,:] )")
_MONTHS = "January February March April May June July August September October November December".split()
_MONTH = lazy_pattern(
    rf"(?:(?<=\w )|(?=\w+ \d{{4}}))({'|'.join(_MONTHS)})"
    r"(?: \d{1,2}(?:st|nd|rd|th)?(?!\d))?(?:,? (?:of )?(\d{4}))?(?!\w)"
)


def singled_out(scores: Iterable[float]) -> float:
    """How far the best match by words is ahead of the tenth: 0 not at all, 1 if there is none."""
    best = sorted(scores, reverse=True)[:_BEHIND]
    if not best:
        return 0.0
    return (best[0] - (best[-1] if len(best) == _BEHIND else 0.0)) / (best[0] + _TRIFLE)


def meaning_weight(text: str, ahead: float, *, in_talk: bool, setting: float) -> float:
    """What meaning counts for this question; a setting of 0.5 leaves it so, 0 is words alone, 1 is meaning alone."""
    weight = (TALK_WEIGHT if in_talk else WEIGHT) - SLOPE * (ahead - 0.5)
    weight = min(_MOST, max(_LEAST, weight * (CODE_FACTOR if is_code(text) else 1.0)))
    return weight * setting / (weight * setting + (1 - weight) * (1 - setting))


def is_code(text: str) -> bool:
    """Whether it is an error, a command, a path, a name of code rather than what somebody would say."""
    words = text.split()
    return sum(bool(_CODE.search(word)) for word in words) > _CODE_SHARE * len(words)


def asks(text: str) -> bool:
    return text.endswith("?") or bool(_ASKS.match(text))


def in_the_past(text: str) -> list[str]:
    """What an answer says where the question is what somebody did: `did she buy` is answered by `bought`."""
    if not _DID.search(text):
        return []
    forms = _PAST.split()
    past = dict(zip(forms[::2], forms[1::2], strict=True))
    return [past[word] for word in text.casefold().replace("?", " ").split() if word in past]


def asks_when(text: str) -> bool:
    return bool(_ASKS_WHEN.match(text))


def tells_when(turn: str) -> bool:
    return bool(_TIME.search(_said(turn)))


def asks_back(turn: str) -> bool:
    """Whether most of a turn of a talk is a question, and its end is one."""
    said = _said(turn)
    asked = sum(len(sentence) for sentence in _SENTENCE_END.split(said) if sentence.endswith("?"))
    return said.endswith("?") and 2 * asked > len(said)


def _said(turn: str) -> str:
    """What a turn says, without when and by whom it was said."""
    says = _SPEAKER.match(turn)
    return turn[says.end() :] if says else turn


def without_names(text: str) -> str:
    """A question without the names in it: to the model everything said of or to a person is near to any question about
    them. Words find names better."""
    if not asks(text):
        return text
    rest = " ".join(_NAME.sub("", text).split())
    return rest if len(re.findall(r"\w+", rest)) >= _MIN_WORDS_WITHOUT_NAMES else text


def mixed(whole: Sequence[float], nameless: Sequence[float]) -> list[float]:
    """The vector to search with, of that of a question and that of it without names."""
    return [(1 - NAMELESS_SHARE) * one + NAMELESS_SHARE * other for one, other in zip(whole, nameless, strict=True)]


def names_in(text: str) -> set[str]:
    """Every word of a question that may be somebody's name."""
    return {word.casefold() for word in re.findall(r"[^\W\d_]+", text)}


def speaker(turn: str) -> str:
    """Who says it, if a turn of a talk begins with that."""
    found = _SPEAKER.match(turn)
    return found[1].split()[0].casefold() if found else ""


def named_month(text: str) -> tuple[int, int] | None:
    """(year or 0, month) that a question asks about."""
    found = _MONTH.search(text)
    return (int(found[2] or 0), _MONTHS.index(found[1]) + 1) if found else None


def in_month(at: int, asked: tuple[int, int]) -> bool:
    then = moment(at)
    return then.month == asked[1] and asked[0] in (0, then.year)
