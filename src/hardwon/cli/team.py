"""What goes between this machine and a team's service: `push`, `pull`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import Json, print_json, progress_bar, say, shown
from hardwon.errors import NotAllowed

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.exchange.team import SessionRows
    from hardwon.team import Pushed


def push(
    project: Annotated[
        list[str] | None, typer.Option("--project", "-p", help="With --yes: a project that may be pushed from now on.")
    ] = None,
    team_name: Annotated[
        str, typer.Option("--as", help="With --project: what the team calls it, where it has no git remote.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="The projects that are named may be pushed.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show every row that would leave.")] = False,
    json: Json = False,
) -> None:
    """Send what this machine's sessions taught to the team's service: never what was said in them.

    Nothing of a project is sent before you have said yes to it. Sessions that you forgot here are forgotten there.

    Example: hardwon push --project . --yes
    """
    from hardwon import team
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        _consider(memory, project or [], team_name, yes=yes)
        if dry_run:
            _show(list(team.waiting(memory)) if memory.exists else [], json=json)
            return
        with team.service(memory) as service, progress_bar() as progress:
            done = team.push(memory, service, progress)
        if json:
            print_json(done)
            return
        _tell(memory, done)


def _consider(memory: Hardwon, named: list[str], team_name: str, *, yes: bool) -> None:
    from hardwon import team

    if team_name and len(named) != 1:
        raise typer.BadParameter("--as names one project for the team: name that one with --project")
    for name in named:
        if not yes:
            raise NotAllowed(
                f"look first at what would leave this machine: `hardwon push --dry-run`; then say yes to {name} with "
                "--yes"
            )
        allowed = team.allow(memory, name, team_name)
        say(f"{allowed.name} may be pushed, as {allowed.team_name}.", err=True)


def _tell(memory: Hardwon, done: Pushed) -> None:
    from hardwon import team

    if not done.projects:
        say("No project may be pushed yet. Say yes to one: hardwon push --project . --yes")
        return
    parts = [f"{done.sessions} sessions of {len(done.projects)} projects pushed, {done.unchanged} unchanged"]
    parts += [f"{done.withdrawn} withdrawn"] if done.withdrawn else []
    parts += [f"{done.forgotten} that the team forgot"] if done.forgotten else []
    parts += [f"{done.held} that somebody else pushed"] if done.held else []
    say(f"{', '.join(parts)}; {done.bytes:,} bytes.")
    for line in done.refused:
        say(f"Refused: {line}", err=True)
    for one in team.projects(memory):
        if not one.team_name and one.name in done.projects:
            say(f"{one.name}: {one.why_not}", err=True)


def _show(sessions: list[SessionRows], *, json: bool) -> None:
    from hardwon.store import schema

    if json:
        print_json(sessions)
        return
    for one in sessions:
        typer.echo(shown(f"{one.project}  {one.session}"))
        for name, rows in one.rows.items():
            columns = schema.TABLES.named[name].sent
            for row in rows:
                told = " ".join(f"{column}={value!r}" for column, value in zip(columns, row, strict=True))
                typer.echo(shown(f"  {name}: {told}"))
    count = sum(len(some) for one in sessions for some in one.rows.values())
    say(f"{count:,} rows of {len(sessions)} sessions would leave this machine.", err=True)


def pull(json: Json = False) -> None:
    """Fetch what the team knows of your projects, for the hooks of this machine.

    Hooks read it from a file and never wait for the network.

    Example: hardwon pull
    """
    from hardwon import team
    from hardwon.api import Hardwon

    with Hardwon() as memory, team.service(memory) as service:
        done = team.pull(memory, service)
    if json:
        print_json(done)
        return
    say(
        f"{done.lessons} lessons, {done.failures} failures and {done.fixes} fixes of {len(done.projects)} projects; "
        f"{done.lines} lines for hooks."
    )
    for name in done.unknown:
        say(f"The team does not know {name} yet: hardwon push", err=True)
