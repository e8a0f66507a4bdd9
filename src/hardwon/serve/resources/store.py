"""The store as a whole, below `/api`: `sessions`, `projects`, `export`, `events`, `harvest`, `doctor`, `forget`,
`purge`; whether it helps: `replay`, `metrics`, `measure`; and `team`."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from http import HTTPStatus
from typing import IO, Annotated, Literal

from litestar import Router
from litestar.params import Parameter
from litestar.response import Stream
from msgspec import UNSET, Meta, Struct, UnsetType

from hardwon.api import Hardwon
from hardwon.api.forget import ForgettingOnce, Forgot
from hardwon.api.journal import Stats
from hardwon.api.review import Review
from hardwon.api.store import Store
from hardwon.api.team import Team
from hardwon.errors import NotFound
from hardwon.exchange.pulled import Knowledge
from hardwon.exchange.team import SessionRows, Taken
from hardwon.hook import session_end
from hardwon.measure import metrics as measured
from hardwon.measure.report import Report
from hardwon.model.metric import Metric
from hardwon.model.nouns import Event, Page, Project, SessionDetails, SessionRecord
from hardwon.serve import browse, permissions
from hardwon.serve.permissions import Caller
from hardwon.serve.pool import Busy, Key
from hardwon.serve.resources.lessons import Reason
from hardwon.serve.routes import (
    Asked,
    Budget,
    Cursor,
    Id,
    IdempotencyKey,
    Limit,
    ProjectName,
    after,
    asked,
    bad,
    nothing_said_of,
    page,
    pool,
    reading,
    reads,
    writes,
    written,
)
from hardwon.sessions.reader import formats
from hardwon.store import meta
from hardwon.store.database import Check

# `/api/sessions`: the sessions that were harvested, and their calls.


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


sessions_router = Router("/api/sessions", route_handlers=[listed, shown], tags=["sessions"])


Name = Annotated[str, Meta(max_length=500)]
_CHUNK_BYTES = 256 * 1024


@reads("/api/projects", tags=["projects"])
def projects(request: Asked, cursor: Cursor = "", limit: Limit = 50) -> Page[Project]:
    """The projects that the token may see, the one with the most sessions first."""
    key = after(cursor, str)
    with reading(request) as memory:
        found = browse.of_projects(memory, only=permissions.of(request).projects, after=key, limit=limit + 1)
    return page(*found, limit)


@reads("/api/projects/{id:str}", tags=["projects"])
def project(request: Asked, id: Id) -> Project:
    """A project by its id or name."""
    with reading(request) as memory:
        holder = permissions.of(request).project(memory, id)
        return _project(memory, holder or "")


class NewProject(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name or a git remote; one that is known already stays as it is."""

    name: Annotated[str, Meta(min_length=1, max_length=500, pattern=r"\S")]
    description: Annotated[str, Meta(max_length=2000)] = ""


class ProjectChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is left out stays as it is. The name that it had still finds it."""

    name: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")] | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=2000)] | UnsetType = UNSET
    archived: bool | UnsetType = UNSET


class OtherName(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]


class Whole(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    into: Annotated[str, Meta(min_length=1, max_length=500)]
    """The project that it is to be part of."""


@writes("POST", "/api/projects", "write", HTTPStatus.CREATED)
def add_project(request: Asked, data: NewProject, key: IdempotencyKey = "") -> Project:
    """Make a project known. Whatever is written to a new name makes it, too."""
    caller = permissions.of(request)
    caller.need_whole_store()
    permissions.need_no_path(data.name)

    def act(memory: Hardwon) -> str:
        return Store(memory, caller.actor).add_project(data.name, description=data.description)

    with written(request, key, act) as (memory, item):
        return _project(memory, item)


@writes("PATCH", "/api/projects/{id:str}", "admin")
def change_project(request: Asked, id: Id, data: ProjectChange, key: IdempotencyKey = "") -> Project:
    """Rename a project, describe it, put it away or bring it back."""

    def act(store: Store, found: str, _: Hardwon) -> None:
        if data.name is not UNSET:
            store.rename_project(found, data.name)
        if data.description is not UNSET:
            store.describe_project(found, data.description)
        if data.archived is not UNSET:
            store.archive_project(found, archived=data.archived)

    return _changed_project(request, id, key, act)


@writes("POST", "/api/projects/{id:str}/aliases", "admin")
def alias_project(request: Asked, id: Id, data: OtherName, key: IdempotencyKey = "") -> Project:
    """Another name by which it is found."""
    return _changed_project(request, id, key, lambda store, found, _: store.alias_project(found, data.name))


@writes("POST", "/api/projects/{id:str}/merge", "admin")
def merge_project(request: Asked, id: Id, data: Whole, key: IdempotencyKey = "") -> Project:
    """Make it part of another project, with its later sessions; gives that one."""

    def act(store: Store, found: str, memory: Hardwon) -> str:
        into = browse.project_named(memory, data.into)
        store.merge_projects(found, into)
        return into

    return _changed_project(request, id, key, act)


def _changed_project(request: Asked, id: str, key: str, act: Callable[[Store, str, Hardwon], str | None]) -> Project:
    caller = permissions.of(request)
    caller.need_whole_store()

    def step(memory: Hardwon) -> str:
        found = browse.project_named(memory, id)
        return act(Store(memory, caller.actor), found, memory) or found

    with written(request, key, step) as (memory, item):
        return _project(memory, item)


def _project(memory: Hardwon, id: str) -> Project:
    return browse.of_projects(memory, only=[id], limit=1)[0][0]


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
        while data := file.read(_CHUNK_BYTES):
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


class HarvestRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose sessions; without a name, those of every agent that the machine of the service has."""

    agent: Annotated[str, Meta(max_length=200)] = ""


