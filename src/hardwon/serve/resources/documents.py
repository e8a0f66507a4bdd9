"""`/api/documents`: reference texts and their parts."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from litestar import Router
from msgspec import Meta, Struct

from hardwon.api import Hardwon
from hardwon.api.documents import Documents
from hardwon.model.nouns import Document, DocumentDetails, Page
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
    nothing_said_of,
    page,
    reading,
    reads,
    writes,
    written,
)


class NewDocument(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text under a name, such as `runbooks/release.md`; its ending tells Markdown from plain text."""

    name: Annotated[str, Meta(min_length=1, max_length=300, pattern=r"^[^\\/\x00-\x1f][^\\\x00-\x1f]*$")]
    text: Annotated[str, Meta(min_length=1, max_length=900_000, pattern=r"\S")]
    project: Annotated[str, Meta(max_length=500)] = ""


@reads("/")
def listed(request: Asked, project: ProjectName = None, cursor: Cursor = "", limit: Limit = 50) -> Page[Document]:
    """Documents, the newest first; with a project, also those of none."""
    key = after(cursor, int, str)
    with reading(request) as memory:
        holder = permissions.of(request).project(memory, project)
        found = browse.of_documents(memory, project=holder, after=key, limit=limit + 1)
    return page(*found, limit)


@reads("/{id:str}")
def shown(request: Asked, id: Id) -> DocumentDetails:
    """A document with its parts."""
    with reading(request) as memory:
        return visible(memory, permissions.of(request), id)


@writes("POST", "/", "review", HTTPStatus.CREATED)
def create(request: Asked, data: NewDocument, key: IdempotencyKey = "") -> DocumentDetails:
    """Take in a text, in the place of one with the same name; agents are told what of it fits their task."""
    caller = permissions.of(request)

    def act(memory: Hardwon) -> str:
        holder = caller.home(memory, data.project)
        return Documents(memory, caller.actor).add(data.name, data.text, project=holder)

    with written(request, key, act) as (memory, item):
        return memory.documents.get(item)


@writes("DELETE", "/{id:str}", "review", HTTPStatus.NO_CONTENT)
def remove(request: Asked, id: Id, key: IdempotencyKey = "") -> None:
    """Let a document go; lessons that cite it keep their quotes."""
    caller = permissions.of(request)

    def act(memory: Hardwon) -> str:
        found = visible(memory, caller, id)
        if caller.limited and not found.document.project:
            raise Refused(
                HTTPStatus.FORBIDDEN, "a document without a project belongs to all; this token is limited to some"
            )
        Documents(memory, caller.actor).remove(id)
        return id

    with written(request, key, act):
        pass


def visible(memory: Hardwon, caller: Caller, id: str) -> DocumentDetails:
    with nothing_said_of("document"):
        found = memory.documents.get(id)
    if found.document.project:
        caller.need_project(found.document.project, "document")
    return found


router = Router("/api/documents", route_handlers=[listed, shown, create, remove], tags=["documents"])
