"""How good a lesson is: specific, actionable, fresh, and from whom. It orders the review queue and sets the bar."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from hardwon.harvest.rules.sentences import LONGEST_SENTENCE, is_of_a_length, specific
from hardwon.model.lesson import Draft, Kind, Trust

BAR = 0.4
"""A draft below it is not kept."""
_HALF_LIFE = 90 * 24 * 3_600_000_000
_SOURCE: dict[Trust, float] = {"measured": 1.0, "human": 1.0, "corroborated": 0.8, "claimed": 0.5, "untrusted": 0.2}
_NAMED = re.compile(r"`[^`]+`")
_TELLS_WHAT_TO_DO = re.compile(
    r"\b(?:use|run|do|don't|never|always|must|should|only|instead|avoid|keep|put|call|test|build|commit|before|after|"
    r"until|without|prefer|is|are|decided|want|let's)\b",
    re.IGNORECASE,
)
_LONGEST_LESSON = 320
"""A pitfall names the call, the error and what helped."""


class Quality(NamedTuple):
    """Each part is 0 to 1."""

    specific: float
    actionable: float
    fresh: float
    source: float

    @property
    def score(self) -> float:
        return round(0.35 * self.specific + 0.25 * self.actionable + 0.15 * self.fresh + 0.25 * self.source, 3)


def quality(text: str, kind: Kind, trust: Trust, *, sources: int = 1, age: int = 0) -> Quality:
    """`age` is microseconds since it was last confirmed."""
    named = 1.0 if _NAMED.search(text) else 0.8 if specific(text) else 0.2
    acts = 0.5 if kind == "question" else 1.0 if _TELLS_WHAT_TO_DO.search(text) else 0.4
    support = min(1.0, _SOURCE[trust] + 0.1 * (sources - 1))
    return Quality(named, acts, math.exp2(-max(0, age) / _HALF_LIFE), support)


def shortcoming(draft: Draft, trust: Trust) -> str:
    """Why a draft is not worth keeping; empty when it is."""
    if not is_of_a_length(draft.text, _LONGEST_LESSON if draft.measured else LONGEST_SENTENCE):
        return "too short or too long"
    return "" if quality(draft.text, draft.kind, trust).score >= BAR else "below the bar"
