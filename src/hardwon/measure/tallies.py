"""The counts that metrics are made of: a few statements, each over an index or one pass of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from hardwon.briefing.asked import waiting_fixes
from hardwon.model.metric import Rate, rate
from hardwon.store.database import Database, Row
from hardwon.store.read import ROW_OF_A_LIST
from hardwon.store.spool import OFF

# Is a confidence worth what it says? Each lesson's against what later became of it.

MAX_BINS = 10
_MIN_LESSONS_PER_BIN = 5
_MIN_LESSONS_FOR_A_SPREAD = 10
_Z_OF_95_PERCENT = 1.959964
_BANDS = ((0.9, "0.9-1.0"), (0.7, "0.7-0.9"), (0.5, "0.5-0.7"), (0.3, "0.3-0.5"), (0.0, "0.0-0.3"))


class Forecast(NamedTuple):
    """A confidence as it was first given, and how many lessons had it and ended so."""

    confidence: float
    came_true: bool | None
    """Confirmed by another session or a person; False if contradicted; None while neither."""
    lessons: int = 1


class Band(Struct, frozen=True, kw_only=True):
    band: str
    mean_confidence: float | None
    confirmed: Rate
    unresolved: int


class Calibration(Struct, frozen=True, kw_only=True):
    resolved: int
    unresolved: Rate
    brier: float | None
    """Mean squared error of the confidence: 0 is perfect."""
    brier_low: float | None
    brier_high: float | None
    skill: float | None
    """How much better than always saying the base rate: 1 is perfect, 0 no better, below 0 worse."""
    ece: float | None
    """Mean gap between confidence and confirmation over bins that hold equally many."""
    bands: list[Band]


def calibrate(forecasts: Sequence[Forecast]) -> Calibration:
    """How well confidence tells what is confirmed; numbers are None where too few lessons have been judged."""
    told = [(each.confidence, int(each.came_true), each.lessons) for each in forecasts if each.came_true is not None]
    n = sum(count for _, _, count in told)
    everything = sum(each.lessons for each in forecasts)
    brier = sum(count * (said - true) ** 2 for said, true, count in told) / n if n else None
    spread = _spread(told, n, brier) if brier is not None and n >= _MIN_LESSONS_FOR_A_SPREAD else None
    base = sum(count * true for _, true, count in told) / n if n else 0.0
    reference = base * (1 - base)
    return Calibration(
        resolved=n,
        unresolved=rate(everything - n, everything),
        brier=_rounded(brier),
        brier_low=_rounded(max(0.0, brier - spread)) if brier is not None and spread is not None else None,
        brier_high=_rounded(min(1.0, brier + spread)) if brier is not None and spread is not None else None,
        skill=_rounded(1 - brier / reference) if brier is not None and reference else None,
        ece=_rounded(_gap(told, n)) if n else None,
        bands=[_band(name, forecasts, low, high) for (low, name), high in zip(_BANDS, _tops(), strict=True)],
    )


def _spread(told: Sequence[tuple[float, int, int]], n: int, mean: float) -> float:
    """Half of the 95 % interval of a mean of squared errors."""
    variance = sum(count * ((said - true) ** 2 - mean) ** 2 for said, true, count in told) / (n - 1)
    return _Z_OF_95_PERCENT * math.sqrt(variance / n)


def _gap(told: Sequence[tuple[float, int, int]], n: int) -> float:
    """Lessons in the order of their confidence, cut into bins of equal size; equals are shared out alike."""
    bins = max(1, min(MAX_BINS, n // _MIN_LESSONS_PER_BIN))
    alike: dict[float, list[int]] = {}
    for said, true, count in told:
        counted = alike.setdefault(said, [0, 0])
        counted[0] += true * count
        counted[1] += count
    gaps = [0.0] * bins
    at = 0.0
    for said, (true, count) in sorted(alike.items()):
        left = float(count)
        while left > 1e-9:
            index = min(bins - 1, int(at * bins / n + 1e-9))
            taken = min(left, (index + 1) * n / bins - at) if index < bins - 1 else left
            gaps[index] += taken * (said - true / count)
            at += taken
            left -= taken
    return sum(map(abs, gaps)) / n


def _tops() -> list[float]:
    return [1.01, *(low for low, _ in _BANDS[:-1])]


def _band(name: str, forecasts: Sequence[Forecast], low: float, high: float) -> Band:
    inside = [each for each in forecasts if low <= each.confidence < high]
    told = [each for each in inside if each.came_true is not None]
    n = sum(each.lessons for each in told)
    total = sum(each.lessons for each in inside)
    return Band(
        band=name,
        mean_confidence=_rounded(sum(each.lessons * each.confidence for each in told) / n) if n else None,
        confirmed=rate(sum(each.lessons for each in told if each.came_true), n),
        unresolved=total - n,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


# CROSS JOIN tells SQLite the order of the loops; to PostgreSQL it is a join like any other.
_FIRST = "NOT EXISTS (SELECT 1 FROM bootstrap x WHERE x.session = b.session AND x.created_at < b.created_at)"
"""A session that is resumed is told again what it was told; that counts once."""
_MICROSECONDS_PER_DAY = 24 * 3600 * 1_000_000
_MICROSECONDS_PER_WEEK = 7 * _MICROSECONDS_PER_DAY


class Window(NamedTuple):
    """What is looked at: a project, or all of them, between two moments."""

    since: int
    until: int
    project: str = ""

    def where(self, time: str, project: str = "project") -> tuple[str, list[object]]:
        """A condition on these columns, and its values."""
        named, values = self.named(project)
        return f"{time} >= ? AND {time} <= ?{named}", [self.since, self.until, *values]

    def named(self, project: str = "project") -> tuple[str, list[object]]:
        return (f" AND {project} = ?", [self.project]) if self.project else ("", [])


_OF_PROJECT = "coalesce({}, '')".format
"""Of a table in whose index a project's rows lie scattered: reading all of it takes no longer than a look at each."""


