"""What would have been foreseen? `replay`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import (
    Everywhere,
    Json,
    ProjectOption,
    bars,
    count,
    lines_of_screen,
    of_here,
    print_json,
    progress_bar,
    say,
    shown,
    table,
    thousands,
)

if TYPE_CHECKING:
    from hardwon.measure.map_replay import Share
    from hardwon.measure.report import ProjectReport, Rate, Report, Way


_MAX_MAPS_SHOWN = 2
_LINES_OF_NOTES = 40
"""A screen of so many lines has room for what the columns mean."""
_FEWEST_CASES = 5
"""Of fewer, no share is told."""
_NONE = "-"
_WAYS = {
    "newest_three": "the newest three",
    "most_recent": "newest first",
    "most_frequent": "most frequent first",
    "random": "at random",
}


def replay(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Sessions to replay; without any, all that were harvested.")
    ] = None,
    project: ProjectOption = None,
    budget: Annotated[int | None, typer.Option(help="Token limit of a briefing.", min=0)] = None,
    failure_budget: Annotated[int | None, typer.Option(help="Token limit of the failures in it.", min=0)] = None,
    chart: Annotated[Path | None, typer.Option(help="Folder to write charts to, as SVG.")] = None,
    all: Annotated[bool, typer.Option("--all", help="Add each project, how it went over time, and notes.")] = False,
    everywhere: Everywhere = False,
    json: Json = False,
) -> None:
    """Replay past sessions to see which errors Hardwon would have foreseen.

    Goes through sessions in time order and briefs each one from the earlier ones only. Counts how many of its errors
    had come up before, were in the briefing, and would have been recognised when they happened.

    Example: hardwon replay --project tidepool
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory, progress_bar() as progress:
        holder, only_here = (project, "") if json or paths else of_here(memory, project, everywhere=everywhere)
        report = memory.replay(
            paths or (), project=holder, budget=budget, failure_budget=failure_budget, progress=progress
        )
    if chart:
        _draw(report, chart)
    if json:
        print_json(report)
    else:
        _print(report, details=all)
        if only_here:
            say(only_here)


def _draw(report: Report, folder: Path) -> None:
    from hardwon.errors import HardwonError
    from hardwon.measure.dashboard import drawn

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, svg in drawn(report).items():
            (folder / name).write_text(svg, encoding="utf-8")
    except OSError as error:
        raise HardwonError(f"cannot write charts to {folder}: {error.strerror}") from None


def _print(report: Report, *, details: bool) -> None:
    if not report.errors:
        say(f"{count(report.sessions, 'session')} without an error: there is nothing to predict.")
        _print_maps(report, details=details)
        return
    if not details:
        has_room = sys.stdout.isatty() and lines_of_screen() >= _LINES_OF_NOTES
        say(verdict(report))
        if report.foreseeable:
            _print_ways(report, details=has_room)
        _print_maps(report, details=has_room)
        say("More, with each project and what is counted: `hardwon replay --all`.")
        return
    before = report.intervals["foreseeable_rate"]
    say(
        f"{verdict(report)}\n\n"
        f"{count(report.sessions, 'session')} met {count(report.errors, 'error')}; an earlier session of the same "
        f"project had met {report.foreseeable} of them{_in_brackets(before)}. Meeting them again "
        f"cost {_calls(report.repeated_calls)} and {report.repeated_tokens:,} tokens.\n"
        "An error counts once a session, without those of agents' own tools, as in `hardwon up`. Here the line of "
        "output that says most decides what is the same error, so that Hardwon does not grade itself: the numbers "
        "differ."
    )
    if report.foreseeable:
        _print_ways(report, details=True)
    if report.foreseeable_anywhere:
        recalled = report.intervals["recalled_rate"]
        say(
            f"\nOf the {report.foreseeable_anywhere} that any project had met before, "
            f"{report.recalled}{_in_brackets(recalled)} would have been recognised when they happened; an earlier "
            f"session had solved {report.fix_existed} of them."
        )
    _print_time(report)
    _print_projects(report)
    _print_maps(report, details=True)


def verdict(report: Report) -> str:
    """What was foreseen, and at what cost, for somebody who reads no table. That it helped, no replay can say."""
    if not report.foreseeable:
        return "Too early to tell: no error has come up in the same words in two sessions of a project yet."
    where = [one.project for one in report.projects if one.foreseen]
    lines = f", all of them in {shown(where[0])}" if len(where) == 1 and len(report.projects) > 1 else ""
    answered = f"{report.recalled_with_fix} would have been answered with a known fix"
    return (
        f"Of {count(report.foreseeable, 'error')} that came back in the same words, the briefing named "
        f"{report.foreseen} beforehand{lines}. When they happened, {answered}.\n"
        "Whether being told changes anything, only an experiment shows: `hardwon config experiment on`."
    )


def _best_simple(report: Report) -> str:
    """Of the simple methods the one that names most; empty where none names anything."""
    simple = {name: way.foreseen for name, way in report.baselines.items() if name != "nothing" and way.foreseen}
    return max(simple, key=simple.__getitem__, default="")


def _print_compared(report: Report, name: str) -> None:
    """With no more tokens than another method; a difference within the intervals is none."""
    way = report.baselines[name]
    ours = way.ours or report
    mine, theirs = ours.intervals["foreseen_rate"], way.intervals["foreseen_rate"]
    apart = (mine.low or 0) > (theirs.high or 1) or (mine.high or 1) < (theirs.low or 0)
    say(
        f"\nWith no more tokens than `{_WAYS.get(name, name)}` took in each session, Hardwon names {ours.foreseen}, "
        f"that one {way.foreseen}{'' if apart else ': too close to tell apart'}."
    )


