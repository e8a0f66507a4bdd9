"""Rate: a share with its count and the interval that the count allows."""

from __future__ import annotations

import math

from msgspec import Struct

_95_PERCENT = 1.959964


class Rate(Struct, frozen=True, kw_only=True):
    successes: int
    n: int
    value: float | None
    """None when nothing was counted."""
    low: float | None
    high: float | None


def rate(successes: int, n: int) -> Rate:
    """The share with Wilson's 95 % interval, which stays honest for few and for extreme counts."""
    if n == 0:
        return Rate(successes=0, n=0, value=None, low=None, high=None)
    share = successes / n
    low, high = wilson(share, n)
    return Rate(successes=successes, n=n, value=round(share, 4), low=round(low, 4), high=round(high, 4))


def wilson(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval; `n` is a whole number only where the cases are independent."""
    z2 = _95_PERCENT**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _95_PERCENT / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)
