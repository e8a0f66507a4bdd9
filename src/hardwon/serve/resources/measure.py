"""`/api/replay` and `/api/metrics`: whether it helps, in numbers that say how many they rest on."""

from __future__ import annotations

import threading
from datetime import datetime
from typing import Annotated

from litestar import Router
from litestar.params import Parameter
from msgspec import Struct

from hardwon.api.journal import Stats
from hardwon.measure import metrics as measured
from hardwon.measure.report import Report
from hardwon.model.metric import Metric
from hardwon.serve import permissions
from hardwon.serve.pool import Busy
from hardwon.serve.routes import Asked, Budget, ProjectName, reading, reads

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


router = Router("/", route_handlers=[replay, metrics, measure], tags=["proof"])
