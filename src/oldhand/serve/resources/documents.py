"""`/api/documents`: reference texts and their parts."""

from __future__ import annotations

from litestar import Router

from oldhand.model import wire
from oldhand.serve import caller as callers
from oldhand.serve.cursors import Cursor, Limit, after, page
from oldhand.serve.routes import Asked, Id, ProjectName, reading, reads


@reads("/")
def listed(
    request: Asked, project: ProjectName = None, cursor: Cursor = "", limit: Limit = 50
) -> wire.Page[wire.Document]:
    """Documents, the newest first; with a project, also those of none."""
    key = after(cursor, int, str)
    with reading(request) as memory:
        holder = callers.of(request).project(memory, project)
        found = memory.browse.documents(project=holder, after=key, limit=limit + 1)
    return page(*found, limit)


@reads("/{id:str}")
def shown(request: Asked, id: Id) -> wire.DocumentPage:
    """A document with its parts."""
    with reading(request) as memory:
        found = memory.browse.document(id)
    if found.document.project:
        callers.of(request).need_project(found.document.project, "document")
    return found


router = Router("/api/documents", route_handlers=[listed, shown], tags=["documents"])
