"""The exact law of the experiment's coins, given which failures came back. Needs numpy and scipy.

Of all the failures that came back, S had been shown. Were showing without effect, S would be a matter of the coins
alone, whose law is known: a session is held out (S = 0) or each of its lines is shown with its own chance. If showing
multiplies how often a failure comes back by a ratio r, that law is tilted: P_r(S = j) ∝ P(S = j) · r^j. Tests,
intervals and the anytime-valid version all come from this one family (docs/proof.md derives it).

Everything here works on many experiments at once: the first axis of `counts` and `shown`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy import fft, special, stats

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

LEVEL = 0.05
WORTH_HAVING = 0.8
"""A ratio between this and its inverse is no difference worth having."""
_PRIOR_WIDTH = 0.75
_GRID = np.linspace(-3.0, 3.0, 121)
_WIDEST = 12.0


def coin_law(held_out: float, chances: Sequence[float]) -> Array:
    """P(S = 0), P(S = 1), …: how many of one session's recurring failures its coins show."""
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, (1 - chance, chance))
    law *= 1 - held_out
    law[0] += held_out
    return law


class Randomisation:
    """Experiments that share the kinds of session they consist of."""

    def __init__(self, laws: Sequence[Array], counts: Array, shown: Array) -> None:
        """`counts[b, g]` sessions of experiment b follow `laws[g]`; `shown[b]` is its S."""
        widest = max((len(law) for law in laws), default=1)
        self._laws = np.zeros((len(laws), widest))
        for at, law in enumerate(laws):
            self._laws[at, : len(law)] = law
        self._powers = np.arange(widest)
        self._counts = np.atleast_2d(np.asarray(counts, dtype=float))
        self.shown = np.atleast_1d(np.asarray(shown, dtype=float))
        most = (self._counts @ np.array([len(law) - 1.0 for law in laws]) if len(laws) else np.zeros(1)).max()
        self.most = int(most)
        """The largest S that any of the experiments could have."""

    def log_moment(self, log_ratio: Array | float) -> Array:
        """log Σ P(S = j) r^j, one row an experiment and one column a ratio."""
        ratios = np.atleast_1d(np.asarray(log_ratio, dtype=float))
        each = special.logsumexp(self._powers[:, None] * ratios, b=self._laws[:, :, None], axis=1)
        return np.asarray(self._counts @ each)

    def _tilted(self, log_ratio: float) -> Array:
        tilted = self._laws * np.exp(self._powers * log_ratio - self._powers[-1] * max(log_ratio, 0.0))
        return np.asarray(tilted / tilted.sum(axis=1, keepdims=True))

    def law(self, log_ratio: float = 0.0) -> Array:
        """P_r(S = j) for every experiment and j: a product of the sessions' generating functions."""
        tilted = self._tilted(log_ratio)
        size = fft.next_fast_len(self.most + 1, real=True)
        spectrum = np.log(fft.rfft(tilted, size) + 1e-300)
        found = fft.irfft(np.exp(self._counts @ spectrum), size)[:, : self.most + 1]
        return np.asarray(np.clip(found, 0.0, 1.0))

    def tails(self, log_ratio: float = 0.0) -> tuple[Array, Array]:
        """P_r(S ≤ seen) and P_r(S ≥ seen)."""
        law = self.law(log_ratio)
        at = np.arange(law.shape[1])
        seen = self.shown[:, None]
        return np.sum(law * (at <= seen), axis=1).clip(max=1.0), np.sum(law * (at >= seen), axis=1).clip(max=1.0)

    def p_value(self) -> Array:
        """Two-sided: twice the smaller tail of the coins' own law."""
        low, high = self.tails()
        return np.asarray(np.minimum(1.0, 2 * np.minimum(low, high)))

    def expected(self, log_ratio: float = 0.0) -> Array:
        """The mean of S under this ratio."""
        tilted = self._tilted(log_ratio)
        return np.asarray(self._counts @ (tilted @ self._powers))

    @cached_property
    def _log_mixture(self) -> Array:
        """log of the mixture over ratios of r^S / Σ P(S = j) r^j: what a bettor who believes in some effect has won."""
        weights = stats.norm.logpdf(_GRID, scale=_PRIOR_WIDTH)
        weights -= special.logsumexp(weights)
        gained = self.shown[:, None] * _GRID - self.log_moment(_GRID)
        return np.asarray(special.logsumexp(gained + weights, axis=1))

    def log_evidence(self, log_ratio: float = 0.0) -> Array:
        """log e-value against this ratio: whenever it is looked at, it exceeds log 20 in error with at most 5 %."""
        return np.asarray(self._log_mixture - self.shown * log_ratio + self.log_moment(log_ratio)[:, 0])

    def verdicts(self, *, anytime: bool) -> tuple[Flags, Flags, Flags]:
        """(helps, harms, no difference worth having)."""
        below, above = self._excludes(0.0, anytime=anytime)
        _, above_low = self._excludes(float(np.log(WORTH_HAVING)), anytime=anytime)
        below_high, _ = self._excludes(-float(np.log(WORTH_HAVING)), anytime=anytime)
        return below, above, above_low & below_high & ~below & ~above

    def _excludes(self, log_ratio: float, *, anytime: bool) -> tuple[Flags, Flags]:
        """Whether the true ratio is below, and above, this one for all that can be told."""
        if not anytime:
            low, high = self.tails(log_ratio)
            return low <= LEVEL / 2, high <= LEVEL / 2
        sure = self.log_evidence(log_ratio) >= np.log(1 / LEVEL)
        fewer = self.shown < self.expected(log_ratio)
        return sure & fewer, sure & ~fewer


