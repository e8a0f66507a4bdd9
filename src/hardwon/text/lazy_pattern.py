"""Patterns that are compiled when they are first used: most processes import many and need few."""

from __future__ import annotations

import re

_METHODS = ("search", "match", "fullmatch", "sub", "split", "finditer", "findall")


class _Pattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(self._pattern, self._flags)
        vars(self).update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, only later. From its second use on, a method is the compiled pattern's own."""
    return _Pattern(source, flags)  # type: ignore[return-value]
