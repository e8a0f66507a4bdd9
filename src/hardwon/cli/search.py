"""Finding what is known: `search`, `reindex`."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from hardwon.cli.app import Json, ProjectOption, day, iso, moment, print_json, progress_bar, shown, table


def search(
    query: Annotated[str, typer.Argument(help="Words, names, flags, paths: any text.", show_default=False)],
    type_: Annotated[
        str | None, typer.Option("--type", help="lesson, failure, attempt, chunk, interaction or session.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="pitfall, preference, …; of a failure its family.")] = None,
    project: ProjectOption = None,
    agent: Annotated[str | None, typer.Option(help="Of this agent's sessions, such as claude-code.")] = None,
    status: Annotated[str | None, typer.Option(help="active, candidate, …; of an attempt its outcome.")] = None,
    since: Annotated[str | None, typer.Option(help="From this day on.")] = None,
    until: Annotated[str | None, typer.Option(help="Up to this day, and on it.")] = None,
    file: Annotated[str | None, typer.Option(help="About this file: touched, described or named.")] = None,
    limit: Annotated[int, typer.Option(help="Most results.", min=1)] = 10,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
    json: Json = False,
) -> None:
    """Search lessons, failures, attempts, documents, interactions and sessions.

    By words and, with the extra `semantic`, by meaning. The query is plain text: nothing in it is syntax, but what
    stands in quotation marks counts more when it is found word for word.

    Example: hardwon search "asyncpg not installed" --type failure --since 2026-09-01
    """
    import msgspec

    from hardwon.api import Hardwon

    end = moment(until, "--until")
    with Hardwon() as memory:
        found = memory.search(
            query,
            type=type_,
            kind=kind,
            project=project,
            agent=agent,
            status=status,
            since=moment(since),
            until=end + timedelta(days=1) if end else None,
            file=file,
            limit=limit,
        )
    if found.notice:
        typer.echo(f"hardwon: {found.notice}", err=True)
    if json:
        print_json([{**msgspec.structs.asdict(hit), "at": iso(hit.at)} for hit in found.hits])
    elif not found.hits:
        typer.echo("Nothing found.", err=True)
    elif explain:
        for hit in found.hits:
            typer.echo(f"{hit.score:.2f}  {hit.id[:9]}  {hit.type} {hit.kind}  {shown(hit.text, 200)}".rstrip())
            made_of = "  ".join(f"{name} {value:.2f}" for name, value in hit.parts.items())
            typer.echo(f"      {made_of}  ({hit.status or 'no status'}, {day(hit.at)})")
    else:
        rows = [(hit.id[:9], f"{hit.score:.2f}", hit.type, hit.kind, hit.text) for hit in found.hits]
        table(("ID", "SCORE", "TYPE", "KIND", "TEXT"), rows)


def reindex(
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make the full-text index anew from the store.")] = False,
    json: Json = False,
) -> None:
    """Bring the search index and the vectors up to date with the store.

    Vectors are made of what has none, of what was changed since, and of everything after a change of model.

    Example: hardwon reindex
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory, progress_bar() as progress:
        done = memory.store.reindex(rebuild=rebuild, progress=progress)
    if json:
        print_json(done)
        return
    mended = f", {done.mended:,} of them mended" if done.mended else ""
    typer.echo(f"{done.items:,} items can be found{mended}; {done.vectors:,} vectors made, {done.left:,} left.")
    if done.notice:
        typer.echo(f"hardwon: {done.notice}", err=True)
