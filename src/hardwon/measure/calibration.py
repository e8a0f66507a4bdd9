"""Is a confidence worth what it says? Each lesson's against what later became of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from hardwon.model.rate import Rate, rate

MAX_BINS = 10
_MIN_LESSONS_PER_BIN = 5
_MIN_LESSONS_FOR_A_SPREAD = 10
_Z_OF_95_PERCENT = 1.959964
_BANDS = ((0.9, "0.9-1.0"), (0.7, "0.7-0.9"), (0.5, "0.5-0.7"), (0.3, "0.3-0.5"), (0.0, "0.0-0.3"))


class Forecast(NamedTuple):
    """A confidence as it was first given, and how many lessons had it and ended so."""

    confidence: float
    came_true: bool | None
    """Confirmed by another session or a person; False if contradicted; None while neither."""
    lessons: int = 1


class Band(Struct, frozen=True, kw_only=True):
    band: str
    mean_confidence: float | None
    confirmed: Rate
    unresolved: int


class Calibration(Struct, frozen=True, kw_only=True):
    resolved: int
    unresolved: Rate
    brier: float | None
    """Mean squared error of the confidence: 0 is perfect."""
    brier_low: float | None
    brier_high: float | None
    skill: float | None
    """How much better than always saying the base rate: 1 is perfect, 0 no better, below 0 worse."""
    ece: float | None
    """Mean gap between confidence and confirmation over bins that hold equally many."""
    bands: list[Band]


def calibrate(forecasts: Sequence[Forecast]) -> Calibration:
    """How well confidence tells what is confirmed; numbers are None where too few lessons have been judged."""
    told = [(each.confidence, int(each.came_true), each.lessons) for each in forecasts if each.came_true is not None]
    n = sum(count for _, _, count in told)
    everything = sum(each.lessons for each in forecasts)
    brier = sum(count * (said - true) ** 2 for said, true, count in told) / n if n else None
    spread = _spread(told, n, brier) if brier is not None and n >= _MIN_LESSONS_FOR_A_SPREAD else None
    base = sum(count * true for _, true, count in told) / n if n else 0.0
    reference = base * (1 - base)
    return Calibration(
        resolved=n,
        unresolved=rate(everything - n, everything),
        brier=_rounded(brier),
        brier_low=_rounded(max(0.0, brier - spread)) if brier is not None and spread is not None else None,
        brier_high=_rounded(min(1.0, brier + spread)) if brier is not None and spread is not None else None,
        skill=_rounded(1 - brier / reference) if brier is not None and reference else None,
        ece=_rounded(_gap(told, n)) if n else None,
        bands=[_band(name, forecasts, low, high) for (low, name), high in zip(_BANDS, _tops(), strict=True)],
    )


def _spread(told: Sequence[tuple[float, int, int]], n: int, mean: float) -> float:
    """Half of the 95 % interval of a mean of squared errors."""
    variance = sum(count * ((said - true) ** 2 - mean) ** 2 for said, true, count in told) / (n - 1)
    return _Z_OF_95_PERCENT * math.sqrt(variance / n)


def _gap(told: Sequence[tuple[float, int, int]], n: int) -> float:
    """Lessons in the order of their confidence, cut into bins of equal size; equals are shared out alike."""
    bins = max(1, min(MAX_BINS, n // _MIN_LESSONS_PER_BIN))
    alike: dict[float, list[int]] = {}
    for said, true, count in told:
        counted = alike.setdefault(said, [0, 0])
        counted[0] += true * count
        counted[1] += count
    gaps = [0.0] * bins
    at = 0.0
    for said, (true, count) in sorted(alike.items()):
        left = float(count)
        while left > 1e-9:
            index = min(bins - 1, int(at * bins / n + 1e-9))
            taken = min(left, (index + 1) * n / bins - at) if index < bins - 1 else left
            gaps[index] += taken * (said - true / count)
            at += taken
            left -= taken
    return sum(map(abs, gaps)) / n


def _tops() -> list[float]:
    return [1.01, *(low for low, _ in _BANDS[:-1])]


def _band(name: str, forecasts: Sequence[Forecast], low: float, high: float) -> Band:
    inside = [each for each in forecasts if low <= each.confidence < high]
    told = [each for each in inside if each.came_true is not None]
    n = sum(each.lessons for each in told)
    total = sum(each.lessons for each in inside)
    return Band(
        band=name,
        mean_confidence=_rounded(sum(each.lessons * each.confidence for each in told) / n) if n else None,
        confirmed=rate(sum(each.lessons for each in told if each.came_true), n),
        unresolved=total - n,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
