"""The journal of attempts: `journal log`, `similar`, `failures`, `show`, `file`, `reflect`, `stats`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwon.cli.app import Json, ProjectOption, RunOption, moment, print_json, say, shown, table
from hardwon.errors import HardwonError, NotFound
from hardwon.model.attempt import FAILED, Outcome

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.journal import Group
    from hardwon.model.attempt import Attempt

app = typer.Typer(help="Record attempts and look up similar ones.", no_args_is_help=True, rich_markup_mode=None)

Limit = Annotated[int, typer.Option(help="Most rows.", min=1)]
Number = Annotated[str, typer.Argument(help="The attempt's number, or the beginning of its id.", show_default=False)]
OutcomeOption = Annotated[list[Outcome] | None, typer.Option(help="Only this outcome; repeatable.")]
_MAX_SUGGESTED = 5
_HEADINGS = ("NO", "WHEN", "OUTCOME", "TASK")
_BELOW = ("approach", "analysis", "reflection", "test_results", "diff")


@app.command("log")
def log(
    task: Annotated[str, typer.Option(help="The task.", show_default=False)] = "",
    approach: Annotated[str, typer.Option(help="How it was tried.")] = "",
    outcome: Annotated[
        Outcome, typer.Option(help="How it ended. Default: as the exit code or test results show.")
    ] = Outcome.UNKNOWN,
    file: Annotated[list[str] | None, typer.Option(help="A changed file; repeatable.")] = None,
    diff: Annotated[Path | None, typer.Option(help="A file with the diff; - for stdin.")] = None,
    test_results: Annotated[Path | None, typer.Option(help="A file with the tests' output; - for stdin.")] = None,
    analysis: Annotated[str, typer.Option(help="Why it failed.")] = "",
    reflection: Annotated[str, typer.Option(help="What to do next time.")] = "",
    exit_code: Annotated[int | None, typer.Option(help="The exit code of what was run.")] = None,
    retry_of: Annotated[str | None, typer.Option(help="The attempt that this one repeats.")] = None,
    retry_count: Annotated[int, typer.Option(help="How many times it was tried before.", min=0)] = 0,
    phase: Annotated[str, typer.Option(help="The phase of the run, such as VERIFY.")] = "",
    agent: Annotated[str, typer.Option(help="Who tried.")] = "",
    session: Annotated[str, typer.Option(help="The agent's session.")] = "",
    run: RunOption = "",
    project: ProjectOption = None,
    at: Annotated[str | None, typer.Option(help="When it began, ISO 8601; UTC unless it has a zone.")] = None,
    jsonl: Annotated[Path | None, typer.Option(help="Record many: one JSON object per line; - for stdin.")] = None,
    json: Json = False,
) -> None:
    """Record an attempt; prints its number.

    Without --project, it belongs to the project of the current folder. Paths are relative to the current folder.

    Example: hardwon journal log --task "Add a lock" --outcome failure --file src/store.py --test-results out.txt
    """
    from hardwon.api import Hardwon
    from hardwon.capture.attempts import from_folder, read
    from hardwon.model.attempt import Attempt

    if bool(task.strip()) == (jsonl is not None):
        raise typer.BadParameter("pass --task, or --jsonl for many at once")
    here = project or "."
    if jsonl is not None:
        entries = read(_text(jsonl))
        for entry in entries:
            entry.project = entry.project or here
    else:
        entries = [
            Attempt(
                task,
                approach=approach,
                outcome=outcome,
                files=[from_folder(path, os.getcwd()) for path in file or ()],
                diff=_text(diff),
                test_results=_text(test_results),
                analysis=analysis,
                reflection=reflection,
                exit_code=exit_code,
                retry_of=retry_of,
                retry_count=retry_count,
                phase=phase,
                agent=agent,
                session=session,
                run=run,
                project=here,
                at=_time(at),
            )
        ]
    with Hardwon() as memory:
        for entry in entries:
            entry.retry_of = _meant(memory, entry.retry_of) if isinstance(entry.retry_of, str) else entry.retry_of
        ids = memory.journal.log_all(entries)
        if json:
            print_json([_fields(memory.journal.get(id)) for id in ids])
        elif jsonl is not None:
            say(f"Logged {len(ids)} attempts" + (f", {ids[0]} to {ids[-1]}." if ids else "."))
        else:
            typer.echo(ids[0])


@app.command("similar")
def similar(
    task: Annotated[str, typer.Argument(help="What is to be done, or an error.", show_default=False)],
    file: Annotated[list[str] | None, typer.Option(help="A file it is about; repeatable.")] = None,
    outcome: OutcomeOption = None,
    project: ProjectOption = None,
    limit: Limit = 5,
    json: Json = False,
) -> None:
    """List the attempts most similar to a task.

    Example: hardwon journal similar "add retry to the HTTP client" --outcome failure
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        found = memory.journal.similar(task, files=file or (), outcomes=outcome, project=project, limit=limit)
    if json:
        print_json([{**_fields(entry.attempt), "score": entry.score, "matched": entry.matched} for entry in found])
    elif found:
        rows = [(f"{entry.score:.2f}", *_row(entry.attempt)) for entry in found]
        table(("ALIKE", *_HEADINGS), rows, right=(0, 1))
    else:
        say("No similar attempt found.")


