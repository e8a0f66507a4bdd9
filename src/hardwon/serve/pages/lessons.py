"""What was learned: found as one types, shown with where it comes from, and changed."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple, cast

from litestar import Response, Router
from litestar.params import Parameter
from litestar.response import Redirect

from hardwon.api import Hardwon
from hardwon.api.lessons import Lessons, untold
from hardwon.api.review import Review, Waiting
from hardwon.api.store import Store
from hardwon.briefing.asked import waiting_fixes, why_not_told
from hardwon.errors import NotFound
from hardwon.harvest.walk import Progress
from hardwon.model.lesson import KINDS, STATUSES, Kind
from hardwon.model.nouns import Lesson, Source
from hardwon.serve import browse, permissions
from hardwon.serve.pages import frame
from hardwon.serve.pages.frame import PER_PAGE, action, page, then, url
from hardwon.serve.pages.transcripts import around
from hardwon.serve.pages.work import Act, begin, of_home
from hardwon.serve.problems import Refused
from hardwon.serve.resources.lessons import may_decide, visible
from hardwon.serve.routes import Asked, Cursor, Id, ProjectName, after, bad, pool, reading
from hardwon.serve.routes import page as cut
from hardwon.text.shown import remedy
from hardwon.text.words import overlap

_FOUND = 50
_PATIENCE = 1.0
"""Seconds: in a small store a lesson is forgotten before the next page is shown."""
_DECISIONS = ("promote", "reject", "invalidate", "archive", "restore")
Query = Annotated[str, Parameter(query="q", max_length=1_000)]
Choice = Annotated[str, Parameter(max_length=40)]


@page("/lessons")
def listed(
    request: Asked,
    q: Query = "",
    project: ProjectName = None,
    kind: Choice = "",
    status: Choice = "",
    cursor: Cursor = "",
    undo: Annotated[str, Parameter(max_length=1_000)] = "",
) -> Response[str]:
    """The newest first; for a question, what fits it best."""
    wanted_kind = kind if kind in KINDS else None
    wanted_status = status if status in STATUSES else None
    notice, following, total = "", "", 0
    with reading(request) as memory:
        holder = frame.holder(request, memory, project)
        found: list[Lesson]
        if q.strip():
            hits = memory.search(q, type="lesson", kind=wanted_kind, project=holder, status=wanted_status, limit=_FOUND)
            found, notice = browse.lessons_named(memory, [hit.id for hit in hits.hits]), hits.notice
        else:
            rows = cut(
                *browse.of_lessons(
                    memory,
                    project=holder,
                    kind=wanted_kind,
                    status=wanted_status,
                    after=after(cursor, int, str),
                    limit=PER_PAGE + 1,
                ),
                PER_PAGE,
            )
            found, following = rows.items, rows.next
            total = browse.count_of_lessons(memory, project=holder, kind=wanted_kind, status=wanted_status)
        return frame.shown(
            "lessons.html",
            request,
            memory,
            project=holder,
            q=q,
            kind=wanted_kind or "",
            status=wanted_status or "",
            kinds=KINDS,
            statuses=STATUSES,
            lessons=found,
            untold=untold(memory, found),
            total=total,
            notice=notice,
            work=of_home(memory.home, "forget"),
            cursor=cursor,
            next=following,
            undo=frame.events(undo),
        )


@page("/lessons/new", "review")
def blank(request: Asked, project: ProjectName = None) -> Response[str]:
    with reading(request) as memory:
        return frame.shown("lesson_new.html", request, memory, project=project or "", kinds=KINDS)


@action("/lessons/new")
def add(request: Asked) -> Redirect:
    """In a person's own words, active at once."""
    sent, caller = frame.form(request), permissions.of(request)
    with pool(request).writing() as memory:
        holder = caller.project(memory, sent.get("project", "")) or ""
        kind = cast(Kind, sent.get("kind", "fact"))
        id = Lessons(memory, caller.actor).add(
            sent.get("text", ""), kind=kind, project=holder, scope="project" if holder else "global"
        )
    return then(url("lessons", id))


