"""Home: does it help, what keeps failing, what you keep telling them, what waits, what is new."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import groupby
from typing import Annotated, Any, NamedTuple

from litestar import Response, Router
from litestar.params import Parameter

from hardwon.api import Hardwon
from hardwon.api.failing import EVER, failing
from hardwon.briefing.policy import against_failure
from hardwon.clock import moment, now, to_microseconds
from hardwon.harvest.distil.chosen import OFF, installed
from hardwon.harvest.rules.said import habits
from hardwon.measure import tallies
from hardwon.measure.tallies import Again, Window
from hardwon.model.nouns import Bootstrap, Lesson, Line
from hardwon.serve import browse, permissions
from hardwon.serve.pages import charts, frame
from hardwon.serve.pages.failures import Period, last_month, monday, told
from hardwon.serve.pages.frame import page, url
from hardwon.serve.pages.work import of_home
from hardwon.serve.routes import Asked, ProjectName, reading
from hardwon.store.hook_data import briefed_lately
from hardwon.store.pages import Counted
from hardwon.text.shown import ago, estimate
from hardwon.text.words import terms

VERDICTS = {
    "helps": "Showing lines helps.",
    "harms": "Showing lines harms.",
    "no difference worth having": "Showing lines makes no difference worth having.",
    "too early": "It is too early to tell.",
    "broken": "The experiment is broken: none of its numbers can be trusted.",
}
_DAY = 24 * 3600 * 1_000_000
_WEEK = 7 * _DAY
_SHOWN, _HABITS_SHOWN = 5, 2


class Proof(NamedTuple):
    """What the errors of the last month were."""

    month: Again
    chart: charts.Chart | None


@page("/")
def home(request: Asked, project: ProjectName = None) -> Response[str]:
    with reading(request) as memory:
        if not memory.exists or browse.holds_nothing(memory):
            return frame.shown("welcome.html", request, memory, work=of_home(memory.home, "harvest"))
        holder = frame.holder(request, memory, project)
        newest = browse.last_session(memory, project=holder)
        last = newest or now()  # what was brought over has no session
        period = last_month(memory, holder)
        between = (period.since, period.until)
        limited = permissions.of(request).limited
        sums = browse.counted(memory, ("home", holder, limited), lambda: _sums(memory, holder, last, period, limited))
        return frame.shown(
            "home.html",
            request,
            memory,
            work=of_home(memory.home, "harvest"),
            project=holder,
            period=period,
            table=told(request, memory, sums["failing"], holder, between),
            stale=now() - last > _WEEK,
            last=moment(newest) if newest else None,
            model="" if limited or memory.config.distil != OFF else next(iter(installed()), ""),
            experiment=browse.experiment(memory, project=holder),
            verdicts=VERDICTS,
            briefed=sums["briefed"] + briefed_lately(str(memory.home), holder),
            **{name: value for name, value in sums.items() if name not in ("failing", "briefed")},
        )


def _sums(memory: Hardwon, project: str | None, last: int, period: Period, limited: bool) -> dict[str, Any]:
    between = (period.since, period.until)
    which = Counted(project, between, of_agents=False, muted=False, again=True)
    found, _ = failing(memory.reading(), which, only_here=limited, limit=_SHOWN)
    return {
        "proof": _proof(memory, project or "", period),
        "failing": found,
        "said": browse.said_again(memory, project=project, limit=_SHOWN),
        "habits": habits(memory.reading(), project, _HABITS_SHOWN),
        "learned": browse.learned(memory, project=project, since=last - _WEEK, limit=_SHOWN),
        "totals": browse.totals(memory, project=project),
        "briefed": tallies.spent(memory.reading(), Window(*EVER, project or ""))[0],
    }


def _proof(memory: Hardwon, project: str, period: Period) -> Proof:
    days = tallies.met_again(memory.reading(), Window(period.since, period.until, project))
    by_week = groupby(days, key=lambda one: monday(one[0]))
    weeks = {week: _sum(each for _, each in some) for week, some in by_week}
    return Proof(_sum(each for _, each in days), _drawn(weeks, project, period))


def _sum(parts: Iterable[Again]) -> Again:
    found = [*parts]
    return Again(*(sum(each[at] for each in found) for at in range(3)))


def _drawn(weeks: dict[int, Again], project: str, period: Period) -> charts.Chart | None:
    """The same days that the sentence tells of: the bars add up to its numbers."""
    if not weeks:
        return None
    found = []
    for week in range(monday(period.since // _DAY), period.until // _DAY + 1, 7):
        each = weeks.get(week, Again(0, 0, 0))
        day = datetime(1970, 1, 1) + timedelta(days=week)
        parts = (("avoidable", each.fixed), ("known", each.before - each.fixed), ("new", each.errors - each.before))
        about = f"week of {day:%d %b %Y}: {each.errors} errors, {each.before} seen before, {each.fixed} with known fix"
        first, last = max(day.date(), period.first.date()), min(day.date() + timedelta(days=6), period.last.date())
        found.append(
            charts.Column(
                f"{day:%d %b}", parts, about, url("failures", "met", project=project, since=first, until=last)
            )
        )
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
            usual = browse.counted(
                memory, ("told", holder, agent, here), lambda: memory.bootstrap(holder, agent=agent, only_here=here)
            )
            asked = bool(task) or wanted != memory.config.budget
            told = memory.bootstrap(holder, agent=agent, task=task, budget=wanted, only_here=here) if asked else usual
        untold = [one for one in told.left_out if one.reason != against_failure("agent")] if told else []
        left_out = untold[:50]
        words = browse.words_of(memory, [one.id for one in left_out])
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
            lines=_lines(memory, told, task if usual and told.text != usual.text else "") if told else [],
            left_out=[
                (one, words[one.id], url("failures" if one.id.startswith("F") else "lessons", one.id))
                for one in left_out
                if one.id in words
            ],
            untold=len(untold),
            usual=usual,
            asked=told is not usual,
            same=told is not None and usual is not None and told.text == usual.text,
        )


class ToldLine(NamedTuple):
    """A line of a briefing, and why it is there in a sentence."""

    line: Line
    tokens: int
    why: str
    leads_to: str


def _lines(memory: Hardwon, told: Bootstrap, task: str) -> list[ToldLine]:
    lessons = {one.id: one for one in browse.lessons_named(memory, [line.id for line in told.lines])}
    return [ToldLine(line, estimate(line.text), *_why(line, lessons.get(line.id), task)) for line in told.lines]


def _why(line: Line, lesson: Lesson | None, task: str) -> tuple[str, str]:
    """(why it is told, the page that it leads to)."""
    shared = _shared(line.text, task) if re.search(r"fit (1\.(?!00)|[2-9])", line.why) else []
    fits = f"; like the task, it speaks of {' and '.join(f'“{word}”' for word in shared)}" if shared else ""
    if lesson:
        where = f" in {frame.count(lesson.source_count, 'session')}" if lesson.source_count else ""
        when = ago(to_microseconds(lesson.last_confirmed), now())
        by = frame.SAID_BY[lesson.trust].removesuffix(" in sessions").capitalize()
        return f"{by}{where}, last {when}{fits}.", url("lessons", line.id)
    if line.kind == "failure":
        met = re.search(r"\d+ times? in \d+ sessions?", line.why)
        chance = re.search(r"chance ([\d.]+)", line.why)
        fixed = re.search(r"fix confirmed in (\d+)", line.why)
        said = [f"Seen {met[0]}"] if met else ["Seen before"]
        said += [f"about {float(chance[1]):.0%} likely in the next"] if chance else []
        said += [f"the fix worked in {frame.count(int(fixed[1]), 'session')}"] if fixed else []
        return f"{', '.join(said)}{fits}.", url("failures", line.id)
    if line.kind == "attempt":
        return "An earlier attempt at a task like this one.", url("journal", line.source.removeprefix("attempt "))
    return f"A document that fits the task: {line.source}.", ""


_OF_ANY_TASK = {*terms("fix fail error use run work make add change")}


def _shared(text: str, task: str) -> list[str]:
    """The first words of a task that a line has, too, but for those that most tasks have."""
    known = {*terms(text)} - _OF_ANY_TASK
    return [word for word in dict.fromkeys(re.findall(r"[^\s,;:!?\"'`()]+", task)) if known & {*terms(word)}][:2]


router = Router("/", route_handlers=[home, briefing])
