"""Would it have helped? `replay`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import Json, ProjectOption, bars, print_json, progress_bar, say, table

if TYPE_CHECKING:
    from hardwon.measure.map_replay import Share
    from hardwon.measure.report import Rate, Report, Way


_BAR_COLUMNS = 20
_MAX_PROJECTS_SHOWN = 12
_MUCH = 0.5
"""Of what came back, the share that must have been foreseen or answered for a plain yes."""


def replay(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Sessions to replay; without any, all that were harvested.")
    ] = None,
    project: ProjectOption = None,
    budget: Annotated[int | None, typer.Option(help="Token limit of a briefing.", min=0)] = None,
    failure_budget: Annotated[int | None, typer.Option(help="Token limit of the failures in it.", min=0)] = None,
    chart: Annotated[Path | None, typer.Option(help="Folder to write charts to, as SVG.")] = None,
    json: Json = False,
) -> None:
    """Replay past sessions to see whether Hardwon would have helped.

    Goes through sessions in time order and briefs each one from the earlier ones only. Counts how many of its errors
    had come up before, were in the briefing, and would have been recognised when they happened.

    Example: hardwon replay --project tidepool
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory, progress_bar() as progress:
        report = memory.replay(
            paths or (), project=project, budget=budget, failure_budget=failure_budget, progress=progress
        )
    if chart:
        _draw(report, chart)
    if json:
        print_json(report)
    else:
        _print(report)


def _draw(report: Report, folder: Path) -> None:
    from hardwon.errors import HardwonError
    from hardwon.measure.dashboard import drawn

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, svg in drawn(report).items():
            (folder / name).write_text(svg, encoding="utf-8")
    except OSError as error:
        raise HardwonError(f"cannot write charts to {folder}: {error.strerror}") from None


def _print(report: Report) -> None:
    if not report.errors:
        _print_maps(report)
        say(f"{report.sessions} sessions without an error: there is nothing to predict.")
        return
    before = report.intervals["foreseeable_rate"]
    said = verdict(report)
    say(
        f"{said[0].upper()}{said[1:]}\n\n"
        f"{report.sessions} sessions ran into {report.errors} different errors; an earlier session of the same "
        f"project had seen {report.foreseeable} of them ({_percent(before)}, 95% interval {_interval(before)}).\n"
        f"Running into them again cost {_calls(report.repeated_calls)} and {report.repeated_tokens:,} tokens."
    )
    if report.foreseeable:
        _print_ways(report)
    if report.foreseeable_anywhere:
        recalled = report.intervals["recalled_rate"]
        say(
            f"\nWhen they happened, {report.recalled} of the {report.foreseeable_anywhere} that any project had seen "
            f"({_percent(recalled)}, {_interval(recalled)}) would have been recognised, {report.recalled_with_fix} "
            f"with a known fix; an earlier session had solved {report.fix_existed} of them."
        )
    _print_time(report)
    _print_projects(report)
    _print_maps(report)


def verdict(report: Report) -> str:
    """Would it have helped? In a sentence or two for somebody who reads no table."""
    if not report.foreseeable:
        return "too early to tell: no error has come up in two sessions of a project yet."
    if not report.foreseen and not report.recalled_with_fix:
        return (
            f"it would not have helped yet: the briefing would have named none of {report.foreseeable} repeated errors."
        )
    best = max((way for name, way in report.baselines.items() if name != "nothing"), key=lambda way: way.foreseen)
    than = "more than" if report.foreseen > best.foreseen else "as many as" if report.foreseen == best.foreseen else ""
    simple = f"{than} the best simple method" if than else f"the best simple method would have named {best.foreseen}"
    much = max(report.foreseen, report.recalled_with_fix) >= _MUCH * report.foreseeable
    return (
        f"it would have helped{'' if much else ' a little'}. Of {report.foreseeable} errors that came back, the "
        f"briefing would have named {report.foreseen} before they happened ({simple}); when they happened, "
        f"{report.recalled_with_fix} would have been answered with a known fix."
    )