@action("/lessons/many")
def decide_many(request: Asked) -> Redirect:
    """One decision for all that were chosen, all or none; it can be undone as one."""
    sent, caller = frame.fields(request), permissions.of(request)
    one = dict(sent)
    verb, ids = one.get("decision", ""), frame.chosen(sent)
    if verb not in _DECISIONS:
        raise bad("no such decision")
    with pool(request).writing() as memory, memory.writing().transaction():
        review = Review(memory, caller.actor)
        for id in ids:
            may_decide(memory, caller, id)
        events = [getattr(review, verb)(id) for id in ids]
    return then(url("lessons", **frame.kept(one, "q", "project", "kind", "status"), undo=".".join(map(str, events))))


@page("/lessons/{id:str}")
def shown(request: Asked, id: Id, undo: int = 0) -> Response[str] | Redirect:
    with reading(request) as memory:
        caller = permissions.of(request)
        try:
            found = visible(memory, caller, id)
        except NotFound:
            return frame.in_full(
                request, memory, "lesson", id, lambda one: url("lessons", visible(memory, caller, one).lesson.id)
            )
        telling = sorted(found.sources, key=lambda source: -overlap(found.lesson.text, source.quote))
        by_quote: dict[str, list[Source]] = {}
        for source in telling:
            by_quote.setdefault(source.quote, []).append(source)
        return frame.shown(
            "lesson.html",
            request,
            memory,
            lesson=found.lesson,
            quotes=[(same[0], around(memory, caller, same[0]), same[1:]) for same in by_quote.values()],
            history=memory.review.history(id),
            exposures=[] if caller.limited else browse.exposures(memory, id),
            similar=memory.review.consider(id).similar if "review" in caller.scopes and not caller.limited else [],
            newer=browse.lessons_named(memory, [found.lesson.superseded_by] if found.lesson.superseded_by else []),
            kinds=KINDS,
            undo=undo,
        )


@action("/lessons/{id:str}/{decision:str}")
def decide(request: Asked, id: Id, decision: str) -> Redirect:
    sent, caller = frame.form(request), permissions.of(request)
    why = sent.get("why", "")
    with pool(request).writing() as memory:
        found = may_decide(memory, caller, id)
        review = Review(memory, caller.actor)
        if decision == "edit":
            changes: dict[str, Any] = {"text": sent.get("text", found.lesson.text).strip()}
            if sent.get("kind") in KINDS:
                changes["kind"] = sent["kind"]
            event = review.edit(id, why=why, **changes)
        elif decision in ("supersede", "merge"):
            other = memory.store.resolve(sent.get("by", "").strip())
            visible(memory, caller, other)
            event = (
                review.supersede(id, other, why=why) if decision == "supersede" else review.merge(id, other, why=why)
            )
        elif decision == "forget":
            caller.need("admin")
            act = partial(_forget, caller.actor, id)
            if not begin(memory.home, "forget", "Forgetting a lesson", act, patience=_PATIENCE):
                raise Refused(HTTPStatus.CONFLICT, "another lesson is being forgotten: try again when that is done")
            return then(url("lessons"))
        elif decision in _DECISIONS:
            event = getattr(review, decision)(id, why=why)
        else:
            raise bad("no such decision")
    return then(url("lessons", id, undo=event))


def _forget(actor: str, id: str, memory: Hardwon, progress: Progress) -> tuple[str, None]:
    progress("in every table, index and copy, then in every byte", 0, 0)
    gone = Store(memory, actor).forget(id)
    left = f" Not all is gone: {'; '.join(gone.left)}." if gone.left else " Every byte was searched: nothing is left."
    own = f" The agents' own files still have it: {', '.join(gone.transcripts)}." if gone.transcripts else ""
    return f"The lesson is forgotten.{left}{own}", None


# One candidate at a time, with its quote in context: yes, no, edit, merge, skip, undo.

_SAID_SHOWN = 20
_QUEUE, _ALL = 200, 500
"""How many wait in a row on the page; how many are decided at once."""
_DONE = {"promote": "Approved", "reject": "Rejected", "edit": "Edited and approved", "merge": "Merged"}
Chosen = Annotated[str, Parameter(max_length=200)]


