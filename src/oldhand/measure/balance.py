"""Is the experiment sound? The coins must have fallen as they should. Needs numpy and scipy.

Ratios are checked by e-values, so that looking every day raises no false alarm in the end; what the store says was
dealt is compared with what its key gives, which leaves nothing to chance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from scipy import special, stats

from oldhand.measure.outcomes import Trial, Unit
from oldhand.store import assignment
from oldhand.store.assignment import HELD_OUT, TREATED
from oldhand.store.database import Check

ALARM = 1000.0
"""An e-value this large comes by chance in one experiment of a thousand, however often it is looked at."""
_RARE = 1 / ALARM
_WEIGHT = 20.0


def checks(trial: Trial, key: bytes) -> list[Check]:
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


def log_e_value(heads: float | np.ndarray, n: float | np.ndarray, chance: float) -> np.ndarray:
    """log of how much better than its true chance a coin is explained by any other, a priori near it."""
    heads, tails = np.asarray(heads, dtype=float), np.asarray(n, dtype=float) - np.asarray(heads, dtype=float)
    a, b = _WEIGHT * chance, _WEIGHT * (1 - chance)
    mixed = special.betaln(a + heads, b + tails) - special.betaln(a, b)
    return np.asarray(mixed - heads * np.log(chance) - tails * np.log1p(-chance))


def _ratio(name: str, coins: Sequence[tuple[bool, float]]) -> Check:
    by_chance: dict[float, list[int]] = defaultdict(lambda: [0, 0])
    for heads, chance in coins:
        by_chance[round(chance, 6)][0] += heads
        by_chance[round(chance, 6)][1] += 1
    evidence = sum(float(log_e_value(heads, n, chance)) for chance, (heads, n) in by_chance.items())
    seen = sum(heads for heads, _ in by_chance.values())
    expected = sum(chance * n for chance, (_, n) in by_chance.items())
    return Check(name, evidence < np.log(ALARM), f"{seen} of {len(coins)}, expected {expected:.0f}")


def _even(name: str, units: Sequence[Unit], groups: Sequence[str]) -> Check:
    """Whether coins are as even in every group as independent ones would be, no less and no more."""
    if not units:
        return Check(name, True, "none yet")
    _, at = np.unique(np.array(groups), return_inverse=True)
    chance = np.array([1 - unit.chance for unit in units])
    hidden = np.bincount(at, [not unit.shown for unit in units])
    spread = chance * (1 - chance)
    cumulants = (np.bincount(at, part) for part in (chance, spread, spread * (1 - 6 * spread)))
    p = float(evenness(hidden, *cumulants)[0])
    return Check(name, p >= _RARE, f"{len(hidden)} groups, p = {p:.2g}")


def evenness(heads: np.ndarray, expected: np.ndarray, variance: np.ndarray, fourth: np.ndarray) -> np.ndarray:
    """The p-value of Pearson's dispersion over groups (the last axis), by a gamma law with its exact variance.

    `expected`, `variance` and `fourth` are the cumulants of each group's number of heads.
    """
    heads, expected, variance, fourth = (np.atleast_2d(part) for part in (heads, expected, variance, fourth))
    used = variance > 0
    scaled = np.divide((heads - expected) ** 2, variance, out=np.zeros_like(variance), where=used)
    mean = used.sum(axis=-1)
    excess = np.divide(fourth, variance**2, out=np.zeros_like(variance), where=used)
    spread = 2 * mean + excess.sum(axis=-1)
    law = stats.gamma(a=mean**2 / spread, scale=spread / mean)
    total = scaled.sum(axis=-1)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(law.cdf(total), law.sf(total))))


def _as_dealt(trial: Trial, key: bytes) -> Check:
    """The stored assignment against the one that the key gives."""
    out = {each.root: each.is_held_out for each in trial.sessions}
    wrong = sum(assignment.held_out(key, root) != held for root, held in out.items())
    eligible = [unit for unit in trial.units if unit.chance < 1]
    wrong += sum(
        unit.shown != (not out[unit.root] and not assignment.withheld(key, unit.root, unit.item)) for unit in eligible
    )
    return Check("assignment as dealt", not wrong, f"{wrong} of {len(out) + len(eligible)} differ from the key's")


def _harvested(trial: Trial) -> Check:
    """Whether held-out sessions are harvested as often as the others: what is missing must not depend on the arm."""
    counts = [trial.dealt.get(arm, (0, 0)) for arm in (TREATED, HELD_OUT)]
    rows = np.array([[known, begun - known] for begun, known in counts])
    p = float(stats.fisher_exact(rows).pvalue)
    shares = " and ".join(f"{known} of {begun}" for begun, known in counts)
    return Check("sessions harvested", p >= _RARE, f"{shares} (treated and held out)")
