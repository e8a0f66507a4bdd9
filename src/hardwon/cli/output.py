"""What commands share: options, results to stdout, progress and messages to stderr."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.harvest.walk import Progress


# Options that several commands share.

ProjectOption = Annotated[
    str | None, typer.Option("--project", "-p", help="Name, git remote, folder or id of a project.")
]


def moment(day: str | None, option: str = "--since") -> datetime | None:
    """A day that a person wrote, in UTC."""
    from hardwon.clock import microseconds
    from hardwon.model.times import moment

    if not day:
        return None
    stamp = microseconds(day)
    if stamp is None:
        raise HardwonError(f"{option} {day} is not a day: write it as 2026-10-31")
    return moment(stamp)


_BARS = "·▁▂▃▄▅▆▇█"

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def print_json(value: object) -> None:
    typer.echo(as_json(value))


def as_json(value: object) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def shown(text: str, longest: int = 0) -> str:
    """Text out of a transcript, safe for a terminal and cut to a width."""
    from hardwon.text.fence import one_line

    flat = one_line(text)
    return flat if not longest or len(flat) <= longest else flat[: longest - 1] + "…"


def iso(when: datetime | None) -> str | None:
    """A time as JSON and people are given it."""
    return when.isoformat(timespec="seconds").replace("+00:00", "Z") if when else None


def day(when: datetime) -> str:
    return f"{when:%Y-%m-%d}"


def sparkline(times: Sequence[datetime], first: datetime, last: datetime, bins: int) -> str:
    """How often something happened between two moments, as a row of bars."""
    counts = [0] * bins
    whole = (last - first) or timedelta(microseconds=1)
    for at in times:
        counts[min(bins - 1, (at - first) * bins // whole)] += 1
    return bars(counts)


def bars(values: Sequence[float], most: float = 0) -> str:
    """A row of bars, the highest for `most`, or for the largest value."""
    most = most or max(values, default=0) or 1
    return "".join(_BARS[math.ceil(value / most * (len(_BARS) - 1))] for value in values)


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[int] = ()) -> None:
    typer.echo(as_table(headings, rows, right=right))


def as_table(headings: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[int] = ()) -> str:
    """Columns of plain text, the last one as wide as the terminal allows."""
    import shutil

    cells = [[shown(str(cell)) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in [list(headings), *cells]) for at in range(len(headings))]
    room = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 10_000
    last = max(20, room - sum(widths[:-1]) - 2 * (len(widths) - 1))
    lines = []
    for row in [list(headings), *cells]:
        parts = [
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row[:-1], widths[:-1], strict=True))
        ]
        lines.append("  ".join([*parts, shown(row[-1], last)]).rstrip())
    return "\n".join(lines)


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """A bar on stderr while someone is watching; nothing otherwise."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def update(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield update


# A word about what waits for review, where a person is looking anyway.


def say_pending(memory: Hardwon) -> None:
    if notice := memory.review.notice():
        typer.echo(notice, err=True)