class SessionTally(NamedTuple):
    number: int
    first: int | None
    messages: int
    calls: int
    errors: int
    redactions: int
    tokens: int
    with_tokens: int


def sessions(db: Database, window: Window) -> SessionTally:
    where, values = window.where("started_at")
    row = db.query(
        "SELECT count(CASE WHEN subagent = '' THEN 1 END), min(started_at), coalesce(sum(messages), 0), "
        "coalesce(sum(tool_calls), 0), "
        "coalesce(sum(errors), 0), coalesce(sum(redactions), 0), "
        "coalesce(sum(coalesce(tokens_in, 0) + coalesce(tokens_out, 0)), 0), "
        "count(CASE WHEN subagent = '' THEN tokens_in END) "
        f"FROM session WHERE {where}",
        values,
    )[0]
    number, first, *rest = row
    return SessionTally(int(number), first, *map(int, rest))


def lesson_ages(db: Database, window: Window) -> list[int]:
    """When each active lesson was last confirmed, the oldest first."""
    named, values = window.named()
    rows = db.query(f"SELECT last_confirmed FROM lesson WHERE status = 'active'{named} ORDER BY last_confirmed", values)
    return [row[0] for row in rows]


def forecasts(db: Database, window: Window) -> list[Forecast]:
    """Confidence as first given → confirmed by a second session or a person, or taken back since."""
    named, values = window.named()
    rows = db.query(
        "SELECT base_confidence, CASE WHEN status IN ('invalid', 'superseded') THEN 0 WHEN source_count >= 2 OR "
        "(kept = 1 AND status = 'active' AND rule <> '') THEN 1 ELSE 2 END AS ended, count(*) "
        f"FROM lesson WHERE first_seen <= ?{named} GROUP BY base_confidence, ended",
        [window.until, *values],
    )
    return [Forecast(confidence, {0: False, 1: True}.get(int(ended)), int(n)) for confidence, ended, n in rows]


def queue(db: Database, window: Window) -> tuple[int, int, int]:
    """(lessons, contradictions, fixes) that wait for a person, as `review` lists them."""
    named, values = window.named()
    lessons = _number(db, f"SELECT count(*) FROM lesson WHERE status = 'candidate'{named}", values)
    held = "JOIN conflict_member m ON m.conflict = c.id JOIN lesson l ON l.id = m.lesson AND l.project = ?"
    between = held if window.project else ""
    conflicts = _number(db, f"SELECT count(DISTINCT c.id) FROM conflict c {between} WHERE c.status = 'open'", values)
    return lessons, conflicts, len(waiting_fixes(db, window.project or None))


class Again(NamedTuple):
    """Errors of sessions, each counted once for a session, without those of agents' own tools."""

    errors: int
    before: int
    """An earlier session had met it."""
    fixed: int
    """And a fix that is told had worked by then, in another session."""


