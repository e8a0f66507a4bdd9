"""Does showing a line help? The answer of the experiment, from the coins that decided who was shown what.

Needs numpy and scipy. What is counted is in `outcomes.py`, the law of the coins in `randomisation.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from hardwon.measure import balance, compare
from hardwon.measure.compare import Comparison
from hardwon.measure.outcomes import SessionResult, Trial, Unit
from hardwon.measure.randomisation import Kind, Randomisation, Risk, detectable, estimate, interval, spread_of
from hardwon.model.rate import Rate, rate
from hardwon.store.database import Check

Verdict = Literal["helps", "harms", "no difference worth having", "too early", "broken"]


class Look(Struct, frozen=True, kw_only=True):
    """A verdict and the interval of the ratio that it rests on."""

    verdict: Verdict
    low: float | None
    high: float | None


class Experiment(Struct, frozen=True, kw_only=True):
    """See docs/proof.md for what each number means."""

    verdict: Verdict
    """Holds however often it is looked at."""
    sessions: int
    held_out: int
    pending: int
    off: int
    lines: int
    shown: Rate
    """How often a failure came back whose line was shown."""
    withheld: Rate
    ratio: float | None
    """Recurrence when shown, relative to withheld: below 1 helps."""
    anytime: Look
    once: Look
    """For the one who looks only once."""
    p_once: float | None
    e_value: float
    detectable_ratio: float | None
    """The ratio that a single look at this much data would find with 80 %."""
    recurrence: Comparison
    within_sessions: Comparison
    between_sessions: Comparison
    hit_rate: Comparison
    others: list[Comparison]
    checks: list[Check]
    crossed: int
    label: str = "causal"


def analyse(trial: Trial, key: bytes) -> Experiment:
    eligible = [unit for unit in trial.units if unit.chance < 1 and unit.recurred is not None]
    checks = balance.checks(trial, key)
    sound = all(check.ok for check in checks)
    coins = _coins(trial.sessions, eligible, lambda unit: unit.recurred is True)
    out = {each.root for each in trial.sessions if each.is_held_out}
    seen = {kind: [unit.recurred for unit in eligible if unit.shown is kind] for kind in (True, False)}
    p = round(float(coins.p_value()[0]), 5) if coins.most else None
    anytime = _look(coins, sound, anytime=True)
    inside = [unit for unit in eligible if unit.root not in out]
    whole = [unit for unit in eligible if unit.root in out or unit.shown]
    echoes = [unit for unit in trial.units if unit.chance < 1 and unit.used is not None]
    echo = _coins(trial.sessions, echoes, lambda unit: unit.used is True)
    return Experiment(
        verdict=anytime.verdict,
        sessions=len(trial.sessions),
        held_out=len(out),
        pending=trial.pending,
        off=trial.off,
        lines=len(eligible),
        shown=rate(sum(map(bool, seen[True])), len(seen[True])),
        withheld=rate(sum(map(bool, seen[False])), len(seen[False])),
        ratio=_rounded(estimate(coins)),
        anytime=anytime,
        once=_look(coins, sound, anytime=False),
        p_once=p,
        e_value=float(f"{np.exp(min(coins.log_evidence()[0], 700.0)):.4g}"),
        detectable_ratio=_rounded(detectable(coins)),
        recurrence=compare.shares("recurrence", _clusters(eligible, _recurred), p),
        within_sessions=compare.shares("recurrence, line against line", _clusters(inside, _recurred), None),
        between_sessions=compare.shares("recurrence, session against session", _clusters(whole, _recurred), None),
        hit_rate=compare.shares(
            "hit rate",
            _clusters(echoes, lambda unit: unit.used is True),
            float(echo.p_value()[0]) if echo.most else None,
        ),
        others=_others(trial.sessions),
        checks=checks,
        crossed=trial.crossed,
    )


def _recurred(unit: Unit) -> bool:
    return unit.recurred is True


def _coins(sessions: Sequence[SessionResult], units: Sequence[Unit], hit: Callable[[Unit], bool]) -> Randomisation:
    """Of the lines that were hit (their failure came back): how many had been shown, and the law of that number."""
    chances: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for unit in units:
        chances[unit.root][0 if hit(unit) else 1].append(round(unit.chance, 6))
    kinds: dict[Kind, list[int]] = defaultdict(lambda: [0, 0])
    for session in sessions:
        hits, others = chances[session.root]
        if hits:
            counted = kinds[Kind(round(session.held_out_chance, 6), tuple(sorted(hits)), tuple(sorted(others)))]
            counted[0] += 1
            counted[1] += not session.is_held_out
    counts, told = (np.array([[pair[at] for pair in kinds.values()] or [0]], dtype=float) for at in (0, 1))
    shown = np.array([sum(unit.shown for unit in units if hit(unit))], dtype=float)
    sizes = np.array([[len(part) for part in chances[session.root]] for session in sessions]).reshape(-1, 2)
    all_lines = max(1, len(units))
    risk = Risk(
        overall=sum(map(hit, units)) / all_lines,
        shown=sum(unit.shown for unit in units) / all_lines,
        spread=spread_of(sizes[:, 0], sizes.sum(axis=1)),
    )
    return Randomisation(list(kinds), counts, told, shown, risk)


def _look(coins: Randomisation, sound: bool, *, anytime: bool) -> Look:
    low, high = interval(coins, anytime=anytime)
    helps, harms, neither = (bool(flags[0]) for flags in coins.verdicts(anytime=anytime))
    verdict: Verdict = "too early"
    if not sound:
        verdict = "broken"
    elif coins.most and helps:
        verdict = "helps"
    elif coins.most and harms:
        verdict = "harms"
    elif coins.most and neither:
        verdict = "no difference worth having"
    return Look(verdict=verdict, low=_rounded(low), high=_rounded(high))


def _clusters(units: Sequence[Unit], hit: Callable[[Unit], bool]) -> np.ndarray:
    """A row a session: (hits shown, shown, hits withheld, withheld)."""
    rows: dict[str, list[float]] = defaultdict(lambda: [0.0] * 4)
    for unit in units:
        at = 0 if unit.shown else 2
        rows[unit.root][at] += hit(unit)
        rows[unit.root][at + 1] += 1
    return np.array(list(rows.values()), dtype=float).reshape(-1, 4)


def _others(sessions: Sequence[SessionResult]) -> list[Comparison]:
    """What else may differ between sessions that were told something and those held out."""

    def compared(name: str, value: Callable[[SessionResult], float | None]) -> Comparison:
        groups: dict[bool, list[float]] = {False: [], True: []}
        for session in sessions:
            found = value(session)
            if found is not None:
                groups[session.is_held_out].append(found)
        return compare.means(name, groups[False], groups[True])

    return [
        compared("failed calls a session", lambda one: one.failed_calls),
        compared("calls to the first green test", lambda one: one.calls_to_green),
        compared("tokens on failures and briefing", lambda one: one.tokens),
        compared(
            "corrections per message", lambda one: one.corrections / one.user_messages if one.user_messages else None
        ),
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