@app.command("failures")
def failures(
    block: Annotated[bool, typer.Option("--block", help="Print the block for the next try instead.")] = False,
    run: RunOption = "",
    project: ProjectOption = None,
    task: Annotated[str, typer.Option(help="What the next try is about; with --block.")] = "",
    limit: Limit = 10,
    json: Json = False,
) -> None:
    """List the latest failures, or print them as a warning.

    The block lists this run's newest failures and the project's likeliest ones, each with what worked. Prints nothing
    if there is nothing to say.

    Example: hardwon journal failures --block --run nightly-7 --task "make the build green"
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        if block:
            told = memory.journal.past_failures(run=run, project=project or _here(memory), task=task)
            if json:
                print_json(told)
            elif told.text:
                say(told.text)
            return
        found = memory.journal.list(outcomes=FAILED, project=project, run=run or None, limit=limit)
    _listing(found, json=json, empty="Nothing failed, as far as the journal knows.")


@app.command("show")
def show(number: Number, json: Json = False) -> None:
    """Show an attempt in full.

    Example: hardwon journal show 12
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        found = memory.journal.get(_meant(memory, number))
        named = {one.id: one.name for one in memory.store.projects()}
    if json:
        print_json(_fields(found))
        return
    say(f"{found.id}  {shown(found.task)}")
    for name, value in (_fields(found) | {"project": named.get(found.project, "")}).items():
        if name in _BELOW or value in ("", None, [], 0) or name in ("id", "task"):
            continue
        say(f"  {name:<16}{shown(', '.join(value) if isinstance(value, list) else str(value))}")
    for name in _BELOW:
        if text := getattr(found, name):
            say(f"\n{name}:")
            say("\n".join(f"  {_plain(line)}" for line in text.splitlines()))


@app.command("file")
def file(
    path: Annotated[str, typer.Argument(help="A file or folder, from the current folder.", show_default=False)],
    project: ProjectOption = None,
    limit: Limit = 10,
    json: Json = False,
) -> None:
    """List the attempts that touched a file or folder.

    Example: hardwon journal file src/store.py
    """
    from hardwon.api import Hardwon
    from hardwon.capture.attempts import from_folder

    asked = from_folder(path, os.getcwd())
    with Hardwon() as memory:
        found = memory.journal.for_file(asked, project=project, limit=limit)
        others = [] if found else memory.journal.files_called(asked)
    if others:
        say(f"Did you mean {' or '.join(map(shown, others[:_MAX_SUGGESTED]))}?", err=True)
    _listing(found, json=json, empty=f"No attempt touched {path}.")


@app.command("reflect")
def reflect(
    number: Number,
    text: Annotated[str, typer.Argument(help="What was learned; - for stdin.", show_default=False)],
    json: Json = False,
) -> None:
    """Write down what was learned from an attempt.

    The previous text stays in the history.

    Example: hardwon journal reflect 12 "Take the lock before opening the file."
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        meant = _meant(memory, number)
        memory.journal.reflect(meant, sys.stdin.read() if text == "-" else text)
        found = memory.journal.get(meant)
    if json:
        print_json(_fields(found))


@app.command("stats")
def stats(
    project: ProjectOption = None,
    since: Annotated[str | None, typer.Option(help="Only attempts since this date, YYYY-MM-DD.")] = None,
    json: Json = False,
) -> None:
    """Show success rates, by project, agent, phase and month.

    Rates count attempts with a known outcome, with 95% intervals (Wilson).

    Example: hardwon journal stats --project tidepool
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        found = memory.journal.stats(project=project, since=moment(since))
    if json:
        print_json(found)
        return
    if not found.overall.attempts:
        say("The journal is empty.")
        return
    rows = [_counts("all", "", found.overall)]
    for name in ("project", "agent", "phase", "month"):
        groups: list[Group] = getattr(found, name)
        rows += [_counts(name, group.name or "-", group) for group in groups if len(groups) > 1 or group.name]
    headings = ("BY", "NAME", "TRIED", "OK", "FAILED", "BACK", "PART", "UNKNOWN", "MEASURED", "RATE", "95% INTERVAL")
    table(headings, rows, right=range(2, 10))


def _listing(found: list[Attempt], *, json: bool, empty: str) -> None:
    if json:
        print_json([_fields(entry) for entry in found])
    elif found:
        table(_HEADINGS, [_row(entry) for entry in found], right=(0,))
    else:
        say(empty)


def _row(found: Attempt) -> tuple[object, ...]:
    when = found.at.strftime("%Y-%m-%d %H:%M") if found.at else ""
    learned = found.reflection or found.analysis
    return found.id, when, found.outcome.value, found.task + (f" | {learned}" if learned else "")


def _counts(by: str, name: str, group: Group) -> tuple[object, ...]:
    rate, counts = group.success_rate, group.outcomes
    interval = f"{rate.low:.0%} to {rate.high:.0%}" if rate.n else ""
    share = f"{rate.value:.0%}" if rate.n else "-"
    each = (counts[outcome] for outcome in ("success", "failure", "rollback", "partial", "unknown"))
    return by, shown(name, 40), group.attempts, *each, group.measured, share, interval


def _fields(found: Attempt) -> dict[str, Any]:
    import msgspec

    fields = msgspec.structs.asdict(found)
    del fields["embedding"]
    return fields


def _meant(memory: Hardwon, name: str) -> str:
    """A number as it is, else the id that begins so."""
    from hardwon.api.connection import full_id

    return name if name.lstrip("-").isdecimal() else full_id(memory, name)


def _here(memory: Any) -> str | None:
    """The current folder's project, if it is known."""
    try:
        memory.project(".")
    except HardwonError:
        return None
    return "."


def _plain(line: str) -> str:
    """A line of a stored text: indentation kept, nothing that could move a terminal's cursor."""
    from hardwon.text.shown import clean

    return clean(line.replace("\t", "    "))


def _text(path: Path | None) -> str:
    if path is None:
        return ""
    if str(path) == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise NotFound(f"cannot read {path}: {error.strerror}") from error


def _time(text: str | None) -> Any:
    from datetime import datetime

    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise HardwonError(f"--at {text} is not a time: write it as 2026-10-31T14:30 or with a zone, …+02:00") from None
