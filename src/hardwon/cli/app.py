"""`hardwon`: the commands, and one clear line for every problem."""

from __future__ import annotations

import sys

import typer

from hardwon import __version__
from hardwon.cli import (
    bootstrap,
    capture,
    doctor,
    exchange,
    failures,
    forget,
    harvest,
    ingest,
    inspect,
    install,
    interactions,
    journal,
    measure,
    replay,
    review,
    sample,
    scrub,
    search,
    serve,
    watch,
)
from hardwon.cli.lazy import Commands
from hardwon.errors import HardwonError

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
app.command("watch")(watch.watch)
app.command("sample")(sample.sample)
app.command("inspect")(inspect.inspect)
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
app.command("ingest")(ingest.ingest)
app.command("run", context_settings={"allow_interspersed_args": False})(capture.run)
app.add_typer(capture.app, name="capture")
app.command("forget")(forget.forget)
app.command("purge")(forget.purge)
app.command("install")(install.install)
app.command("uninstall")(install.uninstall)
app.command("status")(install.status)
app.command("scrub")(scrub.scrub)
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