class Begun(Struct, frozen=True):
    agents: list[str]


@writes("POST", "/api/harvest", "admin", HTTPStatus.ACCEPTED)
def harvest(request: Asked, data: HarvestRequest) -> Begun:
    """Learn from the sessions that agents keep on the service's own machine, in a process that ends by itself.

    No path is ever taken from a request. Whether it went well stands in `/api/doctor`.
    """
    permissions.of(request).need_whole_store()
    known = sorted({entry.AGENT for entry in formats()})
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


class ForgetRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of the first four. It only tells what would go, until `dry_run` is false."""

    id: Name = ""
    """Of a lesson, failure, session, attempt, interaction or document."""
    session: Name = ""
    """With its sub-agents, by id or by the agent's own id of it."""
    project: Name = ""
    text: Annotated[str, Meta(max_length=10_000)] = ""
    """Words in any case, wherever they stand."""
    dry_run: bool = True


class PurgeRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """It only tells what would go, until `dry_run` is false."""

    days: Annotated[int, Meta(ge=1, le=36_500)]
    what: Literal["sessions", "interactions", "all"] = "all"
    project: Name = ""
    dry_run: bool = True


@writes("POST", "/api/forget", "admin")
def forget(request: Asked, data: ForgetRequest, key: IdempotencyKey = "") -> Forgot:
    """Remove something from every table, index, copy and export; `left` names what still holds it."""
    caller = permissions.of(request)
    caller.need_whole_store()
    if sum(map(bool, (data.id, data.session, data.project, data.text))) != 1:
        raise bad("name exactly one thing to forget: id, session, project or text")
    with pool(request).writing() as memory:
        forgetting, record = _once(request, memory, "" if data.dry_run else key)
        if record is not None:
            return forgetting.again(record, data.id or data.session or data.project or data.text)
        project = browse.project_named(memory, data.project) if data.project else ""
        return forgetting.forget(data.id, session=data.session, project=project, text=data.text, dry_run=data.dry_run)


@writes("POST", "/api/purge", "admin")
def purge(request: Asked, data: PurgeRequest, key: IdempotencyKey = "") -> Forgot:
    """Drop what is older than some days; what a newer session confirmed or a person decided on stays."""
    caller = permissions.of(request)
    caller.need_whole_store()
    with pool(request).writing() as memory:
        forgetting, record = _once(request, memory, "" if data.dry_run else key)
        if record is not None:
            return forgetting.again(record)
        project = browse.project_named(memory, data.project) if data.project else None
        return forgetting.purge(data.days, what=data.what, project=project, dry_run=data.dry_run)


def _once(request: Asked, memory: Hardwon, key: str) -> tuple[ForgettingOnce, str | None]:
    """What forgets under this key, and what came of it if it did so before."""
    caller = permissions.of(request)
    if not key:
        return ForgettingOnce(memory, caller.actor, lambda _: None), None
    sent = Key(memory, caller.id, key, asked(request))
    with memory.writing().transaction():
        return ForgettingOnce(memory, caller.actor, sent.keep), sent.known()


store_router = Router(
    "/",
    route_handlers=[
        projects, project, add_project, change_project, alias_project, merge_project, export, events, undo, harvest,
        doctor, forget, purge,
    ],
    tags=["store"],
)  # fmt: skip


# `/api/replay` and `/api/metrics`: whether it helps, in numbers that say how many they rest on.

_replaying = threading.Lock()


class MetricsPage(Struct, frozen=True):
    totals: dict[str, int]
    """What the store holds; empty for a token that may not see all of it."""
    numbers: list[Metric]
    """How it goes, each with its count and interval."""
    attempts: Stats


@reads("/api/replay")
def replay(
    request: Asked,
    project: ProjectName = None,
    budget: Budget = None,
    failure_budget: Annotated[int | None, Parameter(query="failure_budget", ge=0, le=100_000)] = None,
) -> Report:
    """Brief every session from the earlier ones alone and see what it then met; takes a while, one at a time."""
    if not _replaying.acquire(blocking=False):
        raise Busy("a replay is running: try again when it is done")
    try:
        with reading(request) as memory:
            holder = permissions.of(request).project(memory, project)
            return memory.replay(project=holder, budget=budget, failure_budget=failure_budget)
    finally:
        _replaying.release()


@reads("/api/metrics")
def metrics(
    request: Asked,
    project: ProjectName = None,
    days: Annotated[int | None, Parameter(query="days", ge=1, le=36_500)] = None,
) -> MetricsPage:
    """What the store holds, how it goes, and how attempts went."""
    caller = permissions.of(request)
    with reading(request) as memory:
        holder = caller.project(memory, project)
        totals = {} if caller.limited else memory.store.totals()
        numbers = memory.measure(project=holder, days=days or 0).metrics
        return MetricsPage(totals, numbers, memory.journal.stats(project=holder))


@reads("/api/measure")
def measure(
    request: Asked,
    project: ProjectName = None,
    since: datetime | None = None,
    days: Annotated[int | None, Parameter(query="days", ge=1, le=36_500)] = None,
) -> measured.Metrics:
    """How it goes, with calibration and weekly counts, since a moment or for some days."""
    with reading(request) as memory:
        holder = permissions.of(request).project(memory, project)
        return memory.measure(project=holder, since=since, days=days or 0)


measure_router = Router("/", route_handlers=[replay, metrics, measure], tags=["proof"])


# `/api/team`: what machines push of what their sessions taught, and what they pull for their hooks.

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


team_router = Router("/api/team", route_handlers=[take, withdraw, settle, known], tags=["team"])


router = Router("/", route_handlers=[store_router, sessions_router, measure_router, team_router])
