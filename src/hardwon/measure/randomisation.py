"""The exact law of the experiment's coins, given which failures came back. Needs numpy and scipy.

Of all the failures that came back, S had been shown. Were showing without effect, S would be a matter of the coins
alone, whose law is known: a session is held out (S = 0) or each of its lines is shown with its own chance. If showing
multiplies how often a failure comes back by a ratio r, that law is tilted: a shown line that came back weighs r, one
that did not weighs (1 - r b) / (1 - b), where b is how often a withheld one does. Tests, intervals and the
anytime-valid version all come from this one family (docs/proof.md derives it).

Everything here works on many experiments at once: the first axis of `counts`, `told` and `shown`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft, special, stats

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

SIGNIFICANCE_LEVEL = 0.05
NEGLIGIBLE_RATIO = 0.8
"""A ratio between this and its inverse is no difference worth having."""
_PRIOR_WIDTH = 0.75
_GRID = np.linspace(-3.0, 3.0, 121)
_MAX_LOG_RATIO = 12.0
_MAX_LOG_REDUCTION = 6.0
_LOG_RATIOS_TRIED = 97
_MIN_HIGHEST_LOG_RATIO = 0.05
_MAX_RISK = 0.98
_MAX_EVEN_SPREAD = 0.02
"""Sessions that differ no more than this are taken to be alike."""


class Kind(NamedTuple):
    """Sessions alike: how likely they are held out, and the chances of their lines."""

    held_out: float
    recurring: tuple[float, ...]
    """Chance of being shown, of each line whose failure came back."""
    others: tuple[float, ...] = ()

    def law(self) -> Array:
        """P(S = 0), P(S = 1), … in a session that is not held out."""
        law = np.ones(1)
        for chance in self.recurring:
            law = np.convolve(law, (1 - chance, chance))
        return np.asarray(law)


class Risk(NamedTuple):
    """How often failures come back: of all lines, of which `shown` is the share that was shown."""

    overall: float
    shown: float = 0.0
    spread: float = 0.0
    """By how much more than by chance sessions differ in it (see `spread_of`)."""

    def withheld(self, ratio: float) -> float:
        """Of a withheld line, if showing multiplies it by this: all lines tell, not only the few withheld."""
        return min(max(self.overall / (1 - self.shown + ratio * self.shown), 0.0), 0.99)


class Randomisation:
    """Experiments that share the kinds of session they consist of."""

    def __init__(self, kinds: Sequence[Kind], counts: Array, told: Array, shown: Array, risk: Risk) -> None:
        """`counts[b, g]` sessions of experiment b are of kind g, `told[b, g]` of them were not held out, `shown[b]` is
        its S."""
        laws = [kind.law() for kind in kinds] or [np.ones(1)]
        widest = max(map(len, laws))
        self._laws = np.array([np.pad(law, (0, widest - len(law))) for law in laws])
        self._held_out = np.array([kind.held_out for kind in kinds] or [0.0])
        self._others = _rows([kind.others for kind in kinds])
        self._recurring = _rows([kind.recurring for kind in kinds])
        self._recurred = np.array([len(kind.recurring) for kind in kinds] or [0])
        self._lines = self._recurred + np.array([len(kind.others) for kind in kinds] or [0])
        self._risk = risk
        self._powers = np.arange(widest)
        self._counts = np.asarray(counts, dtype=float).reshape(-1, len(laws))
        self._told = np.asarray(told, dtype=float).reshape(-1, len(laws))
        self.shown = np.atleast_1d(np.asarray(shown, dtype=float))
        self.highest = _highest(risk)
        self.most = int((self._counts @ np.array([len(law) - 1.0 for law in laws])).max())
        """The largest S that any of the experiments could have."""

    def _log_others(self, log_ratio: float) -> Array:
        """log weight that what else happened gives to not being held out, for each kind.

        Where sessions are alike, that is the lines which did not come back. Where some are far worse than others, a
        session in which much came back may just be a bad one: its risk follows a gamma law, and how much came back
        tells less about whether it was held out the wider that is.
        """
        ratio = float(np.exp(min(log_ratio, 20.0)))
        base = self._risk.withheld(ratio)
        if self._risk.spread < _MAX_EVEN_SPREAD:
            spared = max(1e-9, 1 - base * ratio) / (1 - base)
            return np.asarray(np.log1p(self._others * (spared - 1)).sum(axis=1))
        shape = 1 / self._risk.spread
        told = self._recurring.sum(axis=1) + self._others.sum(axis=1)
        if_told = base * (self._lines + told * (ratio - 1))
        return np.asarray((shape + self._recurred) * np.log((shape + base * self._lines) / (shape + if_told)))

    def _tilted(self, log_ratio: float) -> Array:
        """The law of S in one session of each kind."""
        told = self._laws * np.exp(self._powers * log_ratio + self._log_others(log_ratio)[:, None])
        told *= 1 - self._held_out[:, None]
        told[:, 0] += self._held_out
        return np.asarray(told / told.sum(axis=1, keepdims=True))

    def _log_moment(self, log_ratios: Array, others: Array | float = 0.0) -> Array:
        """log E r^S, with the weight of the other lines: one row an experiment and one column a ratio."""
        told = special.logsumexp(self._powers[:, None] * log_ratios, b=self._laws[:, :, None], axis=1) + others
        out = self._held_out[:, None]
        return np.asarray(self._counts @ np.log(out + (1 - out) * np.exp(told)))

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
        """log of the mixture over ratios of r^S / E r^S: what a bettor who believes in some effect has won.

        The other lines' weight is left out of the bet: their base rate is known only afterwards.
        """
        weights = stats.norm.logpdf(_GRID, scale=_PRIOR_WIDTH)
        weights -= special.logsumexp(weights)
        gained = self.shown[:, None] * _GRID - self._log_moment(_GRID)
        return np.asarray(special.logsumexp(gained + weights, axis=1))

    def log_evidence(self, log_ratio: float = 0.0) -> Array:
        """log e-value against this ratio: whenever it is looked at, it exceeds log 20 in error with at most 5 %."""
        others = self._log_others(log_ratio)
        moment = self._log_moment(np.array([log_ratio]), others[:, None])[:, 0]
        return np.asarray(self._log_mixture - (self.shown * log_ratio + self._told @ others - moment))

    def verdicts(self, *, anytime: bool) -> tuple[Flags, Flags, Flags]:
        """(helps, harms, no difference worth having)."""
        below, above = self._excludes(0.0, anytime=anytime)
        _, above_low = self._excludes(float(np.log(NEGLIGIBLE_RATIO)), anytime=anytime)
        below_high, _ = self._excludes(-float(np.log(NEGLIGIBLE_RATIO)), anytime=anytime)
        return below, above, above_low & below_high & ~below & ~above

    def _excludes(self, log_ratio: float, *, anytime: bool) -> tuple[Flags, Flags]:
        """Whether the true ratio is below, and above, this one for all that can be told."""
        if not anytime:
            low, high = self.tails(log_ratio)
            return low <= SIGNIFICANCE_LEVEL / 2, high <= SIGNIFICANCE_LEVEL / 2
        sure = self.log_evidence(log_ratio) >= np.log(1 / SIGNIFICANCE_LEVEL)
        fewer = self.shown < self.expected(log_ratio)
        return sure & fewer, sure & ~fewer


def _rows(chances: Sequence[Sequence[float]]) -> Array:
    """A row of each, filled up with zeros: a line that is never shown changes nothing."""
    rows = np.zeros((max(1, len(chances)), max(map(len, chances), default=0)))
    for row, some in zip(rows, chances, strict=False):
        row[: len(some)] = some
    return rows


def _highest(risk: Risk) -> float:
    """log of the largest ratio worth looking at: nothing comes back more often than always."""
    steps = np.linspace(0.0, _MAX_LOG_RATIO, 241)
    likely = [step for step in steps if risk.withheld(float(np.exp(step))) * np.exp(step) <= _MAX_RISK]
    return float(max(likely, default=_MIN_HIGHEST_LOG_RATIO))


def spread_of(hits: NDArray[np.int_], lines: NDArray[np.int_]) -> float:
    """By how much the risk differs between sessions: the variance of their risks over the square of its mean.

    `hits` of a session's `lines` came back; what chance alone makes of that is taken off.
    """
    if not lines.sum() or not hits.sum():
        return 0.0
    share = hits.sum() / lines.sum()
    expected = share * lines
    more = ((hits - expected) ** 2 - expected * (1 - share)).sum()
    pairs = (share**2 * lines * (lines - 1)).sum()
    return float(max(0.0, more / pairs)) if pairs else 0.0


def interval(one: Randomisation, *, anytime: bool) -> tuple[float | None, float | None]:
    """The ratios about the likeliest that a single experiment does not exclude; None where nothing ends them."""
    from scipy.optimize import brentq  # noqa: PLC0415 - 60 ms that most looks at the metrics do not need

    def excess(log_ratio: float) -> float:
        """Above zero where the ratio is excluded."""
        if anytime:
            return float(one.log_evidence(log_ratio)[0] - np.log(1 / SIGNIFICANCE_LEVEL))
        return SIGNIFICANCE_LEVEL / 2 - float(min(tail[0] for tail in one.tails(log_ratio)))

    if not one.most:
        return None, None
    steps = np.linspace(-_MAX_LOG_REDUCTION, one.highest, _LOG_RATIOS_TRIED)
    margins = np.array([excess(float(step)) for step in steps])
    if margins.min() >= 0:
        return None, None
    # S alone is also as small as it is where showing does so much harm that hardly any line could have been shown.
    likeliest = int(np.argmin([float(one.log_evidence(float(step))[0]) for step in steps]))
    best = min(np.flatnonzero(margins < 0).tolist(), key=lambda at: abs(at - likeliest))
    bounds: list[float | None] = []
    for outward in (range(best, 0, -1), range(best, _LOG_RATIOS_TRIED - 1)):
        step = -1 if outward.step < 0 else 1
        crossing = next((at for at in outward if margins[at] < 0 <= margins[at + step]), None)
        ends = None if crossing is None else sorted((steps[crossing], steps[crossing + step]))
        bounds.append(None if ends is None else float(np.exp(brentq(excess, *ends, xtol=1e-6))))
    return bounds[0], bounds[1]


def estimate(one: Randomisation) -> float | None:
    """The likeliest ratio: below 1, showing helps."""
    from scipy.optimize import minimize_scalar  # noqa: PLC0415

    if not one.most:
        return None
    steps = np.linspace(-_MAX_LOG_REDUCTION, one.highest, _LOG_RATIOS_TRIED)
    against = [float(one.log_evidence(float(step))[0]) for step in steps]
    best = int(np.argmin(against))
    if best == 0:
        return 0.0
    around = (float(steps[best - 1]), float(steps[min(best + 1, _LOG_RATIOS_TRIED - 1)]))
    found = minimize_scalar(lambda at: float(one.log_evidence(at)[0]), bounds=around, method="bounded")
    return float(np.exp(found.x))


def detectable(one: Randomisation, power: float = 0.8) -> float | None:
    """The ratio nearest to 1 from below that this many recurrences would show with that probability."""
    from scipy.optimize import brentq  # noqa: PLC0415

    reached = np.cumsum(one.law()[0])
    critical = int(np.searchsorted(reached, SIGNIFICANCE_LEVEL / 2, side="right")) - 1
    if critical < 0:
        return None

    def missing(log_ratio: float) -> float:
        return power - float(one.law(log_ratio)[0][: critical + 1].sum())

    if missing(-_MAX_LOG_RATIO) > 0:
        return None
    return float(np.exp(brentq(missing, -_MAX_LOG_RATIO, 0.0, xtol=1e-4)))
