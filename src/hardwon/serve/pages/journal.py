"""The journal: what was tried, what came of it, what was learned from it."""

from __future__ import annotations

from typing import Annotated

from litestar import Response, Router
from litestar.params import Parameter
from litestar.response import Redirect

from hardwon.api.journal import Journal
from hardwon.model.attempt import Attempt, Outcome
from hardwon.serve import browse, permissions
from hardwon.serve.pages import frame
from hardwon.serve.pages.frame import PER_PAGE, action, page, then, url
from hardwon.serve.resources.attempts import Numbered, visible
from hardwon.serve.routes import Asked, Cursor, ProjectName, after, pool, reading
from hardwon.serve.routes import page as cut

_FOUND = 50
_ALIKE = 5


@page("/journal")
def listed(
    request: Asked,
    q: Annotated[str, Parameter(query="q", max_length=1_000)] = "",
    project: ProjectName = None,
    outcome: Annotated[str, Parameter(max_length=40)] = "",
    run: Annotated[str, Parameter(max_length=200)] = "",
    cursor: Cursor = "",
) -> Response[str]:
    """The newest first; for a task, the attempts most like it."""
    wanted = [outcome] if outcome in {*Outcome} else None
    following, found = "", list[Attempt]()
    with reading(request) as memory:
        holder = frame.holder(request, memory, project)
        if memory.exists and q.strip():
            alike = memory.journal.similar(q, outcomes=wanted, project=holder, limit=_FOUND)
            found = [one.attempt for one in alike]
        elif memory.exists:
            rows = browse.of_attempts(
                memory,
                project=holder,
                outcomes=wanted,
                run=run or None,
                after=after(cursor, int, int),
                limit=PER_PAGE + 1,
            )
            shown_now = cut(*rows, PER_PAGE)
            found, following = shown_now.items, shown_now.next
        return frame.shown(
            "journal.html",
            request,
            memory,
            project=holder,
            q=q,
            outcome=outcome if wanted else "",
            outcomes=[*Outcome],
            run=run,
            attempts=found,
            overall=memory.journal.stats(project=holder).overall,
            cursor=cursor,
            next=following,
        )


@page("/journal/{number:int}")
def shown(request: Asked, number: Numbered) -> Response[str]:
    with reading(request) as memory:
        caller = permissions.of(request)
        found = visible(memory, caller, number)
        holder = found.project if caller.limited else None
        alike = memory.journal.similar(found.task_description, project=holder, limit=_ALIKE + 1)
        return frame.shown(
            "attempt.html",
            request,
            memory,
            attempt=found,
            diff=frame.diff(found.diff),
            alike=[one.attempt for one in alike if one.attempt.id != number][:_ALIKE],
        )


@action("/journal/{number:int}/reflect", "write")
def reflect(request: Asked, number: Numbered) -> Redirect:
    sent, caller = frame.form(request), permissions.of(request)
    with pool(request).writing() as memory:
        visible(memory, caller, number)
        Journal(memory, caller.actor).reflect(number, sent.get("reflection", ""))
    return then(url("journal", str(number)))


router = Router("/", route_handlers=[listed, shown, reflect])
