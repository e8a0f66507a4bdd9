"""`/api/sessions`: the sessions that were harvested, and their calls."""

from __future__ import annotations

from typing import Annotated

from litestar import Router
from litestar.params import Parameter

from hardwon.model import wire
from hardwon.serve import caller as callers
from hardwon.serve.cursors import Cursor, Limit, after, page
from hardwon.serve.routes import Asked, Id, ProjectName, reading, reads


@reads("/")
def listed(
    request: Asked,
    project: ProjectName = None,
    agent: Annotated[str | None, Parameter(query="agent", max_length=200)] = None,
    cursor: Cursor = "",
    limit: Limit = 50,
) -> wire.Page[wire.Session]:
    """Sessions, the newest first."""
    key = after(cursor, int, str)
    with reading(request) as memory:
        holder = callers.of(request).project(memory, project)
        found = memory.browse.sessions(project=holder, agent=agent, after=key, limit=limit + 1)
    return page(*found, limit)


@reads("/{id:str}")
def shown(request: Asked, id: Id) -> wire.SessionPage:
    """A session with its calls."""
    with reading(request) as memory:
        found = memory.browse.session(id)
    callers.of(request).need_project(found.session.project, "session")
    return found


router = Router("/api/sessions", route_handlers=[listed, shown], tags=["sessions"])
