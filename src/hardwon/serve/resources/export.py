"""`/api/export` and `/api/events`: the whole store, and the trail of what was done to it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Annotated

from litestar import Router
from litestar.params import Parameter
from litestar.response import Stream
from msgspec import Struct

from hardwon.api.review import Review
from hardwon.model.nouns import Event, Page
from hardwon.serve import browse, permissions
from hardwon.serve.resources.lessons import Reason
from hardwon.serve.routes import Asked, Cursor, IdempotencyKey, Limit, after, page, reading, reads, writes, written

_CHUNK = 256 * 1024


class Undone(Struct, frozen=True):
    undone: int
    event: int
    """The new event, which can be undone as well."""


@reads("/api/export", "admin", media_type="application/x-ndjson")
def export(request: Asked) -> Stream:
    """Every row of every table as JSON lines, as `hardwon import` reads them; tokens are not part of it."""
    permissions.of(request).need_whole_store()
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the last of it is sent
    with reading(request) as memory:
        memory.store.dump(file)
    file.seek(0)
    return Stream(_chunks(file), media_type="application/x-ndjson")


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while data := file.read(_CHUNK):
            yield data


@reads("/api/events", "admin")
def events(request: Asked, cursor: Cursor = "", limit: Limit = 50) -> Page[Event]:
    """Who did what and why, the newest first."""
    permissions.of(request).need_whole_store()
    key = after(cursor, int)
    with reading(request) as memory:
        found = browse.of_events(memory, after=key, limit=limit + 1)
    return page(*found, limit)


@writes("POST", "/api/events/{number:int}/undo", "review")
def undo(
    request: Asked, number: Annotated[int, Parameter(ge=1, le=2**53)], data: Reason, key: IdempotencyKey = ""
) -> Undone:
    """Take one event of a lesson back, if nothing has changed the same since; that is on record, too."""
    caller = permissions.of(request)
    caller.need_whole_store()
    with written(request, key, lambda memory: str(Review(memory, caller.actor).undo(number, why=data.why))) as (
        _,
        item,
    ):
        return Undone(number, int(item))


router = Router("/", route_handlers=[export, events, undo], tags=["store"])
