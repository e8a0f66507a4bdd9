"""How much meaning counts against words, told from the question and from how clearly words single something out.

The weights are those that `make train-fusion` finds; docs/retrieval.md has what they are worth elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hardwon.text.normalise import lazy_pattern

WEIGHT, TALK_WEIGHT = 0.7, 0.55
"""Of meaning, where words single nothing out by more than half. In a talk all turns are near to each other."""
SLOPE = 0.4
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
_ASKS = lazy_pattern(
    r"(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would|"
    r"should)\b",
    re.IGNORECASE,
)
_NAME = lazy_pattern(r"(?<=[\w,] )[A-Z][a-z]+(?:['’]s)?(?![\w./-])")
_MIN_WORDS_WITHOUT_NAMES = 3


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


def without_names(text: str) -> str:
    """A question without the names in it: to the model everything said of or to a person is near to any question about
    them. Words find names better."""
    if not (text.endswith("?") or _ASKS.match(text)):
        return text
    rest = " ".join(_NAME.sub("", text).split())
    return rest if len(re.findall(r"\w+", rest)) >= _MIN_WORDS_WITHOUT_NAMES else text


def mixed(whole: Sequence[float], nameless: Sequence[float]) -> list[float]:
    """The vector to search with, of that of a question and that of it without names."""
    return [(1 - NAMELESS_SHARE) * one + NAMELESS_SHARE * other for one, other in zip(whole, nameless, strict=True)]
