"""`/api/harvest` and `/api/doctor`: what the machine that serves can do and tell of itself."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from litestar import Router
from msgspec import Meta, Struct

from hardwon.hook import session_end
from hardwon.serve import caller as callers
from hardwon.serve.routes import Asked, bad, reading, reads, writes
from hardwon.sessions.reader import FORMATS
from hardwon.store.database import Check


class Wanted(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose sessions; without a name, those of every agent that the machine of the service has."""

    agent: Annotated[str, Meta(max_length=200)] = ""


class Begun(Struct, frozen=True):
    agents: list[str]


@writes("POST", "/api/harvest", "admin", HTTPStatus.ACCEPTED)
def harvest(request: Asked, data: Wanted) -> Begun:
    """Learn from the sessions that agents keep on the service's own machine, in a process that ends by itself.

    No path is ever taken from a request. Whether it went well stands in `/api/doctor`.
    """
    callers.of(request).need_whole_store()
    known = sorted({entry.AGENT for entry in FORMATS})
    if data.agent and data.agent not in known:
        raise bad(f"unknown agent; known: {', '.join(known)}")
    chosen = [data.agent] if data.agent else known
    with reading(request) as memory:
        for agent in chosen:
            session_end.ask(str(memory.home), agent, "")
    session_end.start()
    return Begun(chosen)


@reads("/api/doctor", "admin")
def doctor(request: Asked) -> list[Check]:
    """What `hardwon doctor` shows: the store, its backups, hooks, and agents on the service's machine."""
    callers.of(request).need_whole_store()
    with reading(request) as memory:
        return memory.store.check()


router = Router("/", route_handlers=[harvest, doctor], tags=["store"])
