"""Does showing a line help? The answer of the experiment, from the coins that decided who was shown what.

Needs numpy and scipy. What is counted is in `outcomes.py`, the law of the coins in `randomisation.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy import special, stats

from hardwon.measure.outcomes import SessionOutcome, Trial, Unit
from hardwon.measure.randomisation import Kind, Randomisation, Risk, detectable, estimate, interval, spread_of
from hardwon.model.metric import Rate, rate
from hardwon.store import spool
from hardwon.store.database import Check
from hardwon.store.spool import HELD_OUT, TREATED

# Is the experiment sound? The coins must have fallen as they should. Ratios are checked by e-values, so that looking
# every day raises no false alarm in the end; what the store says was dealt is compared with what its key gives, which
# leaves nothing to chance.

ALARM_E_VALUE = 1000.0
"""An e-value this large comes by chance in one experiment of a thousand, however often it is looked at."""
_ALARM_P_VALUE = 1 / ALARM_E_VALUE
_PRIOR_WEIGHT = 20.0
WEIGHTS = (1.0, 5.0, 25.0, 125.0)
"""How near to their chance the coins of a group are thought to be if they are not even."""


def balance_checks(trial: Trial, key: bytes) -> list[Check]:
    """Whether chance alone decided who was shown what; `key` is the one that the store deals with."""
    treated = {each.root for each in trial.sessions if not each.is_held_out}
    dealt = [unit for unit in trial.units if unit.chance < 1 and unit.root in treated]
    return [
        _ratio("sessions held out", [(each.is_held_out, each.held_out_chance) for each in trial.sessions]),
        _ratio("lines withheld", [(not unit.shown, 1 - unit.chance) for unit in dealt]),
        _even("lines withheld, by item", dealt, [unit.item for unit in dealt]),
        _even("lines withheld, by place", dealt, [str(unit.rank) for unit in dealt]),
        _even("lines withheld, by session", dealt, [unit.root for unit in dealt]),
        _as_dealt(trial, key),
        _harvested(trial),
    ]


def log_e_value(
    heads: float | np.ndarray, n: float | np.ndarray, chance: float, weight: float = _PRIOR_WEIGHT
) -> np.ndarray:
    """log of how much better than its true chance a coin is explained by any other, a priori near it."""
    heads, tails = np.asarray(heads, dtype=float), np.asarray(n, dtype=float) - np.asarray(heads, dtype=float)
    a, b = weight * chance, weight * (1 - chance)
    mixed = special.betaln(a + heads, b + tails) - special.betaln(a, b)
    return np.asarray(mixed - heads * np.log(chance) - tails * np.log1p(-chance))


def log_unevenness(heads: np.ndarray, n: np.ndarray, chance: float) -> np.ndarray:
    """log e-value for groups (the last axis) having coins of their own: far from the chance, or only a little."""
    each = [log_e_value(heads, n, chance, weight).sum(axis=-1) for weight in WEIGHTS]
    return np.asarray(special.logsumexp(each, axis=0) - np.log(len(WEIGHTS)))


def _ratio(name: str, coins: Sequence[tuple[bool, float]]) -> Check:
    by_chance: dict[float, list[int]] = defaultdict(lambda: [0, 0])
    for heads, chance in coins:
        by_chance[round(chance, 6)][0] += heads
        by_chance[round(chance, 6)][1] += 1
    evidence = sum(float(log_e_value(heads, n, chance)) for chance, (heads, n) in by_chance.items())
    seen = sum(heads for heads, _ in by_chance.values())
    expected = sum(chance * n for chance, (_, n) in by_chance.items())
    return Check(name, bool(evidence < np.log(ALARM_E_VALUE)), f"{seen} of {len(coins)}, expected {expected:.0f}")


def _even(name: str, units: Sequence[Unit], groups: Sequence[str]) -> Check:
    """Whether withholding is as frequent in every group: coins of one's own for every session and item."""
    evidence = 0.0
    for chance in {unit.chance for unit in units}:
        own = [(group, not unit.shown) for unit, group in zip(units, groups, strict=True) if unit.chance == chance]
        _, at = np.unique([group for group, _ in own], return_inverse=True)
        heads = np.bincount(at, [hidden for _, hidden in own])
        evidence += float(log_unevenness(heads, np.bincount(at), 1 - chance))
    says = "even" if evidence < np.log(ALARM_E_VALUE) else "uneven"
    return Check(name, bool(evidence < np.log(ALARM_E_VALUE)), f"{says} over {len(set(groups))}")


def _as_dealt(trial: Trial, key: bytes) -> Check:
    """The stored assignment against the one that the key gives; of another store's, nothing can be said."""
    own = spool.dealer(key)
    out = {each.root: each.is_held_out for each in trial.sessions if each.dealer == own}
    wrong = sum(spool.held_out(key, root) != held for root, held in out.items())
    eligible = [unit for unit in trial.units if unit.chance < 1 and unit.root in out]
    wrong += sum(
        unit.shown != (not out[unit.root] and not spool.withheld(key, unit.root, unit.item)) for unit in eligible
    )
    return Check(
        "assignment as dealt",
        not wrong,
        f"{wrong} of {len(out) + len(eligible)} differ from what the store's key gives",
    )