def _print_maps(report: Report, *, details: bool) -> None:
    """Whether the map would have led sessions where they went."""
    most = len(report.maps) if details else _MAX_MAPS_SHOWN
    told = [one for one in report.maps if max(one.edited["the map"].n, one.commands["the map"].n) >= _FEWEST_CASES]
    told.sort(key=lambda one: (-one.edited["the map"].n, -one.commands["the map"].n))
    if told:
        rows = [
            (one.project, one.edited["the map"].n, _share(one.edited["the map"]),
             _share(one.edited["how often edited"]), one.commands["the map"].n, _share(one.commands["the map"]))
            for one in told[:most]
        ]  # fmt: skip
        headings = (
            "PROJECT",
            "EDITING SESSIONS",
            "FILES EDITED",
            "THE MOST EDITED",
            "SESSIONS",
            "COMMANDS RUN",
        )
        edited = any(row[2] != _NONE for row in rows)
        kept = [0, 1, 2, 3, 5] if edited else [0, 4, 5]
        what = "files and commands" if edited else "commands"
        few = f" ({_NONE}: fewer than {_FEWEST_CASES} sessions)" if any(_NONE in row for row in rows) and edited else ""
        say(f"\nOf the known {what} that a session then needed, how many `hardwon map` had in its top ten{few}:\n")
        table([headings[at] for at in kept], [[row[at] for at in kept] for row in rows], right=range(1, len(kept)))
        if not edited:
            say(f"Fewer than {_FEWEST_CASES} sessions edited a file that was known.")
        if details and edited:
            say("\nTHE MOST EDITED: what a list of the ten files that were edited most often would have had of them.")
    if len(told) > most:
        say(f"and {count(len(told) - most, 'more project')}")


def _share(found: Share) -> str:
    return _NONE if found.value is None or found.n < _FEWEST_CASES else f"{found.value:.0%}"


def _print_ways(report: Report, *, details: bool) -> None:
    ways: dict[str, Report | Way] = {"Hardwon": report, "Hardwon, knowing the prompt": report.with_prompt}
    ways |= {_WAYS.get(name, name): way for name, way in report.baselines.items() if name != "nothing"}
    rows = []
    for name, way in ways.items():
        ours: Way | None = getattr(way, "ours", None)
        named, true = way.intervals["foreseen_rate"], way.intervals["precision"]
        rows.append(
            (
                name,
                f"{way.foreseen}{_in_brackets(named)}",
                _percent(true) + (f" of {true.n}" if true.n >= _FEWEST_CASES else ""),
                thousands(way.failure_tokens),
                f"{ours.foreseen}{_in_brackets(ours.intervals['foreseen_rate'])}" if ours else "",
            )
        )
    say("\nHow many of these errors were named beforehand (foreseen), by what chooses the lines:\n" if details else "")
    headings = (
        "CHOSEN BY", f"NAMED OF {report.foreseeable} (95%)", "LINES CAME TRUE", "TOKENS", "HARDWON, WITH AS MANY",
    )  # fmt: skip
    best = _best_simple(report)
    if not details:
        table(headings[:4], [row[:4] for row in rows if row[0] != _WAYS["random"]], right=(1, 2, 3))
        if best:
            _print_compared(report, best)
        return
    table(headings, rows, right=(1, 2, 3, 4), spare=(4,))
    if best:
        _print_compared(report, best)
    say(
        "\nKnowing the prompt: with what is told once a session has said what it is to do. LINES CAME TRUE: how many "
        "of the lines named an error that then came. TOKENS: of these lines, in all sessions; in each, no method gets "
        "more than Hardwon used. HARDWON, WITH AS MANY: what Hardwon names with the tokens that the method used."
    )


def _print_time(report: Report) -> None:
    """What was met before, and what of it was foreseen, as the history grows."""
    if len(report.periods) < 2:
        return
    periods = report.periods
    most = max(each.foreseeable for each in periods) or 1
    say(f"\nOver time, from {periods[0].day} on (tallest bar: {most}):")
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
          _share_of_lines(each))
         for each in told],
        right=(1, 2, 3, 4, 5),
        spare=(5,),
    )  # fmt: skip


def _share_of_lines(project: ProjectReport) -> str:
    true, shown = project.precision, project.lines_shown
    if true is None:
        return "-"
    return f"{true:.0%} of {shown}" if shown >= _FEWEST_CASES else f"{true * shown:.0f} of {shown}"


def _calls(count: int) -> str:
    return "one call" if count == 1 else f"{count:,} calls"


def _percent(rate: Rate, digits: int = 0) -> str:
    if rate.value is None or rate.n >= _FEWEST_CASES:
        return "-" if rate.value is None else f"{rate.value:.{digits}%}"
    return f"{rate.value * rate.n:.0f} of {rate.n}"


def _in_brackets(rate: Rate) -> str:
    """A share with its interval; nothing of few cases."""
    return f" ({_percent(rate)}, {_interval(rate)})" if _interval(rate) else ""


def _interval(rate: Rate) -> str:
    few = rate.n < _FEWEST_CASES
    return "" if few or rate.low is None or rate.high is None else f"{rate.low:.0%} to {rate.high:.0%}"