@page("/review")
def candidate(
    request: Asked,
    project: ProjectName = None,
    rule: Chosen = "",
    session: Chosen = "",
    at: Chosen = "",
    did: Chosen = "",
    undo: Chosen = "",
    edit: bool = False,
) -> Response[str]:
    caller = permissions.of(request)
    with reading(request) as memory:
        holder = frame.holder(request, memory, project)
        chosen = {"project": project, "rule": rule, "session": session}
        queue = browse.of_queue(memory, project=holder, rule=rule, session=session, limit=_QUEUE)
        ids = [one.id for one in queue]
        place = ids.index(at) if at in ids else 0
        current = memory.review.consider(ids[place]) if ids else None
        alike = [one.id for one in current.similar] + current.contradicts if current else []
        return frame.shown(
            "review.html",
            request,
            memory,
            project=holder,
            chosen=chosen,
            rules=browse.candidates_by_rule(memory, project=holder),
            rule=rule,
            session=session,
            current=current,
            context=[(source, around(memory, caller, source)) for source in current.sources[:3]] if current else [],
            others=browse.lessons_named(memory, [*dict.fromkeys(alike)][:4]),
            place=place,
            waits_here=browse.waiting(memory, project=holder, rule=rule, session=session),
            next=ids[place + 1] if place + 1 < len(ids) else "",
            before=ids[place - 1] if place else "",
            did=_DONE.get(did, ""),
            undo=frame.events(undo),
            edit=edit,
            kinds=KINDS,
            conflicts=memory.review.conflicts(project=holder),
            fixes=_fixes(memory, holder) if not (caller.limited or rule or session) else [],
            said=_said(memory, holder) if not (caller.limited or rule or session) else [],
            work=of_home(memory.home, "review"),
        )


class SaidSentence(NamedTuple):
    """A sentence that may be a rule, and where it was typed."""

    sentence: Waiting
    project: str
    session: str
    message: int


class WaitingFix(NamedTuple):
    """A fix that a person is asked about, and the failure that it may have helped against."""

    id: str
    text: str
    why: str
    failure: str
    error: str


def _fixes(memory: Hardwon, project: str | None) -> list[WaitingFix]:
    found = waiting_fixes(memory.reading(), project)[:_QUEUE] if memory.exists else []
    why = why_not_told(memory.reading(), [fix for _, fix in found]) if found else {}
    return [
        WaitingFix(fix.id, remedy(fix.steps, fix.succeeded_as), why[fix.id], row.id, row.error) for row, fix in found
    ]


def _said(memory: Hardwon, project: str | None) -> list[SaidSentence]:
    found = memory.review.said(project=project)[:_SAID_SHOWN] if memory.exists else []
    places = [one.id.split("/") for one in found]
    of = {id: memory.sessions.get(id).session.project for id, *_ in places}
    return [SaidSentence(one, of[id], id, int(at)) for one, (id, at, _) in zip(found, places, strict=True)]


@action("/review/said")
def decide_said(request: Asked) -> Redirect:
    """Whether a typed sentence is a rule."""
    sent, caller = frame.form(request), permissions.of(request)
    caller.need_whole_store()
    decision = sent.get("decision", "")
    if decision not in ("promote", "reject"):
        raise bad("no such decision")
    with pool(request).writing() as memory, memory.writing().transaction():
        review = Review(memory, caller.actor)
        last = max((event.number for event in review.history(limit=1)), default=0)
        (review.keep_said if decision == "promote" else review.drop_said)(sent.get("said", ""))
        events = [event.number for event in reversed(review.history()) if event.number > last]
    return then(url("review", **_kept(sent), did=decision, undo=".".join(map(str, events))))


@action("/review/fix")
def decide_fix(request: Asked) -> Redirect:
    """Whether sessions are told of a fix."""
    sent, caller = frame.form(request), permissions.of(request)
    caller.need_whole_store()
    decision, id = sent.get("decision", ""), sent.get("fix", "")
    if decision not in ("promote", "reject") or not id.startswith("X"):
        raise bad("no such decision")
    with pool(request).writing() as memory:
        event = getattr(Review(memory, caller.actor), decision)(id)
    return then(url("review", **_kept(sent), did=decision, undo=str(event)))


