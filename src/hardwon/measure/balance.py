"""Is the experiment sound? The coins must have fallen as they should. Needs numpy and scipy.

Ratios are checked by e-values, so that looking every day raises no false alarm in the end; what the store says was
dealt is compared with what its key gives, which leaves nothing to chance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from scipy import special, stats

from hardwon.measure.outcomes import Trial, Unit
from hardwon.store import assignment
from hardwon.store.assignment import HELD_OUT, TREATED
from hardwon.store.database import Check

ALARM = 1000.0
"""An e-value this large comes by chance in one experiment of a thousand, however often it is looked at."""
_RARE = 1 / ALARM
_WEIGHT = 20.0
WEIGHTS = (1.0, 5.0, 25.0, 125.0)
"""How near to their chance the coins of a group are thought to be if they are not even."""


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


def log_e_value(heads: float | np.ndarray, n: float | np.ndarray, chance: float, weight: float = _WEIGHT) -> np.ndarray:
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
    return Check(name, bool(evidence < np.log(ALARM)), f"{seen} of {len(coins)}, expected {expected:.0f}")


def _even(name: str, units: Sequence[Unit], groups: Sequence[str]) -> Check:
    """Whether withholding is as frequent in every group: coins of one's own for every session and item."""
    evidence = 0.0
    for chance in {unit.chance for unit in units}:
        own = [(group, not unit.shown) for unit, group in zip(units, groups, strict=True) if unit.chance == chance]
        _, at = np.unique([group for group, _ in own], return_inverse=True)
        heads = np.bincount(at, [hidden for _, hidden in own])
        evidence += float(log_unevenness(heads, np.bincount(at), 1 - chance))
    says = "even" if evidence < np.log(ALARM) else "uneven"
    return Check(name, bool(evidence < np.log(ALARM)), f"{says} over {len(set(groups))}")


def _as_dealt(trial: Trial, key: bytes) -> Check:
    """The stored assignment against the one that the key gives; of another store's, nothing can be said."""
    own = assignment.dealer(key)
    out = {each.root: each.is_held_out for each in trial.sessions if each.dealer == own}
    wrong = sum(assignment.held_out(key, root) != held for root, held in out.items())
    eligible = [unit for unit in trial.units if unit.chance < 1 and unit.root in out]
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
