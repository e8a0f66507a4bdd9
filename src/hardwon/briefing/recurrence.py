"""How likely a failure is to come back in the next session: a few signals, weighed by `recurrence.json`.

`make train` fits the weights to sessions of several projects, and prints how well they do on those that had no say.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from hardwon.briefing.policy import share_that_comes_back
from hardwon.failures.fixes import CODE_FAMILIES
from hardwon.store.failures import FailureRow, Likely
from hardwon.text.normalise import lazy_pattern

SESSIONS_REMEMBERED = 256
"""Sessions that are counted one by one; what is older is as old as that."""
_WEIGHT_OF_ONE_SESSION_EARLIER = 0.97
_SESSIONS_OF_DOUBT = 2.0
"""Sessions without the error that are added where all errors come back; the more, the fewer do."""
_LEAST_SHARE = 0.001

_SURROUNDINGS = lazy_pattern(
    r"not found|not recognized|[Nn]o such file|ENOENT|does not exist|already exists|outside repository|not a git repo"
    r"|[Cc]annot find (?:the |a )?(?:path|module|package)|[Cc]an't cd|volume label|did not match any|matches found"
    r"|[Nn]o module named|ERR_MODULE|could not (?:find|resolve)|[Uu]nable to (?:find|locate)"
    r"|[Pp]ermission denied|EACCES|EPERM|not permitted|denied|another process|in use|EADDRINUSE|ECONNREFUSED|refused"
    r"|[Tt]imed out|could not read Username|[Cc]redentials|API_KEY|ownership|[Uu]nauthorized|[Ff]orbidden"
)
"""What a machine, a shell or a service refuses."""
_QUIRK = lazy_pattern(
    r"command not found|not recognized|executable file not found|Command '.*' not found|: not found$"
    r"|[Uu]nknown (?:option|command|flag|switch|argument|shorthand)|[Uu]nrecogni[sz]ed|(?:illegal|invalid) option"
    r"|unexpected argument|[Mm]issing (?:required|script)|accepts at most|required argument|argument missing"
    r"|must be provided|parameter cannot be found|[Ss]cript not found|bad flag"
)
"""A program that is not there, or is called as it will not be called."""
_PLACE = lazy_pattern(r"[\w/.-]+\.\w{1,5}(?:\(\d+|:\d+)|^\d+:\d+")
"""A line of a file: it is another once the file is edited."""


class Signals(NamedTuple):
    """What speaks for a failure's coming back, as the weights name it."""

    share: float
    """Of the sessions that met it, the newer ones for more, against all; less where errors seldom come back (log)."""
    age: float
    """Sessions since it was met last (log)."""
    often: float
    """How many times a session that meets it meets it (log)."""
    code: float
    quirk: float
    place: float
    fix: float


class Chance(NamedTuple):
    """How likely a failure is to come back in the next session, and what says so."""

    value: float
    met: float
    """The sessions that met it, each the lighter the longer ago it was; and all sessions."""
    of: float
    came_back: float
    """The share of the project's errors that an earlier session had had."""
    kind: str


class Chances:
    """What the failures of a project tell about each of them."""

    def __init__(self, errors: int, different: int, starts: Sequence[int]) -> None:
        """`errors` counts a failure once for each session that met it."""
        self._starts = starts
        self._came_back = share_that_comes_back(errors, different)
        self._of = sum(_WEIGHT_OF_ONE_SESSION_EARLIER**age for age in range(len(starts)))

    def of(self, one: Likely, *, fix: bool = False) -> Chance:
        """`fix` says that something is known to have worked against it."""
        seen = self.signals(one, fix=fix)
        weights = _weights()
        value = weights["bias"] + sum(weights[name] * signal for name, signal in seen._asdict().items())
        kind = "a quirk of a program" if seen.quirk else "a mistake in the code" if seen.code else ""
        return Chance(1 / (1 + math.exp(-value)), self._met(one), self._of, self._came_back, kind)

    def signals(self, one: Likely, *, fix: bool = False) -> Signals:
        share = self._met(one) / (self._of + _SESSIONS_OF_DOUBT / self._came_back)
        return Signals(
            share=math.log(share + _LEAST_SHARE),
            age=math.log1p(min(map(self._age, _visits(one)))),
            often=math.log(one.row.occurrences / max(1, one.row.sessions)),
            code=float(_is_code(one.row)),
            quirk=float(one.row.family in ("usage", "hook") or _QUIRK.search(one.row.error) is not None),
            place=float(_PLACE.search(one.row.error) is not None),
            fix=float(fix),
        )

    def _met(self, one: Likely) -> float:
        return sum(_WEIGHT_OF_ONE_SESSION_EARLIER ** self._age(at) for at in _visits(one))

    def _age(self, at: int) -> int:
        """In sessions: 0 for what the last one met."""
        return max(0, len(self._starts) - bisect_right(self._starts, at))


def _visits(one: Likely) -> tuple[int, ...]:
    return one.visits or (one.row.last_seen,)


def _is_code(row: FailureRow) -> bool:
    return row.family in CODE_FAMILIES and not _SURROUNDINGS.search(row.error)


@lru_cache(maxsize=1)
def _weights() -> dict[str, float]:
    found: dict[str, float] = json.loads(files("hardwon.briefing").joinpath("recurrence.json").read_text("utf-8"))
    return found
