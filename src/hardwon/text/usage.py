"""Does a text make use of a rule? Told by shared stems in one place, and by whether one of the two denies it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hardwon.text.words import terms

_SHORTEST = 12
"""Characters; a shorter rule is met by accident."""
_ENOUGH = 0.7
_LONG, _FEWEST, _ENOUGH_OF_LONG = 15, 12, 0.35
"""Of a rule with more stems than `_LONG`, so many must be there, and this share."""
_WINDOW = 3
_MOST_READ = 200_000
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+|\n+")
# Stems that turn a sentence round.
_DENIALS = frozenset(
    "not never no nor neither cannot without ignor disregard overrul contradict wrong incorrect outdat obsolet untru "
    "fals unnecessari skip broke broken violat".split()
)
_DENIALS_IN_EFFECT = _DENIALS | {"instead", "rather", "avoid", "refus", "refrain"}


class Answer:
    """A text that rules are looked for in, cut into stretches of some sentences."""

    def __init__(self, text: str) -> None:
        self._sentences = [frozenset(terms(part)) for part in _SENTENCE.split(text[:_MOST_READ]) if part.strip()]
        self._windows = list(_windows(self._sentences))

    def uses(self, rule: str) -> float:
        """The share of the rule's stems that stand together here; 0 if that is too little, or it is denied."""
        wanted = frozenset(terms(rule))
        if len(rule.strip()) < _SHORTEST or not wanted:
            return 0.0
        best, where = 0, -1
        for at, window in enumerate(self._windows):
            shared = len(wanted & window)
            if shared > best:
                best, where = shared, at
        share = best / len(wanted)
        enough = share >= _ENOUGH or (len(wanted) > _LONG and best >= _FEWEST and share >= _ENOUGH_OF_LONG)
        return share if enough and not self._denied(wanted, where) else 0.0

    def _denied(self, wanted: frozenset[str], where: int) -> bool:
        """Whether the sentence that says the most of it turns it round, or fails to where the rule does."""
        near = self._sentences[where : where + _WINDOW]
        said = max(near, key=lambda sentence: len(wanted & sentence))
        return bool(said & _DENIALS - wanted) or bool(wanted & _DENIALS and not said & _DENIALS_IN_EFFECT)


def _windows(sentences: Sequence[frozenset[str]]) -> Iterator[frozenset[str]]:
    for at in range(len(sentences)):
        yield frozenset().union(*sentences[at : at + _WINDOW])
