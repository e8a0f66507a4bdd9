"""`/api/team`: what machines push of what their sessions taught, and what they pull for their hooks."""

from __future__ import annotations

from typing import Annotated

from litestar import Router
from msgspec import Meta, Struct

from hardwon.api import Hardwon
from hardwon.api.team import Team
from hardwon.errors import NotFound
from hardwon.exchange.pulled import Knowledge
from hardwon.exchange.team import SessionRows, Taken
from hardwon.serve import permissions
from hardwon.serve.permissions import Caller
from hardwon.serve.routes import Asked, Id, bad, pool, reading, reads, writes
from hardwon.store import meta

_SESSIONS_PER_REQUEST = 500


class PushedSessions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What sessions taught, each as `hardwon push --dry-run --json` shows it."""

    sent: Annotated[list[SessionRows], Meta(max_length=_SESSIONS_PER_REQUEST)]


class WithdrawnSessions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    sessions: Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=_SESSIONS_PER_REQUEST)] = []
    """Ids; of sessions that somebody else pushed, or that are not here, nothing is told."""


@writes("POST", "/sessions", "push")
def take(request: Asked, data: PushedSessions) -> list[Taken]:
    """Take what sessions taught on the caller's machine. Sent again, nothing changes.

    Nothing in the rows is believed: ids, trust and status are made anew, texts are scrubbed.
    """
    caller = permissions.of(request)
    with pool(request).writing() as memory:
        for one in data.sent:
            _may_write(memory, caller, one.project)
        return Team(memory, caller.name).take(data.sent)


@writes("POST", "/withdraw", "push")
def withdraw(request: Asked, data: WithdrawnSessions) -> WithdrawnSessions:
    """Forget sessions that the caller pushed, and what only they taught. Tells which they were."""
    with pool(request).writing() as memory:
        return WithdrawnSessions(sessions=Team(memory, permissions.of(request).name).withdraw(data.sessions))


@writes("POST", "/settle", "push")
def settle(request: Asked) -> WithdrawnSessions:
    """Count what was pushed and apply the rules over whole projects: the last request of a push."""
    with reading(request) as memory:
        behind = meta.stale_for_rules(memory.reading())
    for project in behind or [""]:  # others write in between
        with pool(request).writing() as memory:
            memory.settle(project)
    return WithdrawnSessions()


@reads("/known")
def known(request: Asked, project: Id) -> Knowledge:
    """What hooks tell in a project: lessons, failures, fixes and prepared lines. For `hardwon pull`."""
    with reading(request) as memory:
        holder = permissions.of(request).project(memory, project)
        return Team(memory).known(holder or "")


def _may_write(memory: Hardwon, caller: Caller, name: str) -> None:
    """A token of some projects cannot write to others; any other makes a project by naming it."""
    if not name or len(name) > 500 or not name.isprintable():
        raise bad("a project needs a name of at most 500 printable characters")
    permissions.need_no_path(name)
    try:
        caller.project(memory, name)
    except NotFound:
        if caller.limited:
            raise


router = Router("/api/team", route_handlers=[take, withdraw, settle, known], tags=["team"])
