"""`hardwon`: the commands, and one clear line for every problem."""

from __future__ import annotations

import sys
from collections import UserDict
from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from hardwon import __version__
from hardwon.cli import (
    bootstrap,
    capture,
    doctor,
    exchange,
    failures,
    forget,
    harvest,
    install,
    interactions,
    journal,
    measure,
    replay,
    review,
    sample,
    search,
    serve,
)
from hardwon.errors import HardwonError

# Commands that are built when they are needed: reading the options of all takes longer than most of them do.

Function = TypeVar("Function", bound=Callable[..., Any])


class Commands(typer.Typer):
    """The commands of a program, by name; a group among them is a Typer of its own."""

    def __init__(self, **settings: Any) -> None:
        entries: dict[str, _Entry] = {}

        class Group(_Group):
            table = entries

        super().__init__(cls=Group, **settings)
        self._entries = entries

    def command(self, name: str, **settings: Any) -> Callable[[Function], Function]:  # type: ignore[override]
        def kept(function: Function) -> Function:
            self._entries[name] = _Entry(name, function, settings)
            return function

        return kept

    def add_typer(self, group: typer.Typer, *, name: str) -> None:  # type: ignore[override]
        self._entries[name] = _Entry(name, group, {})


class _Entry:
    def __init__(self, name: str, source: typer.Typer | Callable[..., Any], settings: dict[str, Any]) -> None:
        self.name = name
        self._source = source
        self._settings = settings

    def built(self) -> Any:
        if isinstance(self._source, typer.Typer):
            self._source.rich_markup_mode = None  # as the program around it
            group = typer.main.get_group(self._source)
            group.name = self.name
            return group
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        alone.command(self.name, **self._settings)(self._source)
        return typer.main.get_command(alone)

    def short_help(self, limit: int) -> str:
        described = self._source
        if isinstance(described, typer.Typer):
            callback = described.registered_callback
            told = described.info.help
            help = (
                told if isinstance(told, str) else callback.callback.__doc__ if callback and callback.callback else ""
            )
        else:
            help = described.__doc__
        return TyperCommand(name=self.name, help=help).get_short_help_str(limit)


class _Built(UserDict[str, Any]):
    """Name → command, each built when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        found = self.data[name]
        if isinstance(found, _Entry):
            found = self.data[name] = found.built()
        return found


class _Group(TyperGroup):
    table: dict[str, _Entry]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": _Built(self.table)})

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as for every group
        return list(self.table)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as for every group
        limit = formatter.width - 6 - max(map(len, self.table))
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.short_help(limit)) for name, entry in self.table.items()])


app = Commands(
    name="hardwon",
    help="What your agents' sessions taught, for the next session. Start with `hardwon up`.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("up")(harvest.up)
app.command("harvest")(harvest.harvest)
app.command("watch")(harvest.watch)
app.command("sample")(sample.sample)
app.command("inspect")(sample.inspect)
app.command("bootstrap")(bootstrap.bootstrap)
app.command("search")(search.search)
app.add_typer(failures.app, name="failures")
app.command("lessons")(bootstrap.lessons)
app.command("why")(bootstrap.why)
app.command("review")(review.review)
app.command("rules")(harvest.rules)
app.command("replay")(replay.replay)
app.command("measure")(measure.measure)
app.command("history")(review.history)
app.command("undo")(review.undo)
app.command("export")(exchange.export)
app.command("import")(exchange.import_)
app.command("migrate")(exchange.migrate)
app.add_typer(journal.app, name="journal")
app.add_typer(interactions.app, name="interactions")
app.command("ingest")(exchange.ingest)
app.command("run", context_settings={"allow_interspersed_args": False})(capture.run)
app.add_typer(capture.app, name="capture")
app.command("forget")(forget.forget)
app.command("purge")(forget.purge)
app.command("install")(install.install)
app.command("uninstall")(install.uninstall)
app.command("status")(install.status)
app.command("scrub")(forget.scrub)
app.command("reindex")(search.reindex)
app.command("doctor")(doctor.doctor)
app.command("backup")(doctor.backup)
app.command("restore")(doctor.restore)
app.command("config")(doctor.config)
app.command("serve")(serve.serve)
app.command("mcp")(serve.mcp)
app.add_typer(serve.app, name="token")


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
