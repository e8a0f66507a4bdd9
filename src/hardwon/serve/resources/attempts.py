"""`/api/attempts`: the journal of what was tried and what came of it."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from litestar import Router
from litestar.params import Parameter
from msgspec import Meta, Struct, field

from hardwon.api import Hardwon
from hardwon.api.journal import Journal, Stats
from hardwon.capture.past_failures import PastFailures
from hardwon.capture.verify import Verified
from hardwon.errors import NotFound
from hardwon.model.attempt import Attempt, AttemptId, Outcome, Similar
from hardwon.model.nouns import Event, Page
from hardwon.serve import browse, permissions
from hardwon.serve.permissions import Caller
from hardwon.serve.routes import (
    Asked,
    Cursor,
    IdempotencyKey,
    Limit,
    OnlyHere,
    ProjectName,
    WithFormerNames,
    after,
    nothing_said_of,
    page,
    reading,
    reads,
    writes,
    written,
)

Name = Annotated[str, Meta(max_length=200)]
Text = Annotated[str, Meta(max_length=500_000)]
File = Annotated[str, Meta(min_length=1, max_length=1000)]
Count = Annotated[int, Meta(ge=0, le=10**11)]
Number = Annotated[int, Meta(ge=1, le=2**53)]
Named = Annotated[str, Parameter(max_length=200, description="The attempt's number, or its id.")]
Outcomes = Annotated[list[Outcome] | None, Parameter(query="outcome", max_items=5)]
Task = Annotated[str, Parameter(query="task", min_length=1, max_length=8000)]
Run = Annotated[str, Parameter(query="run", max_length=200)]
_MOST_OF_RUN = 10_000


class NewAttempt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One try at a piece of work. Of long texts the ends are kept; secrets are taken out."""

    task: Annotated[str, Meta(min_length=1, max_length=100_000, pattern=r"\S")]
    approach: Text = ""
    files: Annotated[list[File], Meta(max_length=1000)] = field(default_factory=list)
    files_read: Annotated[list[File], Meta(max_length=1000)] = field(default_factory=list)
    diff: Text = ""
    test_results: Text = ""
    outcome: Outcome = Outcome.UNKNOWN
    analysis: Text = ""
    reflection: Text = ""
    retry_count: Count = 0
    retry_of: Number | Name | None = None
    """The attempt that it repeats, by its number or its id."""
    at: datetime | None = None
    """When it began; now, unless it is said."""
    project: Annotated[str, Meta(max_length=500)] = ""
    """Its name, git remote or id; one that is new exists from then on."""
    agent: Name = ""
    session: Name = ""
    run: Name = ""
    phase: Name = ""
    exit_code: Annotated[int, Meta(ge=-(2**31), le=2**31)] | None = None
    git_commit: Name = ""
    tokens: Count | None = None
    duration: Annotated[float, Meta(ge=0, le=10**9)] | None = None


class NewAttempts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    attempts: Annotated[list[NewAttempt], Meta(max_length=1000)]


class Reflection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    reflection: Annotated[str, Meta(min_length=1, max_length=100_000, pattern=r"\S")]


@reads("/")
def listed(
    request: Asked,
    project: ProjectName = None,
    outcome: Outcomes = None,
    run: Annotated[str | None, Parameter(query="run", max_length=200)] = None,
    cursor: Cursor = "",
    limit: Limit = 50,
) -> Page[Attempt]:
    """Attempts, the newest first."""
    key = after(cursor, int, int)
    with reading(request) as memory:
        holder = permissions.of(request).project(memory, project)
        found = browse.of_attempts(memory, project=holder, outcomes=outcome, run=run, after=key, limit=limit + 1)
    return page(*found, limit)


@reads("/{id:str}")
def shown(request: Asked, id: Named) -> Attempt:
    """An attempt in full."""
    with reading(request) as memory:
        return visible(memory, permissions.of(request), id)


@reads("/{id:str}/history")
def history(request: Asked, id: Named) -> list[Event]:
    """What happened to an attempt, by whom and why, oldest first."""
    with reading(request) as memory:
        return memory.review.history(visible(memory, permissions.of(request), id).key)


@writes("POST", "/", "write", HTTPStatus.CREATED, request_class=WithFormerNames)
def log(request: Asked, data: NewAttempt, key: IdempotencyKey = "") -> Attempt:
    """Write an attempt into the journal."""
    caller = permissions.of(request)

    def act(memory: Hardwon) -> str:
        number = Journal(memory, caller.actor).log(_entry(memory, caller, data))
        return memory.journal.get(number).key  # by which it is known that it was forgotten

    with written(request, key, act) as (memory, item):
        return visible(memory, caller, item)


