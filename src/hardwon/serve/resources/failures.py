"""`/api/failures`: what keeps failing, what fixed it, and whether an error is known."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from litestar import Router
from msgspec import Meta, Struct

from hardwon.clock import now
from hardwon.errors import NotFound
from hardwon.model import wire
from hardwon.recall.known_failure import KnownFix
from hardwon.serve import caller as callers
from hardwon.serve.cursors import Cursor, Limit, after, page
from hardwon.serve.routes import Asked, Id, ProjectName, asks, reading, reads


class Output(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a failed command printed."""

    text: Annotated[str, Meta(min_length=1, max_length=500_000)]
    command: Annotated[str, Meta(max_length=10_000)] = ""
    project: Annotated[str, Meta(max_length=500)] = ""


class Match(Struct, frozen=True, kw_only=True):
    """What is known of an error. Without a fingerprint, the text says nothing to go by."""

    known: bool
    said: str
    """In a sentence; empty if it is not known."""
    fingerprint: str
    family: str
    text: str
    occurrences: int
    sessions: int
    last_seen: datetime | None
    fixes: list[KnownFix]
    avoid: list[str]


@reads("/")
def listed(
    request: Asked, project: ProjectName = None, cursor: Cursor = "", limit: Limit = 50
) -> wire.Page[wire.Failure]:
    """Failures, the most widespread first."""
    key = after(cursor, int, int, int, str)
    with reading(request) as memory:
        holder = callers.of(request).project(memory, project)
        found = memory.browse.failures(project=holder, after=key, limit=limit + 1)
    return page(*found, limit)


@reads("/{id:str}")
def shown(request: Asked, id: Id, project: ProjectName = None) -> wire.FailurePage:
    """A failure with what fixed it and where it was met; with a project, what that project has seen of it."""
    caller = callers.of(request)
    with reading(request) as memory:
        if not caller.limited or project:
            return memory.browse.failure(id, project=caller.project(memory, project))
        for each in caller.projects:
            try:
                return memory.browse.failure(id, project=each)
            except NotFound:
                continue
    raise NotFound("no such failure")


@asks("/match")
def match(request: Asked, data: Output) -> Match:
    """Has this error been seen before, and what fixed it then?"""
    caller = callers.of(request)
    with reading(request) as memory:
        holder = caller.project(memory, data.project)
        found = memory.recall_failure(data.text, command=data.command, project=holder, only_here=caller.limited)
    return Match(
        known=found.known,
        said=found.said(now()),
        fingerprint=found.fingerprint,
        family=found.family,
        text=found.text,
        occurrences=found.occurrences,
        sessions=found.sessions,
        last_seen=None if found.last_seen is None else wire.moment(found.last_seen),
        fixes=found.fixes,
        avoid=found.avoid,
    )


router = Router("/api/failures", route_handlers=[listed, shown, match], tags=["failures"])
