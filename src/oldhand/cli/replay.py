"""Would it have helped? `replay`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oldhand.cli.options import ProjectOption
from oldhand.cli.output import Json, bars, print_json, progress_bar, table

if TYPE_CHECKING:
    from oldhand.measure.report import Rate, Report, Way


def replay(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Sessions to replay; without any, all that were harvested.")
    ] = None,
    project: ProjectOption = None,
    budget: Annotated[int | None, typer.Option(help="Most tokens of a bootstrap.", min=0)] = None,
    failure_budget: Annotated[int | None, typer.Option(help="Most tokens of its failures.", min=0)] = None,
    json: Json = False,
) -> None:
    """Prove on past sessions whether it would have helped.

    Walks them in time order; briefs each from the earlier ones alone; counts which of its errors had been met
    before, were in the briefing, and would have been recognised when they happened.

    Example: oldhand replay --project tidepool
    """
    from oldhand.api import Oldhand
    from oldhand.sessions.discover import below

    with Oldhand() as memory, progress_bar() as progress:
        files = [file for path in paths or [] for file in below(path)]
        report = memory.proof.replay(
            files, project=project, budget=budget, failure_budget=failure_budget, progress=progress
        )
    if json:
        print_json(report)
    else:
        _print(report)


def _print(report: Report) -> None:
    if not report.errors:
        typer.echo(f"{report.sessions} sessions, none of which met an error: there is nothing to foresee.")
        return
    met = _share(report.foreseeable, report.errors)
    typer.echo(
        f"{report.sessions} sessions met {report.errors} errors; {report.foreseeable} of them ({met}) an earlier "
        f"session of the project had met.\n"
        f"These cost {report.repeated_calls} calls and {report.repeated_tokens} tokens.\n"
    )
    ways: dict[str, Report | Way] = {"Oldhand": report, "with the first prompt": report.with_prompt, **report.baselines}
    rows = [
        (
            name.replace("_", " "),
            _percent(way.intervals["foreseen_rate"]),
            _interval(way.intervals["foreseen_rate"]),
            _percent(way.intervals["precision"], 1),
            way.lines_shown,
            way.failure_tokens_p50,
        )
        for name, way in ways.items()
    ]
    table(("SHOWN AT SESSION START", "FORESEEN", "", "CAME TRUE", "OF LINES", "TOKENS"), rows, right=(1, 3, 4))
    typer.echo(
        f"\nAt the moment of failure {report.recalled} of {report.foreseeable_anywhere} were recognised, "
        f"{report.recalled_with_fix} with a fix (one had been seen for {report.fix_existed})."
    )
    shares = [share or 0.0 for _, share, _ in report.curve]
    typer.echo(f"Errors met before, over time: {report.curve[0][0]} {bars(shares)} {report.curve[-1][0]}")
    if len(report.projects) > 1:
        typer.echo("")
        table(
            ("PROJECT", "SESSIONS", "ERRORS", "FORESEEABLE", "FORESEEN", "RECALLED"),
            [(each.project, each.sessions, each.errors, each.foreseeable, each.foreseen, each.recalled)
             for each in report.projects[:12]],
            right=(1, 2, 3, 4),
        )  # fmt: skip


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "-"


def _percent(rate: Rate, digits: int = 0) -> str:
    return "-" if rate.value is None else f"{rate.value:.{digits}%}"


def _interval(rate: Rate) -> str:
    return "" if rate.low is None or rate.high is None else f"({rate.low:.0%}-{rate.high:.0%})"