Which = Literal["all", "before", "fixed"]
"""Errors: all, those that an earlier session had met, and of these those with a fix that had worked by then."""
_MET_TWICE = "one.failure IN (SELECT r.id FROM failure r WHERE r.sessions > 1)"
"""Most errors are met by one session alone: to look each up in every index takes longer the more there are."""
_EARLIER = (
    f"{_MET_TWICE} AND EXISTS "
    "(SELECT 1 FROM occurrence b WHERE b.failure = one.failure AND b.at < one.at AND b.root <> one.root)"
)
_FIXED = (
    f"{_MET_TWICE} AND EXISTS "
    "(SELECT 1 FROM fix x JOIN fix_evidence e ON e.fix = x.id WHERE x.failure = one.failure "
    "AND x.status = 'active' AND e.at < one.at AND e.root <> one.root)"
)


def _met_once(window: Window) -> tuple[str, list[object]]:
    """`one`: the failures of each session, when it first met them."""
    where, values = window.where("o.at", _OF_PROJECT("o.project"))
    one = (
        "WITH one AS (SELECT o.failure, o.root, min(o.at) AS at FROM occurrence o "
        f"WHERE {where} AND o.failure NOT IN (SELECT f.id FROM failure f WHERE f.family = 'agent') "
        "GROUP BY o.failure, o.root)"
    )
    return one, values


def met_again(db: Database, window: Window) -> list[tuple[int, Again]]:
    """(day since 1970, its errors), for every day that had any."""
    one, values = _met_once(window)
    rows = db.query(
        f"{one} SELECT one.at / ?, count(*), sum(CASE WHEN {_EARLIER} THEN 1 ELSE 0 END), "
        f"sum(CASE WHEN {_FIXED} THEN 1 ELSE 0 END) FROM one GROUP BY 1 ORDER BY 1",
        [*values, _MICROSECONDS_PER_DAY],
    )
    return [(int(day), Again(*map(int, rest))) for day, *rest in rows]


