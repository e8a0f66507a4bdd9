"""What was learned: `lessons`, `lessons add`."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import Json, ProjectOption, need_known, print_json, say, table
from hardwon.cli.bootstrap import lesson_fields
from hardwon.cli.review import remember

if TYPE_CHECKING:
    from hardwon.api import Hardwon

app = typer.Typer()


@app.callback(invoke_without_command=True)
def lessons(
    context: typer.Context,
    project: ProjectOption = None,
    kind: Annotated[str | None, typer.Option(help="pitfall, preference, decision, …")] = None,
    status: Annotated[str | None, typer.Option(help="active, candidate, …")] = None,
    json: Json = False,
) -> None:
    """List what was learned.

    Example: hardwon lessons --project tidepool --kind preference
    """
    if context.invoked_subcommand is not None:
        return
    from hardwon.api import Hardwon
    from hardwon.model.lesson import KINDS, STATUSES
    from hardwon.store import projects

    need_known("kind", kind, KINDS)
    need_known("status", status, STATUSES)
    with Hardwon() as memory:
        found = memory.lessons.list(project=project, kind=kind, status=status)
        if json:
            told = _told(memory, {lesson.project for lesson in found})
            print_json([lesson_fields(memory, lesson.id) | {"told": lesson.id in told} for lesson in found])
            return
        names = projects.names(memory.reading()) if found else {}
    unused = [] if status else [one for one in found if one.status not in ("active", "candidate")]
    found = [one for one in found if one not in unused]
    if not found:
        asked = "No such lesson is known." if project or kind or status else "No lessons are known."
        say(asked, err=True)
        return
    several = len({one.project for one in found}) > 1
    rows = [
        (one.id[:9], one.kind, one.status, f"{one.confidence:.2f}", one.source_count,
         *([names.get(one.project, "everywhere")] if several else []), one.text)
        for one in found
    ]  # fmt: skip
    headings = ("ID", "KIND", "STATUS", "SURE", "SESSIONS", *(["PROJECT"] if several else []), "LESSON")
    table(headings, rows, right=(4,), spare=(3, 4, *([5] if several else []), 2))
    if unused:
        say(f"{len(unused):,} more out of use: `hardwon lessons --status {unused[0].status}`", err=True)


def _told(memory: Hardwon, projects: set[str]) -> set[str]:
    """The lessons that the briefings of these projects tell now."""
    return {line.id for project in sorted(projects - {""}) for line in memory.bootstrap(project).lines}


@wraps(remember)
def _add(**given: object) -> None:
    remember(**given)  # type: ignore[arg-type]


_add.__doc__ = (remember.__doc__ or "").replace("hardwon remember", "hardwon lessons add")
app.command("add")(_add)
