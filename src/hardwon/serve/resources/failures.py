"""`/api/failures`: what keeps failing, what fixed it, and whether an error is known."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Annotated

from litestar import Router
from litestar.params import Parameter
from msgspec import Meta, Struct

from hardwon.api import Hardwon
from hardwon.clock import to_microseconds
from hardwon.errors import NotFound
from hardwon.model.nouns import Failure, FailureCost, FailureDetails, KnownFailure, Page
from hardwon.serve import browse, permissions
from hardwon.serve.permissions import Caller
from hardwon.serve.routes import Asked, Cursor, Id, Limit, OnlyHere, ProjectName, after, asks, page, reading, reads


class Output(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a failed command printed."""

    text: Annotated[str, Meta(min_length=1, max_length=500_000)]
    command: Annotated[str, Meta(max_length=10_000)] = ""
    project: Annotated[str, Meta(max_length=500)] = ""
    only_here: bool = False
    """Tells nothing that the project itself has not seen."""


class Which(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ids: Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=1000)]
    since: datetime | None = None


@reads("/")
def listed(
    request: Asked,
    project: ProjectName = None,
    since: datetime | None = None,
    only_open: Annotated[bool, Parameter(query="only_open", description="Only failures without a known fix.")] = False,
    only_here: OnlyHere = False,
    cursor: Cursor = "",
    limit: Limit = 50,
) -> Page[Failure]:
    """Failures with what fixed them, the most widespread first."""
    key = after(cursor, int, int, int, str)
    caller = permissions.of(request)
    with reading(request) as memory:
        found = browse.of_failures(
            memory,
            project=caller.project(memory, project),
            since=to_microseconds(since),
            fixed=False if only_open else None,
            only_here=caller.limited or only_here,
            after=key,
            limit=limit + 1,
        )
    return page(*found, limit)


@reads("/{id:str}")
def shown(request: Asked, id: Id, project: ProjectName = None) -> FailureDetails:
    """A failure with what fixed it and where it was met; with a project, what that project has seen of it."""
    with reading(request) as memory:
        return known_to(memory, permissions.of(request), id, project)


def known_to(memory: Hardwon, caller: Caller, id: str, project: str | None) -> FailureDetails:
    """What a caller may know of a failure. Raises `NotFound`."""
    if not caller.limited:
        return memory.failures.get(id, project=caller.project(memory, project))
    for each in [caller.project(memory, project)] if project else caller.projects:
        with suppress(NotFound):
            return memory.failures.get(id, project=each)
    raise NotFound("no such failure")


@asks("/match")
def match(request: Asked, data: Output) -> KnownFailure:
    """Has this error been seen before, and what fixed it then?"""
    caller = permissions.of(request)
    with reading(request) as memory:
        return memory.failures.recall(
            data.text,
            command=data.command,
            project=caller.project(memory, data.project),
            only_here=caller.limited or data.only_here,
        )


@asks("/costs")
def costs(request: Asked, data: Which) -> dict[str, FailureCost]:
    """When failures happened, and what their calls cost; of the whole store."""
    permissions.of(request).need_whole_store()
    with reading(request) as memory:
        return memory.failures.costs(data.ids, since=data.since)


router = Router("/api/failures", route_handlers=[listed, shown, match, costs], tags=["failures"])
