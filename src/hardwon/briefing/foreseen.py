"""The failures that a session is likely to meet, the likeliest first, each as a line with what worked against it.

A failure is as likely to come back as the share of the sessions that met it, each the lighter the longer ago it was,
with so many more sessions without it as errors seldom come back in this project: where nobody knows yet, a few.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from hardwon.briefing.policy import against_failure, met_by_chance, most_told, share_that_comes_back, unlikely
from hardwon.failures import tools
from hardwon.failures.fingerprint import CODE_FAMILIES
from hardwon.failures.signature import informative
from hardwon.failures.turns import says_what_failed, told_command, without_speaker
from hardwon.model.nouns import LeftOut, Line
from hardwon.store import failures, sessions
from hardwon.store.database import Database
from hardwon.store.failures import FailureRow, FixRow, Likely
from hardwon.text.normalise import lazy_pattern, presentable
from hardwon.text.shown import failure_line, one_line, remedy

SESSIONS_REMEMBERED = 256
"""Sessions that are counted one by one; what is older is as old as that."""
_SESSIONS_OF_DOUBT = 1 / 3
"""Sessions without the error that are added where all errors come back; four times as many where half of them do."""
_WEIGHT_OF_A_MISTAKE = 0.4
"""Of the day, in the code: it is mended where it is met."""
_SURROUNDINGS = lazy_pattern(
    r"not found|not recognized|[Nn]o such file|ENOENT|does not exist|already exists|outside repository|not a git repo"
    r"|[Cc]annot find (?:the |a )?(?:path|module|package)|[Cc]an't cd|volume label|did not match any|matches found"
    r"|[Nn]o module named|ERR_MODULE|could not (?:find|resolve)|[Uu]nable to (?:find|locate)"
    r"|[Pp]ermission denied|EACCES|EPERM|not permitted|denied|another process|in use|EADDRINUSE|ECONNREFUSED|refused"
    r"|[Tt]imed out|could not read Username|[Cc]redentials|API_KEY|ownership|[Uu]nauthorized|[Ff]orbidden"
)
"""What a machine, a shell or a service refuses."""


class Chance(NamedTuple):
    """How likely a failure is to come back in the next session, and what says so."""

    value: float
    met: float
    """The sessions that met it, each the lighter the longer ago it was; and all sessions."""
    of: float
    came_back: float
    """The share of the project's errors that an earlier session had had."""
    is_mistake: bool


class Chances:
    """What the failures of a project tell about each of them."""

    def __init__(self, errors: int, different: int, starts: Sequence[int]) -> None:
        """`errors` counts a failure once for each session that met it."""
        self._starts = starts
        self._came_back = share_that_comes_back(errors, different)
        self._of = sum(map(_weight, range(len(starts))))

    def of(self, one: Likely) -> Chance:
        met = sum(_weight(self.age(at)) for at in one.visits or (one.row.last_seen,))
        share = met / (self._of + _SESSIONS_OF_DOUBT / self._came_back**2)
        mistake = one.row.family in CODE_FAMILIES and not _is_of_surroundings(one.row.error)
        return Chance(share * (_WEIGHT_OF_A_MISTAKE if mistake else 1), met, self._of, self._came_back, mistake)

    def age(self, at: int) -> int:
        """In sessions: 0 for what the last one met."""
        return max(0, len(self._starts) - bisect_right(self._starts, at))


@lru_cache(maxsize=4096)  # a replay asks again for every session
def _is_of_surroundings(error: str) -> bool:
    return _SURROUNDINGS.search(error) is not None


def _weight(age: int) -> float:
    """Of a session, so many before the last."""
    return float((1 + age) ** -0.5)


_FAILURES_CONSIDERED = 500


