"""Damage inside a document: values of other types, gone, doubled, absurd."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 2**70, 1.5, "", "x" * 1000, "\ud83d", "{", "[[[[", [], {}, [None], [[]], {"": None}, {"a": {}},
)  # fmt: skip


def mutants(document: Any, count: int, seed: int = 20261116) -> Iterator[Any]:
    """Copies of a document, each with one to three of its values exchanged, removed or doubled."""
    chance = random.Random(seed)
    for _ in range(count):
        mutant = {"root": copy.deepcopy(document)}
        for _ in range(chance.randrange(1, 4)):
            _mutate(mutant, chance)
        yield mutant["root"]


def _mutate(document: Any, chance: random.Random) -> None:
    places = list(_places(document))
    holder, key = chance.choice(places)
    kind = chance.randrange(4)
    if kind == 0 and isinstance(holder, dict) and key != "root":
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        holder[key] = copy.deepcopy(chance.choice(ODD))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys: Any = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])
