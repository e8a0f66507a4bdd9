"""`/api/harvest`, `/api/doctor`, `/api/forget`, `/api/purge`: what the machine that serves can do, and letting go."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Literal

from litestar import Router
from msgspec import Meta, Struct

from hardwon.api.forget import Forgot
from hardwon.api.store import Store
from hardwon.hook import session_end
from hardwon.serve import browse, permissions
from hardwon.serve.routes import Asked, bad, pool, reading, reads, writes
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
    permissions.of(request).need_whole_store()
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
    permissions.of(request).need_whole_store()
    with reading(request) as memory:
        return memory.store.check()


Name = Annotated[str, Meta(max_length=500)]


class Unwanted(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of the first four. It only tells what would go, until `dry_run` is false."""

    id: Name = ""
    """Of a lesson, failure, session, attempt, interaction or document."""
    session: Name = ""
    """With its sub-agents, by id or by the agent's own id of it."""
    project: Name = ""
    text: Annotated[str, Meta(max_length=10_000)] = ""
    """Words in any case, wherever they stand."""
    dry_run: bool = True


class Age(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """It only tells what would go, until `dry_run` is false."""

    days: Annotated[int, Meta(ge=1, le=36_500)]
    what: Literal["sessions", "interactions", "all"] = "all"
    project: Name = ""
    dry_run: bool = True


@writes("POST", "/api/forget", "admin")
def forget(request: Asked, data: Unwanted) -> Forgot:
    """Remove something from every table, index, copy and export; `left` names what still holds it."""
    caller = permissions.of(request)
    caller.need_whole_store()
    if sum(map(bool, (data.id, data.session, data.project, data.text))) != 1:
        raise bad("name exactly one thing to forget: id, session, project or text")
    with pool(request).writing() as memory:
        project = browse.project_named(memory, data.project) if data.project else ""
        return Store(memory, caller.actor).forget(
            data.id, session=data.session, project=project, text=data.text, dry_run=data.dry_run
        )


@writes("POST", "/api/purge", "admin")
def purge(request: Asked, data: Age) -> Forgot:
    """Drop what is older than some days; what a newer session confirmed or a person decided on stays."""
    caller = permissions.of(request)
    caller.need_whole_store()
    with pool(request).writing() as memory:
        project = browse.project_named(memory, data.project) if data.project else None
        return Store(memory, caller.actor).purge(data.days, what=data.what, project=project, dry_run=data.dry_run)


router = Router("/", route_handlers=[harvest, doctor, forget, purge], tags=["store"])
