"""`/api/projects`: what the store knows of."""

from __future__ import annotations

from litestar import Router

from hardwon.model.nouns import Page, Project
from hardwon.serve import browse, permissions
from hardwon.serve.routes import Asked, Cursor, Id, Limit, after, page, reading, reads


@reads("/")
def listed(request: Asked, cursor: Cursor = "", limit: Limit = 50) -> Page[Project]:
    """The projects that the token may see, the one with the most sessions first."""
    key = after(cursor, str)
    with reading(request) as memory:
        found = browse.of_projects(memory, only=permissions.of(request).projects, after=key, limit=limit + 1)
    return page(*found, limit)


@reads("/{id:str}")
def shown(request: Asked, id: Id) -> Project:
    """A project by its id or name."""
    with reading(request) as memory:
        holder = permissions.of(request).project(memory, id)
        return browse.of_projects(memory, only=[holder or ""], limit=1)[0][0]


router = Router("/api/projects", route_handlers=[listed, shown], tags=["projects"])
