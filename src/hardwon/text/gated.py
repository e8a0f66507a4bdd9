"""Patterns of many alternatives that are searched for only where a text has what each of their matches holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

_LOOK_LIKE = str.maketrans("İıſK", "iisk")
"""What a pattern without case takes for a letter of ASCII, and `str.lower` does not."""
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_IN_NEARLY_EVERY_TEXT = frozenset(("", *"abcdefghijklmnopqrstuvwxyz ."))
_SMALL_SET = 4


def gated_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, only later, and its `search` looks first for what every match holds."""
    return _GatedPattern(source, flags)  # type: ignore[return-value]


class _GatedPattern:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> object:
        return getattr(self._compiled, name)

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    @cached_property
    def literals(self) -> tuple[str, ...] | None:
        """Every match holds one of these; None where there are none, and every text must be searched."""
        return _required(_parser.parse(self._source, self._flags))

    def search(self, text: str) -> re.Match[str] | None:
        if self.literals is None:
            return self._compiled.search(text)
        wanted = _folded(text)
        for literal in self.literals:
            if literal in wanted:
                return self._compiled.search(text)
        return None


@lru_cache(maxsize=1)  # many patterns are asked about one sentence
def _folded(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_LOOK_LIKE).lower()


def _required(nodes: Iterable[tuple[Any, Any]]) -> tuple[str, ...] | None:
    """Of what must all be there, what is told fastest: the longest words, and few of them."""
    found: list[tuple[str, ...] | None] = []
    run = ""
    for kind, value in nodes:
        if kind is _constants.LITERAL:
            run += _folded(chr(value))
            continue
        found += ((run,), _inside(kind, value))
        run = ""
    able = [literals for literals in (*found, (run,)) if literals and _IN_NEARLY_EVERY_TEXT.isdisjoint(literals)]
    return max(able, key=lambda literals: (min(map(len, literals)), -len(literals)), default=None)


def _inside(kind: Any, value: Any) -> tuple[str, ...] | None:
    if kind is _constants.SUBPATTERN or (kind in _REPEATS and value[0]):
        return _required(value[-1])
    if kind is _constants.ATOMIC_GROUP:
        return _required(value)
    if kind is _constants.BRANCH:
        return _shortest([literal for branch in value[1] for literal in _required(branch) or ("",)])
    if kind is _constants.IN and len(value) <= _SMALL_SET and all(one is _constants.LITERAL for one, _ in value):
        return tuple(_folded(chr(code)) for _, code in value)
    return None


def _shortest(literals: list[str]) -> tuple[str, ...]:
    """Without those that hold another one."""
    return tuple(one for one in dict.fromkeys(literals) if not any(other in one for other in literals if other != one))
