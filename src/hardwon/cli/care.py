"""Keeping the store whole: `backup`, `restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli.output import Json, print_json


def backup(
    file: Annotated[
        Path | None, typer.Argument(help="Where to; by default a file named by the time, in the home's backups.")
    ] = None,
    keep: Annotated[
        int | None, typer.Option(help="Then remove all but this many of the home's backups, the oldest.", min=1)
    ] = None,
    json: Json = False,
) -> None:
    """Copy the store while others go on using it, and verify the copy.

    Example: hardwon backup --keep 7
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        made = memory.store.backup(file, keep=keep)
    if json:
        print_json(made)
        return
    typer.echo(f"{made.file}: {made.rows:,} rows, {made.bytes / 1e6:.1f} MB, verified.")
    for gone in made.removed:
        typer.echo(f"removed {gone}")


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `hardwon backup` made.")],
    json: Json = False,
) -> None:
    """Put a backup in the place of the store, if it is sound; the store as it was is kept.

    Example: hardwon restore ~/hardwon-20261112-080000.db
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        done = memory.store.restore(file)
    if json:
        print_json(done)
        return
    typer.echo(f"{done.file} is the store now.")
    if done.kept:
        typer.echo(f"The store that was there before: {done.kept}")
