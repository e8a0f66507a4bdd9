"""What keeps failing, what it costs, what fixed it, and whether that holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, NamedTuple

from litestar import Response, Router
from litestar.params import Parameter
from litestar.response import Redirect

from hardwon.api import Hardwon
from hardwon.api.failing import EVER, Failing, failing, failing_alike, row_with
from hardwon.api.failures import Failures
from hardwon.clock import moment, now, to_microseconds
from hardwon.errors import NotFound
from hardwon.measure import tallies
from hardwon.measure.tallies import Which, Window
from hardwon.model.nouns import Failure, Fix
from hardwon.serve import browse, permissions
from hardwon.serve.pages import charts, frame
from hardwon.serve.pages.frame import PER_PAGE, action, page, then, url
from hardwon.serve.resources.failures import known_to
from hardwon.serve.routes import Asked, Cursor, Id, ProjectName, after, bad, pool, reading
from hardwon.serve.routes import page as cut
from hardwon.store.failures import PROVED_BY_ANOTHER
from hardwon.store.pages import Back, Counted, Key

_FIXED = {"known": True, "none": False}
_WHOSE: dict[str, tuple[bool | None, bool | None]] = {
    "": (False, False),
    "agents": (True, False),
    "muted": (None, True),
    "all": (None, None),
}
"""Errors: of the project, of agents' own tools, muted, all → (of agents, muted)."""
_WHICH: dict[Which, str] = {"all": "all", "before": "seen before", "fixed": "seen before, fix known"}
_MOST_MET = 500
_DAY = 24 * 3600 * 1_000_000
_DAYS_TOLD = 30
_WEEKS_DRAWN, _FEWEST_WEEKS = 26, 12
Choice = Annotated[str, Parameter(max_length=20)]


class Period(NamedTuple):
    """The month that pages tell of."""

    since: int
    until: int
    stale: bool
    """No session has met an error since."""

    @property
    def first(self) -> datetime:
        return moment(self.since)

    @property
    def last(self) -> datetime:
        return moment(self.until)


def last_month(memory: Hardwon, project: str | None) -> Period:
    """The month up to the newest session or, if that had no errors, up to the last error."""

    def looked_for() -> Period:
        newest = _month(browse.last_session(memory, project=project) or now())
        error = browse.last_error(memory, project=project)
        return _month(error)._replace(stale=True) if 0 < error < newest.since else newest

    return browse.counted(memory, ("month", project), looked_for)


def _month(last: int) -> Period:
    today = last // _DAY * _DAY
    return Period(today - (_DAYS_TOLD - 1) * _DAY, today + _DAY - 1, stale=False)


class Alike(NamedTuple):
    failure: Failure
    says: str
    """That the others do not, such as the file."""
    fix: Fix | None
    came_back: Back | None
    """After a fix had first worked; None where that is not known."""


class Told(NamedTuple):
    """A failure, or several of one kind, as a line of a table."""

    failure: Failure
    fix: Fix | None
    spark: list[charts.Box]
    tokens: int
    came_back: Back | None
    alike: list[Alike]
    ids: list[str]


class Table(NamedTuple):
    rows: list[Told]
    days: int
    """That a bar of a sparkline stands for."""
    most: int
    """Errors of the tallest bar: all have one scale."""
    tokens: int


@page("/failures")
def listed(
    request: Asked,
    project: ProjectName = None,
    fix: Choice = "",
    period: Choice = "",
    whose: Choice = "",
    kind: Annotated[str, Parameter(max_length=200)] = "",
    cursor: Cursor = "",
    undo: Annotated[str, Parameter(max_length=20_000)] = "",
    picked: int = 0,
) -> Response[str]:
    """The most widespread first, of the month that the first page tells of; `kind`: those of a row that is several."""
    fixed, chosen = _FIXED.get(fix), whose if whose in _WHOSE else ""
    of_agents, muted = _WHOSE[chosen]
    key = after(cursor, int, int, int, str)
    with reading(request) as memory:
        holder = frame.holder(request, memory, project)
        month = last_month(memory, holder) if memory.exists else _month(now())
        everything = period == "all"
        between = EVER if everything else (month.since, month.until)
        here = permissions.of(request).limited

        which = Counted(holder, between, fixed, of_agents, muted)

        def found() -> tuple[list[Failing], list[Key]]:
            if kind:
                return failing_alike(memory.reading(), which, kind, only_here=here), []
            return failing(memory.reading(), which, only_here=here, after=key, limit=PER_PAGE + 1)

        what = ("failures", which, kind, here, key)
        listed = browse.counted(memory, what, found) if memory.exists else ([], [])
        rows = cut(*listed, len(listed[0]) if kind else PER_PAGE)
        return frame.shown(
            "failures.html",
            request,
            memory,
            project=holder,
            fix=fix if fixed is not None else "",
            period="all" if everything else "",
            month=month,
            whose=chosen,
            kind=kind,
            table=told(request, memory, rows.items, holder, between),
            cursor=cursor,
            next=rows.next,
            undo=frame.events(undo),
            did=_did(len(frame.events(undo)), picked),
        )


def _did(failures: int, rows: int) -> str:
    """What was changed, by what a person chose: a row may stand for several failures."""
    if not rows or rows >= failures:
        return ""
    return f"{frame.count(rows, 'row')} changed, {frame.count(failures, 'failure')} in all."


