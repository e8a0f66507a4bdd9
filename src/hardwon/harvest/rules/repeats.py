"""What the user had to say twice: an order that comes back in a session is a rule, not a step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from hardwon.harvest.rules.cues import without_lead
from hardwon.harvest.rules.standing import orders
from hardwon.harvest.rules.typed import Statement
from hardwon.text.words import terms

_SHARED = 0.75
"""The share of the shorter one's words that the other has, too."""
_FEWEST_TERMS = 2


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
    return fewer >= _FEWEST_TERMS and len(one & other) >= _SHARED * fewer
