"""What a rule is, what it finds, and patterns that are compiled when they are first used."""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple, cast

from msgspec.structs import replace

from hardwon.model.lesson import Draft, Kind
from hardwon.store.lessons import Cited


class Rule(NamedTuple):
    """A name and a version that every lesson of it carries.

    A rule whose version rises is applied again, and what its older version proposed is replaced.
    """

    name: str
    version: int
    kinds: tuple[Kind, ...]
    finds: str
    over: Literal["session", "store"] = "session"
    """Whether one session is enough, or it counts over all sessions of a project."""


def dropped(draft: Draft, why: str) -> Draft:
    """A draft that is counted, told by `harvest --explain`, and not stored."""
    return replace(draft, dropped=why)


class Found(NamedTuple):
    """What a rule over a project's sessions found: the lesson, and every session that supports it."""

    draft: Draft
    cited: list[Cited]
    """Without the lesson's id, which follows from the draft."""


_METHODS = ("search", "match", "sub", "split", "finditer", "findall")


class _Pattern:
    """Compiled when it is first used: most processes import the rules and run few of them."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._pattern, self._flags)
        vars(self).update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, only later. From its second use on, a method is the compiled pattern's own."""
    return cast("re.Pattern[str]", _Pattern(source, flags))
