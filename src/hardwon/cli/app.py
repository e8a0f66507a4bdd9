"""`hardwon`: the commands, what they share, and one clear line for every problem."""

from __future__ import annotations

import math
import sys
from collections import UserDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from hardwon import __version__
from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.harvest.walk import Progress


# What commands share: options, results to stdout, progress and messages to stderr.

# Options that several commands share.

ProjectOption = Annotated[
    str | None, typer.Option("--project", "-p", help="Name, git remote, folder or id of a project.")
]
_BARS = "·▁▂▃▄▅▆▇█"
COMMANDS = {
    "up": "harvest:up",
    "harvest": "harvest:harvest",
    "watch": "harvest:watch",
    "distil": "distil:distil",
    "sample": "sample:sample",
    "inspect": "sample:inspect",
    "bootstrap": "bootstrap:bootstrap",
    "map": "map:map_",
    "blame": "map:blame",
    "how": "map:how",
    "resume": "map:resume",
    "search": "search:search",
    "failures": "failures:app",
    "lessons": "bootstrap:lessons",
    "why": "bootstrap:why",
    "review": "review:review",
    "rules": "harvest:rules",
    "replay": "replay:replay",
    "measure": "measure:measure",
    "history": "review:history",
    "undo": "review:undo",
    "export": "exchange:export",
    "import": "exchange:import_",
    "migrate": "exchange:migrate",
    "journal": "journal:app",
    "interactions": "interactions:app",
    "ingest": "exchange:ingest",
    "run": "capture:run",
    "capture": "capture:app",
    "forget": "forget:forget",
    "purge": "forget:purge",
    "install": "install:install",
    "uninstall": "install:uninstall",
    "status": "install:status",
    "scrub": "forget:scrub",
    "reindex": "search:reindex",
    "doctor": "doctor:doctor",
    "backup": "doctor:backup",
    "restore": "doctor:restore",
    "config": "doctor:config",
    "serve": "serve:serve",
    "mcp": "serve:mcp",
    "token": "serve:app",
}
"""Command → the module here that has it, and its name there; `app` is a group of commands."""
SETTINGS: dict[str, Any] = {"run": {"context_settings": {"allow_interspersed_args": False}}}
RunOption = Annotated[
    str, typer.Option("--run", envvar="HARDWON_RUN", help="The run that it is part of; HARDWON_RUN by default.")
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


class _Entry:
    """A command, loaded and built when it is needed: to load them all takes longer than most of them do."""

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def _source(self) -> Any:
        module, _, own = COMMANDS[self.name].partition(":")
        return getattr(import_module(f"hardwon.cli.{module}"), own)

    def built(self) -> Any:
        if isinstance(self._source, typer.Typer):
            self._source.rich_markup_mode = None  # as the program around it
            group = typer.main.get_group(self._source)
            group.name = self.name
            return group
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        alone.command(self.name, **SETTINGS.get(self.name, {}))(self._source)
        return typer.main.get_command(alone)

    def short_help(self, limit: int) -> str:
        help = self._source.__doc__
        if isinstance(self._source, typer.Typer):
            callback, told = self._source.registered_callback, self._source.info.help
            help = (
                told if isinstance(told, str) else callback.callback.__doc__ if callback and callback.callback else ""
            )
        return TyperCommand(name=self.name, help=help).get_short_help_str(limit)


class _Built(UserDict[str, Any]):
    """Name → command, each built when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        found = self.data[name]
        if isinstance(found, _Entry):
            found = self.data[name] = found.built()
        return found


class _Group(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": _Built({name: _Entry(name) for name in COMMANDS})})

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as for every group
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as for every group
        limit = formatter.width - 6 - max(map(len, COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl([(name, _Entry(name).short_help(limit)) for name in COMMANDS])


app = typer.Typer(
    cls=_Group,
    name="hardwon",
    help="What your agents' sessions taught, for the next session. Start with `hardwon up`.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hardwon {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def main() -> None:
    try:
        app()
    except HardwonError as error:
        typer.echo(f"hardwon: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has seen enough
        sys.exit(0)
    except KeyboardInterrupt:
        typer.echo("hardwon: stopped; what was stored so far is kept", err=True)
        sys.exit(130)
