"""Home: does it help, what keeps failing, what you keep telling them, what waits, what is new."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import groupby
from typing import Annotated, Any, NamedTuple

from litestar import Response, Router
from litestar.params import Parameter

from hardwon.api import Hardwon
from hardwon.clock import moment, now
from hardwon.harvest.distil.chosen import OFF, installed
from hardwon.measure import tallies
from hardwon.measure.tallies import Again, Window
from hardwon.serve import browse, permissions
from hardwon.serve.pages import charts, frame
from hardwon.serve.pages.failures import told
from hardwon.serve.pages.frame import page, url
from hardwon.serve.pages.work import of_home
from hardwon.serve.routes import Asked, ProjectName, reading
from hardwon.text.shown import estimate

VERDICTS = {
    "helps": "Showing lines helps.",
    "harms": "Showing lines harms.",
    "no difference worth having": "Showing lines makes no difference worth having.",
    "too early": "It is too early to tell.",
    "broken": "The experiment is broken: none of its numbers can be trusted.",
}
_DAY = 24 * 3600 * 1_000_000
_WEEK = 7 * _DAY
_WEEKS_DRAWN, _FEWEST_WEEKS = 26, 7
_DAYS_TOLD = 30
_SHOWN = 5


class Proof(NamedTuple):
    """What the errors of the last month were."""

    since: datetime
    until: datetime
    month: Again
    chart: charts.Chart | None
    stale: bool = False
    """No session has met an error since."""


@page("/")
def home(request: Asked, project: ProjectName = None) -> Response[str]:
    with reading(request) as memory:
        if not memory.exists or browse.holds_nothing(memory):
            return frame.shown("welcome.html", request, memory, work=of_home(memory.home, "harvest"))
        newest = browse.last_session(memory)
        last = newest or now()  # what was brought over has no session
        holder = frame.holder(request, memory, project)
        failing = browse.of_failures(
            memory, project=holder, only_here=holder is not None, after=None, limit=4 * _SHOWN
        )[0]
        again = [one for one in failing if one.sessions > 1 and one.family != "agent"][:_SHOWN]
        return frame.shown(
            "home.html",
            request,
            memory,
            work=of_home(memory.home, "harvest"),
            project=holder,
            failing=told(request, memory, again),
            stale=now() - last > _WEEK,
            last=moment(newest) if newest else None,
            model="" if permissions.of(request).limited or memory.config.distil != OFF else next(iter(installed()), ""),
            experiment=browse.experiment(memory, project=holder),
            verdicts=VERDICTS,
            **browse.counted(memory, ("home", holder), lambda: _sums(memory, holder, last)),
        )


def _sums(memory: Hardwon, project: str | None, last: int) -> dict[str, Any]:
    return {
        "proof": _proof(memory, project or "", last),
        "said": browse.said_again(memory, project=project, limit=_SHOWN),
        "learned": browse.learned(memory, project=project, since=last - _WEEK, limit=_SHOWN),
        "totals": browse.totals(memory, project=project),
    }


def _proof(memory: Hardwon, project: str, last: int) -> Proof:
    """Of the month before the last session or, if that had no errors, before the last error."""
    found = _month(memory, project, last)
    newest = 0 if found.month.errors else browse.last_error(memory, project=project or None)
    return _month(memory, project, newest)._replace(stale=True) if newest else found


def _month(memory: Hardwon, project: str, last: int) -> Proof:
    today = last // _DAY * _DAY
    since = today - (_DAYS_TOLD - 1) * _DAY
    days = tallies.met_again(memory.reading(), Window(today - _WEEKS_DRAWN * _WEEK, today + _DAY - 1, project))
    month = _sum(each for day, each in days if day * _DAY >= since)
    by_week = groupby(days, key=lambda one: _monday(one[0]))
    weeks = {monday: _sum(each for _, each in some) for monday, some in by_week}
    return Proof(moment(since), moment(last), month, _drawn(weeks, project))


def _monday(day: int) -> int:
    """Of its week; the first day of 1970 was a Thursday."""
    return day - (day + 3) % 7


def _sum(parts: Iterable[Again]) -> Again:
    found = [*parts]
    return Again(*(sum(each[at] for each in found) for at in range(3)))


def _drawn(weeks: dict[int, Again], project: str) -> charts.Chart | None:
    if not weeks:
        return None
    newest = max(weeks)
    first = min(max(min(weeks), newest - 7 * _WEEKS_DRAWN + 7), newest - 7 * _FEWEST_WEEKS)
    found = []
    for monday in range(first, newest + 1, 7):
        each = weeks.get(monday, Again(0, 0, 0))
        day = datetime(1970, 1, 1) + timedelta(days=monday)
        parts = (("fixed", each.fixed), ("again", each.before - each.fixed), ("new", each.errors - each.before))
        about = f"week of {day:%d %b %Y}: {each.errors} errors, {each.before} met before, {each.fixed} with a fix known"
        behind = url("failures", "met", project=project, since=f"{day:%F}", until=f"{day + timedelta(days=6):%F}")
        found.append(charts.Column(f"{day:%d %b}", parts, about, behind))
    return charts.columns(found)


# What a session would be told: tried out, line by line with why, beside what it is told without a task.

_MAX_BUDGET = 4_000


@page("/briefing")
def briefing(
    request: Asked,
    project: ProjectName = None,
    agent: Annotated[str, Parameter(max_length=200)] = "",
    task: Annotated[str, Parameter(max_length=4_000)] = "",
    budget: Annotated[int | None, Parameter(ge=0, le=100_000)] = None,
) -> Response[str]:
    caller = permissions.of(request)
    with reading(request) as memory:
        holder = frame.holder(request, memory, project)
        known = frame.offered(memory, caller)
        if holder is None and known:
            holder = known[0].id
        wanted = memory.config.budget if budget is None else budget
        told = usual = None
        if holder:
            here = caller.limited
            plain = browse.counted(
                memory, ("told", holder, agent, here), lambda: memory.bootstrap(holder, agent=agent, only_here=here)
            )
            asked = bool(task) or budget is not None
            told = memory.bootstrap(holder, agent=agent, task=task, budget=wanted, only_here=here) if asked else plain
            usual = plain if asked else None
        left_out = told.left_out[:50] if told else ()
        words = {one.id: one.text for one in browse.lessons_named(memory, [one.id for one in left_out])}
        return frame.shown(
            "briefing.html",
            request,
            memory,
            project=holder,
            agent=agent,
            agents=browse.agents(memory) if memory.exists else [],
            task=task,
            budget=wanted,
            most=max(_MAX_BUDGET, wanted),
            told=told,
            lines=[(line, estimate(line.text)) for line in told.lines] if told else [],
            left_out=[(one, words.get(one.id, "")) for one in left_out],
            usual=usual,
        )


router = Router("/", route_handlers=[home, briefing])
