"""The failures that a session is likely to meet, the likeliest first, each as a line with what worked against it.

An error comes back at a rate of its own until it is gone for good. Both are unknown: the rate is about that of this
project's errors at first (of all projects' where it has few sessions), and follows what the error's own record shows;
that it is gone grows likelier with every session that did not meet it, the sooner the oftener it used to be met
(the beta-geometric/beta-binomial model of customers who come back). Mistakes in the code are mended where they are met:
most are gone at once. What is told must be likely enough by itself, whatever else there is to tell.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from hardwon.briefing.policy import FAILURES_TOLD, LEAST_CHANCE_OF_A_FIX, SAID_BY, against_failure, unlikely
from hardwon.failures import tools
from hardwon.failures.fingerprint import CODE_FAMILIES
from hardwon.failures.shell import calls_the_same
from hardwon.failures.signature import from_elsewhere, informative
from hardwon.failures.speaker import hooked_command, names_its_command, told_command
from hardwon.failures.told import is_an_answer, is_refusal, names_no_error, says_what_failed, without_speaker
from hardwon.model.nouns import LeftOut, Line
from hardwon.store import failures, sessions
from hardwon.store.database import Database, kept
from hardwon.store.failures import FailureRow, FixRow, Likely
from hardwon.text.normalise import lazy_pattern
from hardwon.text.shown import failure_line, one_line, remedy

SESSIONS_REMEMBERED = 256
"""Sessions that are counted one by one; what is older is as old as that."""
_CAME_BACK_BEFORE, _SESSIONS_BEFORE = 0.5, 10.0
"""As if of ten sessions that might have met an error again half a one had: fitted over the projects to tune on."""
_SESSIONS_OF_DOUBT = 20.0
"""So many sessions the project's rate is worth, beside an error's own record."""
_RATE_OF_MISTAKES = 0.5
"""How often mistakes in the code come back, beside other errors."""
_GONE = 0.3, 20.0
_GONE_MISTAKES = 1.0, 2.0
"""As if of so many sessions (both together) so many had been the last to meet it: fitted as the others are."""
_SURROUNDINGS = lazy_pattern(
    r"not found|not recognized|[Nn]o such file|ENOENT|does not exist|already exists|outside repository|not a git repo"
    r"|[Cc]annot find (?:the |a )?(?:path|module|package)|[Cc]an't cd|volume label|did not match any|matches found"
    r"|[Nn]o module named|ERR_MODULE|could not (?:find|resolve)|[Uu]nable to (?:find|locate)"
    r"|[Pp]ermission denied|EACCES|EPERM|not permitted|denied|another process|in use|EADDRINUSE|ECONNREFUSED|refused"
    r"|[Tt]imed out|could not read Username|[Cc]redentials|API_KEY|ownership|[Uu]nauthorized|[Ff]orbidden"
)
"""What a machine, a shell or a service refuses."""
_ASSERTS = lazy_pattern(r"\bexpect\(|[Aa]ssert|\b[Ee]xpected\b|\b[Nn]umber of calls\b")
_DAY = 86_400_000_000
LONG_AGO = 30 * _DAY
_HALF_A_YEAR = 183 * _DAY
_TOLD_WITHOUT_A_FIX = 6
_NAME_OF_A_TEST = lazy_pattern(r" \([^()]*(?:\([^()]*\)[^()]*)*\)$")


class Chance(NamedTuple):
    """How likely a failure is to come back in the next session, and what says so."""

    value: float
    again: int
    """The sessions that met it again, and all since it was met first."""
    of: int
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
        visits = one.visits or (one.row.last_seen,)
        since, last = self.age(one.row.first_seen), self.age(max(visits))
        again = min((noticed(one) or 1) - 1, since - last)
        mistake = one.row.family in CODE_FAMILIES and not _is_of_surroundings(one.row.error)
        rate = round(min(0.5, self._rate * (_RATE_OF_MISTAKES if mistake else 1)), 3)
        value = comes_back(again, since - last if again else 0, since, rate, _GONE_MISTAKES if mistake else _GONE)
        return Chance(value, again, since, self._rate, mistake)

    def age(self, at: int) -> int:
        """In sessions: 0 for what the last one met."""
        return max(0, len(self._starts) - bisect_right(self._starts, at))


def noticed(one: Likely) -> int:
    """In how many sessions the agent was told of it; a pipe may have hidden it in others, and stopped nobody."""
    return len(one.visits) if len(one.visits) < failures.MAX_VISITS else one.row.sessions


@lru_cache(maxsize=4096)  # a replay asks again for every session
def _is_of_surroundings(error: str) -> bool:
    return _SURROUNDINGS.search(_NAME_OF_A_TEST.sub("", error)) is not None


@lru_cache(maxsize=1 << 14)
def comes_back(again: int, until: int, sessions: int, rate: float, gone: tuple[float, float]) -> float:
    """The chance that the next session meets what `again` of so many sessions did, the last of them the `until`th."""
    met, missed = rate * _SESSIONS_OF_DOUBT, (1 - rate) * _SESSIONS_OF_DOUBT
    ended, went_on = gone
    is_there, is_gone = 1.0, 0.0
    for at in range(until, sessions):
        is_gone += is_there * ended / (ended + went_on + at)
        is_there *= (missed + at - again) / (met + missed + at) * (went_on + at) / (ended + went_on + at)
    once_more = (met + again) / (met + missed + sessions) * (went_on + sessions) / (ended + went_on + sessions)
    return is_there / (is_there + is_gone) * once_more


_FAILURES_CONSIDERED = 500


def failure_lines(
    db: Database,
    project: str,
    fits: dict[str, float],
    left_out: list[LeftOut],
    *,
    now: int,
    only_here: bool,
    once_is_enough: bool = False,
) -> list[Line]:
    """Those worth a line, best first: the unlikely ones are not told, whatever room there is.

    What was last met long ago says when; an assertion about the code of that time is gone, and after half a year all
    but what is proven to have a fix. Few without a fix are told: each helps less than the one before.
    """
    starts = tuple(sessions.starts(db, project, SESSIONS_REMEMBERED))
    among: tuple[str, ...] = ()
    if len(kept(db, failures.likely, project, _FAILURES_CONSIDERED)) == _FAILURES_CONSIDERED:
        among = tuple(id for id in fits if id.startswith("F"))
    judged, fixes = kept(db, _judged, project, starts, among, only_here)
    left_out.extend(LeftOut(id=one.row.id, reason=reason) for one, reason, chance in judged if chance is None)
    scored = [
        (chance.value * (1 + fits.get(one.row.id, 0.0)), one, chance) for one, _, chance in judged if chance is not None
    ]
    scored.sort(key=lambda entry: (-entry[0], entry[1].row.id))
    lines: list[Line] = []
    unfixed = 0
    kinds = kept(db, failures.kinds, tuple(sorted(one.row.id for _, one, _ in scored)))
    mended: dict[tuple[tuple[str, str] | None, str], str] = {}
    for at, (value, one, chance) in enumerate(scored):
        fix = best_fix(fixes[one.row.id], one.row.command)
        long_ago = now - one.row.last_seen > LONG_AGO
        reason = "" if once_is_enough else unlikely(value, first=not at)
        if long_ago and chance.is_mistake and _ASSERTS.search(one.row.error) and not once_is_enough:
            reason = "a failing test, over a month ago"
        proven = once_is_enough or (fix and fix.confirmed >= failures.SESSIONS_THAT_PROVE)
        if now - one.row.last_seen > _HALF_A_YEAR and not proven:
            reason = reason or "not met for half a year, and no fix of it worked in two sessions"
        kind, worked = kinds.get(one.row.id), remedy(fix.steps, fix.succeeded_as) if fix else ""
        if kind and worked and not reason:  # what a formatter says of each file is mended alike
            same = mended.setdefault((kind, worked), one.row.id)
            reason = "" if same == one.row.id else f"{SAID_BY}{same}"
        full = len(lines) >= FAILURES_TOLD or (not fix and unfixed >= _TOLD_WITHOUT_A_FIX and not once_is_enough)
        if reason or full:
            left_out.append(LeftOut(id=one.row.id, reason=reason or "likelier failures fill the block"))
            continue
        unfixed += not fix
        why = _why_failure(one, chance, fits.get(one.row.id, 0.0))
        lines.append(
            as_line(one, fixes[one.row.id], round(value, 9), why, last_seen=one.row.last_seen if long_ago else None)
        )
    return lines


def said_by_others(db: Database, told: dict[str, str], ids: Sequence[str]) -> dict[str, str]:
    """Failures that are not told themselves, and what tells of them, or of one that lists show with them.

    `told` has the failures that a line is about, and the line's item.
    """
    kinds = failures.kinds(db, [*told, *ids])
    by_kind = {kinds[failure]: item for failure, item in reversed(told.items()) if failure in kinds}
    found = {id: told.get(id) or by_kind.get(kinds.get(id, ("", "")), "") for id in ids}
    return {id: item for id, item in found.items() if item}


def gone(db: Database, project: str, *, only_here: bool) -> set[str]:
    """The failures that will hardly be met again: what worked against them helps nobody any more."""
    starts = tuple(sessions.starts(db, project, SESSIONS_REMEMBERED))
    judged, _ = kept(db, _judged, project, starts, (), only_here)
    return {one.row.id for one, _, chance in judged if chance is not None and chance.value < LEAST_CHANCE_OF_A_FIX}


_Judged = list[tuple[Likely, str, Chance | None]]
"""A failure; why it is never told, or how likely it is to come back."""


def _judged(
    db: Database, project: str, starts: Sequence[int], among: Sequence[str], only_here: bool
) -> tuple[_Judged, dict[str, list[FixRow]]]:
    """The failures of a project, whatever the task, and what worked against each."""
    known = kept(db, failures.likely, project, _FAILURES_CONSIDERED, among)
    if len(known) < _FAILURES_CONSIDERED:
        sessions_each = [noticed(one) for one in known if one.row.family != "agent"]
        errors, different = sum(sessions_each), sum(map(bool, sessions_each))
    else:
        errors, different, _ = kept(db, failures.met_in, project)
    chances = Chances(errors, different, starts, [one.row.first_seen for one in known])
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
    if vague or answer or names_no_error(error) or not says_what_failed(error):
        return "its words do not say what went wrong"
    if is_an_answer(error, command):
        return "a look that found nothing"
    return against_failure("agent" if is_refusal(error) else family)


def best_fix(fixes: Sequence[FixRow], command: str = "") -> FixRow | None:
    """The best that may be told with a command that failed; none while a better one waits for a person."""
    fixes = [fix for fix in fixes if calls_the_same(fix.succeeded_as, command)]
    told = next((fix for fix in fixes if fix.status == "active"), None)
    if told is None or better_waits(fixes, told):
        return None
    return told


def better_waits(fixes: Sequence[FixRow], told: FixRow | None) -> bool:
    """Whether a fix that a person must look at first has worked in more sessions than the one to be told."""
    least = max(told.confirmed - told.failed_again if told else 0, failures.SESSIONS_THAT_PROVE - 1)
    return any(fix.status == "candidate" and fix.confirmed - fix.failed_again > least for fix in fixes)


def as_line(
    one: Likely, fixes: Sequence[FixRow], score: float = 0.0, why: str = "", *, last_seen: int | None = None
) -> Line:
    fix = best_fix(fixes, one.row.command)
    worked = remedy(fix.steps, fix.succeeded_as) if fix else ""
    waits, confirmed = not fix and better_waits(fixes, None), fix.confirmed if fix else 0
    avoid = fix.avoid if fix else ()
    text, error = _failure_text(one.row, worked, avoid, waits=waits, confirmed=confirmed, last_seen=last_seen)
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
def _failure_text(
    row: FailureRow,
    worked: str,
    avoid: Sequence[tuple[str, str]],
    *,
    waits: bool,
    confirmed: int,
    last_seen: int | None,
) -> tuple[str, str]:
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
        confirmed=confirmed,
        last_seen=last_seen,
    )
    error = one_line(without_speaker(row.error))
    return text, error if error in text else ""


def _speaker(row: FailureRow) -> str:
    """The command that the error is of: the one that it names at its head, else what the line was for."""
    named = re.match(r"([a-z][\w.-]*): ", row.error)
    if named and re.search(rf"(?:^|[;&|(\n/]\s*){re.escape(named.group(1))}\b", row.command):
        return ""  # the line says it
    if names_its_command(row.error):
        return ""
    where = row.family not in ("usage", "shell")  # the same wherever it is called
    gist = (
        told_command(row.command, row.error, family=row.family, where=where)
        if row.family != "hook"
        else hooked_command(row.command)
    )
    return "" if row.error.endswith(f": {gist}") or tools.danger(gist) else gist


def _why_failure(one: Likely, chance: Chance, fit: float) -> str:
    return (
        f"chance {chance.value:.2f}: met again in {chance.again} of {counted(chance.of, 'session')}, and errors of "
        f"this project come back in {chance.rate:.1%} of them"
        f"{', a mistake in the code' if chance.is_mistake else ''}; "
        f"× fit {1 + fit:.2f}; "
        f"{counted(one.row.occurrences, 'time')} in {counted(one.row.sessions, 'session')}"
    )


def counted(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else f'{noun}s'}"
