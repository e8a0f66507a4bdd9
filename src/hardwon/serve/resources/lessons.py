"""`/api/lessons`: list, show, create, edit, decide, and what happened to each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal

from litestar import Router
from litestar.params import Parameter
from msgspec import UNSET, Meta, Struct, UnsetType

from hardwon.api import Hardwon
from hardwon.api.lessons import Lessons
from hardwon.api.review import Review
from hardwon.model.lesson import Kind, Scope, Status, status_called
from hardwon.model.nouns import Event, Lesson, LessonDetails, Page, Reinforced, Source
from hardwon.serve import browse, permissions
from hardwon.serve.permissions import Caller
from hardwon.serve.problems import Refused
from hardwon.serve.routes import (
    Asked,
    Cursor,
    Id,
    IdempotencyKey,
    Limit,
    ProjectName,
    after,
    bad,
    nothing_said_of,
    page,
    pool,
    reading,
    reads,
    writes,
    written,
)

Words = Annotated[str, Meta(min_length=1, max_length=2000, pattern=r"\S")]
Why = Annotated[str, Meta(max_length=2000)]
Name = Annotated[str, Meta(max_length=200)]
_NOT_ONES_OWN = "a global lesson belongs to all projects; this token is limited to some"
Share = Annotated[float, Meta(ge=0, le=1)]


class NewLesson(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`candidate` waits for a review; `active` is handed out at once and takes the scope `review`."""

    text: Words
    kind: Kind = "fact"
    project: Annotated[str, Meta(max_length=500)] = ""
    """None makes it global."""
    scope: Scope | None = None
    """Of an active one; by default `project` with a project, else `global`."""
    agent: Name = ""
    session: Name = ""
    status: Literal["candidate", "active"] = "candidate"
    confidence: Share = 1.0
    why: Why = ""


class LessonChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays as it is."""

    text: Words | UnsetType = UNSET
    kind: Kind | UnsetType = UNSET
    tags: list[Name] | UnsetType = UNSET
    confidence: Share | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET
    scope: Scope | UnsetType = UNSET
    """`global` is told in all projects, `project` in the one that it has or that is named, `agent` to one agent."""
    project: Annotated[str, Meta(min_length=1, max_length=500)] | UnsetType = UNSET
    agent: Name | UnsetType = UNSET
    valid_from: datetime | UnsetType = UNSET
    valid_until: datetime | UnsetType = UNSET
    why: Why = ""


class Reason(Struct, frozen=True, forbid_unknown_fields=True):
    why: Why = ""


class Successor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    by: Annotated[str, Meta(min_length=1, max_length=200)]
    why: Why = ""


class Feedback(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether the line helped, or was wrong."""

    helped: bool
    why: Why = ""


class Decided(Struct, frozen=True, kw_only=True):
    """A lesson as it is after a decision, and the event that undoing it takes."""

    lesson: Lesson
    sources: list[Source]
    event: int


@reads("/")
def listed(
    request: Asked,
    project: ProjectName = None,
    kind: Annotated[Kind | None, Parameter(query="kind")] = None,
    status: Annotated[Status | Literal["rejected"] | None, Parameter(query="status")] = None,
    cursor: Cursor = "",
    limit: Limit = 50,
) -> Page[Lesson]:
    """Lessons, the newest first; with a project, also the global ones."""
    key = after(cursor, int, str)
    with reading(request) as memory:
        holder = permissions.of(request).project(memory, project)
        found = browse.of_lessons(
            memory, project=holder, kind=kind, status=status_called(status), after=key, limit=limit + 1
        )
    return page(*found, limit)


@reads("/{id:str}")
def shown(request: Asked, id: Id) -> LessonDetails:
    """A lesson with its sources."""
    with reading(request) as memory:
        return visible(memory, permissions.of(request), id)


@reads("/{id:str}/history")
def history(request: Asked, id: Id) -> list[Event]:
    """What happened to a lesson, by whom and why, oldest first."""
    with reading(request) as memory:
        visible(memory, permissions.of(request), id)
        return memory.review.history(id)


@writes("POST", "/", "write", HTTPStatus.CREATED)
def create(request: Asked, data: NewLesson, key: IdempotencyKey = "") -> LessonDetails:
    """A new lesson: a candidate, or by a reviewer active at once."""
    caller = permissions.of(request)
    if data.status == "active":
        caller.need("review")

    def act(memory: Hardwon) -> str:
        holder = caller.home(memory, data.project)
        if data.status == "candidate":
            return Lessons(memory, caller.actor).propose(
                data.text, kind=data.kind, project=holder, agent=data.agent, session=data.session, why=data.why
            )
        scope: Scope = data.scope or ("project" if holder else "global")
        return Lessons(memory, caller.actor).add(
            data.text,
            kind=data.kind,
            scope=scope,
            project=holder,
            agent=data.agent,
            confidence=data.confidence,
            why=data.why,
        )

    with written(request, key, act) as (memory, item):
        return memory.lessons.get(item)


