"""Where the parts of a chart lie; the templates draw them as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_SPARK_WIDTH, _SPARK_HEIGHT, _SPARK_BARS = 96, 28, 15
_DAY = 24 * 3600 * 1_000_000


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    kind: str = ""
    title: str = ""
    leads_to: str = ""


def binned(times: Mapping[str, Sequence[int]], first: int, last: int) -> tuple[int, dict[str, list[int]]]:
    """(days that a bar stands for, how often each happened in the days of each bar)."""
    days = max(1, -(-(last - first + 1) // (_SPARK_BARS * _DAY)))
    counts = {id: [0] * _SPARK_BARS for id in times}
    for id, some in times.items():
        for at in some:
            counts[id][min(_SPARK_BARS - 1, (at - first) // (days * _DAY))] += 1
    return days, counts


def spark(counts: Sequence[int], most: int) -> list[Box]:
    """A bar for each number, `most` the tallest that there can be."""
    step = _SPARK_WIDTH / _SPARK_BARS
    tall = [max(3.5, number / most * _SPARK_HEIGHT) if number else 1.0 for number in counts]
    return [
        Box(
            round(at * step, 1),
            round(_SPARK_HEIGHT - height, 1),
            step - 1.4,
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
_BETWEEN = 1.0
"""Between the parts of a column, so that they need not differ in brightness to be told apart."""


def columns(found: Sequence[Column], height: float = _HEIGHT) -> Chart:
    """Stacked columns."""
    most = _round(max((sum(number for _, number in each.parts) for each in found), default=1) or 1)
    room = height - _BOTTOM - _TOP
    step = (_WIDTH - _LEFT) / max(1, len(found))
    wide = min(step * 0.7, 30.0)
    boxes, labels = [], []
    every = max(1, -(-len(found) // 9))
    for at, each in enumerate(found):
        x, y = _LEFT + at * step + (step - wide) / 2, height - _BOTTOM
        for kind, number in each.parts:
            tall = room * number / most
            y -= tall
            if number:
                place = (round(x, 1), round(y, 1), round(wide, 1), round(max(1.0, tall - _BETWEEN), 1))
                boxes.append(Box(*place, kind, each.about, each.leads_to))
        if at % every == 0:
            labels.append((round(x + wide / 2, 1), each.label.lstrip("0")))
    lines = [(round(height - _BOTTOM - room * part / 2, 1), f"{most * part // 2:,}") for part in range(3)]
    return Chart(boxes, labels, lines, _WIDTH, height)


def _round(value: int) -> int:
    """The next even number that is easy to read."""
    size = 1
    while True:
        for step in (2, 4, 6, 10, 16):
            if step * size >= value:
                return step * size
        size *= 10
