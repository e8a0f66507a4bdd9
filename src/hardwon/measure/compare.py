"""Two groups of sessions that differ by a coin: the difference, its interval, its p-value. Needs numpy and scipy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy import stats

_RESAMPLES = 2000
_FEWEST_RESAMPLES = 500
_MOST_DRAWN = 4_000_000
_FEWEST = 2


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
        with_it=_rounded(first),
        with_n=a.size,
        without=_rounded(second),
        without_n=b.size,
        difference=_rounded(first - second) if first is not None and second is not None else None,
    )
    if min(a.size, b.size) < _FEWEST or np.ptp(np.concatenate((a, b))) == 0:
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
        with_it=_rounded(first),
        with_n=int(totals[1]),
        without=_rounded(second),
        without_n=int(totals[3]),
        difference=_rounded(first - second) if first is not None and second is not None else None,
        p=_rounded(p),
    )
    if found.difference is None or len(clusters) < _FEWEST:
        return found
    rng = np.random.default_rng(0)
    even = np.full(len(clusters), 1 / len(clusters))
    drawn = rng.multinomial(len(clusters), even, size=_draws(len(clusters))).astype(float) @ clusters
    usable = drawn[(drawn[:, 1] > 0) & (drawn[:, 3] > 0)]
    low, high = np.quantile(usable[:, 0] / usable[:, 1] - usable[:, 2] / usable[:, 3], (0.025, 0.975))
    return _with(found, (low, high), p)


def _draws(sessions: int) -> int:
    return min(_RESAMPLES, max(_FEWEST_RESAMPLES, _MOST_DRAWN // sessions))


def _difference(x: NDArray[np.float64], y: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    return np.asarray(np.mean(x, axis=axis) - np.mean(y, axis=axis))


def _with(found: Comparison, bounds: Sequence[float], p: float | None) -> Comparison:
    return replace(found, low=_rounded(float(bounds[0])), high=_rounded(float(bounds[1])), p=_rounded(p))


def _rounded(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(float(value), 5)