def interval(one: Randomisation, *, anytime: bool) -> tuple[float | None, float | None]:
    """The ratios that the data of a single experiment do not exclude; None where there is no bound."""
    from scipy.optimize import brentq  # noqa: PLC0415 - 60 ms that most looks at the metrics do not need

    def excess(log_ratio: float, *, upper: bool) -> float:
        if anytime:
            return float(one.log_evidence(log_ratio)[0] - np.log(1 / LEVEL))
        low, high = one.tails(log_ratio)
        return LEVEL / 2 - float(low[0] if upper else high[0])

    best = _best(one)
    bounds: list[float | None] = []
    for upper, end in ((False, -_WIDEST), (True, _WIDEST)):
        if not one.most or excess(end, upper=upper) < 0:
            bounds.append(None)
            continue
        found = brentq(partial(excess, upper=upper), *sorted((best, end)), xtol=1e-6)
        bounds.append(float(np.exp(found)))
    return bounds[0], bounds[1]


def estimate(one: Randomisation) -> float | None:
    """The ratio that makes what was seen the expected: below 1, showing helps."""
    if not one.most:
        return None
    best = _best(one)
    return None if best == _WIDEST else (0.0 if best == -_WIDEST else float(np.exp(best)))


def _best(one: Randomisation) -> float:
    from scipy.optimize import brentq  # noqa: PLC0415

    seen = float(one.shown[0])
    if seen <= one.expected(-_WIDEST)[0]:
        return -_WIDEST
    if seen >= one.expected(_WIDEST)[0]:
        return _WIDEST
    return float(brentq(lambda at: float(one.expected(at)[0]) - seen, -_WIDEST, _WIDEST, xtol=1e-6))


def detectable(one: Randomisation, power: float = 0.8) -> float | None:
    """The ratio nearest to 1 from below that this many recurrences would show with that probability."""
    from scipy.optimize import brentq  # noqa: PLC0415

    reached = np.cumsum(one.law()[0])
    critical = int(np.searchsorted(reached, LEVEL / 2, side="right")) - 1
    if critical < 0:
        return None

    def missing(log_ratio: float) -> float:
        return power - float(one.law(log_ratio)[0][: critical + 1].sum())

    if missing(-_WIDEST) > 0:
        return None
    return float(np.exp(brentq(missing, -_WIDEST, 0.0, xtol=1e-4)))
