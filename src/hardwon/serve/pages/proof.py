"""Proof: a replay, the experiment and every measure, each number with what it was counted from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from importlib.util import find_spec
from itertools import groupby
from typing import Annotated, NamedTuple

from litestar import Response, Router
from litestar.params import Parameter
from litestar.response import Redirect

from hardwon.api import Hardwon
from hardwon.clock import moment
from hardwon.harvest.walk import Progress
from hardwon.measure import replay
from hardwon.measure.dashboard import bounds, figure
from hardwon.measure.report import OURS, Report, summarise
from hardwon.model.metric import Metric
from hardwon.serve import browse, permissions
from hardwon.serve.pages import charts, frame, work
from hardwon.serve.pages.frame import action, page, then, url
from hardwon.serve.pages.overview import VERDICTS
from hardwon.serve.routes import Asked, ProjectName, pool, reading
from hardwon.store import projects
from hardwon.text.shown import day

_FEW_SESSIONS = 2_000
"""Of so many everything is counted before the page is shown; of more, while it is looked at."""
_MOST_LISTED = 500
Which = Annotated[str, Parameter(max_length=40)]


class Walked(NamedTuple):
    """A session of a replay, and how many of its errors were what."""

    session: str
    task: str
    at: datetime
    errors: int
    before: int
    fixed: int
    here: int
    """Met before in its project."""
    named: int
    """By the briefing."""


_BARS = 10
_REPLAYED = url("proof", "replayed")


class Replayed(NamedTuple):
    project: str
    report: Report
    sessions: list[Walked]


@page("/proof")
def proof(request: Asked, project: ProjectName = None, counted: bool = False) -> Response[str]:
    """`counted`: with the measures, however long they take."""
    caller = permissions.of(request)
    with reading(request) as memory:
        if not memory.exists or browse.holds_nothing(memory):
            return frame.shown("welcome.html", request, memory, work=work.of_home(memory.home, "harvest"))
        holder = frame.holder(request, memory, project)
        begun = browse.has_begun(memory)
        walk = work.of_home(memory.home, "replay") if not caller.limited else work.Work("replay")
        few = sum(one.sessions for one in frame.offered(memory, caller)) < _FEW_SESSIONS
        at_once = counted or few or browse.is_counted(memory, ("metrics", holder))
        return frame.shown(
            "proof.html",
            request,
            memory,
            project=holder,
            measures=_measures(memory, holder, whole=not caller.limited) if at_once else None,
            begun=begun,
            lacks=begun and not all(map(find_spec, ("numpy", "scipy"))),
            experiment=browse.experiment(memory, project=holder),
            verdicts=VERDICTS,
            work=walk,
            replayed=walk.found,
            curve=_curve(walk.found.sessions) if walk.found else None,
            in_a_bar=len(_bars(walk.found.sessions)[0]) if walk.found and walk.found.sessions else 0,
        )


class Measures(NamedTuple):
    groups: list[tuple[str, list[tuple[Metric, str, str]]]]
    behind: dict[str, str]
    missing: list[str]

    @property
    def number(self) -> int:
        return sum(len(some) for _, some in self.groups)

    @property
    def causal(self) -> bool:
        return any(one.label == "causal" for _, some in self.groups for one, *_ in some)


def _measures(memory: Hardwon, project: str | None, *, whole: bool) -> Measures:
    found = browse.counted(memory, ("metrics", project), lambda: memory.measure(project=project))
    known = [one for one in found.metrics if one.value is not None]
    groups = [
        (name, [(one, figure(one), bounds(one)) for one in some])
        for name, some in groupby(known, key=lambda one: one.group)
    ]
    missing = [one.title for one in found.metrics if one.value is None]
    return Measures(groups, _behind(project, found.since, found.until, whole=whole), missing)


def _behind(project: str | None, since: datetime, until: datetime, *, whole: bool) -> dict[str, str]:
    """Measure → the page that lists what it counts, but for what only those may see who see the whole store."""
    days = {"since": since.date(), "until": until.date()}
    judged = ("knowledge_age", "old_knowledge", "brier", "skill", "calibration_gap")
    listed = {
        url("lessons", project=project): ("lessons_a_day", "lessons_a_million_tokens", "unresolved"),
        url("lessons", project=project, status="active"): judged,
        url("failures", "met", project=project, which="before", **days): ("recurrence",),
        url("failures", project=project, fix="known"): ("coverage",),
        url("sessions", project=project): ("failed_calls", "redactions"),
        url("journal", project=project, outcome="success"): ("completion", "first_try"),
        url("journal", project=project, outcome="unknown"): ("unjudged",),
        url("review", project=project): ("queue",),
    }
    of_all = {
        url("proof", "told", project=project, which="used"): ("hit_rate", "hit_rate_excess"),
        url("proof", "told", project=project, which="back"): ("recurrence_effect", "tokens_saved"),
        url("proof", "told", project=project): ("tokens_spent",),
        url("proof", "hooks"): ("hook_p50", "hook_p95"),
        url("proof", "hooks", failed="true"): ("hook_failures",),
    }
    shown = {**listed, **of_all} if whole else listed
    return {name: address for address, names in shown.items() for name in names}


def _curve(sessions: Sequence[Walked]) -> charts.Chart | None:
    """As many sessions in each bar, in the order of time; its parts are what the sentence above it counts."""
    found = []
    years = len({one.at.year for one in sessions}) > 1
    for part in _bars(sessions):
        errors, before = sum(one.errors for one in part), sum(one.before for one in part)
        named = sum(one.named for one in part)
        first = part[0].at
        parts = (("named", named), ("again", before - named), ("new", errors - before))
        about = (
            f"{frame.count(len(part), 'session')} from {first:%d %b %Y}: {errors} errors, {before} seen before, "
            f"{named} named by the briefing"
        )
        found.append(charts.Column(f"{first:%d %b %Y}" if years else f"{first:%d %b}", parts, about, _REPLAYED))
    return charts.columns(found) if found else None


def _bars(sessions: Sequence[Walked]) -> list[Sequence[Walked]]:
    size = max(1, -(-len(sessions) // _BARS))
    return [sessions[start : start + size] for start in range(0, len(sessions), size)]


@action("/proof/replay", "read")
def begin(request: Asked) -> Redirect:
    sent = frame.form(request)
    permissions.of(request).need_whole_store()
    project = sent.get("project", "")
    with reading(request) as memory:
        holder = browse.project_named(memory, project) if project else ""
    about = "Briefing every session from the earlier ones alone"
    work.begin(pool(request).home, "replay", about, partial(_replay, holder))
    return then(url("proof", project=project))


def _replay(project: str, memory: Hardwon, progress: Progress) -> tuple[str, Replayed]:
    db, settings = memory.reading(), replay.ReplaySettings(memory.config, memory.config.budget)
    steps, _ = replay.walked(db, project or None, settings, progress)
    sessions = [
        Walked(
            step.past.sessions[0][0], step.past.task, moment(step.past.started_at), step.errors,
            step.foreseeable_anywhere, step.recalled_with_fix, step.foreseeable, step.shown[OURS].foreseen,
        )
        for step in steps
    ]  # fmt: skip
    return "", Replayed(project, summarise(steps, projects.names(db), day), sessions)


_LINES = {
    "all": "all",
    "used": "used by the session",
    "shown": "shown, in the experiment",
    "withheld": "withheld at random",
    "back": "the error came back",
    "pending": "session not harvested",
}
_COUNTS = {
    "errors": "errors",
    "before": "seen before",
    "fixed": "seen before, fix known",
    "here": "seen before in the same project",
    "named": "named by the briefing",
}


@page("/proof/replayed")
def walked(request: Asked, which: Which = "errors") -> Response[str]:
    """The sessions that a number of the replay is made of."""
    permissions.of(request).need_whole_store()
    wanted = which if which in _COUNTS else "errors"
    with reading(request) as memory:
        found: Replayed | None = work.of_home(memory.home, "replay").found
        sessions = [one for one in found.sessions if getattr(one, wanted)] if found else []
        return frame.shown(
            "replayed.html",
            request,
            memory,
            which=wanted,
            counts=_COUNTS,
            number=sum(getattr(one, wanted) for one in sessions),
            sessions=sessions[::-1][:_MOST_LISTED],
            titles=browse.titles(memory, [one.session for one in sessions[::-1][:_MOST_LISTED]]),
            most=_MOST_LISTED,
        )


@page("/proof/told")
def told(request: Asked, which: Which = "all", project: ProjectName = None) -> Response[str]:
    """The lines that sessions were told, or were not, and what came of each."""
    permissions.of(request).need_whole_store()
    wanted = which if which in _LINES else "all"
    with reading(request) as memory:
        holder = frame.holder(request, memory, project)
        return frame.shown(
            "told.html",
            request,
            memory,
            project=holder,
            which=wanted,
            labels=_LINES,
            exposures=browse.told(memory, project=holder, which=wanted, limit=_MOST_LISTED),
            most=_MOST_LISTED,
        )


@page("/proof/hooks")
def hooks(request: Asked, failed: bool = False) -> Response[str]:
    """The runs of hooks that the times are made of."""
    permissions.of(request).need_whole_store()
    with reading(request) as memory:
        runs = browse.hook_runs(memory, failed=failed, limit=_MOST_LISTED)
        return frame.shown("hooks.html", request, memory, runs=runs, failed=failed, most=_MOST_LISTED)


router = Router("/", route_handlers=[proof, begin, walked, told, hooks])
