"""How it goes, in numbers: each with what it rests on, and whether it is cause or mere observation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from statistics import median
from typing import NamedTuple, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from hardwon.clock import moment, to_microseconds
from hardwon.measure import tallies
from hardwon.measure.tallies import Calibration, LineTally, Window, calibrate
from hardwon.model.metric import Metric, Rate, difference, poisson, rate, share
from hardwon.store import meta
from hardwon.store.database import Database

_MICROSECONDS_PER_DAY = 24 * 3600 * 1_000_000
_STALE_AFTER_MICROSECONDS = 90 * _MICROSECONDS_PER_DAY
LEARNING, FAILURES, WORK, BRIEFING, CARE = "Learning", "Failures", "Work", "Briefing", "Care"


class Metrics(Struct, frozen=True, kw_only=True):
    since: datetime
    until: datetime
    project: str
    sessions: int
    metrics: list[Metric]
    calibration: Calibration
    weekly_errors: list[tuple[int, int, int]]
    """(week since 1970, distinct errors of sessions, of which met before)."""
    weekly_lessons: list[tuple[int, int]]
    shown: Rate
    """How often a failure came back whose line was shown, of lines that take part in the experiment."""
    withheld: Rate

    def named(self, name: str) -> Metric:
        return next(metric for metric in self.metrics if metric.name == name)


class _Bounds(TypedDict):
    low: float | None
    high: float | None


class _Three(_Bounds):
    value: float | None


class _Looked(NamedTuple):
    db: Database
    window: Window
    sessions: tallies.SessionTally
    days: float


def collect(db: Database, window: Window) -> Metrics:
    """Every metric over what the window holds; the value is None where there is nothing to count."""
    counted = tallies.sessions(db, window)
    first = max(window.since, counted.first or window.until)
    looked = _Looked(db, window, counted, max(1.0, (window.until - first) / _MICROSECONDS_PER_DAY))
    weekly = tallies.weekly_errors(db, window)
    lines = tallies.lines(db, window)
    lessons = tallies.weekly_lessons(db, window)
    calibration = calibrate(tallies.forecasts(db, window))
    found = [
        *_learning(looked, calibration, sum(number for _, number in lessons)),
        *_failures(looked, weekly),
        *_work(looked),
        *_briefing(looked, lines),
        *_care(looked),
    ]
    return Metrics(
        since=moment(first),
        until=moment(window.until),
        project=window.project,
        sessions=counted.number,
        metrics=_with_trend(db, window, found),
        calibration=calibration,
        weekly_errors=weekly,
        weekly_lessons=lessons,
        shown=rate(lines.shown_recurred, lines.shown),
        withheld=rate(lines.withheld_recurred, lines.withheld),
    )


def snapshot(db: Database, found: Metrics) -> None:
    """Keep the numbers for later comparison. Called inside a transaction."""
    numbers = ((each.name, each.value, each.n) for each in found.metrics)
    meta.save_snapshot(db, to_microseconds(found.until), found.project, numbers)


def _with_trend(db: Database, window: Window, found: list[Metric]) -> list[Metric]:
    week, month = (
        meta.snapshot_before(db, window.until - days * _MICROSECONDS_PER_DAY, window.project) for days in (7, 30)
    )

    def change(metric: Metric, then: dict[str, float]) -> float | None:
        was = then.get(metric.name)
        return None if was is None or metric.value is None else round(metric.value - was, 4)

    return [replace(metric, week=change(metric, week), month=change(metric, month)) for metric in found]


def _learning(looked: _Looked, calibration: Calibration, learned: int) -> Iterator[Metric]:
    db, window, counted, days = looked
    low, high = poisson(learned)
    yield Metric(
        name="lessons_a_day", title="lessons a day", group=LEARNING, unit="rate", value=round(learned / days, 3),
        n=learned, of="lessons", low=round(low / days, 3), high=round(high / days, 3), better="up",
    )  # fmt: skip
    millions = counted.tokens / 1e6
    yield Metric(
        name="lessons_a_million_tokens", title="lessons per million tokens", group=LEARNING, unit="rate",
        value=round(learned / millions, 3) if millions else None, n=counted.with_tokens, of="sessions",
        low=round(low / millions, 3) if millions else None, high=round(high / millions, 3) if millions else None,
        better="up",
    )  # fmt: skip
    ages = tallies.lesson_ages(db, window)
    old = [(window.until - at) / _MICROSECONDS_PER_DAY for at in ages]
    yield Metric(
        name="knowledge_age", title="median age of lessons", group=LEARNING, unit="days",
        value=round(median(old), 1) if old else None, n=len(old), of="lessons", **_middle(sorted(old)),
    )  # fmt: skip
    stale = rate(sum(window.until - at > _STALE_AFTER_MICROSECONDS for at in ages), len(ages))
    yield share("old_knowledge", "lessons not confirmed in 90 days", LEARNING, stale, "lessons", "down")
    yield Metric(
        name="brier", title="how far confidence was off (Brier score, 0 is best)", group=LEARNING, unit="score",
        value=calibration.brier, n=calibration.resolved, of="lessons", low=calibration.brier_low,
        high=calibration.brier_high, better="down",
    )  # fmt: skip
    yield Metric(
        name="skill", title="confidence compared with guessing (1 is best)", group=LEARNING, unit="score",
        value=calibration.skill, n=calibration.resolved, of="lessons", better="up",
    )  # fmt: skip
    yield Metric(
        name="calibration_gap", title="gap between confidence and outcome (0 is best)", group=LEARNING, unit="score",
        value=calibration.ece, n=calibration.resolved, of="lessons", better="down",
    )  # fmt: skip
    yield share("unresolved", "neither confirmed nor contradicted", LEARNING, calibration.unresolved, "lessons")


def _middle(values: list[float]) -> _Bounds:
    """The 95 % interval of a median, by the order of what was seen."""
    n = len(values)
    reach = 0.98 * n**0.5
    low, high = int(n / 2 - reach), int(n / 2 + reach)
    if low < 0 or high >= n:
        return {"low": None, "high": None}
    return {"low": round(values[low], 1), "high": round(values[high], 1)}


def _failures(looked: _Looked, weekly: list[tuple[int, int, int]]) -> Iterator[Metric]:
    errors, before = (sum(week[at] for week in weekly) for at in (1, 2))
    yield share("recurrence", "errors seen before", FAILURES, rate(before, errors), "errors, once a session", "down")
    met, fixed = tallies.coverage(looked.db, looked.window)
    yield share("coverage", "failures with a known fix", FAILURES, rate(fixed, met), "failures", "up")
    failed = rate(looked.sessions.errors, looked.sessions.calls)
    yield share("failed_calls", "calls that failed", FAILURES, failed, "calls", "down")


def _work(looked: _Looked) -> Iterator[Metric]:
    ended = tallies.attempts(looked.db, looked.window)
    judged = sum(count for outcome, count in ended.items() if outcome != "unknown")
    done = rate(ended.get("success", 0), judged)
    yield share("completion", "tasks completed", WORK, done, "judged attempts", "up")
    roots, won = tallies.first_tries(looked.db, looked.window)
    yield share("first_try", "right at the first try", WORK, rate(won, roots), "sessions", "up")
    unknown = rate(ended.get("unknown", 0), judged + ended.get("unknown", 0))
    yield share("unjudged", "without evidence either way", WORK, unknown, "attempts", "down")


def _briefing(looked: _Looked, lines: LineTally) -> Iterator[Metric]:
    db, window = looked.db, looked.window
    uses = tallies.uses(db, window)
    told = [uses.get((part, True), (0, 0)) for part in (True, False)]
    hit = rate(sum(used for _, used in told), sum(n for n, _ in told))
    yield share("hit_rate", "lines shown and used", BRIEFING, hit, "lines", "up")
    pair = [rate(used, n) for n, used in (uses.get((True, shown), (0, 0)) for shown in (True, False))]
    excess = difference(*pair)
    yield Metric(
        name="hit_rate_excess", title="used because shown", group=BRIEFING, unit="difference", label="causal",
        n=pair[0].n + pair[1].n, of="lines", better="up", **_three(excess),
    )  # fmt: skip
    avoided = _avoided(lines)
    yield Metric(
        name="recurrence_effect", title="recurrence, shown minus withheld", group=BRIEFING, unit="difference",
        label="causal", n=lines.shown + lines.withheld, of="lines", better="down",
        **_three(tuple(-part for part in (avoided[0], avoided[2], avoided[1])) if avoided else None),
    )  # fmt: skip
    briefed, tokens = tallies.spent(db, window)
    yield Metric(
        name="tokens_spent", title="tokens of briefings given", group=BRIEFING, unit="tokens",
        value=float(tokens) if briefed else None, n=briefed, of="briefings", better="down",
    )  # fmt: skip
    seen, cost = tallies.cost_of_an_error(db, window)
    saved = tuple(part * lines.shown * cost for part in avoided) if avoided and seen else None
    yield Metric(
        name="tokens_saved", title="tokens of errors avoided", group=BRIEFING, unit="tokens", label="causal",
        n=lines.shown, of="lines shown", better="up", **_three(saved, 0),
    )  # fmt: skip


def _avoided(lines: LineTally) -> tuple[float, float, float] | None:
    """How much rarer a failure is when its line was shown."""
    return difference(rate(lines.withheld_recurred, lines.withheld), rate(lines.shown_recurred, lines.shown))


def _three(found: tuple[float, ...] | None, digits: int = 4) -> _Three:
    if found is None:
        return {"value": None, "low": None, "high": None}
    value, low, high = (round(part, digits) for part in found)
    return {"value": value, "low": low, "high": high}


def _care(looked: _Looked) -> Iterator[Metric]:
    waiting = tallies.queue(looked.db, looked.window)
    yield Metric(
        name="queue", title="waiting for review", group=CARE, unit="count", value=float(sum(waiting)), n=sum(waiting),
        of="lessons, contradictions, fixes", better="down",
    )  # fmt: skip
    counted = looked.sessions
    yield Metric(
        name="redactions", title="secrets and names redacted", group=CARE, unit="count",
        value=float(counted.redactions), n=counted.number, of="sessions",
    )  # fmt: skip
    taken, failed = tallies.hook_times(looked.db, looked.window)
    milliseconds = [each / 1000 for each in taken]
    yield Metric(
        name="hook_p50", title="hook run time, median", group=CARE, unit="milliseconds",
        value=round(median(milliseconds), 1) if taken else None, n=len(taken), of="runs", better="down",
        **_middle(milliseconds),
    )  # fmt: skip
    yield Metric(
        name="hook_p95", title="hook run time, 95th percentile", group=CARE, unit="milliseconds",
        value=round(milliseconds[int(0.95 * (len(taken) - 1))], 1) if taken else None, n=len(taken), of="runs",
        better="down",
    )  # fmt: skip
    yield share("hook_failures", "hook runs that failed", CARE, rate(failed, len(taken)), "runs", "down")
