"""Whether two sentences say the same, or the opposite, or different things of the same; by their words.

The threshold for the same was chosen on STS-B (docs/trust.md). Over-merging is the worse mistake.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from oldhand.harvest.rules.tongues import NEGATIONS
from oldhand.text.words import terms

SAME = 0.8
"""The least share of words that two sentences have in common that say the same."""
_ENGLISH_NEGATIONS = frozenset(
    "not no never without avoid stop none nor neither cannot forbid forbidden prohibit off".split()
)
# Elsewhere one thing is often negated by two words: `ne … pas`.
_OTHER_NEGATIONS = frozenset(term for word in NEGATIONS for term in terms(word)) - _ENGLISH_NEGATIONS - {"n"}
_NEGATIONS = _ENGLISH_NEGATIONS | _OTHER_NEGATIONS | {"n"}
_POLITE = frozenset(terms("always please remember must should only")) | frozenset(
    "must should always only immer bitte toujours siempre sempre всегда".split()
)
_PLAIN = frozenset(terms("use start"))
"""Say no more than that something is done: `use X` and `avoid X` are about the same."""
_ANTONYMS = tuple(
    frozenset(" ".join(terms(pair)).split())
    for pair in (
        "enable disable|before after|true false|allow deny|include exclude|add remove|public private|"
        "synchronous asynchronous|sync async|first last|local remote|accept reject|required optional|minimum maximum|"
        "single double|manual automatic|strict lenient|ascending descending|keep delete|upper lower|commit discard|"
        "increase decrease|absolute relative|lazily eagerly|lazy eager|same different|upgrade downgrade|show hide|"
        "mutable immutable|globally locally|global local|uppercase lowercase|lock unlock|valid invalid|safe unsafe|"
        "signed unsigned|encrypt decrypt|import export|up down|left right|light dark|more less|most least|"
        "inside outside|above below|early late|open close|push pull|sensitive insensitive|stable unstable"
    ).split("|")
)
_ALTERNATIVES = tuple(
    frozenset(terms(group))
    for group in (
        "npm pnpm yarn bun|pip uv poetry conda pipenv|black yapf|jest vitest mocha|tabs spaces|docker podman|"
        "postgres mysql sqlite mongodb|pytest unittest nose|webpack vite rollup esbuild|main master develop|"
        "merge rebase squash|eslint biome|staging production|flask django fastapi|mypy pyright"
    ).split("|")
)
_OPPOSED = frozenset(word for group in (*_ANTONYMS, *_ALTERNATIVES) for word in group)
_VALUE = re.compile(r"^v?\d[\w.]*$")

Relation = Literal["same", "opposite", "other value", "unrelated"]


class Gist(NamedTuple):
    """A sentence as it is compared."""

    words: frozenset[str]
    core: frozenset[str]
    values: frozenset[str]
    negated: bool


def gist(text: str) -> Gist:
    found = frozenset(terms(text))
    values = frozenset(word for word in found if _VALUE.match(word))
    negations = len(found & _ENGLISH_NEGATIONS) + bool(found & _OTHER_NEGATIONS)
    core = found - _NEGATIONS - _POLITE - _PLAIN - _OPPOSED - values
    return Gist(found - _POLITE, core, values, negations % 2 == 1)


def similarity(a: Gist, b: Gist) -> float:
    union = a.words | b.words
    return len(a.words & b.words) / len(union) if union else 0.0


def relation(a: Gist, b: Gist) -> Relation:
    """The same only if one has nothing that the other replaces by something else."""
    if a.core == b.core and (a.core or a.values == b.values):
        if _opposed(a, b):
            return "opposite"
        if a.values != b.values:
            return "other value" if a.values and b.values and a.negated == b.negated else "unrelated"
        if not a.negated and not b.negated and _alternatives(a, b):
            return "other value"
    one_holds_the_other = a.words <= b.words or b.words <= a.words
    if one_holds_the_other and a.negated == b.negated and a.values == b.values and similarity(a, b) >= SAME:
        return "same"
    return "unrelated"


def _opposed(a: Gist, b: Gist) -> bool:
    mine, theirs = a.words & _OPPOSED, b.words & _OPPOSED
    if a.negated != b.negated:
        return mine == theirs and a.values == b.values
    return any(
        len(mine & pair) == 1
        and len(theirs & pair) == 1
        and mine & pair != theirs & pair
        and mine - pair == theirs - pair
        for pair in _ANTONYMS
    )


def _alternatives(a: Gist, b: Gist) -> bool:
    mine, theirs = a.words & _OPPOSED, b.words & _OPPOSED
    both = mine & theirs
    return any(
        mine & group - both and theirs & group - both and mine - group == theirs - group for group in _ALTERNATIVES
    )
