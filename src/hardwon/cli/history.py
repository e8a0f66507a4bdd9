"""What was done, and taking it back: `history`, `undo`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwon.cli.output import Json, iso, print_json, shown, table

if TYPE_CHECKING:
    from hardwon.model.nouns import Event


def history(
    id: Annotated[str, typer.Argument(help="An item's id, or its beginning; without it, what was done last.")] = "",
    limit: Annotated[int, typer.Option(help="Most rows.", min=1)] = 50,
    json: Json = False,
) -> None:
    """Show what happened to a lesson: who changed what, when and why.

    Example: hardwon history L3fa9
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        events = memory.review.history(memory.store.resolve(id) if id else "", limit=limit)
    if json:
        print_json([_event(event) for event in events])
        return
    rows = [
        (event.number, iso(event.at), event.actor, event.action, event.item[:9], _said(event))
        for event in events[:limit]
    ]
    if rows:
        table(("EVENT", "AT", "WHO", "WHAT", "ITEM", "CHANGE"), rows, right=(0,))
    else:
        typer.echo("Nothing is on record.", err=True)


def undo(
    event: Annotated[int, typer.Argument(help="The event's number, as `hardwon history` shows it.")],
    why: Annotated[str, typer.Option(help="For the record.")] = "",
    json: Json = False,
) -> None:
    """Take one event back; that, too, is on record and can be undone.

    Example: hardwon undo 42
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        number = memory.review.undo(event, why=why)
    if json:
        print_json({"undone": event, "event": number})
    else:
        typer.echo(f"Event {event} is undone; hardwon undo {number} brings it back.")


def _said(event: Event) -> str:
    parts = []
    for name, value in event.after.items():
        was = event.before.get(name)
        before = f"{shown(str(was), 40)} → " if was not in (None, "") else ""
        parts.append(f"{name}: {before}{shown(str(value), 60)}")
    if event.undoes is not None:
        parts.insert(0, f"undoes {event.undoes}")
    return "; ".join(parts) + (f" ({event.why})" if event.why else "")


def _event(event: Event) -> dict[str, Any]:
    import msgspec

    return {**msgspec.structs.asdict(event), "at": iso(event.at)}
