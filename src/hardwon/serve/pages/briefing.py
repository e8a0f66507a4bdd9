"""What a session would be told: tried out, line by line with why, beside what it is told without a task."""

from __future__ import annotations

from typing import Annotated

from litestar import Response, Router
from litestar.params import Parameter

from hardwon.serve import browse, permissions
from hardwon.serve.pages import frame
from hardwon.serve.pages.frame import page
from hardwon.serve.routes import Asked, ProjectName, reading
from hardwon.text.shown import estimate

_MAX_BUDGET = 4_000


@page("/briefing")
def shown(
    request: Asked,
    project: ProjectName = None,
    agent: Annotated[str, Parameter(max_length=200)] = "",
    task: Annotated[str, Parameter(max_length=4_000)] = "",
    budget: Annotated[int | None, Parameter(ge=0, le=100_000)] = None,
) -> Response[str]:
    caller = permissions.of(request)
    with reading(request) as memory:
        holder = frame.holder(request, memory, project)
        known = frame.offered(memory, caller)
        if holder is None and known:
            holder = known[0].id
        wanted = memory.config.budget if budget is None else budget
        told = usual = None
        if holder:
            here = caller.limited
            told = memory.bootstrap(holder, agent=agent, task=task, budget=wanted, only_here=here)
            usual = memory.bootstrap(holder, agent=agent, only_here=here) if task or budget is not None else None
        left_out = told.left_out[:50] if told else ()
        words = {one.id: one.text for one in browse.lessons_named(memory, [one.id for one in left_out])}
        return frame.shown(
            "briefing.html",
            request,
            memory,
            project=holder,
            agent=agent,
            agents=browse.agents(memory) if memory.exists else [],
            task=task,
            budget=wanted,
            most=max(_MAX_BUDGET, wanted),
            told=told,
            lines=[(line, estimate(line.text)) for line in told.lines] if told else [],
            left_out=[(one, words.get(one.id, "")) for one in left_out],
            usual=usual,
        )


router = Router("/", route_handlers=[shown])
