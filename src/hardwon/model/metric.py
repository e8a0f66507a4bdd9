"""Metric: a number with what it rests on and whether it says what causes what."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct

from hardwon.model.rate import Rate

Label = Literal["causal", "observational"]
Unit = Literal["share", "difference", "count", "rate", "days", "milliseconds", "tokens", "score"]

_95_PERCENT = 1.959964


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