@action("/failures/many")
def decide_many(request: Asked) -> Redirect:
    """All that were chosen are muted, or told again; it can be undone as one."""
    sent, caller = frame.fields(request), permissions.of(request)
    caller.need_whole_store()
    one = dict(sent)
    if one.get("decision") not in ("mute", "unmute"):
        raise bad("no such decision")
    with pool(request).writing() as memory:
        events = Failures(memory, caller.actor).mute(frame.chosen(sent), muted=one["decision"] == "mute")
    back = ("failures", one["shown"]) if one.get("shown") else ("failures",)
    kept = frame.kept(one, "project", "fix", "period", "whose", "kind")
    picked = "" if one.get("shown") else sum(name == "id" for name, _ in sent)
    return then(url(*back, **kept, undo=".".join(map(str, events)), picked=picked))


def told(
    request: Asked, memory: Hardwon, listed: Sequence[Failing], project: str | None, between: tuple[int, int]
) -> Table:
    """With sparklines over the same days, on the same scale."""
    if not listed:
        return Table([], 0, 0, 0)
    ids = [id for one in listed for id in one.ids]
    met = browse.when_met(memory, ids, project=project, between=between)
    times = {one.failure.id: [at for id in one.ids for at, _ in met[id]] for one in listed}
    found = [at for some in times.values() for at in some]
    first = between[0] or min(found) // _DAY * _DAY
    days, counts = charts.binned(times, first, max(found) if between == EVER else between[1])
    most = max(map(max, counts.values()))
    limited = permissions.of(request).limited
    back = {} if limited else browse.came_back(memory, ids)  # counted over all projects
    rows = [
        Told(
            one.failure,
            best(one.failure),
            charts.spark(counts[one.failure.id], most),
            sum(tokens for id in one.ids for _, tokens in met[id]),
            None if one.alike else back.get(one.failure.id),
            [Alike(each, _apart(each, one.failure), best(each), back.get(each.id)) for each in one.alike],
            one.ids,
        )
        for one in listed
    ]
    return Table(rows, days, most, sum(row.tokens for row in rows))


def _apart(failure: Failure, whole: Failure) -> str:
    return failure.error.removeprefix(whole.error.removesuffix("…").rstrip()).strip(" ()") or failure.error


def best(failure: Failure) -> Fix | None:
    """Of the fixes that are told, the one that worked most often."""
    return max((fix for fix in failure.fixes if fix.status == "active"), key=lambda fix: fix.confirmed, default=None)


@page("/failures/met")
def met(
    request: Asked,
    since: date,
    until: date,
    which: Which = "all",
    project: ProjectName = None,
) -> Response[str]:
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
def shown(
    request: Asked, id: Id, project: ProjectName = None, all: bool = False, undo: int = 0
) -> Response[str] | Redirect:
    """`all`: every place where it was met, not only the newest."""
    caller = permissions.of(request)
    with reading(request) as memory:
        try:
            found = known_to(memory, caller, id, project)
        except NotFound:
            return frame.in_full(
                request,
                memory,
                "failure",
                id,
                lambda one: url("failures", known_to(memory, caller, one, project).failure.id),
            )
        holder = caller.project(memory, project) if not caller.limited else None
        here = frame.holder(request, memory, project)
        every = browse.occurrences(memory, id, holder, _MOST_MET) if all and not caller.limited else found.occurrences
        whole = found.failure
        if all and not caller.limited:
            whole = browse.with_all_evidence(memory, whole, holder, _MOST_MET)
        times = browse.when_met(memory, [id], project=here, between=EVER)[id]
        return frame.shown(
            "failure.html",
            request,
            memory,
            failure=whole,
            tokens=sum(tokens for _, tokens in times),
            of_kind=row_with(memory.reading(), Counted(here, EVER), id, only_here=caller.limited),
            came_back=None if caller.limited else browse.came_back(memory, [id]).get(id),
            chart=_by_week(id, [at for at, _ in times]),
            occurrences=every,
            lessons=browse.lessons_of_failure(memory, id) if not caller.limited else [],
            exposures=browse.exposures(memory, id) if not caller.limited else [],
            muted=browse.muted(memory, id),
            proved_twice=PROVED_BY_ANOTHER,
            undo=undo,
        )


def monday(day: int) -> int:
    """Of the week of a day since 1970, whose first was a Thursday."""
    return day - (day + 3) % 7


def _by_week(id: str, times: Sequence[int]) -> charts.Chart | None:
    """How often it was met in each week, up to its last."""
    weeks = [monday(at // _DAY) for at in times]
    if not weeks:
        return None
    newest, behind = max(weeks), f"{url('failures', id, all='true')}#met"
    first = min(max(min(weeks), newest - 7 * _WEEKS_DRAWN + 7), newest - 7 * _FEWEST_WEEKS)
    drawn = []
    for week in range(first, newest + 1, 7):
        day, number = datetime(1970, 1, 1) + timedelta(days=week), weeks.count(week)
        about = f"week of {day:%d %b %Y}: {frame.count(number, 'time')}"
        drawn.append(charts.Column(f"{day:%d %b}", (("again", number),), about, behind))
    return charts.columns(drawn, height=110)


router = Router("/", route_handlers=[listed, decide_many, met, shown])