def _harvested(trial: Trial) -> Check:
    """Whether held-out sessions are harvested as often as the others: what is missing must not depend on the arm."""
    counts = [trial.dealt.get(arm, (0, 0)) for arm in (TREATED, HELD_OUT)]
    rows = np.array([[known, begun - known] for begun, known in counts])
    p = float(stats.fisher_exact(rows).pvalue)
    shares = " and ".join(f"{known} of {begun}" for begun, known in counts)
    return Check("sessions harvested", p >= _ALARM_P_VALUE, f"{shares} (treated and held out)")


# Two groups of sessions that differ by a coin: the difference, its interval, its p-value.

_MAX_RESAMPLES = 2000
_MIN_RESAMPLES = 500
_MAX_SESSIONS_DRAWN = 4_000_000
_MIN_GROUP_SIZE = 2


class Comparison(Struct, frozen=True, kw_only=True):
    """A mean in two groups; `difference` is the first minus the second."""

    name: str
    with_it: float | None
    with_n: int
    without: float | None
    without_n: int
    difference: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    label: str = "causal"


def means(name: str, with_it: Sequence[float], without: Sequence[float]) -> Comparison:
    """Of sessions: labels are exchanged for the p-value, sessions drawn anew for the interval."""
    a, b = np.asarray(with_it, dtype=float), np.asarray(without, dtype=float)
    first, second = (float(x.mean()) if x.size else None for x in (a, b))
    found = Comparison(
        name=name,
        with_it=_significant(first),
        with_n=a.size,
        without=_significant(second),
        without_n=b.size,
        difference=_significant(first - second) if first is not None and second is not None else None,
    )
    if min(a.size, b.size) < _MIN_GROUP_SIZE or np.ptp(np.concatenate((a, b))) == 0:
        return found
    rng = np.random.default_rng(0)
    draws = _draws(a.size + b.size)
    tested = stats.permutation_test((a, b), _difference, n_resamples=draws, batch=100, vectorized=True, rng=rng)
    drawn = stats.bootstrap(
        (a, b), _difference, n_resamples=draws, batch=100, vectorized=True, method="percentile", rng=rng
    )
    return _with(found, drawn.confidence_interval, float(tested.pvalue))


def shares(name: str, clusters: NDArray[np.float64], p: float | None) -> Comparison:
    """A share among lines with and without; rows are sessions: (hits with, n with, hits without, n without)."""
    totals = clusters.sum(axis=0) if clusters.size else np.zeros(4)
    first, second = (totals[at] / totals[at + 1] if totals[at + 1] else None for at in (0, 2))
    found = Comparison(
        name=name,
        with_it=_significant(first),
        with_n=int(totals[1]),
        without=_significant(second),
        without_n=int(totals[3]),
        difference=_significant(first - second) if first is not None and second is not None else None,
        p=_significant(p),
    )
    if found.difference is None or len(clusters) < _MIN_GROUP_SIZE:
        return found
    rng = np.random.default_rng(0)
    even = np.full(len(clusters), 1 / len(clusters))
    drawn = rng.multinomial(len(clusters), even, size=_draws(len(clusters))).astype(float) @ clusters
    usable = drawn[(drawn[:, 1] > 0) & (drawn[:, 3] > 0)]
    low, high = np.quantile(usable[:, 0] / usable[:, 1] - usable[:, 2] / usable[:, 3], (0.025, 0.975))
    return _with(found, (low, high), p)


def _draws(sessions: int) -> int:
    return min(_MAX_RESAMPLES, max(_MIN_RESAMPLES, _MAX_SESSIONS_DRAWN // sessions))


def _difference(x: NDArray[np.float64], y: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    return np.asarray(np.mean(x, axis=axis) - np.mean(y, axis=axis))


def _with(found: Comparison, bounds: Sequence[float], p: float | None) -> Comparison:
    return replace(found, low=_significant(float(bounds[0])), high=_significant(float(bounds[1])), p=_significant(p))


def _significant(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 5)


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
    """The verdict of the experiment, and what it rests on; where a check fails, the verdict is `broken`."""
    eligible = [unit for unit in trial.units if unit.chance < 1 and unit.recurred is not None]
    checks = balance_checks(trial, key)
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
        recurrence=shares("recurrence", _clusters(eligible, _recurred), p),
        within_sessions=shares("recurrence, line against line", _clusters(inside, _recurred), None),
        between_sessions=shares("recurrence, session against session", _clusters(whole, _recurred), None),
        hit_rate=shares(
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


def _coins(sessions: Sequence[SessionOutcome], units: Sequence[Unit], hit: Callable[[Unit], bool]) -> Randomisation:
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


def _others(sessions: Sequence[SessionOutcome]) -> list[Comparison]:
    """What else may differ between sessions that were told something and those held out."""

    def compared(name: str, value: Callable[[SessionOutcome], float | None]) -> Comparison:
        groups: dict[bool, list[float]] = {False: [], True: []}
        for session in sessions:
            found = value(session)
            if found is not None:
                groups[session.is_held_out].append(found)
        return means(name, groups[False], groups[True])

    return [
        compared("failed calls a session", lambda one: one.failed_calls),
        compared("calls to the first green test", lambda one: one.calls_to_green),
        compared("calls before the first edit", lambda one: one.calls_before_edit),
        compared("reads of files already known", lambda one: one.known_reads),
        compared("tokens on failures and briefing", lambda one: one.tokens),
        compared(
            "corrections per message", lambda one: one.corrections / one.user_messages if one.user_messages else None
        ),
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
