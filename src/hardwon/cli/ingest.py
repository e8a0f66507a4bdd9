"""Taking documents in: `ingest`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli.output import Json, ProjectOption, print_json, shown, table

_MOST_NAMED = 10


def ingest(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files and folders.", show_default=False)] = None,
    project: ProjectOption = None,
    list_: Annotated[bool, typer.Option("--list", help="List the documents that are known instead.")] = False,
    remove: Annotated[str, typer.Option(help="Let this document go, by its path or id.")] = "",
    json: Json = False,
) -> None:
    """Take in notes: Markdown, reStructuredText and plain text, to be found by search and told when they fit a task.

    Run it again after changes: unchanged files are skipped, moved and deleted ones are noticed.

    Example: hardwon ingest docs/ README.md
    """
    from hardwon.api import Hardwon

    if bool(paths) + list_ + bool(remove) != 1:
        raise typer.BadParameter("name files or folders, or pass --list or --remove PATH")
    with Hardwon() as memory:
        if list_:
            rows = [row for row in memory.documents.list(project=project) if row.project or not project]
            if json:
                print_json(rows)
            elif rows:
                table(("ID", "TYPE", "TITLE", "PATH"), [(row.id[:9], row.type, row.title, row.path) for row in rows])
            else:
                typer.echo("No documents.", err=True)
            return
        if remove:
            memory.documents.remove(remove)
            return
        report = memory.documents.ingest(paths or [], project=project or ".")
    if json:
        print_json(report)
        return
    counts = ", ".join(
        f"{len(names)} {what}"
        for what, names in (
            ("new", report.new), ("changed", report.changed), ("moved", report.moved), ("deleted", report.deleted),
        )
        if names
    )  # fmt: skip
    typer.echo(f"{counts or 'Nothing new'}; {report.unchanged} unchanged, {report.chunks} chunks.")
    for line in report.refused[:_MOST_NAMED]:
        typer.echo(f"Left out: {shown(line)}", err=True)
    if len(report.refused) > _MOST_NAMED:
        typer.echo(f"Left out: {len(report.refused) - _MOST_NAMED} more.", err=True)
