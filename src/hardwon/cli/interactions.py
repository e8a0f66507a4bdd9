"""What was asked and answered: `interactions record`, `list`, `show`, `reinforce`, `extract`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import Json, ProjectOption, moment, print_json, say, short, shown, table
from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardwon.api import Hardwon
    from hardwon.model.nouns import Reinforced

app = typer.Typer(
    help="What was asked and answered, and which lessons the answers made use of.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Id = Annotated[str, typer.Argument(help="The interaction's id.", show_default=False)]


@app.command("record")
def record(
    prompt: Annotated[str, typer.Option(help="What was asked.", show_default=False)] = "",
    response: Annotated[str, typer.Option(help="What was answered.")] = "",
    summary: Annotated[str, typer.Option(help="The answer in short.")] = "",
    session: Annotated[str, typer.Option(help="The session it was part of.")] = "",
    client: Annotated[str, typer.Option(help="Who asked.")] = "manual",
    project: ProjectOption = None,
    reinforce: Annotated[
        bool, typer.Option("--reinforce/--no-reinforce", help="Raise the confidence of lessons that the answer uses.")
    ] = True,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read one JSON object with these fields instead.")] = False,
    json: Json = False,
) -> None:
    """Record a prompt and its answer; prints the interaction's id.

    Example: hardwon interactions record --prompt "Why do the tests fail?" --response "The port is taken." --client cli
    """
    import msgspec

    from hardwon.api import Hardwon
    from hardwon.model.attempt import renamed
    from hardwon.model.nouns import Interaction

    if stdin:
        try:
            fields = msgspec.json.decode(sys.stdin.buffer.read(), type=dict[str, object])
            given = msgspec.convert(renamed(fields), Interaction)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise HardwonError(f"stdin is not a valid interaction: {error}") from error
    else:
        given = Interaction(
            prompt=prompt,
            response=response,
            response_summary=summary,
            session=session,
            client=client,
            project=project or ".",
        )
    with Hardwon() as memory:
        id = memory.interactions.record(given, reinforce=reinforce)
        if json:
            told = msgspec.structs.asdict(memory.interactions.get(id))
            print_json({**told, "reinforced": memory.interactions.reinforced(id)})
        else:
            say(id)


@app.command("list")
def list_(
    project: ProjectOption = None,
    session: Annotated[str, typer.Option(help="Only this session.")] = "",
    client: Annotated[str, typer.Option(help="Only this client.")] = "",
    since: Annotated[str | None, typer.Option(help="Only from this date.")] = None,
    limit: Annotated[int, typer.Option(help="Most rows.", min=1)] = 50,
    cursor: Annotated[str, typer.Option(help="Continue from this cursor of the previous page.")] = "",
    json: Json = False,
) -> None:
    """List interactions without their texts, newest first.

    Example: hardwon interactions list --project tidepool --since 2026-10-01
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        page = memory.interactions.list(
            project=project, session=session, client=client, since=moment(since), limit=limit, cursor=cursor
        )
    if json:
        print_json(page)
        return
    if not page.interactions:
        say("No interactions.")
        return
    rows = [(one.id, f"{one.at:%Y-%m-%d %H:%M}", one.client, one.prompt) for one in page.interactions]
    table(("ID", "WHEN", "CLIENT", "PROMPT"), rows)
    if page.cursor:
        say(f"For more, add --cursor {page.cursor}")


@app.command("show")
def show(id: Id, json: Json = False) -> None:
    """Show an interaction in full.

    Example: hardwon interactions show I0193a5c2
    """
    from hardwon.api import Hardwon
    from hardwon.text.shown import clean

    with Hardwon() as memory:
        found = memory.interactions.get(id)
    if json:
        print_json(found)
        return
    say(f"{found.id}  {found.at:%Y-%m-%d %H:%M}  {shown(found.client)}  {shown(found.session)}")
    for heading, text in (("ASKED", found.prompt), ("ANSWERED", found.response or found.response_summary)):
        say(f"\n{heading}\n{clean(text)}")


@app.command("reinforce")
def reinforce_(id: Id, json: Json = False) -> None:
    """Raise the confidence of the lessons that an answer used, once.

    Example: hardwon interactions reinforce I0193a5c2
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        steps = memory.interactions.reinforce(id)
    if json:
        print_json(steps)
    else:
        _tell(memory, steps)


@app.command("extract")
def extract(id: Id, json: Json = False) -> None:
    """Propose lessons from a prompt and its answer, for review.

    Example: hardwon interactions extract I0193a5c2
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        found = memory.interactions.extract(id)
    if json:
        print_json(found)
    elif found:
        table(
            ("ID", "STATUS", "KIND", "TEXT"), [(short(memory, one.id), one.status, one.kind, one.text) for one in found]
        )
    else:
        say("No rule or decision found.")


def _tell(memory: Hardwon, steps: Sequence[Reinforced]) -> None:
    if steps:
        rows = [(short(memory, one.lesson), f"{one.before:.2f} → {one.after:.2f}", one.text) for one in steps]
        table(("ID", "CONFIDENCE", "TEXT"), rows)
    else:
        say("The answer uses no lesson.")
