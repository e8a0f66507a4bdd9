"""The numbers as a page: Markdown that reads well in a terminal and on a forge, charts beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from hardwon.durable import write_whole
from hardwon.measure.metrics import Metrics
from hardwon.measure.report import Report, Way
from hardwon.measure.tallies import Calibration
from hardwon.model.metric import Metric, Rate

# Charts as SVG: plain shapes and text, readable in light and dark, no script.

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


# Metrics as people read them.


def figure(metric: Metric) -> str:
    """Its value with its unit; `-` where there is nothing to count."""
    return "-" if metric.value is None else _said(metric, metric.value)


def bounds(metric: Metric) -> str:
    """The 95% interval, where there is one."""
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
            return _dashboard_short(value)
        case "days":
            return f"{value:.0f} d"
        case "milliseconds":
            return f"{value:.0f} ms"
        case "score":
            return f"{value:.3f}"
        case _:
            return f"{value:.3g}"


def _dashboard_short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.0f}"


_MAX_WEEKS_SHOWN = 26
_MIN_WEEKS_SHOWN = 8
_READING = (
    "**causal**: the difference is one that showing a line made, known because lines are withheld at random. All other "
    "numbers are observations: they tell how things are, not why. Intervals are at 95%. "
    "A change is the one since the snapshot of 7 or 30 days ago; ✓ is for the better, ✗ for the worse."
)


def write(found: Metrics, path: Path, project: str, more: Sequence[tuple[str, str, str]] = ()) -> list[Path]:
    """`project` is its name; empty for all of them; `more` are pictures of it: name, title, SVG. Returns all files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    charts = {f"{path.stem}-{name}.svg": (title, chart) for name, title, chart in (*_charts(found), *more)}
    for name, (_, chart) in charts.items():
        write_whole(path.with_name(name), chart)
    write_whole(path, page(found, project, {name: title for name, (title, _) in charts.items()}))
    return [path, *(path.with_name(name) for name in charts)]


def page(found: Metrics, project: str, charts: dict[str, str]) -> str:
    """The page as Markdown; `charts` are the names of pictures beside it, with their titles."""
    period = f"{found.since:%Y-%m-%d} to {found.until:%Y-%m-%d}"
    lines = [
        f"# Hardwon in numbers{': ' + _plain(project) if project else ''}",
        "",
        f"{found.sessions:,} sessions, {period}. Written by `hardwon measure --write`.",
        "",
        *_summary(found),
        "",
        *(f"![{title}]({name})\n" for name, title in charts.items()),
    ]
    trend = any(metric.week is not None or metric.month is not None for metric in found.metrics)
    counted = [metric for metric in found.metrics if metric.value is not None]
    for group, metrics in groupby(counted, key=lambda metric: metric.group):
        lines += [f"## {group}", "", *_table(list(metrics), trend=trend), ""]
    if missing := [metric.title for metric in found.metrics if metric.value is None]:
        lines += [f"No data yet: {'; '.join(missing)}.", ""]
    lines += ["## Confidence against what became of it", "", *_calibration(found.calibration), ""]
    lines += [_READING, ""]
    return "\n".join(lines)


def _summary(found: Metrics) -> list[str]:
    said = []
    met, fixed, effect = (found.named(name) for name in ("recurrence", "coverage", "recurrence_effect"))
    if met.value is not None:
        said.append(f"- **{figure(met)}** of the errors that sessions met had been met in an earlier session.")
    if fixed.value is not None:
        said.append(f"- For **{figure(fixed)}** of the failures a fix is known.")
    if effect.value is not None:
        said.append(
            f"- Showing a failure's line changes how often it comes back by **{figure(effect)}** ({bounds(effect)})."
        )
    return said or ["Nothing was counted yet."]


def _table(metrics: list[Metric], *, trend: bool) -> list[str]:
    headings = ["", "value", "95%", "n", *(["7 days", "30 days"] if trend else []), ""]
    rows = [headings, ["---", "--:", *["---"] * (len(headings) - 2)]]
    for metric in metrics:
        changes = [change(metric, metric.week), change(metric, metric.month)] if trend else []
        n = f"{metric.n:,} {metric.of}" if metric.n else ""
        label = "**causal**" if metric.label == "causal" else metric.label
        rows.append([metric.title, figure(metric), bounds(metric), n, *changes, label])
    return ["| " + " | ".join(row) + " |" for row in rows]


def _calibration(found: Calibration) -> list[str]:
    if not found.resolved:
        return [f"None of {found.unresolved.n:,} lessons has been confirmed or contradicted yet."]
    rows = ["| confidence | confirmed | 95% | n | not settled yet |", "|---|--:|---|--:|--:|"]
    for band in found.bands:
        rate = band.confirmed
        share = "-" if rate.value is None else f"{rate.value:.0%}"
        known = "" if rate.low is None or rate.high is None else f"{rate.low:.0%} – {rate.high:.0%}"
        rows.append(f"| {band.band} | {share} | {known} | {rate.n:,} | {band.unresolved:,} |")
    skill = "" if found.skill is None else f", skill {found.skill:.2f}"
    return [
        *rows,
        "",
        f"Brier score {found.brier:.3f}{skill}, gap {found.ece:.3f} (0 is perfect), over {found.resolved:,} lessons.",
    ]


def _charts(found: Metrics) -> list[tuple[str, str, str]]:
    """(name, title, SVG) of those that have something to show."""
    charts = []
    errors: dict[int, tuple[int, ...]] = {week: (n - before, before) for week, n, before in found.weekly_errors}
    lessons: dict[int, tuple[int, ...]] = {week: (count,) for week, count in found.weekly_lessons}
    if errors:
        title = "Errors of sessions, by week"
        charts.append(
            ("errors", title, columns(title, _weekly(errors, (0, 0)), ("met for the first time", "met before")))
        )
    if lessons:
        title = "Lessons learned, by week"
        charts.append(("lessons", title, columns(title, _weekly(lessons, (0,)), ())))
    if found.shown.n and found.withheld.n:
        title = "How often a failure came back"
        lines = [Dot("line withheld", found.withheld), Dot("line shown", found.shown)]
        charts.append(("effect", title, dots(title, lines, ())))
    if found.calibration.resolved:
        title = "Lessons confirmed, by confidence"
        bands = [Dot(band.band, band.confirmed, band.mean_confidence) for band in found.calibration.bands]
        charts.append(("calibration", title, dots(title, bands, ("confirmed", "confidence"))))
    return charts


def _weekly(counts: dict[int, tuple[int, ...]], nothing: tuple[int, ...]) -> list[Bar]:
    """The last weeks, those without anything too."""
    last = max(counts)
    first = max(min(*counts, last - _MIN_WEEKS_SHOWN + 1), last - _MAX_WEEKS_SHOWN + 1)
    return [Bar(_first_day(week), counts.get(week, nothing)) for week in range(first, last + 1)]


def _first_day(week: int) -> str:
    """A bar is named by the first day of its week."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(weeks=week)).strftime("%d %b")


def _plain(name: str) -> str:
    """A project's name as text that Markdown leaves alone."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#|!" else sign for sign in " ".join(name.split()))
