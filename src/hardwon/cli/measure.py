"""Does it help, and how does it go? `measure`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import (
    Everywhere,
    Json,
    ProjectOption,
    bars,
    count,
    day,
    moment,
    of_here,
    print_json,
    say,
    table,
)

if TYPE_CHECKING:
    from hardwon.measure.experiment import Experiment
    from hardwon.measure.metrics import Metrics
    from hardwon.model.metric import Rate

_SAYS = {
    "helps": "Showing lines helps",
    "harms": "Showing lines harms",
    "no difference worth having": "Showing lines makes no useful difference",
    "too early": "It is too early to tell",
    "broken": "The experiment is broken: no number below can be trusted",
}


_TELLS_NOTHING_OF_FEW = ("share", "rate", "difference", "score")
_MICROSECONDS_PER_WEEK = 7 * 86_400_000_000
_FEWEST, _FEWEST_A_WEEK = 5, 10
"""What a share or a rate is told of; errors of a week that is one of the trend."""
_DETAILS = {
    *(
        "lessons_a_day",
        "lessons_a_million_tokens",
        "knowledge_age",
        "old_knowledge",
        "brier",
        "skill",
        "calibration_gap",
        "unresolved",
    ),
    *("unjudged", "redactions", "hook_p95"),
}
"""Metrics that are for whoever asks for all of them."""


def measure(
    since: Annotated[str | None, typer.Option(help="Only from this date, YYYY-MM-DD.")] = None,
    project: ProjectOption = None,
    experiment: Annotated[
        bool, typer.Option("--experiment", help="Show whether briefing lines help, with confidence intervals.")
    ] = False,
    write: Annotated[Path | None, typer.Option(help="Write a Markdown page with charts next to it.")] = None,
    snapshot: Annotated[bool, typer.Option("--snapshot", help="Save the numbers, to compare with later.")] = False,
    all: Annotated[bool, typer.Option("--all", help="Every number, and those that have no data yet.")] = False,
    everywhere: Everywhere = False,
    json: Json = False,
) -> None:
    """Show statistics about lessons, failures, hooks and results.

    With --experiment: whether the briefing lines help, measured by withholding some at random.

    Example: hardwon measure --since 2026-10-01 --write metrics/dashboard.md
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        begin = moment(since)
        if experiment:
            verdict = memory.experiment(project=project, since=begin)
            print_json(verdict) if json else _print_experiment(verdict, on=memory.config.experiment == "on")
            return
        mine = not (json or snapshot or write)
        holder, only_here = of_here(memory, project, everywhere=everywhere) if mine else (project, "")
        found = memory.measure(project=holder, since=begin)
        if snapshot:
            memory.store.keep_metrics(found)
        if write is not None:
            for path in memory.store.write_metrics(found, write):
                say(f"wrote {path}", err=True)
    if json:
        print_json(found)
    elif write is None:
        _print(found, details=all)
        if only_here:
            say(only_here)


