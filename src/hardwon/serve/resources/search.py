"""`/api/search` and `/api/bootstrap`: what is known about something, and what a session should be told."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from litestar import Router
from litestar.params import Parameter
from msgspec import Meta, Struct

from hardwon.api import Hardwon
from hardwon.api.lessons import Lessons
from hardwon.errors import NotAllowed
from hardwon.model.nouns import Bootstrap, Habit, Map, Noted, SearchResults, Visitor
from hardwon.serve import permissions
from hardwon.serve.routes import (
    Asked,
    Budget,
    IdempotencyKey,
    OnlyHere,
    ProjectName,
    bad,
    pool,
    reading,
    reads,
    writes,
    written,
)
from hardwon.store import attempts

ItemType = Literal["lesson", "failure", "attempt", "chunk", "interaction", "session", "passage"]


class Briefing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which session is to be briefed, by the agent's own id of it."""

    session: Annotated[str, Meta(min_length=1, max_length=200)]
    project: Annotated[str, Meta(max_length=500)] = ""
    agent: Annotated[str, Meta(max_length=200)] = ""
    task: Annotated[str, Meta(max_length=8000)] = ""
    budget: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    experiment: bool = True
    only_here: bool = False


class FeedbackOn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether something helped, or was wrong: a lesson, a failure, an attempt, whatever a search found."""

    id: Annotated[str, Meta(min_length=1, max_length=200)]
    """Of an attempt also its number."""
    helped: bool
    why: Annotated[str, Meta(max_length=2000)] = ""


@reads("/api/search")
def search(
    request: Asked,
    q: Annotated[str, Parameter(query="q", min_length=1, max_length=2000)],
    project: ProjectName = None,
    type: Annotated[ItemType | None, Parameter(query="type")] = None,
    kind: Annotated[str, Parameter(query="kind", max_length=200)] = "",
    agent: Annotated[str, Parameter(query="agent", max_length=200)] = "",
    status: Annotated[str, Parameter(query="status", max_length=200)] = "",
    since: datetime | None = None,
    until: datetime | None = None,
    file: Annotated[str, Parameter(query="file", max_length=1000)] = "",
    limit: Annotated[int, Parameter(query="limit", ge=1, le=100)] = 10,
    sessions: Annotated[bool, Parameter(query="sessions")] = False,
) -> SearchResults:
    """What fits a question best, by words and by meaning; passages of sessions take the scope `sessions`."""
    if sessions or type == "passage":
        permissions.of(request).need("sessions")
    with reading(request) as memory:
        holder = permissions.of(request).project(memory, project)
        try:
            return memory.search(
                q,
                type=type,
                kind=kind,
                project=holder,
                agent=agent,
                status=status,
                since=since,
                until=until,
                file=file,
                limit=limit,
                sessions=sessions,
            )
        except NotAllowed as error:  # a kind or status that there is not
            raise bad(str(error)) from None


@reads("/api/bootstrap")
def bootstrap(
    request: Asked,
    project: ProjectName = None,
    agent: Annotated[str, Parameter(query="agent", max_length=200)] = "",
    task: Annotated[str, Parameter(query="task", max_length=8000)] = "",
    budget: Budget = None,
    only_here: OnlyHere = False,
) -> Bootstrap:
    """The briefing for a session of a project, fenced; each line tells why it is there."""
    with reading(request) as memory:
        caller = permissions.of(request)
        holder = caller.project(memory, project)
        if holder is None:
            raise bad("missing project: /api/projects lists them")
        return memory.bootstrap(holder, agent=agent, task=task, budget=budget, only_here=caller.limited or only_here)


@writes("POST", "/api/bootstrap", "write")
def brief(request: Asked, data: Briefing) -> Bootstrap:
    """The same for a client that hands it to an agent: what is shown goes on record, some is withheld at random."""
    caller = permissions.of(request)
    with pool(request).writing() as memory:
        holder = caller.project(memory, data.project)
        if holder is None:
            raise bad("missing project: /api/projects lists them")
        return memory.bootstrap(
            holder,
            agent=data.agent,
            task=data.task,
            budget=data.budget,
            session=data.session,
            experiment=data.experiment,
            only_here=caller.limited or data.only_here,
        )


@reads("/api/map")
def map_(
    request: Asked,
    project: ProjectName = None,
    task: Annotated[str, Parameter(query="task", max_length=8000)] = "",
    limit: Annotated[int, Parameter(query="limit", ge=1, le=200)] = 10,
) -> Map:
    """The files and commands that a task will most likely need, by where earlier sessions went: candidates."""
    with reading(request) as memory:
        return memory.map(_needed(request, memory, project), task=task, limit=limit)


@reads("/api/blame")
def blame(
    request: Asked,
    path: Annotated[str, Parameter(query="path", min_length=1, max_length=1000)],
    project: ProjectName = None,
    limit: Annotated[int, Parameter(query="limit", ge=1, le=200)] = 20,
) -> list[Visitor]:
    """The sessions that touched a file or folder, and what came of it."""
    with reading(request) as memory:
        return memory.blame(path, project=_needed(request, memory, project), limit=limit)


@reads("/api/how")
def how(
    request: Asked,
    words: Annotated[str, Parameter(query="words", max_length=2000)],
    project: ProjectName = None,
    limit: Annotated[int, Parameter(query="limit", ge=1, le=200)] = 10,
) -> list[Habit]:
    """The commands that ran in a project and worked, those that fit the words first."""
    with reading(request) as memory:
        return memory.how(words, project=_needed(request, memory, project), limit=limit)


def _needed(request: Asked, memory: Hardwon, project: str | None) -> str:
    holder = permissions.of(request).project(memory, project)
    if holder is None:
        raise bad("missing project: /api/projects lists them")
    return holder


@writes("POST", "/api/feedback", "write")
def feedback(request: Asked, data: FeedbackOn, key: IdempotencyKey = "") -> Noted:
    """Say that something helped, or was wrong; it is counted for the review."""
    caller = permissions.of(request)

    def act(memory: Hardwon) -> str:
        id = attempts.id_of(memory.reading(), data.id)
        caller.need_item(memory, id)
        Lessons(memory, caller.actor).feedback(id, helped=data.helped, why=data.why)
        return id

    with written(request, key, act) as (_, item):
        return Noted(item)


router = Router("/", route_handlers=[search, feedback, bootstrap, brief, map_, blame, how], tags=["recall"])