@writes("PATCH", "/{id:str}", "review")
def edit(request: Asked, id: Id, data: LessonChange, key: IdempotencyKey = "") -> Decided:
    """Change a lesson's words or fields; what they were stays in its history."""
    names = ("text", "kind", "tags", "confidence", "pinned", "scope", "project", "agent", "valid_from", "valid_until")
    changes: dict[str, Any] = {name: value for name in names if (value := getattr(data, name)) is not UNSET}
    if not changes:
        raise bad("nothing to change: name at least one field")
    caller = permissions.of(request)
    if caller.limited and changes.get("scope", "project") != "project":
        raise Refused(HTTPStatus.FORBIDDEN, _NOT_ONES_OWN)
    if "project" in changes:
        with reading(request) as memory:
            changes["project"] = caller.project(memory, changes["project"])
    return _decided(request, key, id, lambda review: review.edit(id, why=data.why, **changes))


@writes("POST", "/{id:str}/promote", "review")
def promote(request: Asked, id: Id, data: Reason, key: IdempotencyKey = "") -> Decided:
    """A candidate becomes active: it is handed to agents."""
    return _decided(request, key, id, lambda review: review.promote(id, why=data.why))


@writes("POST", "/{id:str}/reject", "review")
def reject(request: Asked, id: Id, data: Reason, key: IdempotencyKey = "") -> Decided:
    """It is not so."""
    return _decided(request, key, id, lambda review: review.reject(id, why=data.why))


@writes("POST", "/{id:str}/archive", "review")
def archive(request: Asked, id: Id, data: Reason, key: IdempotencyKey = "") -> Decided:
    """It is of no use any more."""
    return _decided(request, key, id, lambda review: review.archive(id, why=data.why))


@writes("POST", "/{id:str}/restore", "review")
def restore(request: Asked, id: Id, data: Reason, key: IdempotencyKey = "") -> Decided:
    """Back to what it was before it was rejected, superseded or archived."""
    return _decided(request, key, id, lambda review: review.restore(id, why=data.why))


@writes("POST", "/{id:str}/supersede", "review")
def supersede(request: Asked, id: Id, data: Successor, key: IdempotencyKey = "") -> Decided:
    """A newer lesson takes its place."""
    return _decided(request, key, id, lambda review: review.supersede(id, data.by, why=data.why), data.by)


@writes("POST", "/{id:str}/reinforce", "review")
def reinforce(request: Asked, id: Id, data: Reason) -> Reinforced:
    """It proved its worth: a step more confidence, up to 1."""
    caller = permissions.of(request)
    with pool(request).writing() as memory:
        may_decide(memory, caller, id)
        return Lessons(memory, caller.actor).reinforce(id, why=data.why)


@writes("POST", "/{id:str}/feedback", "write")
def feedback(request: Asked, id: Id, data: Feedback, key: IdempotencyKey = "") -> LessonDetails:
    """Say that a line helped, or was wrong; it is counted for the review."""
    caller = permissions.of(request)

    def act(memory: Hardwon) -> str:
        visible(memory, caller, id)
        Lessons(memory, caller.actor).feedback(id, helped=data.helped, why=data.why)
        return id

    with written(request, key, act) as (memory, item):
        return memory.lessons.get(item)


def visible(memory: Hardwon, caller: Caller, id: str) -> LessonDetails:
    """A lesson that this caller may see: of its projects, or global."""
    with nothing_said_of("lesson"):
        found = memory.lessons.get(id)
    if found.lesson.project:
        caller.need_project(found.lesson.project, "lesson")
    return found


def may_decide(memory: Hardwon, caller: Caller, id: str) -> LessonDetails:
    """A lesson that this caller may decide on. Raises `NotFound`, `Refused`."""
    found = visible(memory, caller, id)
    if caller.limited and not found.lesson.project:
        raise Refused(HTTPStatus.FORBIDDEN, _NOT_ONES_OWN)
    return found


def _decided(request: Asked, key: str, id: str, step: Callable[[Review], int], other: str = "") -> Decided:
    caller = permissions.of(request)

    def act(memory: Hardwon) -> str:
        may_decide(memory, caller, id)
        if other:
            visible(memory, caller, other)
        return str(step(Review(memory, caller.actor)))

    with written(request, key, act) as (memory, event):
        found = memory.lessons.get(id)
        return Decided(lesson=found.lesson, sources=found.sources, event=int(event))


router = Router(
    "/api/lessons",
    route_handlers=[
        listed, shown, history, create, edit, promote, reject, archive, restore, supersede, reinforce,
        feedback,
    ],
    tags=["lessons"],
)  # fmt: skip
