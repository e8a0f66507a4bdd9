"""Secrets out of a text, or out of what is kept: `scrub`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli.output import Json, print_json, table
from hardwon.errors import NotFound


def scrub(
    file: Annotated[Path | None, typer.Argument(help="A text file; without it, standard input.")] = None,
    personal: Annotated[
        bool,
        typer.Option("--personal", help="For texts about people: also any phone number, IP address and web address."),
    ] = False,
    audit: Annotated[
        bool, typer.Option("--audit", help="Look for what got into the store and the home directory all the same.")
    ] = False,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules.")] = False,
    json: Json = False,
) -> None:
    """Replace the secrets and personal data of a text by marks; nothing is stored.

    With --json: where each one stands (counted without hidden characters) and its kind, never the value.

    Example: hardwon scrub < deploy.log
    """
    if audit:
        _audit(json)
    elif rules:
        _rules(json)
    else:
        _filter(file, personal, json)


def _filter(file: Path | None, personal: bool, json: bool) -> None:
    from hardwon.scrub.scrubber import Scrubber

    scrubber = Scrubber(personal=personal)
    if file is not None and not file.is_file():
        raise NotFound(f"there is no file {file}")
    data = file.read_bytes() if file else sys.stdin.buffer.read()
    text = data.decode("utf-8", "replace")
    if json:
        spans = [{"kind": label, "start": start, "end": end} for start, end, label in scrubber.find(text)]
        print_json({"text": scrubber.scrub(text), "spans": spans})
    else:
        sys.stdout.buffer.write(scrubber.scrub(text).encode())


def _audit(json: bool) -> None:
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        leaks = memory.store.audit()
    if json:
        print_json(leaks)
    elif leaks:
        rows = [(leak.place, leak.row, leak.column, leak.count, leak.kind) for leak in leaks]
        table(("PLACE", "ROW", "COLUMN", "COUNT", "KIND"), rows, right=(3,))
        typer.echo(
            f"{len(leaks)} places hold what the present rules redact: delete such files; "
            "`hardwon forget` removes rows from the store",
            err=True,
        )
    else:
        typer.echo("Nothing is there that the present rules would redact.", err=True)
    if leaks:
        raise typer.Exit(1)


def _rules(json: bool) -> None:
    from hardwon.scrub.scrubber import listed

    rows = listed()
    if json:
        print_json([{"mark": mark, "about": about, "where": where} for mark, about, where in rows])
    else:
        table(("MARK", "ABOUT", "WHERE"), rows)
