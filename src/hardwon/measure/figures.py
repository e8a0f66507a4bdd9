"""Metrics as people read them."""

from __future__ import annotations

from hardwon.model.metric import Metric


def figure(metric: Metric) -> str:
    return "-" if metric.value is None else _said(metric, metric.value)


def bounds(metric: Metric) -> str:
    """The 95 % interval, where there is one."""
    if metric.low is None or metric.high is None:
        return ""
    return f"{_said(metric, metric.low)} – {_said(metric, metric.high)}"


def change(metric: Metric, by: float | None) -> str:
    """How much more or less, and whether that is good."""
    if by is None:
        return ""
    if by == 0:
        return "="
    good = {"up": by > 0, "down": by < 0}.get(metric.better)
    mark = "" if good is None else (" ✓" if good else " ✗")
    if metric.unit in ("share", "difference"):
        return f"{100 * by:+.1f} pp{mark}"
    return f"{by:+.3g}{mark}"


def _said(metric: Metric, value: float) -> str:
    match metric.unit:
        case "share":
            return f"{value:.1%}"
        case "difference":
            return f"{100 * value:+.1f} pp"
        case "count":
            return f"{value:,.0f}"
        case "tokens":
            return _short(value)
        case "days":
            return f"{value:.0f} d"
        case "milliseconds":
            return f"{value:.0f} ms"
        case "score":
            return f"{value:.3f}"
        case _:
            return f"{value:.3g}"


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.0f}"
