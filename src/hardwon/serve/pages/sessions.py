"""The sessions that were harvested, and each as a transcript with what was learned from it in the margin."""

from __future__ import annotations

from typing import Annotated

from litestar import Response, Router
from litestar.params import Parameter

from hardwon.errors import HardwonError
from hardwon.serve import browse, permissions
from hardwon.serve.pages import frame
from hardwon.serve.pages.frame import PER_PAGE, page
from hardwon.serve.pages.transcripts import may_read, messages, search, session_of
from hardwon.serve.routes import Asked, Cursor, Id, ProjectName, after, nothing_said_of, reading
from hardwon.serve.routes import page as cut
from hardwon.store.pages import Mark

_MESSAGES = 200
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
        marks: dict[int, list[Mark]] = {}
        for mark in browse.marks(memory, id):
            marks.setdefault(mark.message, []).append(mark)
        return frame.shown(
            "session.html",
            request,
            memory,
            session=found.session,
            calls=[one for one in found.calls if q.lower() in one.subject.lower()][:_MESSAGES]
            if not transcript
            else [],
            q=q,
            hits=search(memory, transcript, q.strip(), _FOUND) if transcript and q.strip() else [],
            tried=browse.attempts_of_session(memory, id),
            timeline=[(call.position, call.outcome) for call in found.calls],
            messages=messages(memory, transcript, first, _MESSAGES) if transcript else [],
            marks=marks,
            length=length,
            first=first,
            step=_MESSAGES,
            resume=resume,
            owner=may_read(caller),
        )


router = Router("/", route_handlers=[listed, shown])
