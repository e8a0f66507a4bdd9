"""The numbers as a page: Markdown that reads well in a terminal and on a forge, charts beside it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

from hardwon.durable import write_whole
from hardwon.measure.chart import Bar, Dot, columns, dots
from hardwon.measure.metrics import Metrics
from hardwon.measure.tallies import Calibration
from hardwon.model.metric import Metric

# Metrics as people read them.


def figure(metric: Metric) -> str:
    """Its value with its unit; `-` where there is nothing to count."""
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


_MAX_WEEKS_SHOWN = 26
_MIN_WEEKS_SHOWN = 8
_READING = (
    "**causal**: the difference is one that showing a line made, known because lines are withheld at random. All other "
    "numbers are observations: they tell how things are, not why. Intervals are at 95 %. "
    "A change is the one since the snapshot of 7 or 30 days ago; ✓ is for the better, ✗ for the worse."
)


def write(found: Metrics, path: Path, project: str) -> list[Path]:
    """`project` is its name; empty for all of them. Returns the page and its charts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    charts = {f"{path.stem}-{name}.svg": (title, chart) for name, title, chart in _charts(found)}
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
        lines += [f"Nothing to count yet: {'; '.join(missing)}.", ""]
    lines += ["## Confidence against what became of it", "", *_calibration(found.calibration), ""]
    lines += [_READING, ""]
    return "\n".join(lines)


def _summary(found: Metrics) -> list[str]:
    said = []
    met, fixed, effect = (found.named(name) for name in ("recurrence", "coverage", "recurrence_effect"))
    if met.value is not None:
        said.append(f"- **{figure(met)}** of the errors that sessions met had been met before in their project.")
    if fixed.value is not None:
        said.append(f"- For **{figure(fixed)}** of the failures a fix is known.")
    if effect.value is not None:
        said.append(
            f"- Showing a failure's line changes how often it comes back by **{figure(effect)}** ({bounds(effect)})."
        )
    return said or ["Nothing was counted yet."]


def _table(metrics: list[Metric], *, trend: bool) -> list[str]:
    headings = ["", "value", "95 %", "n", *(["7 days", "30 days"] if trend else []), ""]
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
    rows = ["| confidence | confirmed | 95 % | n | not settled yet |", "|---|--:|---|--:|--:|"]
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
