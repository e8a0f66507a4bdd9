"""The sessions that were harvested, each as a transcript with what was learned in the margin; and the journal."""

from __future__ import annotations

from typing import Annotated

from litestar import Response, Router
from litestar.params import Parameter
from litestar.response import Redirect

from hardwon.api import Hardwon
from hardwon.api.journal import Journal
from hardwon.errors import HardwonError
from hardwon.model.attempt import Attempt, Outcome
from hardwon.serve import browse, permissions
from hardwon.serve.pages import frame
from hardwon.serve.pages.frame import PER_PAGE, action, page, then, url
from hardwon.serve.pages.transcripts import changed, may_read, messages, search, session_of
from hardwon.serve.resources.attempts import Numbered, visible
from hardwon.serve.routes import Asked, Cursor, Id, ProjectName, after, nothing_said_of, pool, reading
from hardwon.serve.routes import page as cut
from hardwon.store.pages import Mark

_MESSAGES = 100
"""Of a transcript, at once."""
_CALLS = 200
_FOUND = 50


@page("/sessions")
def listed(
    request: Asked,
    project: ProjectName = None,
    agent: Annotated[str, Parameter(max_length=200)] = "",
    cursor: Cursor = "",
) -> Response[str]:
    """The newest first."""
    with reading(request) as memory:
        holder = frame.holder(request, memory, project)
        found = browse.of_sessions(
            memory, project=holder, agent=agent or None, after=after(cursor, int, str), limit=PER_PAGE + 1
        )
        rows = cut(*found, PER_PAGE)
        return frame.shown(
            "sessions.html",
            request,
            memory,
            project=holder,
            agent=agent,
            agents=browse.agents(memory),
            sessions=rows.items,
            taught=browse.taught(memory, [one.id for one in rows.items]),
            cursor=cursor,
            next=rows.next,
        )


@page("/sessions/{id:str}")
def shown(
    request: Asked, id: Id, at: int = 0, q: Annotated[str, Parameter(query="q", max_length=200)] = ""
) -> Response[str]:
    """From the page of messages on which `at` is; with a question, where the session speaks of it."""
    caller = permissions.of(request)
    with reading(request) as memory:
        with nothing_said_of("session"):
            found = memory.sessions.get(id)
        caller.need_project(found.session.project, "session")
        transcript = session_of(caller, id, found.session.path)
        length = len(transcript.messages) if transcript else 0
        first = max(0, min(at, length - 1)) // _MESSAGES * _MESSAGES
        try:
            resume = memory.resume(id).command
        except HardwonError:
            resume = ""
        return frame.shown(
            "session.html",
            request,
            memory,
            session=found.session,
            calls=[one for one in found.calls if q.lower() in one.subject.lower()][:_CALLS] if not transcript else [],
            q=q,
            hits=search(memory, transcript, q.strip(), _FOUND) if transcript and q.strip() else [],
            tried=browse.attempts_of_session(memory, id),
            changed=changed(memory, transcript) if transcript else [],
            timeline=browse.steps(memory, id),
            messages=messages(memory, transcript, first, _MESSAGES) if transcript else [],
            marks=_marks(memory, id),
            waits=browse.waiting(memory, project=None, session=id),
            length=length,
            first=first,
            step=_MESSAGES,
            resume=resume,
            owner=may_read(caller),
        )


def _marks(memory: Hardwon, id: str) -> dict[int, list[Mark]]:
    """Message → what was met and learned in it."""
    found: dict[int, list[Mark]] = {}
    for mark in browse.marks(memory, id):
        found.setdefault(mark.message, []).append(mark)
    return found


@page("/sessions/{id:str}/messages", "admin")
def part(request: Asked, id: Id, at: int = 0) -> Response[str]:
    """Some messages of a session, for the page that shows it."""
    caller = permissions.of(request)
    caller.need_whole_store()
    with reading(request) as memory:
        with nothing_said_of("session"):
            found = memory.sessions.get(id)
        transcript = session_of(caller, id, found.session.path)
        rows = messages(memory, transcript, max(0, at), _MESSAGES) if transcript else []
        return frame.part("messages.html", messages=rows, marks=_marks(memory, id))


# The journal: what was tried, what came of it, what was learned from it.

_ALIKE = 5
_JUDGED = [one for one in Outcome if one != Outcome.UNKNOWN]


@page("/journal")
def journal(
    request: Asked,
    q: Annotated[str, Parameter(query="q", max_length=1_000)] = "",
    project: ProjectName = None,
    outcome: Annotated[str, Parameter(max_length=40)] = "",
    run: Annotated[str, Parameter(max_length=200)] = "",
    cursor: Cursor = "",
) -> Response[str]:
    """The newest first, of those whose outcome is known unless others are asked for; for a task, the most like it."""
    following, found = "", list[Attempt]()
    with reading(request) as memory:
        holder = frame.holder(request, memory, project)
        overall = memory.journal.stats(project=holder).overall
        usual = not (outcome or q.strip() or run) and bool(overall.success_rate.n)
        wanted = [outcome] if outcome in {*Outcome} else _JUDGED if usual else None
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
            outcome=outcome if outcome in {*Outcome, "all"} else "",
            outcomes=_JUDGED,
            only_judged=usual,
            run=run,
            attempts=found,
            overall=overall,
            cursor=cursor,
            next=following,
        )


@page("/journal/{number:int}")
def attempt(request: Asked, number: Numbered) -> Response[str]:
    with reading(request) as memory:
        caller = permissions.of(request)
        found = visible(memory, caller, number)
        holder = found.project if caller.limited else None
        alike = memory.journal.similar(found.task, project=holder, limit=_ALIKE + 1)
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


router = Router("/", route_handlers=[listed, shown, part, journal, attempt, reflect])
