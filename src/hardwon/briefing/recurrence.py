"""How likely a failure is to come back in the next session, measured against the others of its project.

Three things tell, on every history that was looked at (docs/proof.md). An error that names a file, a test or a
symbol speaks of one place and goes when that is mended; one that names nothing can happen anywhere, so the two
sorts are counted apart. Each session that met it counts, the less the more sessions have passed since, as in
people's memory, and many together count for less than their sum. And what was not met for days is less likely,
however few sessions there were. All exponents are round numbers from a flat optimum: none is worth tuning.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from hardwon.store.failures import Likely

SESSIONS_REMEMBERED = 256
"""Sessions that are counted one by one; what is older is as old as that."""
_HOUR_MICROSECONDS = 3_600_000_000
_FORGETTING_EXPONENT = 0.7
_CROWDING_EXPONENT = 0.7
_DAYS_EXPONENT = 0.2
_LEAST_DAYS = 0.25
_OF_ANOTHER_AGENT = 0.2
_CAME_BACK = {True: 0.15, False: 0.8}
"""The share that comes back of what names a place, and of what does not, before a project has told its own."""
_FAILURES_THAT_COUNT_AS_MUCH = 8
"""How many failures of its own a project needs to tell as much as that."""
_NAMES = re.compile(
    r"[\w-]+\.[a-z]{1,5}\b"  # a file
    r"|[/_]|[a-z][A-Z]|::|\(\)"  # a path, a symbol
    r"|'[^']+'|--\w|: [\w.-]+$"
)
_NOT_THERE = re.compile(r"(?i)command not found|no module named|cannot find (?:module|package)")


class Chance(NamedTuple):
    """`value` is relative: twice as much is twice as likely. The rest says what it is made of."""

    value: float
    sort: str
    came_back: float
    memory: float
    days: float


class Chances:
    """What the failures of a project tell about each of them."""

    def __init__(self, known: Iterable[Likely], starts: Sequence[int], agent: str, now: int) -> None:
        self._starts = starts
        self._agent = agent
        self._now = now
        counts = {True: [0, 0], False: [0, 0]}
        for row, _, _ in known:
            sort = counts[names_something(row.signature)]
            sort[0] += row.sessions > 1
            sort[1] += 1
        self._came_back = {
            named: (back + _FAILURES_THAT_COUNT_AS_MUCH * _CAME_BACK[named]) / (seen + _FAILURES_THAT_COUNT_AS_MUCH)
            for named, (back, seen) in counts.items()
        }

    def of(self, one: Likely) -> Chance:
        named = names_something(one.row.signature)
        met = one.visits or (one.row.last_seen,)
        memory = sum(self._age(at) ** -_FORGETTING_EXPONENT for at in met) ** _CROWDING_EXPONENT
        days = (
            max(0, (self._now - one.row.last_seen) // _HOUR_MICROSECONDS) / 24
        )  # whole hours: asked twice, it says the same
        value = self._came_back[named] * memory * (days + _LEAST_DAYS) ** -_DAYS_EXPONENT
        if self._agent and self._agent not in one.row.agents.split(","):
            value *= _OF_ANOTHER_AGENT
        sort = "names a place" if named else "can happen anywhere"
        return Chance(value, sort, self._came_back[named], memory, days)

    def _age(self, at: int) -> int:
        """In sessions: 1 for what the last one met."""
        return 1 + len(self._starts) - bisect_right(self._starts, at)


@lru_cache(maxsize=4096)
def names_something(signature: str) -> bool:
    """Whether an error speaks of one place; what is not installed is missing everywhere."""
    return bool(_NAMES.search(signature)) and not _NOT_THERE.search(signature)