@action("/review/all")
def decide_all(request: Asked) -> Redirect:
    """Everything that one rule drew, or that one session taught."""
    sent, caller = frame.form(request), permissions.of(request)
    verb, rule, session = sent.get("decision", ""), sent.get("rule", ""), sent.get("session", "")
    if verb not in ("promote", "reject") or not (rule or session):
        raise bad("choose a rule or a session, and what to do")
    with reading(request) as memory:
        holder = frame.holder(request, memory, sent.get("project"))
        ids = [one.id for one in browse.of_queue(memory, project=holder, rule=rule, session=session, limit=_ALL)]
        for id in ids:
            may_decide(memory, caller, id)
    about = f"Deciding on {frame.count(len(ids), 'candidate')}"
    _begin_many(request, about, partial(_decide_each, caller.actor, verb, ids, f"all of {rule or session}"))
    return then(url("review", project=sent.get("project")))


def _begin_many(request: Asked, about: str, act: Act) -> None:
    if not begin(pool(request).home, "review", about, act, patience=_PATIENCE):
        raise Refused(HTTPStatus.CONFLICT, "many are being decided on: try again when that is done")


def _decide_each(
    actor: str, verb: str, ids: list[str], why: str, memory: Hardwon, progress: Progress
) -> tuple[str, list[int]]:
    events = []
    for number, id in enumerate(ids):
        progress("decided", number, len(ids))
        events.append(getattr(Review(memory, actor), verb)(id, why=why))
    return f"{_DONE[verb]}: {frame.count(len(events), 'lesson')}.", events


def _undo_each(actor: str, events: list[int], memory: Hardwon, progress: Progress) -> tuple[str, None]:
    for number, event in enumerate(reversed(events)):
        progress("undone", number, len(events))
        Review(memory, actor).undo(event)
    return f"{frame.count(len(events), 'decision')} undone.", None


@action("/review/undo")
def undo(request: Asked) -> Redirect:
    """The last decision, or all of the last many."""
    sent, caller = frame.form(request), permissions.of(request)
    caller.need_whole_store()
    numbers = frame.events(sent.get("event", ""))
    if len(numbers) > PER_PAGE:
        _begin_many(request, "Undoing", partial(_undo_each, caller.actor, numbers))
    else:
        with pool(request).writing() as memory:
            _undo_each(caller.actor, numbers, memory, lambda *_: None)
    if sent.get("back") in _LISTS:
        return then(url(sent["back"], **frame.kept(sent, *_FILTERS)))
    return then(url("review", **_kept(sent), at=sent.get("at", "")))


_LISTS = ("lessons", "failures", "journal", "projects")
_FILTERS = ("q", "project", "kind", "status", "fix", "period", "whose", "outcome", "run")
"""Lists that are edited many at once, and their filters."""


@action("/review/settle")
def settle(request: Asked) -> Redirect:
    """Which of the lessons that contradict each other holds; none: all of them stand."""
    sent, caller = frame.form(request), permissions.of(request)
    caller.need_whole_store()
    with pool(request).writing() as memory:
        Review(memory, caller.actor).settle(sent.get("conflict", ""), sent.get("keep", ""))
    return then(url("review", **_kept(sent)))


@action("/review/{id:str}")
def decide_candidate(request: Asked, id: Annotated[str, Parameter(max_length=200)]) -> Redirect:
    sent, caller = frame.form(request), permissions.of(request)
    verb = sent.get("decision", "")
    with pool(request).writing() as memory:
        found = may_decide(memory, caller, id)
        review = Review(memory, caller.actor)
        events = []
        if verb == "edit":
            text = sent.get("text", "").strip()
            changes: dict[str, Any] = {"kind": sent["kind"]} if sent.get("kind") in KINDS else {}
            if text != found.lesson.text or changes.get("kind", found.lesson.kind) != found.lesson.kind:
                events.append(review.edit(id, text=text, **changes))
            events.append(review.promote(id))
        elif verb == "merge":
            may_decide(memory, caller, sent.get("into", ""))
            events.append(review.merge(id, sent.get("into", "")))
        elif verb in ("promote", "reject"):
            events.append(getattr(review, verb)(id))
        else:
            raise bad("no such decision")
    return then(url("review", **_kept(sent), at=sent.get("next", ""), did=verb, undo=".".join(map(str, events))))


def _kept(sent: Any) -> dict[str, str]:
    """What the queue is limited to, on the next page as well."""
    return frame.kept(sent, "project", "rule", "session")


router = Router(
    "/",
    route_handlers=[
        listed,
        blank,
        add,
        decide_many,
        shown,
        decide,
        candidate,
        decide_all,
        decide_said,
        decide_fix,
        undo,
        settle,
        decide_candidate,
    ],
)
