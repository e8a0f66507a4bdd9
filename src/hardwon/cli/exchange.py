"""What goes in and out as files: `export`, `import`, `migrate`, `ingest`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import Json, ProjectOption, count, print_json, progress_bar, say, short, shown, table
from hardwon.errors import HardwonError
from hardwon.home import private

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.exchange.dump import Header, Loaded
    from hardwon.exchange.intake import Taken
    from hardwon.exchange.markdown import Merged

_MAX_NAMED = 10


class System(StrEnum):
    journal = "journal"
    atocore = "atocore"
    knowledge = "knowledge"
    loki = "loki"


def export(
    folder: Annotated[Path | None, typer.Argument(help="Where to write knowledge/.", show_default=False)] = None,
    jsonl: Annotated[
        Path | None, typer.Option(help="Write everything as JSON lines to this file instead; - for stdout.")
    ] = None,
    agents_md: Annotated[
        Path | None,
        typer.Option(
            "--agents-md",
            help="Rules and facts that are believed, without failures, for a section of a file that a team commits. "
            "Shows the change, and asks; --yes writes.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="With --agents-md: write the section.")] = False,
    project: Annotated[
        str | None,
        typer.Option(
            "--project", "-p", help="Only this project's own: name, git remote, folder or id. Not with --jsonl."
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Include lessons that are no longer used.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Discard edits that were not imported.")] = False,
    json: Json = False,
) -> None:
    """Write lessons as Markdown files for people and git, or everything as JSON lines.

    Example: hardwon export . -p . && git add knowledge
    """
    from hardwon.api import Hardwon

    if jsonl is not None and project:
        raise HardwonError("a dump is the whole store: leave out --project, or name a folder instead of --jsonl")
    with Hardwon() as memory:
        if agents_md is not None and folder is None and jsonl is None:
            _section(agents_md, memory.lessons.section(project or "."), yes=yes)
        elif jsonl is not None and folder is None:
            _told_of_dump(jsonl, _dump(memory, jsonl), json=json)
        elif folder is not None and jsonl is None:
            if folder.suffix in (".json", ".jsonl") and not folder.exists():
                raise HardwonError(f"{folder} would become a folder: for a file, `hardwon export --jsonl {folder}`")
            done = memory.store.export(folder, project=project, everything=everything, force=force)
            waiting = f" ({done.waiting:,} not reviewed yet)" if done.waiting else ""
            lessons, files = f"{count(done.lessons, 'lesson')}{waiting}", count(done.files, "file")
            said = f"{lessons} in {files} below {done.folder}; {count(done.changed, 'file')} changed"
            print_json(done) if json else say(said)
        else:
            raise typer.BadParameter("name a folder, or a file with --jsonl or --agents-md")


def _section(path: Path, section: str, *, yes: bool) -> None:
    """Show what would be written, and write it when somebody has read it."""
    from hardwon.cli.bootstrap import keep

    if section:
        keep(path, section, write=yes)
    else:
        typer.echo("Nothing that is believed is worth a line yet.", err=True)


def _dump(memory: Hardwon, path: Path) -> Header:
    if str(path) == "-":
        return memory.store.dump(sys.stdout.buffer)
    unfinished = path.with_name(f"{path.name}.new")
    try:
        with open(unfinished, "wb", opener=private) as file:  # it holds the store's keys as well
            header = memory.store.dump(file)
        unfinished.replace(path)
    except OSError as error:
        raise HardwonError(f"cannot write {path}: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return header


def _told_of_dump(path: Path, header: Header, *, json: bool) -> None:
    if str(path) == "-":
        return  # the rows are the answer
    if json:
        print_json(header)
    else:
        typer.echo(f"{sum(header.rows.values()):,} rows in {path}; content {header.content}")


def import_(
    path: Annotated[Path, typer.Argument(help="A folder that was exported, a dump, or what --from says.")],
    system: Annotated[
        System | None, typer.Option("--from", help="The tool that the database or folder comes from.")
    ] = None,
    theirs: Annotated[bool, typer.Option("--theirs", help="If both changed, take the version in the file.")] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Trust the contents: import lessons as active.")] = False,
    project: Annotated[
        str | None,
        typer.Option("--project", "-p", help="With --from journal or loki: the project it belongs to; created if new."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    json: Json = False,
) -> None:
    """Import an edited export, a dump, or the memory of another tool.

    Imported lessons wait for review unless you pass --trust, because a file from somebody else, or a line changed in a
    pull request, may say anything.

    Example: hardwon import . --dry-run
    """
    from hardwon.api import Hardwon
    from hardwon.exchange.markdown import Merged

    done: Merged | Taken | Loaded
    with Hardwon() as memory:
        if system is not None:
            done = memory.store.import_from(system.value, path, trusted=trust, project=project, dry_run=dry_run)
        elif path.is_dir():
            done = memory.store.import_tree(path, theirs=theirs, trusted=trust, dry_run=dry_run)
        else:
            done = _load(memory, path, trusted=trust, dry_run=dry_run)
    if json:
        print_json(done)
    elif isinstance(done, Merged):
        _show_merged(memory, done, dry_run=dry_run)
    else:
        _show_taken(done, dry_run=dry_run)


def _load(memory: Hardwon, path: Path, *, trusted: bool, dry_run: bool) -> Loaded:
    from hardwon.exchange.intake import is_database

    if is_database(path):
        raise HardwonError(f"{path} is a database: pass --from journal or --from atocore")
    return memory.store.load(path, trusted=trusted, dry_run=dry_run)


def _show_merged(memory: Hardwon, done: Merged, *, dry_run: bool) -> None:
    rows = [
        (
            change.what,
            short(memory, change.lesson) if change.lesson else "-",
            f"{change.file}:{change.line}" if change.line else "-",
            change.says,
        )
        for change in done.changes
    ]
    if rows:
        table(("WHAT", "LESSON", "WHERE", "CHANGE"), rows)
    changed = sum(change.what in ("edit", "archive", "add") for change in done.changes)
    waiting = sum(change.what in ("proposed", "waits") for change in done.changes)
    verb = "would change" if dry_run else "changed"
    typer.echo(f"{changed} {verb}, {done.unchanged} unchanged{_redacted(done.redactions)}", err=bool(rows))
    if waiting:
        typer.echo(
            "If these changes are yours, run it again with --trust. Otherwise look at them in `hardwon review`.",
            err=True,
        )
    elif not done.settled:
        typer.echo(
            "Some changes were not taken; the files are left as they are. --theirs takes them where both changed, "
            "`hardwon export --force` drops them.",
            err=True,
        )


def _show_taken(done: Taken | Loaded, *, dry_run: bool) -> None:
    rows = [
        (noun, done.added.get(noun, 0), done.known.get(noun, 0)) for noun in dict.fromkeys([*done.added, *done.known])
    ]
    if rows:
        table(("WHAT", "WOULD ADD" if dry_run else "ADDED", "KNOWN"), rows)
    else:
        typer.echo("There is nothing in it.")
    for left_out in done.left_out:
        typer.echo(f"not taken: {shown(left_out)}", err=True)
    if done.redactions:
        typer.echo(_redacted(done.redactions).removeprefix("; "), err=True)


def _redacted(count: int) -> str:
    return f"; {count} secrets and addresses were redacted" if count else ""


def migrate(
    to: Annotated[str, typer.Option("--to", help="postgresql://… or the path of a new file.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", help="Replace everything in the target.")] = False,
    json: Json = False,
) -> None:
    """Copy the store to PostgreSQL, or back to a file, and verify the copy.

    The current store stays in use until you switch.

    Example: hardwon migrate --to postgresql://team@db.example.org/hardwon
    """
    from hardwon.api import Hardwon

    place: Path | str = to if "://" in to else Path(to)
    with Hardwon() as memory, progress_bar() as progress:
        done = memory.store.migrate(place, force=force, progress=progress)
        default = memory.home / "hardwon.db"
    if json:
        print_json(done)
        return
    typer.echo(f"{done.rows:,} rows copied to {done.target} and found equal; content {done.content}")
    if done.vectors:
        say(f"{done.vectors:,} vectors were not copied: `hardwon reindex` makes them there.", err=True)
    if isinstance(place, str):
        say("Switch to it with `hardwon config database URL`, the URL as you gave it here.", err=True)
    elif place.resolve() == default.resolve():
        say("Switch to it with `hardwon config database ''`.", err=True)
    else:
        say(f"To use it, move it to {default} and run `hardwon config database ''`.", err=True)


# Taking documents in: `ingest`.


def ingest(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files and folders.", show_default=False)] = None,
    project: ProjectOption = None,
    list_: Annotated[bool, typer.Option("--list", help="List the known documents instead.")] = False,
    remove: Annotated[str, typer.Option(help="Remove this document, by path or id.")] = "",
    json: Json = False,
) -> None:
    """Add Markdown, reStructuredText and plain-text files, for search and for briefings.

    Run it again after changes: unchanged files are skipped; moved and deleted files are noticed.

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
    for line in report.refused[:_MAX_NAMED]:
        typer.echo(f"Left out: {shown(line)}", err=True)
    if len(report.refused) > _MAX_NAMED:
        typer.echo(f"Left out: {len(report.refused) - _MAX_NAMED} more.", err=True)
