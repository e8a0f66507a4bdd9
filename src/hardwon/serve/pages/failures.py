"""What keeps failing, what it costs, what fixed it, and whether that holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from litestar import Response, Router

from hardwon.api import Hardwon
from hardwon.model.nouns import Failure, FailureCost, Fix
from hardwon.serve import browse, permissions
from hardwon.serve.pages import charts, frame
from hardwon.serve.pages.frame import PER_PAGE, page
from hardwon.serve.resources.failures import known_to
from hardwon.serve.routes import Asked, Cursor, Id, ProjectName, after, reading
from hardwon.serve.routes import page as cut


class Told(NamedTuple):
    """A failure as a line of a table."""

    failure: Failure
    fix: Fix | None
    spark: list[charts.Box]
    tokens: int | None
    came_back: int | None
    """Sessions that met it after a fix had first worked; None where that is not known."""


@page("/failures")
def listed(request: Asked, project: ProjectName = None, open: bool = False, cursor: Cursor = "") -> Response[str]:
    """The most widespread first."""
    key = after(cursor, int, int, int, str)
    with reading(request) as memory:
        holder = frame.holder(request, memory, project)
        here = permissions.of(request).limited
        found = browse.counted(
            memory,
            ("failures", holder, open, here, key),
            lambda: browse.of_failures(
                memory, project=holder, only_open=open, only_here=here, after=key, limit=PER_PAGE + 1
            ),
        )
        rows = cut(*found, PER_PAGE)
        return frame.shown(
            "failures.html",
            request,
            memory,
            project=holder,
            only_open=open,
            rows=told(request, memory, rows.items),
            cursor=cursor,
            next=rows.next,
        )


def told(request: Asked, memory: Hardwon, failing: Sequence[Failure]) -> list[Told]:
    if not failing:
        return []
    first, last = min(one.first_seen for one in failing), max(one.last_seen for one in failing)
    costs: dict[str, FailureCost] = {}
    back: dict[str, int] = {}
    if not permissions.of(request).limited:  # these are counted over all projects
        ids = [one.id for one in failing]
        costs, back = memory.failures.costs(ids), browse.came_back(memory, ids)
    return [
        Told(
            one,
            next((fix for fix in one.fixes if fix.status == "active"), None),
            charts.spark(costs[one.id].times, first, last) if one.id in costs else [],
            costs[one.id].tokens if one.id in costs else None,
            back.get(one.id),
        )
        for one in failing
    ]


@page("/failures/{id:str}")
def shown(request: Asked, id: Id, project: ProjectName = None) -> Response[str]:
    caller = permissions.of(request)
    with reading(request) as memory:
        found = known_to(memory, caller, id, project)
        (line,) = told(request, memory, [found.failure])
        return frame.shown(
            "failure.html",
            request,
            memory,
            failure=found.failure,
            line=line,
            occurrences=found.occurrences,
            lessons=browse.lessons_of_failure(memory, id) if not caller.limited else [],
            exposures=browse.exposures(memory, id) if not caller.limited else [],
        )


router = Router("/", route_handlers=[listed, shown])
