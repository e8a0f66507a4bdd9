"""The jobs of a team's store: `worker`, `worker add`, `sources`, `remove`, `failed`, `retry`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hardwon.cli.app import Json, print_json, say, shown, table
from hardwon.errors import HardwonError

app = typer.Typer()


def _jobs() -> Any:
    try:
        from hardwon import jobs
    except ImportError as error:
        raise HardwonError("the worker is not installed: `hardwon extras add worker`") from error
    return jobs


@app.callback(invoke_without_command=True)
def worker(
    context: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="Do what there is to do now, and end; for cron.")] = False,
    concurrency: Annotated[int, typer.Option(help="How many jobs at the same time.", min=1, max=64)] = 2,
    json: Json = False,
) -> None:
    """Do the jobs of the store on PostgreSQL, until Ctrl-C.

    Harvests the sources that `hardwon worker add` named every five minutes, makes vectors, recounts, and once a day
    archives idle lessons, keeps the numbers of the day and drops what is too old. Any number of workers may run.

    Example: hardwon worker --once
    """
    if context.invoked_subcommand is not None:
        return
    done: list[str] = []
    told = done.append if json else (lambda line: say(line, err=not once))
    _jobs().Worker(told=told).run(once=once, concurrency=concurrency)
    if json:
        print_json(done)


@app.command("add")
def add(
    place: Annotated[str, typer.Argument(help="A folder, a git repository or its address, or an API address.")],
    git: Annotated[bool, typer.Option("--git", help="A repository that keeps agents' logs; fetched if not local.")] = (
        False
    ),
    artifacts: Annotated[
        bool, typer.Option("--artifacts", help="Transcripts that CI uploaded: https://api.github.com/repos/OWNER/NAME.")
    ] = False,
    mine: Annotated[bool, typer.Option("--mine", help="They are the team's own: nothing waits for a review.")] = False,
    json: Json = False,
) -> None:
    """Harvest a folder, a repository or CI's artefacts again and again.

    Example: hardwon worker add https://git.example.org/tidepool.git --git
    """
    from hardwon.api import Hardwon

    if git and artifacts:
        raise typer.BadParameter("--git or --artifacts, not both")
    source = _jobs().Source("git" if git else "artifacts" if artifacts else "folder", place, mine)
    with Hardwon() as memory:
        _jobs().add_source(memory.writing(), source)
    if json:
        print_json(source)
    else:
        say(f"Added {shown(place)}.")


@app.command("sources")
def sources(json: Json = False) -> None:
    """List what the worker harvests.

    Example: hardwon worker sources
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        found = _jobs().sources(memory.reading())
    if json:
        print_json(found)
    elif found:
        table(("KIND", "WHOSE", "PLACE"), [(one.kind, "ours" if one.mine else "others'", one.place) for one in found])
    else:
        say("There are none: `hardwon worker add` names one.", err=True)


@app.command("remove")
def remove(place: Annotated[str, typer.Argument(help="As it was added.")], json: Json = False) -> None:
    """Harvest something no more; what was learned from it stays.

    Example: hardwon worker remove /srv/transcripts
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        _jobs().remove_source(memory.writing(), place)
    if json:
        print_json({"removed": place})
    else:
        say(f"Removed {shown(place)}.")


@app.command("failed")
def failed(json: Json = False) -> None:
    """List the jobs that were given up after several tries.

    Example: hardwon worker failed
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        found = _jobs().failed(memory.reading())
    if json:
        print_json(found)
    elif found:
        rows = [(one.id, one.task, one.tries, shown(one.about), shown(one.error)) for one in found]
        table(("ID", "JOB", "TRIES", "OF", "ERROR"), rows, right=(0, 2))
    else:
        say("None was given up.", err=True)


@app.command("retry")
def retry(id: Annotated[int, typer.Argument(help="The id that `failed` shows.")], json: Json = False) -> None:
    """Have a job that was given up tried again.

    Example: hardwon worker retry 12
    """
    _jobs().Worker().retry(id)
    if json:
        print_json({"id": id, "retried": True})
    else:
        say(f"Job {id} is tried again when a worker runs.")
