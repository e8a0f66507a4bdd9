"""Metric and Rate: numbers with what they rest on and the interval that the count allows."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct

# Rate: a share with its count and the interval that the count allows.

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


Label = Literal["causal", "observational"]
Unit = Literal["share", "difference", "count", "rate", "days", "milliseconds", "tokens", "score"]


class Metric(Struct, frozen=True, kw_only=True):
    name: str
    title: str
    group: str
    unit: Unit
    value: float | None
    """None when nothing was counted."""
    n: int
    of: str
    """What n counts."""
    low: float | None = None
    high: float | None = None
    label: Label = "observational"
    better: Literal["up", "down", ""] = ""
    week: float | None = None
    """How the value changed in seven days; None without a snapshot of that time."""
    month: float | None = None


def share(name: str, title: str, group: str, counted: Rate, of: str, better: Literal["up", "down", ""] = "") -> Metric:
    return Metric(
        name=name,
        title=title,
        group=group,
        unit="share",
        value=counted.value,
        n=counted.n,
        of=of,
        low=counted.low,
        high=counted.high,
        better=better,
    )


def poisson(count: int) -> tuple[float, float]:
    """The 95 % interval of a count, by the cube-root law (Wilson and Hilferty)."""
    low = count * (1 - 1 / (9 * count) - _95_PERCENT / (3 * math.sqrt(count))) ** 3 if count else 0.0
    above = count + 1
    return max(0.0, low), above * (1 - 1 / (9 * above) + _95_PERCENT / (3 * math.sqrt(above))) ** 3


def difference(first: Rate, second: Rate) -> tuple[float, float, float] | None:
    """One share minus another with Newcombe's interval, which comes from the two of Wilson."""
    if first.value is None or second.value is None:
        return None
    assert first.low is not None and first.high is not None and second.low is not None and second.high is not None  # noqa: PT018
    apart = first.value - second.value
    low = apart - math.hypot(first.value - first.low, second.high - second.value)
    high = apart + math.hypot(first.high - first.value, second.value - second.low)
    return apart, low, high
