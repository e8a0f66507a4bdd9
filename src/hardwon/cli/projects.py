"""Projects: `projects`, `projects add|show|rename|alias|describe|archive|merge|split`."""

from __future__ import annotations

from typing import Annotated

import typer

from hardwon.cli.app import Json, count, day, print_json, say, shown, table

app = typer.Typer()
_MOST = 1000
"""Failures that are counted, as `failures` counts them."""
Name = Annotated[str, typer.Argument(help="Name, git remote, folder or id of a project.", show_default=False)]


@app.callback(invoke_without_command=True)
def projects(
    context: typer.Context,
    all_: Annotated[bool, typer.Option("--all", help="Include archived projects.")] = False,
    json: Json = False,
) -> None:
    """List the projects, the busiest first.

    Example: hardwon projects
    """
    if context.invoked_subcommand is not None:
        return
    from hardwon.api import Hardwon
    from hardwon.api.failing import EVER
    from hardwon.clock import moment
    from hardwon.store.pages import Counted
    from hardwon.store.pages import failing as counted
    from hardwon.store.projects import newest_sessions

    with Hardwon() as memory:
        everything = memory.store.projects() if memory.exists else []
        known = [one for one in everything if all_ or one.status != "archived"]
        total = memory.store.totals()["sessions"] if everything else 0
        newest = newest_sessions(memory.reading()) if known and not json else {}
        failed = {
            id: len(counted(memory.reading(), Counted(id, EVER, of_agents=False, muted=False), after=None, limit=_MOST))
            for id in newest
        }
    if json:
        print_json(known)
    elif not known:
        say("No projects are known.")
    else:
        said = any(one.description for one in known)
        cells = [
            (
                one.sessions,
                failed.get(one.id, 0),
                day(moment(newest[one.id])) if newest.get(one.id) else "",
                one.name + (" (archived)" if one.status == "archived" else ""),
                one.key,
                *([one.description] if said else []),
            )
            for one in known
        ]
        table(
            ("SESSIONS", "FAILURES", "LAST", "NAME", "FOLDER OR REMOTE", *(["DESCRIPTION"] if said else [])),
            cells,
            right=(0, 1),
            spare=(1,),
        )
        if (without := total - sum(one.sessions for one in everything)) > 0:
            say(f"\n{count(without, 'session')} without a project: no folder is known of them.")
        say("\nAre two of them one? `hardwon projects merge NAME INTO`. Other names: `hardwon projects rename`")


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="A name, git remote or folder.", show_default=False)],
    description: Annotated[str, typer.Option(help="What it is, in a sentence.")] = "",
    json: Json = False,
) -> None:
    """Add a project. (Writing anything to a new project name adds it too.)

    Example: hardwon projects add tidepool --description "Serves the gauges of the reef."
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        id = memory.store.add_project(name, description=description)
        found = next(one for one in memory.store.projects() if one.id == id)
    print_json(found) if json else say(f"{found.id}  {shown(found.name)}")


@app.command("alias")
def alias(project: Name, name: Annotated[str, typer.Argument(help="Another name.")], json: Json = False) -> None:
    """Add another name for a project.

    Example: hardwon projects alias tidepool tp
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        memory.store.alias_project(project, name)
    _said(json, f"{shown(name)} finds {shown(project)}, too")


@app.command("archive")
def archive(
    project: Name,
    restore: Annotated[bool, typer.Option("--restore", help="Unarchive it instead.")] = False,
    json: Json = False,
) -> None:
    """Stop listing a project; nothing is deleted.

    Example: hardwon projects archive tidepool
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        memory.store.archive_project(project, archived=not restore)
    _said(json, f"{shown(project)} is {'back' if restore else 'archived'}")


@app.command("show")
def show(project: Name, json: Json = False) -> None:
    """Show a project's folders and its other names.

    Example: hardwon projects show tidepool
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        found = memory.store.project_parts(project)
    if json:
        print_json(found)
        return
    for folder in found.folders:
        say(f"folder  {shown(folder)}")
    for name in found.aliases:
        say(f"also    {shown(name)}")


@app.command("rename")
def rename(project: Name, name: Annotated[str, typer.Argument(help="What to call it.")], json: Json = False) -> None:
    """Rename a project. Its old name still works.

    Example: hardwon projects rename reef tidepool
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        memory.store.rename_project(project, name)
    _said(json, f"{shown(project)} is now called {shown(name)}")


@app.command("describe")
def describe(project: Name, text: Annotated[str, typer.Argument(help="What it is.")], json: Json = False) -> None:
    """Describe a project in a sentence.

    Example: hardwon projects describe tidepool "Serves the gauges of the reef."
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        memory.store.describe_project(project, text)
    _said(json, f"{shown(project)} is described")


@app.command("merge")
def merge(
    project: Name,
    into: Annotated[str, typer.Argument(help="The project that it is part of.")],
    json: Json = False,
) -> None:
    """Merge a project into another, including its future sessions.

    Example: hardwon projects merge ~/old/tidepool tidepool
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        memory.store.merge_projects(project, into)
    _said(json, f"{shown(project)} is now part of {shown(into)}")


@app.command("split")
def split(
    project: Name,
    part: Annotated[str, typer.Argument(help="A folder or remote of it, as `hardwon projects show` lists them.")],
    json: Json = False,
) -> None:
    """Make a folder or remote of a project a separate project again.

    Example: hardwon projects split tidepool ~/old/tidepool
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        files = memory.store.split_project(project, part)
    _said(json, f"{shown(part)} is a project of its own: the next `hardwon harvest` reads {files} files anew")


def _said(json: bool, text: str) -> None:
    print_json({"said": text}) if json else say(text)