def _print(found: Metrics, *, details: bool) -> None:
    from hardwon.clock import moment as moment_of
    from hardwon.measure.dashboard import bounds, change, figure

    if not found.sessions:
        say("No sessions in this period. `hardwon up` reads those on this machine.")
        return
    say(f"{count(found.sessions, 'session')} since {day(found.since)}\n")
    known = [each for each in found.metrics if each.value is not None]
    told = [each for each in known if details or each.name not in _DETAILS]
    trend = any(metric.week is not None or metric.month is not None for metric in told)
    rows: list[list[object]] = []
    labels = {metric.label for metric in told}
    group = ""
    for metric in told:
        value = figure(metric)
        of = re.sub(r"s\b", "", metric.of, count=1) if metric.n == 1 and metric.of.count(",") < 2 else metric.of
        counted = of if value == f"{metric.n:,}" else f"{metric.n:,} {of}"
        few = metric.n < _FEWEST and metric.unit in _TELLS_NOTHING_OF_FEW
        cells: list[object] = [metric.group.upper() if metric.group != group else "", metric.title]
        cells += ["too few" if few else value, "" if few else bounds(metric), counted]
        if trend:
            cells += [change(metric, metric.week), change(metric, metric.month)]
        rows.append([*cells, metric.label] if len(labels) > 1 else cells)
        group = metric.group
    headings = ["ABOUT", "WHAT", "VALUE", "95% RANGE", "OF", *(["7 DAYS", "30 DAYS"] if trend else [])]
    headings += [""] if len(labels) > 1 else []
    table(headings, rows, right=(2,), spare=(len(headings) - 1,) if len(labels) > 1 else ())
    if labels == {"observational"}:
        say("\nThese are observations. To measure what Hardwon changes: `hardwon config experiment on`.")
    weeks = [each for each in found.weekly_errors if each[1] >= _FEWEST_A_WEEK][-26:]
    if len(weeks) > 1:
        shares = [before / errors for _, errors, before in weeks]
        first, last = (day(moment_of(week * _MICROSECONDS_PER_WEEK)) for week, _, _ in (weeks[0], weeks[-1]))
        say(
            f"\nShare of errors that had come up before, in weeks of {_FEWEST_A_WEEK} and more (less is better):\n"
            f"{shares[0]:.0%} (week of {first})  {bars(shares, 1)}  {shares[-1]:.0%} (week of {last})"
        )
    missing = [metric.title for metric in found.metrics if metric.value is None]
    if missing and details:
        say(f"\nNo data yet: {'; '.join(missing)}.")
    elif not details and (more := len(found.metrics) - len(told)):
        say(f"\n{count(more, 'more number')}: `hardwon measure --all`.")


def _print_experiment(found: Experiment, *, on: bool) -> None:
    if not (on or found.sessions or found.pending):
        say("The experiment is off and nothing is withheld. To start it: `hardwon config experiment on`.")
        return
    say(f"{_SAYS[found.verdict]}.\n")
    if not found.sessions:
        say(
            f"No session of the experiment has been read yet ({found.pending} pending). It starts with the next "
            "session of an agent that uses Hardwon; `hardwon config experiment off` stops it."
        )
        return
    say(
        f"{count(found.sessions, 'session')} ({found.held_out} without a briefing, {found.pending} not read yet), "
        f"{count(found.lines, 'line')} shown or withheld."
    )
    say(f"A failure came back {_rate(found.shown)} when its line was shown, {_rate(found.withheld)} when withheld.")
    if found.ratio is not None:
        say(
            f"When shown, it came back {found.ratio:.2f} times as often.\n"
            f"  if you check repeatedly    {_between(found.anytime.low, found.anytime.high)}: {found.verdict}\n"
            f"  if you check only once   {_between(found.once.low, found.once.high)}, {_p(found.p_once)}: "
            f"{found.once.verdict}"
        )
    if found.detectable_ratio is not None:
        say(f"This much data would show a fall of {1 - found.detectable_ratio:.0%} or more.")
    rows = [
        (each.name, _mean(each.with_it), each.with_n, _mean(each.without), each.without_n, _mean(each.difference),
         "" if each.low is None else _between(each.low, each.high), _p(each.p))
        for each in (found.within_sessions, found.between_sessions, found.hit_rate, *found.others)
        if each.difference is not None
    ]  # fmt: skip
    if rows:
        say("")
        table(("", "SHOWN", "N", "WITHHELD", "N", "DIFFERENCE", "95%", ""), rows, right=(1, 2, 3, 4, 5))
    wrong = [check for check in found.checks if not check.ok]
    for check in wrong:
        say(f"\nbroken: {check.name}: {check.says}")
    if not wrong:
        say(f"\nRandomisation is sound ({len(found.checks)} checks); {found.crossed} withheld lines got through.")


def _rate(rate: Rate) -> str:
    return f"{rate.successes} of {rate.n}" + (f" ({rate.value:.1%})" if rate.value is not None else "")


def _between(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "anything"
    return f"{0 if low is None else low:.3g} to {'any' if high is None else f'{high:.3g}'}"


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def _mean(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
