"""What a replay found, drawn."""

from __future__ import annotations

from hardwon.measure.chart import Bar, Dot, columns, dots
from hardwon.measure.report import Report, Way
from hardwon.model.rate import Rate


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