def failure_lines(
    db: Database,
    project: str,
    fits: dict[str, float],
    left_out: list[LeftOut],
    *,
    only_here: bool,
    once_is_enough: bool = False,
) -> list[Line]:
    """Those worth a line, best first: the unlikely ones are not told, whatever room there is."""
    known = failures.likely(db, project, _FAILURES_CONSIDERED, [id for id in fits if id.startswith("F")])
    fixes = failures.fixes(db, [one.row.id for one in known], project, only_here=only_here)
    met = failures.met_in(db, project)
    chances = Chances(met.errors, met.different, sessions.starts(db, project, SESSIONS_REMEMBERED))
    scored = []
    for one in known:
        if reason := _not_told(one.row):
            left_out.append(LeftOut(id=one.row.id, reason=reason))
            continue
        chance = chances.of(one)
        wanted = once_is_enough or one.row.id in fits or best_fix(fixes[one.row.id]) is not None
        if reason := met_by_chance(one.row.sessions, chance.came_back, wanted=wanted):
            left_out.append(LeftOut(id=one.row.id, reason=reason))
            continue
        scored.append((chance.value * (1 + fits.get(one.row.id, 0.0)), one, chance))
    scored.sort(key=lambda entry: (-entry[0], best_fix(fixes[entry[1].row.id]) is None, entry[1].row.id))
    most = most_told(met.errors, met.different)
    told = [entry for entry in scored[:most] if not unlikely(entry[0], scored[0][0])]
    full = "likelier failures fill the block" if most > 1 else "errors do not come back here"
    left_out.extend(
        LeftOut(id=one.row.id, reason=unlikely(value, scored[0][0]) or full) for value, one, _ in scored[len(told) :]
    )
    return [
        as_line(one, fixes[one.row.id], round(value, 9), _why_failure(one, chance, fits.get(one.row.id, 0.0)))
        for value, one, chance in told
    ]


_OF_JSON = re.compile(r"\":|\" ?: |: \"$|\\\\\"")
"""Keys and quotes of an answer whose words were masked."""


def _not_told(row: FailureRow) -> str:
    """Why a failure is never told, however likely it is; empty if it may be."""
    masked = without_speaker(row.error) == row.signature
    vague = masked and (
        row.signature.count("…") > 1
        or _OF_JSON.search(row.signature) is not None
        or (row.family == "generic" and not informative(row.signature))
    )
    if vague or not says_what_failed(row.error):
        return "its words do not say what went wrong"
    return against_failure(row.family)


def best_fix(fixes: Sequence[FixRow]) -> FixRow | None:
    """The best that may be told; none while a better one waits for a person."""
    told = next((fix for fix in fixes if fix.status == "active"), None)
    if told is None or better_waits(fixes, told):
        return None
    return told


def better_waits(fixes: Sequence[FixRow], told: FixRow | None) -> bool:
    """Whether a fix that a person must look at first has worked in more sessions than the one to be told."""
    least = max(told.confirmed - told.failed_again if told else 0, failures.SESSIONS_THAT_PROVE - 1)
    return any(fix.status == "candidate" and fix.confirmed - fix.failed_again > least for fix in fixes)


def as_line(one: Likely, fixes: Sequence[FixRow], score: float = 0.0, why: str = "") -> Line:
    fix = best_fix(fixes)
    worked = remedy(fix.steps, fix.succeeded_as) if fix else ""
    text = _failure_text(one.row, worked, fix.avoid if fix else (), waits=not fix and better_waits(fixes, None))
    if fix:
        why += f", fix confirmed in {fix.confirmed}"
    error = one_line(without_speaker(one.row.error))
    return Line(
        id=one.row.id,
        kind="failure",
        text=text,
        score=score,
        why=why,
        source=one.place,
        error=error if error in text else "",
        fix=worked or False,
    )


@lru_cache(maxsize=4096)
def _failure_text(row: FailureRow, worked: str, avoid: Sequence[tuple[str, str]], *, waits: bool) -> str:
    return failure_line(
        error=row.error,
        command=_speaker(row),
        hook=row.family == "hook",
        occurrences=row.occurrences,
        sessions=row.sessions,
        last_seen=row.last_seen,
        worked=worked,
        avoid=avoid,
        waits=waits,
    )


def _speaker(row: FailureRow) -> str:
    """The command that the error is of: the one that it names at its head, else what the line was for."""
    if tools.danger(row.command):
        return ""
    named = re.match(r"([a-z][\w.-]*): ", row.error)
    said = named.group(1) if named and named.group(1) in row.command.split() else ""
    gist = told_command(row.command) if row.family != "hook" else presentable(tools.gist(row.command))
    return gist if not said or said in gist.split() else said


def _why_failure(one: Likely, chance: Chance, fit: float) -> str:
    return (
        f"chance {chance.value:.2f}: met in {chance.met:.1f} of {chance.of:.1f} sessions (older ones count less), "
        f"and {chance.came_back:.0%} of this project's errors come back"
        f"{', a mistake in the code' if chance.is_mistake else ''}; "
        f"× fit {1 + fit:.2f}; "
        f"{counted(one.row.occurrences, 'time')} in {counted(one.row.sessions, 'session')}"
    )


def counted(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else f'{noun}s'}"