def _print_maps(report: Report) -> None:
    """Whether the map would have led sessions where they went."""
    rows = [
        (
            one.project,
            one.edited["the map"].n,
            *(_share(one.edited[way]) for way in ("the map", "the map without a prompt", "how often edited")),
            _share(one.read["the map"]),
            _share(one.commands["the map"]),
            one.told,
            "-" if one.precision is None else f"{one.precision:.0%}",
        )
        for one in report.maps[:_MAX_PROJECTS_SHOWN]
        if one.edited["the map"].n or one.read["the map"].n or one.commands["the map"].n
    ]
    if rows:
        say(
            "\nThe map: of the files a session edited (or read) and the commands it ran that were known, the share "
            "in the map's top ten. NO PROMPT: without the task. COUNTED: by frequency alone.\n"
        )
        headings = ("PROJECT", "SESSIONS", "EDITED", "NO PROMPT", "COUNTED", "READ", "COMMANDS", "TOLD", "CAME TRUE")
        table(headings, rows, right=range(1, 9))


def _share(found: Share) -> str:
    return "-" if found.value is None else f"{found.value:.2f}"


def _print_ways(report: Report) -> None:
    ways: dict[str, Report | Way] = {"Hardwon": report, "with the first prompt": report.with_prompt}
    ways |= {name.replace("_", " "): way for name, way in report.baselines.items() if name != "nothing"}
    rows = []
    for name, way in ways.items():
        ours: Way | None = getattr(way, "ours", None)
        foreseen = way.intervals["foreseen_rate"]
        rows.append(
            (
                name,
                _bar(foreseen.value or 0.0),
                _percent(foreseen),
                _interval(foreseen),
                _percent(way.intervals["precision"], 1),
                way.lines_shown,
                way.failure_tokens_p50,
                f"{_percent(ours.intervals['foreseen_rate'])}, {_percent(ours.intervals['precision'], 1)}"
                if ours
                else "",
            )
        )
    say("\nHow many of these errors the briefing would have named (FORESEEN), and how many of its lines came true:\n")
    table(
        ("CHOSEN BY", "", "FORESEEN", "95 %", "CAME TRUE", "LINES", "TOKENS", "HARDWON THEN"),
        rows,
        right=(2, 4, 5, 6),
        spare=(1,),
    )
    say(
        "\nTOKENS is the median per session. Every other method gets as many tokens as Hardwon used. HARDWON THEN: "
        "what Hardwon foresees, and how many of its lines come true, with only the tokens that method used."
    )


def _print_time(report: Report) -> None:
    """What was met before, and what of it was foreseen, as the history grows."""
    if len(report.periods) < 2:
        return
    periods = report.periods
    most = max(each.foreseeable for each in periods) or 1
    say(f"\nOver time, {periods[0].day} to {periods[-1].day} (tallest bar: {most}):")
    say(f"  seen before  {bars([each.foreseeable for each in periods], most)}")
    say(f"  foreseen     {bars([each.foreseen for each in periods], most)}")


def _print_projects(report: Report) -> None:
    told = [each for each in report.projects if each.errors]
    if len(told) < 2:
        return
    say("")
    table(
        ("PROJECT", "SESSIONS", "ERRORS", "SEEN BEFORE", "FORESEEN", "RECOGNISED", "LINES CAME TRUE"),
        [(each.project, each.sessions, each.errors, each.foreseeable, each.foreseen, each.recalled,
          "-" if each.precision is None else f"{each.precision:.1%} of {each.lines_shown}")
         for each in told[:_MAX_PROJECTS_SHOWN]],
        right=(1, 2, 3, 4, 5),
        spare=(5,),
    )  # fmt: skip
    if len(told) > _MAX_PROJECTS_SHOWN:
        say(f"and {len(told) - _MAX_PROJECTS_SHOWN} more: add --json")


def _bar(share: float) -> str:
    full = round(share * _BAR_COLUMNS)
    return "█" * full + "░" * (_BAR_COLUMNS - full)


def _calls(count: int) -> str:
    return "one call" if count == 1 else f"{count:,} calls"


def _percent(rate: Rate, digits: int = 0) -> str:
    return "-" if rate.value is None else f"{rate.value:.{digits}%}"


def _interval(rate: Rate) -> str:
    return "" if rate.low is None or rate.high is None else f"{rate.low:.0%} to {rate.high:.0%}"
