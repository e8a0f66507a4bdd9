"""The failures that a session is likely to meet, the likeliest first, each as a line with what worked against it.

A failure that was met once comes back as often as errors of this project do: the rate of all projects at first, then
what its own sessions show. With every session since, its own record counts more than that rate: those that met it again
of those that might have, the older the lighter. How many are told follows how many of the project's errors came back
(`policy.most_told`). A mistake in the code that one session met is not told without a fix: it was mended there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from hardwon.briefing.policy import FAILURES_TOLD, against_failure, most_told, unlikely
from hardwon.failures import tools
from hardwon.failures.fingerprint import CODE_FAMILIES
from hardwon.failures.quoting import from_elsewhere, says_what_failed, told_command, without_speaker
from hardwon.failures.signature import informative
from hardwon.model.nouns import LeftOut, Line
from hardwon.store import failures, sessions
from hardwon.store.database import Database, kept
from hardwon.store.failures import FailureRow, FixRow, Likely
from hardwon.text.normalise import lazy_pattern, presentable
from hardwon.text.shown import failure_line, one_line, remedy

SESSIONS_REMEMBERED = 256
"""Sessions that are counted one by one; what is older is as old as that."""
_CAME_BACK_BEFORE, _SESSIONS_BEFORE = 0.5, 10.0
"""As if of ten sessions that might have met an error again half a one had: fitted over the projects to tune on."""
_SESSIONS_OF_DOUBT = 6.0
"""So many sessions the project's rate is worth, beside an error's own record."""
_FADES = 0.3
"""How fast an error that was not met lately grows unlikely, over what its record says."""
_WEIGHT_OF_A_MISTAKE = 0.4
"""Of the day, in the code: it is mended where it is met."""
WORTH_OF_A_FIX = 1.6
"""A line with what worked is of use to whom it comes true, and such errors come back more often."""
_SURROUNDINGS = lazy_pattern(
    r"not found|not recognized|[Nn]o such file|ENOENT|does not exist|already exists|outside repository|not a git repo"
    r"|[Cc]annot find (?:the |a )?(?:path|module|package)|[Cc]an't cd|volume label|did not match any|matches found"
    r"|[Nn]o module named|ERR_MODULE|could not (?:find|resolve)|[Uu]nable to (?:find|locate)"
    r"|[Pp]ermission denied|EACCES|EPERM|not permitted|denied|another process|in use|EADDRINUSE|ECONNREFUSED|refused"
    r"|[Tt]imed out|could not read Username|[Cc]redentials|API_KEY|ownership|[Uu]nauthorized|[Ff]orbidden"
)
"""What a machine, a shell or a service refuses."""
_NAME_OF_A_TEST = lazy_pattern(r" \([^()]*(?:\([^()]*\)[^()]*)*\)$")


class Chance(NamedTuple):
    """How likely a failure is to come back in the next session, and what says so."""

    value: float
    again: float
    """The sessions that met it again, each the lighter the longer ago it was; and all since it was met first."""
    of: float
    rate: float
    """At which errors come back in this project."""
    is_mistake: bool


class Chances:
    """What the failures of a project tell about each of them."""

    def __init__(self, errors: int, different: int, starts: Sequence[int], first_seen: Iterable[int]) -> None:
        """`errors` counts a failure once for each session that met it."""
        self._starts = starts
        might_have = sum(map(self.age, first_seen))
        self._rate = (_CAME_BACK_BEFORE + errors - different) / (_SESSIONS_BEFORE + might_have)

    def of(self, one: Likely) -> Chance:
        since = self.age(one.row.first_seen)
        ages = [self.age(at) for at in one.visits or (one.row.last_seen,)]
        again = sum([_weight(age) for age in ages if age < since])
        of = _weight_of_all(since)
        mistake = one.row.family in CODE_FAMILIES and not _is_of_surroundings(one.row.error)
        believed = _SESSIONS_OF_DOUBT * self._rate * (_WEIGHT_OF_A_MISTAKE if mistake else 1)
        share = (believed + again) / (_SESSIONS_OF_DOUBT + of)
        return Chance(min(1.0, share) * (1 + min(ages)) ** -_FADES, again, of, self._rate, mistake)

    def age(self, at: int) -> int:
        """In sessions: 0 for what the last one met."""
        return max(0, len(self._starts) - bisect_right(self._starts, at))


@lru_cache(maxsize=4096)  # a replay asks again for every session
def _is_of_surroundings(error: str) -> bool:
    return _SURROUNDINGS.search(_NAME_OF_A_TEST.sub("", error)) is not None


@lru_cache(maxsize=SESSIONS_REMEMBERED + 1)
def _weight(age: int) -> float:
    """Of a session, so many before the last."""
    return float((1 + age) ** -0.5)


@lru_cache(maxsize=SESSIONS_REMEMBERED + 1)
def _weight_of_all(sessions: int) -> float:
    return sum(map(_weight, range(sessions)))


def of_one_day(chance: Chance, sessions: int, *, fixed: bool) -> bool:
    """A mistake in the code that one session met, and of which nothing is known but that."""
    return chance.is_mistake and sessions == 1 and not fixed


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
    met = kept(db, failures.met_in, project)
    starts = tuple(sessions.starts(db, project, SESSIONS_REMEMBERED))
    among: tuple[str, ...] = ()
    if len(kept(db, failures.likely, project, _FAILURES_CONSIDERED)) == _FAILURES_CONSIDERED:
        among = tuple(id for id in fits if id.startswith("F"))
    judged, fixes = kept(db, _judged, project, starts, among, only_here)
    scored = []
    likeliest = 0.0
    for one, reason, chance in judged:
        if chance is None:
            left_out.append(LeftOut(id=one.row.id, reason=reason))
            continue
        fixed = best_fix(fixes[one.row.id]) is not None
        fit = fits.get(one.row.id, 0.0)
        if of_one_day(chance, one.row.sessions, fixed=fixed) and not fit and not once_is_enough:
            left_out.append(LeftOut(id=one.row.id, reason="a mistake in the code that one session met"))
            continue
        value = chance.value * (1 + fit)
        likeliest = max(likeliest, value)
        scored.append((value * (WORTH_OF_A_FIX if fixed else 1), value, one, chance))
    scored.sort(key=lambda entry: (-entry[0], entry[2].row.id))
    most = FAILURES_TOLD if once_is_enough else most_told(met.errors, met.different)
    told = [entry for entry in scored[:most] if once_is_enough or not unlikely(entry[1], likeliest)]
    full = "likelier failures fill the block" if most == FAILURES_TOLD else "errors do not come back here"
    chosen = {one.row.id for _, _, one, _ in told}
    left_out.extend(
        LeftOut(id=one.row.id, reason=unlikely(value, likeliest) or full)
        for _, value, one, _ in scored
        if one.row.id not in chosen
    )
    return [
        as_line(one, fixes[one.row.id], round(score, 9), _why_failure(one, chance, fits.get(one.row.id, 0.0)))
        for score, _, one, chance in told
    ]


_Judged = list[tuple[Likely, str, Chance | None]]
"""A failure; why it is never told, or how likely it is to come back."""


def _judged(
    db: Database, project: str, starts: Sequence[int], among: Sequence[str], only_here: bool
) -> tuple[_Judged, dict[str, list[FixRow]]]:
    """The failures of a project, whatever the task, and what worked against each."""
    known = kept(db, failures.likely, project, _FAILURES_CONSIDERED, among)
    met = kept(db, failures.met_in, project)
    chances = Chances(met.errors, met.different, starts, [one.row.first_seen for one in known])
    found: _Judged = []
    for one in known:
        reason = _not_told(one.row.error, one.row.signature, one.row.family, one.row.command)
        found.append((one, reason, None if reason else chances.of(one)))
    return found, kept(db, _fixes, project, among, only_here)


def _fixes(db: Database, project: str, among: Sequence[str], only_here: bool) -> dict[str, list[FixRow]]:
    known = kept(db, failures.likely, project, _FAILURES_CONSIDERED, among)
    return failures.fixes(db, [one.row.id for one in known], project, only_here=only_here)


_OF_JSON = re.compile(r"\":|\" ?: |: \"$|\\\\\"")
"""Keys and quotes of an answer whose words were masked."""


@lru_cache(maxsize=4096)
def _not_told(error: str, signature: str, family: str, command: str) -> str:
    """Why a failure is never told, however likely it is; empty if it may be."""
    masked = without_speaker(error) == signature
    vague = masked and (
        signature.count("…") > 1
        or _OF_JSON.search(signature) is not None
        or (family == "generic" and (not informative(signature) or from_elsewhere("", command)))
    )
    answer = family == "http" and without_speaker(error).startswith("error: ")  # in masked words of a server
    if vague or answer or not says_what_failed(error):
        return "its words do not say what went wrong"
    return against_failure(family)


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
    text, error = _failure_text(one.row, worked, fix.avoid if fix else (), waits=not fix and better_waits(fixes, None))
    if fix:
        why += f", fix confirmed in {fix.confirmed}"
    return Line(
        id=one.row.id,
        kind="failure",
        text=text,
        score=score,
        why=why,
        source=one.place,
        error=error,
        fix=worked or False,
    )


@lru_cache(maxsize=4096)
def _failure_text(row: FailureRow, worked: str, avoid: Sequence[tuple[str, str]], *, waits: bool) -> tuple[str, str]:
    """(the line, what it says of the error)"""
    text = failure_line(
        error=row.error,
        command=_speaker(row),
        hook=row.family == "hook",
        occurrences=row.occurrences,
        sessions=row.sessions,
        worked=worked,
        avoid=avoid,
        waits=waits,
    )
    error = one_line(without_speaker(row.error))
    return text, error if error in text else ""


def _speaker(row: FailureRow) -> str:
    """The command that the error is of: the one that it names at its head, else what the line was for."""
    if tools.danger(row.command):
        return ""
    named = re.match(r"([a-z][\w.-]*): ", row.error)
    said = named.group(1) if named and named.group(1) in row.command.split() else ""
    where = row.family not in ("usage", "shell")  # the same wherever it is called
    gist = (
        told_command(row.command, row.error, where=where)
        if row.family != "hook"
        else presentable(tools.gist(row.command))
    )
    if (said or row.error.endswith(f": {gist}")) and all(word.rstrip("…") in row.error for word in gist.split()):
        return ""  # the line says it all
    return gist if not said or said in gist.split() else said


def _why_failure(one: Likely, chance: Chance, fit: float) -> str:
    return (
        f"chance {chance.value:.2f}: met again in {chance.again:.1f} of {chance.of:.1f} sessions (older ones count "
        f"less), and errors of this project come back in {chance.rate:.1%} of them"
        f"{', a mistake in the code' if chance.is_mistake else ''}; "
        f"× fit {1 + fit:.2f}; "
        f"{counted(one.row.occurrences, 'time')} in {counted(one.row.sessions, 'session')}"
    )


def counted(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else f'{noun}s'}"
