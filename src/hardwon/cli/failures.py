"""What keeps failing: `failures`, `failures show`, `failures mute`, `failures match`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import (
    Json,
    ProjectOption,
    count,
    day,
    described,
    error_of,
    green,
    iso,
    moment,
    place,
    print_json,
    say,
    short,
    short_path,
    shown,
    sparkline,
    table,
    thousands,
)

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.model.nouns import Failure, FailureCost

app = typer.Typer()
_BINS = 12


@app.callback(invoke_without_command=True)
def failures(
    context: typer.Context,
    project: ProjectOption = None,
    since: Annotated[str | None, typer.Option(help="Only failures since this date, YYYY-MM-DD.")] = None,
    open: Annotated[bool, typer.Option("--open", help="Only failures without a known fix.")] = False,
    all: Annotated[bool, typer.Option("--all", help="Also what agents' own tools refused.")] = False,
    limit: Annotated[int, typer.Option(help="Most rows.", min=1)] = 20,
    refingerprint: Annotated[
        bool, typer.Option("--refingerprint", help="Regroup old failures after an upgrade; it tells you when to.")
    ] = False,
    json: Json = False,
) -> None:
    """List what failed and what fixed it, the most frequent first.

    A wide terminal also shows the tokens it cost. What agents' own tools refused ("File has not been read yet") is left
    out, as in `up`; --all lists it, too.

    Example: hardwon failures --project tidepool --since 2026-10-01 --open
    """
    if context.invoked_subcommand is not None:
        return
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        if refingerprint:
            changed = memory.failures.refingerprint()
            print_json(changed) if json else say(changed.said)
            return
        found = memory.failures.list(project=project, since=moment(since), only_open=open)
        rows = [row for row in found if all or row.family != "agent"]
        cost = memory.failures.costs([row.id for row in rows[:limit]], since=moment(since))
        behind = memory.failures.outdated()
    if json:
        print_json([{**described(row), **_wasted(cost[row.id])} for row in rows[:limit]])
        return
    if behind:
        say(
            f"{behind} failures were grouped by an older version. To update: `hardwon failures --refingerprint`",
            err=True,
        )
    if rows:
        _print_list(memory, rows[:limit], cost)
    else:
        say("No failures found.", err=True)
    if len(rows) > limit:
        say(f"{len(rows) - limit} more: `hardwon failures --limit {len(rows)}`", err=True)
    if hidden := len(found) - len(rows):
        say(f"{count(hidden, 'refusal')} of agents' own tools not shown: `hardwon failures --all`", err=True)


def _print_list(memory: Hardwon, rows: list[Failure], cost: dict[str, FailureCost]) -> None:
    first = min(row.first_seen for row in rows)
    last = max(row.last_seen for row in rows)
    cells = []
    for row in rows:
        fix = next((fix for fix in row.fixes if fix.status == "active"), None)
        spent = cost[row.id]
        cells.append(
            (
                short(memory, row.id),
                row.occurrences,
                row.sessions,
                thousands(spent.tokens),
                sparkline(spent.times, first, last, _BINS),
                day(row.last_seen),
                error_of(row),
                fix.text if fix else "-",
            )
        )
    headings = ("ID", "TIMES", "SESSIONS", "TOKENS", f"{day(first)[2:7]}…{day(last)[2:7]}", "LAST", "ERROR", "WORKED")
    table(headings, cells, right=(1, 2, 3), spare=(4, 5, 1, 3))


def _wasted(cost: FailureCost) -> dict[str, int]:
    return {"wasted_calls": len(cost.times), "wasted_tokens": cost.tokens}


@app.command("show")
def show(
    id: Annotated[str, typer.Argument(help="A failure's id, or its beginning.", show_default=False)],
    json: Json = False,
) -> None:
    """Show a failure, everything that fixed it, and where it happened.

    Example: hardwon failures show F3fa9
    """
    from hardwon.api import Hardwon
    from hardwon.api.connection import full_id
    from hardwon.model.failure import Step
    from hardwon.store.pages import came_back
    from hardwon.text.shown import kind_of_error, remedy

    with Hardwon() as memory:
        found = memory.failures.get(full_id(memory, id))
        row, places = found.failure, found.occurrences
        spent = memory.failures.costs([row.id])[row.id]
        back = came_back(memory.reading(), [row.id]).get(row.id)
    if json:
        print_json({**described(row), **_wasted(spent), "seen": [place(each) for each in places]})
        return
    say(f"{row.id}  {kind_of_error(row.family)}\n  {shown(error_of(row))}\n")
    drawn = sparkline(spent.times, row.first_seen, row.last_seen, _BINS)
    say(
        f"  {count(row.occurrences, 'time')} in {count(row.sessions, 'session')}, "
        f"{day(row.first_seen)} {drawn} {day(row.last_seen)}; "
        f"cost {count(row.occurrences, 'call')} and {count(spent.tokens, 'token')}"
    )
    for fix in row.fixes:
        note = f"  [needs review: {fix.untrusted}]" if fix.untrusted else ""
        again = f", failed again {fix.failed_again}x" if fix.failed_again else ""
        say(f"  worked {fix.confirmed}x{again}: {shown(fix.text)}{note}", style=green)
        if back and back.again and fix.status == "active":
            say(f"    {back.said(fix.confirmed)}")
        for ends in fix.evidence:
            say(f"    failed  message {ends.failing_message}: $ {shown(ends.failing, 160)}")
            say(f"    passed  message {ends.passing_message}: $ {shown(ends.passing, 160)}")
            say(f"            {short_path(ends.path)}{f' ({ends.cause})' if ends.cause else ''}")
        for step in fix.avoid:
            say(f"    did not help: {shown(remedy([Step(step.action, step.what)], ''))}")
    for each in places:
        say(f"\n  {place(each)['at']}  {each.agent}  {short_path(each.path)}  message {each.message_index}")
        say(f"    $ {shown(each.command, 200)}\n    {shown(each.excerpt, 300)}")
    if more := row.occurrences - len(places):
        say(f"\n  and {more:,} more: `hardwon why {short(memory, row.id)} --all`")


@app.command("mute")
def mute(
    ids: Annotated[list[str], typer.Argument(help="Failures' ids, or their beginnings.", show_default=False)],
    off: Annotated[bool, typer.Option("--off", help="Tell agents of them again.")] = False,
    json: Json = False,
) -> None:
    """Tell agents no more of failures, and list them apart on the page.

    Example: hardwon failures mute F3fa9
    """
    from hardwon.api import Hardwon
    from hardwon.api.connection import full_id

    with Hardwon() as memory:
        events = memory.failures.mute([full_id(memory, id) for id in ids], muted=not off)
    if json:
        print_json({"events": events})
        return
    undo = f"; `hardwon undo {events[0]}` takes it back" if len(events) == 1 else ""
    say(f"{count(len(events), 'failure')} {'told again' if off else 'muted'}{undo}.")


@app.command("match")
def match(
    file: Annotated[typer.FileText | None, typer.Argument(help="The output; without it, stdin is read.")] = None,
    command: Annotated[str, typer.Option(help="The command that failed.")] = "",
    project: ProjectOption = None,
    json: Json = False,
) -> None:
    """Look up the error in a failed command's output. Where it is not known, one line on stderr says so.

    Example: pytest 2>&1 | hardwon failures match
    """
    from hardwon.api import Hardwon

    if file is None and sys.stdin.isatty():
        say("Paste the output of the failed command, then press Ctrl-D on a line of its own.", err=True)
    text = (file or sys.stdin).read()
    with Hardwon() as memory:
        found = memory.failures.recall(text, command=command, project=project)
    if json:
        import msgspec

        print_json({**msgspec.structs.asdict(found), "last_seen": iso(found.last_seen)})
    elif found.said:
        say(f"{shown(found.text)}\n{found.said}")
    else:
        say("No failure like this is known.", err=True)
