"""`/api/interactions`: prompts and answers, and what they say about the lessons."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any

from litestar import Router
from litestar.params import Parameter
from msgspec import Meta, Struct, field, structs

from hardwon.api import Hardwon
from hardwon.api.interactions import Interactions
from hardwon.model.nouns import Interaction, InteractionSummary, Lesson, Page, Reinforced
from hardwon.serve import permissions
from hardwon.serve.permissions import Caller
from hardwon.serve.routes import (
    Asked,
    Id,
    IdempotencyKey,
    Limit,
    ProjectName,
    WithFormerNames,
    nothing_said_of,
    pool,
    reading,
    reads,
    writes,
    written,
)

Name = Annotated[str, Meta(max_length=200)]
Text = Annotated[str, Meta(max_length=500_000)]
Ids = Annotated[list[Name], Meta(max_length=1000)]
Named = Annotated[str, Parameter(max_length=200)]
Cursor = Annotated[
    str, Parameter(query="cursor", max_length=100, pattern=r"^([0-9]{1,18}-I[0-9a-z]{1,40})?$",
                   description="`next` of the page before.")
]  # fmt: skip


class NewInteraction(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Only the prompt is needed. Lessons that the answer makes use of gain confidence, unless told not to."""

    prompt: Annotated[str, Meta(min_length=1, max_length=500_000, pattern=r"\S")]
    response: Text = ""
    response_summary: Text = ""
    project: Annotated[str, Meta(max_length=500)] = ""
    session: Name = ""
    client: Name = ""
    context: dict[str, Any] = field(default_factory=dict)
    lessons_used: Ids = field(default_factory=list)
    chunks_used: Ids = field(default_factory=list)
    at: datetime | None = None
    reinforce: bool = True


class Recorded(Interaction, kw_only=True):
    """The interaction, and the lessons that its answer made use of."""

    reinforced: list[Reinforced] = field(default_factory=list)


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """An empty object."""


@reads("/")
def listed(
    request: Asked,
    project: ProjectName = None,
    session: Named = "",
    client: Named = "",
    since: datetime | None = None,
    cursor: Cursor = "",
    limit: Limit = 50,
) -> Page[InteractionSummary]:
    """Summaries, the newest first."""
    with reading(request) as memory:
        holder = permissions.of(request).project(memory, project)
        found = memory.interactions.list(
            project=holder, session=session, client=client, since=since, limit=limit, cursor=cursor
        )
    return Page(found.interactions, found.cursor)


@reads("/{id:str}")
def shown(request: Asked, id: Id) -> Interaction:
    """An interaction in full."""
    with reading(request) as memory:
        return visible(memory, permissions.of(request), id)


@reads("/{id:str}/reinforced")
def reinforced(request: Asked, id: Id) -> list[Reinforced]:
    """The lessons that the answer was found to make use of."""
    with reading(request) as memory:
        visible(memory, permissions.of(request), id)
        return memory.interactions.reinforced(id)


@writes("POST", "/", "write", HTTPStatus.CREATED, request_class=WithFormerNames)
def record(request: Asked, data: NewInteraction, key: IdempotencyKey = "") -> Recorded:
    """Record a prompt and what was answered; tells which lessons gained confidence by it."""
    caller = permissions.of(request)

    def act(memory: Hardwon) -> str:
        names = [name for name in NewInteraction.__struct_fields__ if name != "reinforce"]
        fields = {name: getattr(data, name) for name in names}
        entry = Interaction(**{**fields, "project": caller.home(memory, data.project)})
        return Interactions(memory, caller.actor).record(entry, reinforce=data.reinforce)

    with written(request, key, act) as (memory, item):
        found = visible(memory, caller, item)
        return Recorded(**structs.asdict(found), reinforced=memory.interactions.reinforced(item))


@writes("POST", "/{id:str}/reinforce", "write")
def reinforce(request: Asked, id: Id, data: Nothing) -> list[Reinforced]:  # noqa: ARG001 - an empty object is asked for
    """Let the lessons that the answer used gain confidence; done once for each, however often it is asked."""
    with pool(request).writing() as memory:
        caller = permissions.of(request)
        visible(memory, caller, id)
        return Interactions(memory, caller.actor).reinforce(id)


@writes("POST", "/{id:str}/extract", "write")
def extract(request: Asked, id: Id, data: Nothing) -> list[Lesson]:  # noqa: ARG001 - an empty object is asked for
    """Make candidates of the rules and decisions in the prompt and in the answer."""
    with pool(request).writing() as memory:
        visible(memory, permissions.of(request), id)
        return memory.interactions.extract(id)


def visible(memory: Hardwon, caller: Caller, id: str) -> Interaction:
    with nothing_said_of("interaction"):
        found = memory.interactions.get(id)
    caller.need_project(found.project, "interaction")
    return found


router = Router(
    "/api/interactions", route_handlers=[listed, shown, reinforced, record, reinforce, extract], tags=["interactions"]
)
