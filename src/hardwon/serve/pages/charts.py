"""Where the parts of a chart lie; the templates draw them as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

_SPARK_WIDTH, _SPARK_HEIGHT, _SPARK_BARS = 96, 22, 16


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    kind: str = ""
    title: str = ""
    leads_to: str = ""


def spark(times: Sequence[datetime], first: datetime, last: datetime) -> list[Box]:
    """How often something happened between two moments."""
    counts = [0] * _SPARK_BARS
    whole = (last - first) or timedelta(microseconds=1)
    for at in times:
        counts[max(0, min(_SPARK_BARS - 1, (at - first) * _SPARK_BARS // whole))] += 1
    most = max(counts) or 1
    step = _SPARK_WIDTH / _SPARK_BARS
    tall = [max(1.0, number / most * _SPARK_HEIGHT) if number else 1.0 for number in counts]
    return [
        Box(
            round(at * step, 1),
            round(_SPARK_HEIGHT - height, 1),
            step - 1.5,
            round(height, 1),
            "" if number else "none",
        )
        for at, (number, height) in enumerate(zip(counts, tall, strict=True))
    ]


class Column(NamedTuple):
    label: str
    parts: tuple[tuple[str, int], ...]
    """(kind, number), from the bottom up."""
    about: str
    leads_to: str = ""


class Chart(NamedTuple):
    boxes: list[Box]
    labels: list[tuple[float, str]]
    lines: list[tuple[float, str]]
    width: float
    height: float


_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 720.0, 200.0, 34.0, 22.0, 8.0


def columns(found: Sequence[Column]) -> Chart:
    """Stacked columns."""
    most = _round(max((sum(number for _, number in each.parts) for each in found), default=1) or 1)
    room = _HEIGHT - _BOTTOM - _TOP
    step = (_WIDTH - _LEFT) / max(1, len(found))
    wide = min(step * 0.7, 34.0)
    boxes, labels = [], []
    every = max(1, -(-len(found) // 10))
    for at, each in enumerate(found):
        x, y = _LEFT + at * step + (step - wide) / 2, _HEIGHT - _BOTTOM
        for kind, number in each.parts:
            tall = room * number / most
            y -= tall
            if number:
                place = (round(x, 1), round(y, 1), round(wide, 1), round(tall, 1))
                boxes.append(Box(*place, kind, each.about, each.leads_to))
        if at % every == 0:
            labels.append((round(x + wide / 2, 1), each.label))
    lines = [(round(_HEIGHT - _BOTTOM - room * part / 2, 1), f"{most * part // 2:,}") for part in range(3)]
    return Chart(boxes, labels, lines, _WIDTH, _HEIGHT)


def _round(value: int) -> int:
    """The next even number that is easy to read."""
    size = 1
    while True:
        for step in (2, 4, 6, 10, 16):
            if step * size >= value:
                return step * size
        size *= 10
