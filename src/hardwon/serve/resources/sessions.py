"""`/api/sessions`: the sessions that were harvested, and their calls."""

from __future__ import annotations

from typing import Annotated

from litestar import Router
from litestar.params import Parameter

from hardwon.model.nouns import Page, SessionDetails, SessionRecord
from hardwon.serve import browse, permissions
from hardwon.serve.routes import Asked, Cursor, Id, Limit, ProjectName, after, nothing_said_of, page, reading, reads


@reads("/")
def listed(
    request: Asked,
    project: ProjectName = None,
    agent: Annotated[str | None, Parameter(query="agent", max_length=200)] = None,
    cursor: Cursor = "",
    limit: Limit = 50,
) -> Page[SessionRecord]:
    """Sessions, the newest first."""
    key = after(cursor, int, str)
    with reading(request) as memory:
        holder = permissions.of(request).project(memory, project)
        found = browse.of_sessions(memory, project=holder, agent=agent, after=key, limit=limit + 1)
    return page(*found, limit)


@reads("/{id:str}")
def shown(request: Asked, id: Id) -> SessionDetails:
    """A session with its calls."""
    with reading(request) as memory, nothing_said_of("session"):
        found = memory.sessions.get(id)
    permissions.of(request).need_project(found.session.project, "session")
    return found


router = Router("/api/sessions", route_handlers=[listed, shown], tags=["sessions"])