@writes("POST", "/batch", "write", HTTPStatus.CREATED, request_class=WithFormerNames)
def log_all(request: Asked, data: NewAttempts, key: IdempotencyKey = "") -> list[int]:
    """Write many attempts into the journal, all or none; gives their numbers."""
    caller = permissions.of(request)

    def act(memory: Hardwon) -> str:
        entries = [_entry(memory, caller, each) for each in data.attempts]
        return ",".join(map(str, Journal(memory, caller.actor).log_all(entries))) or "none"

    with written(request, key, act) as (_, items):
        return [int(item) for item in items.split(",") if item != "none"]


@writes("PUT", "/{id:str}/reflection", "write")
def reflect(request: Asked, id: Named, data: Reflection, key: IdempotencyKey = "") -> Attempt:
    """Write down what was learned from an attempt; what stood there stays in the history."""
    caller = permissions.of(request)

    def act(memory: Hardwon) -> str:
        found = visible(memory, caller, id)
        Journal(memory, caller.actor).reflect(found.key, data.reflection)
        return found.key

    with written(request, key, act) as (memory, item):
        return visible(memory, caller, item)


@reads("/similar")
def similar(
    request: Asked,
    task: Task,
    file: Annotated[list[str] | None, Parameter(query="file", max_items=50)] = None,
    outcome: Outcomes = None,
    project: ProjectName = None,
    limit: Annotated[int, Parameter(query="limit", ge=1, le=50)] = 5,
) -> list[Similar]:
    """The attempts most like a task, the most alike first."""
    with reading(request) as memory:
        holder = permissions.of(request).project(memory, project)
        return memory.journal.similar(task, files=file or (), outcomes=outcome, project=holder, limit=limit)


@reads("/of-file")
def of_file(
    request: Asked,
    path: Annotated[str, Parameter(query="path", min_length=1, max_length=1000)],
    project: ProjectName = None,
    limit: Annotated[int, Parameter(query="limit", ge=1, le=50)] = 10,
) -> list[Attempt]:
    """The attempts that touched a file, or any file below a folder, the newest first."""
    with reading(request) as memory:
        holder = permissions.of(request).project(memory, project)
        return memory.journal.for_file(path, project=holder, limit=limit)


@reads("/stats")
def stats(request: Asked, project: ProjectName = None, since: datetime | None = None) -> Stats:
    """How attempts went, each share with its count and interval."""
    with reading(request) as memory:
        return memory.journal.stats(project=permissions.of(request).project(memory, project), since=since)


@reads("/past-failures")
def past_failures(
    request: Asked,
    project: ProjectName = None,
    run: Run = "",
    task: Annotated[str, Parameter(query="task", max_length=8000)] = "",
    only_here: OnlyHere = False,
) -> PastFailures:
    """What a next try should avoid, as a fenced block to hand to an agent; empty when there is nothing to say."""
    caller = permissions.of(request)
    with reading(request) as memory:
        holder = caller.project(memory, project)
        _need_run(memory, caller, run)
        return memory.journal.past_failures(run=run, project=holder, task=task, only_here=caller.limited or only_here)


@reads("/verify")
def verify(
    request: Asked,
    run: Annotated[str, Parameter(query="run", min_length=1, max_length=200)],
    project: ProjectName = None,
) -> Verified:
    """Whether "done" is backed by evidence: the run's last test report or exit code, and what still fails."""
    caller = permissions.of(request)
    with reading(request) as memory:
        holder = caller.project(memory, project)
        _need_run(memory, caller, run)
        return memory.journal.verify(run, project=holder)


def _need_run(memory: Hardwon, caller: Caller, run: str) -> None:
    """A run of several projects does not exist for who may see only some of them."""
    if caller.limited and run:
        tried = memory.journal.list(run=run, limit=_MOST_OF_RUN)
        if any(not caller.sees(one.project) for one in tried):
            raise NotFound("no such run")


def _entry(memory: Hardwon, caller: Caller, data: NewAttempt) -> Attempt:
    if data.retry_of is not None:
        visible(memory, caller, data.retry_of)
    fields = {name: getattr(data, name) for name in NewAttempt.__struct_fields__}
    return Attempt(**{**fields, "project": caller.home(memory, data.project)})


def visible(memory: Hardwon, caller: Caller, number: AttemptId) -> Attempt:
    with nothing_said_of("attempt"):
        found = memory.journal.get(number)
    caller.need_project(found.project, "attempt")
    return found


router = Router(
    "/api/attempts",
    route_handlers=[listed, shown, history, log, log_all, reflect, similar, of_file, stats, past_failures, verify],
    tags=["attempts"],
)
