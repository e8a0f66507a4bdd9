"""BM25, the same on every engine: they find candidates, this scores them on all the terms of the question.

A score is the share of the most that any text could reach, so 0 to 1: it means the same for every question,
and it says when half of a question's words are nowhere to be found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

K1 = 1.2
B = 0.75

POSTINGS = 10_000
"""Most entries that the engines look at in detail for one question: those of its rarest terms."""
_SHARE = 25
"""Of a large index it may be one in so many."""


class Corpus(NamedTuple):
    """What is in the index, as far as one question needs to know."""

    items: int
    words: int
    """Of all items together."""
    holding: Mapping[str, int]
    """Term of the question → how many items hold it."""

    def rarity(self, term: str) -> float:
        held = self.holding.get(term, 0)
        return math.log(1 + max(0.0, self.items - held + 0.5) / (held + 0.5))


def most_postings(corpus: Corpus) -> int:
    return max(POSTINGS, corpus.items // _SHARE)


def rarest_first(corpus: Corpus) -> list[str]:
    """The rarest terms that any item holds, as long as they stand in few enough items together; at least one."""
    most = most_postings(corpus)
    chosen: list[str] = []
    postings = 0
    for term, held in sorted(corpus.holding.items(), key=lambda entry: (entry[1], entry[0])):
        if held and (not chosen or postings + held <= most):
            chosen.append(term)
            postings += held
    return chosen


def ranked(
    corpus: Corpus,
    phrases: Iterable[Sequence[str]],
    candidates: Iterable[tuple[str, str, str]],
) -> list[tuple[str, str, float]]:
    """(item, type, score) of the (item, type, terms) that match at all, best first; of equals the higher id.

    A phrase that stands in a text word for word counts as much again as its words.
    """
    rarity = {term: corpus.rarity(term) for term in corpus.holding}
    worth = {tuple(phrase): sum(map(corpus.rarity, phrase)) for phrase in phrases}
    most = (sum(rarity.values()) + sum(worth.values())) * (K1 + 1)
    average = corpus.words / corpus.items if corpus.words else 1.0
    scored = []
    for item, type, held in candidates:
        words = held.split()
        damping = K1 * (1 - B + B * len(words) / average)
        score = 0.0
        for term, weight in rarity.items():
            if term in held and (count := words.count(term)):  # looking into the text first is quicker
                score += weight * (count / (count + damping))
        score += sum(weight / (1 + damping) for phrase, weight in worth.items() if _holds(words, phrase))
        if score > 0:
            scored.append((item, type, score * (K1 + 1) / most))
    scored.sort(key=lambda entry: (entry[2], entry[0]), reverse=True)
    return scored


def _holds(words: Sequence[str], phrase: tuple[str, ...]) -> bool:
    length = len(phrase)
    return any(
        words[at] == phrase[0] and tuple(words[at : at + length]) == phrase for at in range(len(words) - length + 1)
    )


def best(found: list[tuple[str, str, float]], limit: int, also: Sequence[str]) -> list[tuple[str, str, float]]:
    """The first `limit` of what was ranked, and what was asked for in any case."""
    wanted = set(also)
    return [row for at, row in enumerate(found) if at < limit or row[0] in wanted]