def weekly_errors(db: Database, window: Window) -> list[tuple[int, int, int]]:
    """(week, errors, of which met before) for every week that had any, by number since 1970."""
    weeks: dict[int, tuple[int, int]] = {}
    for day, each in met_again(db, window):
        errors, before = weeks.get(day // 7, (0, 0))
        weeks[day // 7] = errors + each.errors, before + each.before
    return [(week, *sums) for week, sums in weeks.items()]


class Met(NamedTuple):
    """An error of a session, at the message that it first stands in."""

    at: int
    failure: str
    error: str
    session: str
    message: int
    agent: str
    project: str | None


def met(db: Database, window: Window, which: Which, limit: int) -> list[Met]:
    """The errors that `met_again` counts, the newest first."""
    one, values = _met_once(window)
    condition = {"all": "", "before": f"AND {_EARLIER}", "fixed": f"AND {_FIXED}"}[which]
    rows = db.query(
        f"{one} SELECT one.at, one.failure, coalesce(nullif(min(o.words), ''), f.signature), min(o.source), "
        "min(o.message_index), min(o.agent), min(o.project) FROM one JOIN failure f ON f.id = one.failure "
        "JOIN occurrence o ON o.failure = one.failure AND o.root = one.root AND o.at = one.at "
        f"WHERE 1 = 1 {condition} GROUP BY one.at, one.failure, one.root, f.signature "
        "ORDER BY one.at DESC, one.failure, one.root LIMIT ?",
        [*values, limit],
    )
    return [Met(*row) for row in rows]


def weekly_lessons(db: Database, window: Window) -> list[tuple[int, int]]:
    """(week since 1970, lessons that were first seen in it)."""
    where, values = window.where("first_seen")
    rows = db.query(
        f"SELECT first_seen / ?, count(*) FROM lesson WHERE {where} GROUP BY 1 ORDER BY 1",
        [_MICROSECONDS_PER_WEEK, *values],
    )
    return [(int(week), int(count)) for week, count in rows]


def coverage(db: Database, window: Window) -> tuple[int, int]:
    """(failures that were met, as `failures` lists them, those with a fix that may be shown)."""
    where, values = window.where("at")
    met = f"SELECT DISTINCT failure FROM occurrence WHERE {where}"
    if window.project:
        met = "SELECT failure FROM failure_in_project WHERE last_seen >= ? AND first_seen <= ? AND project = ?"
    row = db.query(
        "SELECT count(*), coalesce(sum(fixed), 0) FROM (SELECT max(CASE WHEN EXISTS (SELECT 1 FROM fix x WHERE "
        "x.failure = failure.id AND x.status = 'active') THEN 1 ELSE 0 END) AS fixed FROM failure "
        f"WHERE id IN ({met}) AND family <> 'agent' AND status = 'active' GROUP BY {ROW_OF_A_LIST}) listed",
        values,
    )[0]
    return int(row[0]), int(row[1])


def attempts(db: Database, window: Window) -> dict[str, int]:
    """Outcome → how many."""
    where, values = window.where("started_at")
    rows = db.query(f"SELECT outcome, count(*) FROM attempt WHERE {where} GROUP BY outcome", values)
    return {row[0]: int(row[1]) for row in rows}


def first_tries(db: Database, window: Window) -> tuple[int, int]:
    """(sessions with a judged attempt, those whose first one succeeded)."""
    where, values = window.where("started_at")
    row = db.query(
        "SELECT count(*), coalesce(sum(CASE WHEN won > 0 THEN 1 ELSE 0 END), 0) FROM "
        "(SELECT a.root, sum(CASE WHEN a.outcome = 'success' THEN 1 ELSE 0 END) AS won FROM attempt a JOIN "
        f"(SELECT root, min(started_at) AS first_at FROM attempt WHERE outcome <> 'unknown' AND {where} GROUP BY root) "
        "f ON f.root = a.root AND f.first_at = a.started_at WHERE a.outcome <> 'unknown' GROUP BY a.root) each_root",
        values,
    )[0]
    return int(row[0]), int(row[1])


class LineTally(NamedTuple):
    """Lines of the experiment whose session is harvested, and what came of them."""

    shown: int = 0
    shown_recurred: int = 0
    withheld: int = 0
    withheld_recurred: int = 0


def lines(db: Database, window: Window) -> LineTally:
    """How often failures came back whose line was shown, and whose line was withheld."""
    where, values = window.where("b.created_at", "b.project")
    rows = db.query(
        "SELECT e.shown, count(*), sum(CASE WHEN EXISTS (SELECT 1 FROM occurrence o WHERE o.root = b.session AND "
        "o.failure = e.item AND o.at >= b.created_at) THEN 1 ELSE 0 END) FROM bootstrap b "
        f"CROSS JOIN exposure e WHERE e.bootstrap = b.id AND {where} AND b.arm <> ? AND e.chance < 1 AND "
        f"e.item >= 'F' AND e.item < 'G' AND {_FIRST} AND "
        "EXISTS (SELECT 1 FROM session s WHERE s.root = b.session) GROUP BY e.shown",
        [*values, OFF],
    )
    by_shown = {int(row[0]): (int(row[1]), int(row[2])) for row in rows}
    return LineTally(*by_shown.get(1, (0, 0)), *by_shown.get(0, (0, 0)))


def uses(db: Database, window: Window) -> dict[tuple[bool, bool], tuple[int, int]]:
    """(takes part in the experiment, shown) → (lines of which it can be told, those that were used)."""
    where, values = window.where("b.created_at", "b.project")
    rows = db.query(
        "SELECT CASE WHEN e.chance < 1 AND b.arm <> ? THEN 1 ELSE 0 END, e.shown, count(*), sum(e.used) "
        f"FROM bootstrap b CROSS JOIN exposure e WHERE e.bootstrap = b.id AND {where} AND {_FIRST} AND "
        "e.used IS NOT NULL "
        "GROUP BY 1, 2",
        [OFF, *values],
    )
    return {(bool(part), bool(shown)): (int(n), int(used)) for part, shown, n, used in rows}


def spent(db: Database, window: Window) -> tuple[int, int]:
    """(bootstraps that said something, tokens of them all)."""
    where, values = window.where("created_at")
    row = db.query(f"SELECT count(*), coalesce(sum(tokens), 0) FROM bootstrap WHERE tokens > 0 AND {where}", values)[0]
    return int(row[0]), int(row[1])


def cost_of_an_error(db: Database, window: Window) -> tuple[int, float]:
    """(occurrences, mean tokens of one)."""
    where, values = window.where("at", _OF_PROJECT("project"))
    row = db.query(f"SELECT count(*), coalesce(avg(tokens), 0) FROM occurrence WHERE tokens > 0 AND {where}", values)[0]
    return int(row[0]), float(row[1])


def hook_times(db: Database, window: Window) -> tuple[list[int], int]:
    """(microseconds of each run, the quickest first; how many runs failed)."""
    rows = db.query(
        "SELECT microseconds, error FROM hook_run WHERE at >= ? AND at <= ? AND event <> 'spool' ORDER BY microseconds",
        (window.since, window.until),
    )
    return [row[0] for row in rows], sum(row[1] != "" for row in rows)


def _number(db: Database, sql: str, values: list[object]) -> int:
    row: Row = db.query(sql, values)[0]
    return int(row[0])
