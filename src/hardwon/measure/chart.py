"""Charts as SVG: plain shapes and text, readable in light and dark, no script."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from hardwon.measure.report import Report, Way
from hardwon.model.metric import Rate

_WIDTH, _HEIGHT = 720, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 16, 52, 34
_MAX_BAR_WIDTH = 36
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #57606a }
.title { font-size: 15px; font-weight: 600; fill: #1f2328 }
.grid { stroke: #d0d7de; stroke-width: 1 }
.first { fill: #0969da; stroke: #0969da } .second { fill: #bc4c00; stroke: #bc4c00 }
.whisker { stroke-width: 2; fill: none } .bar { stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #9198a1 } .title { fill: #f0f6fc } .grid { stroke: #3d444d }
  .first { fill: #4493f8; stroke: #4493f8 } .second { fill: #f0883e; stroke: #f0883e }
}
"""


class Bar(NamedTuple):
    """One column: what it stands for, and its parts from the bottom up."""

    label: str
    parts: tuple[float, ...]


class Dot(NamedTuple):
    """One line: a share with its interval, and where it should be, if anywhere."""

    label: str
    rate: Rate
    mark: float | None = None


def columns(title: str, bars: Sequence[Bar], legend: Sequence[str]) -> str:
    """Columns of stacked parts; the first part is blue, the second orange."""
    most = _round_up(max((sum(bar.parts) for bar in bars), default=1) or 1)
    height = _HEIGHT - _TOP - _BOTTOM
    width = (_WIDTH - _LEFT - _RIGHT) / max(1, len(bars))
    body = [_legend(legend)]
    for part in range(5):
        y = _HEIGHT - _BOTTOM - height * part / 4
        body += [_line(_LEFT, y, _WIDTH - _RIGHT, y), _text(_LEFT - 8, y + 4, _short(most * part / 4), "end")]
    every = max(1, math.ceil(len(bars) / 9))
    for at, bar in enumerate(bars):
        x, y = _LEFT + at * width, float(_HEIGHT - _BOTTOM)
        wide = min(width * 0.76, _MAX_BAR_WIDTH)
        for value, kind in zip(bar.parts, ("first", "second"), strict=False):
            tall = height * value / most
            y -= tall
            body.append(
                f'<rect class="bar {kind}" x="{x + (width - wide) / 2:.1f}" y="{y:.1f}" width="{wide:.1f}" '
                f'height="{tall:.1f}"><title>{escape(f"{bar.label}: {value:g}")}</title></rect>'
            )
        if at % every == 0:
            body.append(_text(x + width / 2, _HEIGHT - _BOTTOM + 18, bar.label, "middle"))
    return _document(title, body, _HEIGHT)


def dots(title: str, lines: Sequence[Dot], legend: Sequence[str]) -> str:
    """A dot and its interval for each line, from 0 to the largest bound; a mark where the dot should be."""
    most = _share_above(
        max((bound for line in lines for bound in (line.rate.high, line.mark) if bound is not None), default=1)
    )
    left, step = 170, 34
    height = _TOP + step * len(lines) + _BOTTOM
    scale = (_WIDTH - left - 90) / most
    body = [_legend(legend)]
    for part in range(5):
        x = left + scale * most * part / 4
        body += [_line(x, _TOP, x, height - _BOTTOM), _text(x, height - 12, f"{100 * most * part / 4:g} %", "middle")]
    for at, line in enumerate(lines):
        y = _TOP + step * (at + 0.5)
        body.append(_text(left - 12, y + 4, line.label, "end"))
        rate = line.rate
        if rate.value is None or rate.low is None or rate.high is None:
            body.append(_text(left + 8, y + 4, "nothing yet", "start"))
            continue
        low, here, high = (left + scale * value for value in (rate.low, rate.value, rate.high))
        ends = "".join(f"M{x:.1f} {y - 5}V{y + 5}" for x in (low, high))
        body.append(f'<path class="first whisker" d="M{low:.1f} {y}H{high:.1f}{ends}"/>')
        body.append(f'<circle class="first" cx="{here:.1f}" cy="{y}" r="5"/>')
        body.append(_text(_WIDTH - _RIGHT, y + 4, f"n = {rate.n:,}", "end"))
        if line.mark is not None:
            x = left + scale * line.mark
            body.append(f'<path class="second whisker" d="M{x:.1f} {y - 9}V{y + 9}"/>')
    return _document(title, body, height)


def _document(title: str, body: Iterable[str], height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:g}" role="img" '
        f"aria-label={quoteattr(title)}>\n<style>{_STYLE}</style>\n"
        f'<text class="title" x="{_LEFT if height == _HEIGHT else 16}" y="22">{escape(title)}</text>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _legend(names: Sequence[str]) -> str:
    parts, x = [], float(_WIDTH - _RIGHT)
    for name, kind in reversed(list(zip(names, ("first", "second"), strict=False))):
        x -= 7 * len(name)
        parts.append(_text(x, 22, name, "start"))
        x -= 16
        parts.append(f'<rect class="bar {kind}" x="{x:.1f}" y="12" width="10" height="10" rx="2"/>')
        x -= 16
    return "\n".join(parts)


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<path class="grid" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _round_up(value: float) -> float:
    """The next number whose quarters are round."""
    if value <= 40:
        return 4.0 * math.ceil(value / 4)
    size = 10.0 ** math.floor(math.log10(value))
    return next(step * size for step in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 4.8, 6, 8, 10) if step * size >= value)


def _share_above(value: float) -> float:
    steps = (0.02, 0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8, 1.0)
    return next((step for step in steps if step >= value), 1.0)


def _short(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 10_000 else f"{value:g}"


# What a replay found, drawn.


def drawn(report: Report) -> dict[str, str]:
    """File name → SVG."""
    ways: dict[str, Report | Way] = {"Hardwon": report, "with the first prompt": report.with_prompt}
    ways |= {name.replace("_", " "): way for name, way in report.baselines.items() if name != "nothing"}
    return {
        "foreseen.svg": dots(
            "Errors met before that the briefing named",
            [_dot(name, way, "foreseen_rate") for name, way in ways.items()],
            (),
        ),
        "came-true.svg": dots(
            "Lines of the briefing that came true", [_dot(name, way, "precision") for name, way in ways.items()], ()
        ),
        "over-time.svg": columns(
            "Errors met before, over time",
            [Bar(each.day, (each.foreseen, each.foreseeable - each.foreseen)) for each in report.periods],
            ("foreseen", "not foreseen"),
        ),
    }


def _dot(name: str, way: Report | Way, measure: str) -> Dot:
    found = way.intervals[measure]
    successes = round((found.value or 0) * found.n)
    return Dot(name, Rate(successes=successes, n=found.n, value=found.value, low=found.low, high=found.high))
