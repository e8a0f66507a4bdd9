"""`/api/export` and `/api/events`: the whole store, and the trail of what was done to it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO

from litestar import Router
from litestar.response import Stream

from oldhand.model import wire
from oldhand.serve import caller as callers
from oldhand.serve.cursors import Cursor, Limit, after, page
from oldhand.serve.routes import Asked, reading, reads

_CHUNK = 256 * 1024


@reads("/api/export", "admin", media_type="application/x-ndjson")
def export(request: Asked) -> Stream:
    """Every row of every table as JSON lines, as `oldhand import` reads them; tokens are not part of it."""
    callers.of(request).need_whole_store()
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the last of it is sent
    with reading(request) as memory:
        memory.exchange.dump(file)
    file.seek(0)
    return Stream(_chunks(file), media_type="application/x-ndjson")


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while data := file.read(_CHUNK):
            yield data


@reads("/api/events", "admin")
def events(request: Asked, cursor: Cursor = "", limit: Limit = 50) -> wire.Page[wire.Event]:
    """Who did what and why, the newest first."""
    callers.of(request).need_whole_store()
    key = after(cursor, int)
    with reading(request) as memory:
        found = memory.browse.events(after=key, limit=limit + 1)
    return page(*found, limit)


router = Router("/", route_handlers=[export, events], tags=["store"])
