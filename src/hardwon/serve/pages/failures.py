"""What keeps failing, what it costs, what fixed it, and whether that holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, NamedTuple

from litestar import Response, Router
from litestar.params import Parameter

from hardwon.api import Hardwon
from hardwon.clock import moment, to_microseconds
from hardwon.measure import tallies
from hardwon.measure.tallies import Which, Window
from hardwon.model.nouns import Failure, FailureCost, Fix
from hardwon.serve import browse, permissions
from hardwon.serve.pages import charts, frame
from hardwon.serve.pages.frame import PER_PAGE, page
from hardwon.serve.resources.failures import known_to
from hardwon.serve.routes import Asked, Cursor, Id, ProjectName, after, reading
from hardwon.serve.routes import page as cut

_FIXED = {"known": True, "none": False}
_WHICH: dict[Which, str] = {"all": "all", "before": "met before", "fixed": "met before, fix known"}
_MOST_MET = 500


class Told(NamedTuple):
    """A failure as a line of a table."""

    failure: Failure
    fix: Fix | None
    spark: list[charts.Box]
    tokens: int | None
    came_back: int | None
    """Sessions that met it after a fix had first worked; None where that is not known."""


@page("/failures")
def listed(
    request: Asked,
    project: ProjectName = None,
    fix: Annotated[str, Parameter(max_length=20)] = "",
    cursor: Cursor = "",
) -> Response[str]:
    """The most widespread first."""
    fixed = _FIXED.get(fix)
    key = after(cursor, int, int, int, str)
    with reading(request) as memory:
        holder = frame.holder(request, memory, project)
        here = permissions.of(request).limited
        found = browse.counted(
            memory,
            ("failures", holder, fixed, here, key),
            lambda: browse.of_failures(
                memory, project=holder, fixed=fixed, only_here=here, after=key, limit=PER_PAGE + 1
            ),
        )
        rows = cut(*found, PER_PAGE)
        return frame.shown(
            "failures.html",
            request,
            memory,
            project=holder,
            fix=fix if fixed is not None else "",
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


@page("/failures/met")
def met(request: Asked, since: date, until: date, which: Which = "all", project: ProjectName = None) -> Response[str]:
    """The errors of some days, one by one: what a number on the first page is made of."""
    begin, end = (datetime.combine(day, time.min, UTC) for day in (since, until))
    with reading(request) as memory:
        holder = frame.holder(request, memory, project)
        window = Window(to_microseconds(begin), to_microseconds(end + timedelta(days=1)) - 1, holder or "")
        return frame.shown(
            "met.html",
            request,
            memory,
            project=holder,
            since=since,
            until=until,
            which=which,
            kinds=_WHICH,
            errors=[(one, moment(one.at)) for one in tallies.met(memory.reading(), window, which, _MOST_MET)],
            most=_MOST_MET,
        )


@page("/failures/{id:str}")
def shown(request: Asked, id: Id, project: ProjectName = None, all: bool = False) -> Response[str]:
    """`all`: every place where it was met, not only the newest."""
    caller = permissions.of(request)
    with reading(request) as memory:
        found = known_to(memory, caller, id, project)
        holder = caller.project(memory, project) if not caller.limited else None
        every = browse.occurrences(memory, id, holder, _MOST_MET) if all and not caller.limited else found.occurrences
        (line,) = told(request, memory, [found.failure])
        return frame.shown(
            "failure.html",
            request,
            memory,
            failure=found.failure,
            line=line,
            occurrences=every,
            lessons=browse.lessons_of_failure(memory, id) if not caller.limited else [],
            exposures=browse.exposures(memory, id) if not caller.limited else [],
        )


router = Router("/", route_handlers=[listed, met, shown])
