"""The sessions that were harvested, each as a transcript with what was learned in the margin; and the journal."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Annotated

from litestar import Response, Router
from litestar.params import Parameter
from litestar.response import Redirect

from hardwon.api import Hardwon
from hardwon.api.journal import Journal
from hardwon.api.store import Store
from hardwon.errors import HardwonError, NotFound
from hardwon.harvest.walk import Progress
from hardwon.model.attempt import Attempt, Outcome
from hardwon.model.nouns import SessionDetails
from hardwon.serve import browse, permissions
from hardwon.serve.pages import frame
from hardwon.serve.pages.frame import PER_PAGE, action, page, then, url
from hardwon.serve.pages.transcripts import changed, may_read, messages, search, session_of
from hardwon.serve.pages.work import begin, of_home
from hardwon.serve.problems import Refused
from hardwon.serve.resources.attempts import visible
from hardwon.serve.routes import Asked, Cursor, Id, ProjectName, after, bad, nothing_said_of, pool, reading
from hardwon.serve.routes import page as cut
from hardwon.store import attempts
from hardwon.store.pages import Mark
from hardwon.store.sessions import stopped

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
            work=of_home(memory.home, "forget"),
            sessions=rows.items,
            stopped=stopped(memory.reading(), [one.id for one in rows.items]) if rows.items else set(),
            total=browse.count_of_sessions(memory, project=holder, agent=agent or None),
            titles=browse.titles(memory, [one.id for one in rows.items]),
            taught=browse.taught(memory, [one.id for one in rows.items]),
            cursor=cursor,
            next=rows.next,
        )


@page("/sessions/{id:str}")
def shown(
    request: Asked, id: Id, at: int = 0, q: Annotated[str, Parameter(query="q", max_length=200)] = ""
) -> Response[str] | Redirect:
    """From the page of messages on which `at` is; with a question, where the session speaks of it."""
    caller = permissions.of(request)
    with reading(request) as memory:
        try:
            found = _seen(memory, caller, id)
        except NotFound:
            return frame.in_full(
                request, memory, "session", id, lambda one: url("sessions", _seen(memory, caller, one).session.id)
            )
        transcript = session_of(caller, id, found.session.path)
        length = len(transcript.messages) if transcript else 0
        first = max(0, min(at, length - 1)) // _MESSAGES * _MESSAGES
        try:
            resume = memory.resume(id).line
        except HardwonError:
            resume = ""
        return frame.shown(
            "session.html",
            request,
            memory,
            session=found.session,
            stopped=bool(stopped(memory.reading(), [id])),
            title=browse.titles(memory, [id])[id],
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


def _seen(memory: Hardwon, caller: permissions.Caller, id: str) -> SessionDetails:
    with nothing_said_of("session"):
        found = memory.sessions.get(id)
    caller.need_project(found.session.project, "session")
    return found


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
    undo: Annotated[str, Parameter(max_length=1_000)] = "",
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
            titles=browse.titles(memory, [one.session for one in found if one.session and one.source == "session"]),
            overall=overall,
            cursor=cursor,
            next=following,
            undo=frame.events(undo),
        )


@page("/journal/{id:str}")
def attempt(request: Asked, id: Id) -> Response[str] | Redirect:
    """By its number in the journal; the id that a search in the terminal prints leads there."""
    with reading(request) as memory:
        caller = permissions.of(request)
        if not id.isdecimal():
            return frame.in_full(request, memory, "attempt", id, lambda one: _address(memory, caller, one))
        number = min(int(id), 2**53)
        found = visible(memory, caller, number)
        holder = found.project if caller.limited else None
        alike = memory.journal.similar(found.task, project=holder, limit=_ALIKE + 1)
        others = [one.attempt for one in alike if one.attempt.id != number][:_ALIKE]
        return frame.shown(
            "attempt.html",
            request,
            memory,
            attempt=found,
            diff=frame.diff(found.diff),
            alike=others,
            titles=browse.titles(memory, [one.session for one in (found, *others) if one.session]),
        )


def _address(memory: Hardwon, caller: permissions.Caller, key: str) -> str:
    number = attempts.numbers(memory.reading(), [key])[key]
    visible(memory, caller, number)
    return url("journal", str(number))


@action("/journal/{number:int}/reflect", "write")
def reflect(request: Asked, number: Annotated[int, Parameter(ge=1, le=2**53)]) -> Redirect:
    sent, caller = frame.form(request), permissions.of(request)
    with pool(request).writing() as memory:
        visible(memory, caller, number)
        Journal(memory, caller.actor).reflect(number, sent.get("reflection", ""))
    return then(url("journal", str(number)))


@action("/journal/many", "write")
def reflect_on_many(request: Asked) -> Redirect:
    """The same was learned from all that were chosen; it can be undone as one."""
    sent, caller = frame.fields(request), permissions.of(request)
    one, numbers = dict(sent), [int(id) for id in frame.chosen(sent) if id.isdecimal() and len(id) < 16]
    words = one.get("reflection", "").strip()
    if not words:
        raise bad("say what was learned")
    with pool(request).writing() as memory:
        found = [visible(memory, caller, number) for number in numbers]
        with memory.writing().transaction():
            for number in numbers:
                Journal(memory, caller.actor).reflect(number, words)
        events = [_last_event(memory, each.key, "reflect") for each in found]
    return then(url("journal", **frame.kept(one, "q", "project", "outcome", "run"), undo=".".join(map(str, events))))


def _last_event(memory: Hardwon, item: str, action: str) -> int:
    return next(one.number for one in reversed(memory.review.history(item)) if one.action == action)


# Forgetting sessions, which nothing brings back.

_PATIENCE = 1.0
"""Seconds: of a small store a session is forgotten before the next page is shown."""


@action("/sessions/many", "admin")
def forget_many(request: Asked) -> Redirect:
    sent, caller = frame.fields(request), permissions.of(request)
    caller.need_whole_store()
    one, ids = dict(sent), frame.chosen(sent)
    with reading(request) as memory:
        for id in ids:
            with nothing_said_of("session"):
                memory.sessions.get(id)
        about = f"Forgetting {frame.count(len(ids), 'session')}"
        if not begin(memory.home, "forget", about, partial(_forget, caller.actor, ids), patience=_PATIENCE):
            raise Refused(HTTPStatus.CONFLICT, "something is being forgotten: try again when that is done")
    return then(url("sessions", **frame.kept(one, "project", "agent")))


def _forget(actor: str, ids: list[str], memory: Hardwon, progress: Progress) -> tuple[str, None]:
    left: dict[str, None] = {}
    for number, id in enumerate(ids):
        progress("forgotten", number, len(ids))
        left |= dict.fromkeys(Store(memory, actor).forget(session=id).left)
    still = f" Not all is gone: {'; '.join(left)}." if left else " Every byte was searched: nothing is left."
    return f"{frame.count(len(ids), 'session')} forgotten, with all that only they taught.{still}", None


router = Router("/", route_handlers=[listed, forget_many, shown, part, journal, reflect_on_many, attempt, reflect])
