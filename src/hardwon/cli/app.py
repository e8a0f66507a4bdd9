"""`hardwon`: the commands, and one clear line for every problem."""

from __future__ import annotations

import sys
from collections import UserDict
from functools import cached_property
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from hardwon import __version__
from hardwon.errors import HardwonError

COMMANDS = {
    "up": "harvest:up",
    "harvest": "harvest:harvest",
    "watch": "harvest:watch",
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
