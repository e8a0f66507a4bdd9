"""`review`: decide on what waits; by keys in a terminal, or by options."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oldhand.cli.options import ProjectOption
from oldhand.cli.output import Json, print_json, table
from oldhand.errors import OldhandError

if TYPE_CHECKING:
    from oldhand.api import Oldhand
    from oldhand.api.queue import Pending


def review(
    project: ProjectOption = None,
    kind: Annotated[str | None, typer.Option(help="Only of this kind.")] = None,
    rule: Annotated[str | None, typer.Option(help="Only by this rule; `oldhand rules` lists them.")] = None,
    trust: Annotated[str | None, typer.Option(help="Only of this trust: claimed, untrusted.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List what waits, the best first.")] = False,
    promote: Annotated[list[str] | None, typer.Option(help="Promote this lesson.")] = None,
    reject: Annotated[list[str] | None, typer.Option(help="Reject this lesson.")] = None,
    promote_all: Annotated[bool, typer.Option(help="Promote all that --project, --kind, … choose.")] = False,
    reject_all: Annotated[bool, typer.Option(help="Reject all that --project, --kind, … choose.")] = False,
    why: Annotated[str, typer.Option(help="For the record.")] = "",
    json: Json = False,
) -> None:
    """Decide on the lessons that wait for a person.

    In a terminal, one after the other: y promotes, n rejects, e edits, m merges, s skips, u takes the last one
    back, q ends. Every decision is on record (`oldhand history`) and can be undone (`oldhand undo`).

    Example: oldhand review --reject L3fa9 --why "true of the old build only"
    """
    from oldhand.api import Oldhand

    if promote_all and reject_all:
        raise typer.BadParameter("say --promote-all or --reject-all, not both")
    with Oldhand() as memory:
        pending = memory.queue.pending(project=project, kind=kind, rule=rule, trust=trust)
        if promote or reject:
            done = [_decide(memory, id, "promote", why) for id in promote or []]
            done += [_decide(memory, id, "reject", why) for id in reject or []]
            _told(done, json)
        elif promote_all or reject_all:
            if not (project or kind or rule or trust):
                raise OldhandError("say which: --project, --kind, --rule or --trust")
            verb = "promote" if promote_all else "reject"
            _told([_decide(memory, entry.lesson.id, verb, why) for entry in pending], json)
        elif list_ or json:
            _listed(pending, json)
        elif not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise OldhandError("this is no terminal: use --list, --promote ID or --reject ID")
        else:
            from oldhand.cli.review_screen import Screen

            Screen(memory, [entry.lesson.id for entry in pending]).run()


def _decide(memory: Oldhand, id: str, verb: str, why: str) -> dict[str, Any]:
    full = memory.resolve(id)
    step = memory.review.promote if verb == "promote" else memory.review.reject
    return {"lesson": full, "decision": verb, "event": step(full, why=why)}


def _told(done: list[dict[str, Any]], json: bool) -> None:
    if json:
        print_json(done)
        return
    for one in done:
        typer.echo(f"{one['lesson'][:9]} {one['decision']}d; oldhand undo {one['event']} takes it back")
    if not done:
        typer.echo("Nothing was chosen.", err=True)


def _listed(pending: list[Pending], json: bool) -> None:
    if json:
        print_json(
            [
                {
                    "id": entry.lesson.id,
                    "score": entry.score,
                    "kind": entry.lesson.kind,
                    "text": entry.lesson.text,
                    "trust": entry.lesson.trust,
                    "rule": entry.lesson.rule,
                    "project": entry.lesson.project,
                }
                for entry in pending
            ]
        )
    elif pending:
        rows = [(e.lesson.id[:9], f"{e.score:.2f}", e.lesson.kind, e.lesson.trust, e.lesson.text) for e in pending]
        table(("ID", "SCORE", "KIND", "TRUST", "LESSON"), rows)
    else:
        typer.echo("Nothing waits for review.", err=True)
