"""One candidate at a time, with its quote in context: yes, no, edit, merge, skip, undo."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Response, Router
from litestar.params import Parameter
from litestar.response import Redirect

from hardwon.api.review import Review
from hardwon.model.lesson import KINDS
from hardwon.serve import browse, permissions
from hardwon.serve.pages import frame
from hardwon.serve.pages.frame import action, page, then, url
from hardwon.serve.pages.transcripts import around
from hardwon.serve.resources.lessons import may_decide
from hardwon.serve.routes import Asked, ProjectName, bad, pool, reading

_QUEUE = 500
_DONE = {"promote": "Promoted", "reject": "Rejected", "edit": "Edited and promoted", "merge": "Merged"}
Choice = Annotated[str, Parameter(max_length=200)]


@page("/review")
def shown(
    request: Asked,
    project: ProjectName = None,
    rule: Choice = "",
    session: Choice = "",
    at: Choice = "",
    did: Choice = "",
    undo: Choice = "",
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
            length=len(ids),
            next=ids[place + 1] if place + 1 < len(ids) else "",
            before=ids[place - 1] if place else "",
            did=_DONE.get(did, ""),
            undo=undo if undo.replace(".", "").isdecimal() else "",
            edit=edit,
            kinds=KINDS,
            conflicts=memory.review.conflicts(project=holder),
        )


@action("/review/all")
def decide_all(request: Asked) -> Redirect:
    """Everything that one rule drew, or that one session taught."""
    sent, caller = frame.form(request), permissions.of(request)
    verb, rule, session = sent.get("decision", ""), sent.get("rule", ""), sent.get("session", "")
    if verb not in ("promote", "reject") or not (rule or session):
        raise bad("choose a rule or a session, and what to do")
    with pool(request).writing() as memory:
        holder = frame.holder(request, memory, sent.get("project"))
        review = Review(memory, caller.actor)
        events = []
        for one in browse.of_queue(memory, project=holder, rule=rule, session=session, limit=_QUEUE):
            may_decide(memory, caller, one.id)
            events.append(getattr(review, verb)(one.id, why=f"all of {rule or session}"))
    return then(url("review", project=sent.get("project"), did=verb, undo=".".join(map(str, events[-100:]))))


@action("/review/undo")
def undo(request: Asked) -> Redirect:
    """The last decision, or all of the last many."""
    sent, caller = frame.form(request), permissions.of(request)
    caller.need_whole_store()
    numbers = [int(part) for part in sent.get("event", "").split(".") if part.isdecimal() and len(part) < 16]
    with pool(request).writing() as memory:
        review = Review(memory, caller.actor)
        for number in reversed(numbers):
            review.undo(number)
    return then(url("review", **_kept(sent), at=sent.get("at", "")))


@action("/review/settle")
def settle(request: Asked) -> Redirect:
    """Which of the lessons that contradict each other holds; none: all of them stand."""
    sent, caller = frame.form(request), permissions.of(request)
    caller.need_whole_store()
    with pool(request).writing() as memory:
        Review(memory, caller.actor).settle(sent.get("conflict", ""), sent.get("keep", ""))
    return then(url("review", **_kept(sent)))


@action("/review/{id:str}")
def decide(request: Asked, id: Annotated[str, Parameter(max_length=200)]) -> Redirect:
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
    return {name: sent.get(name, "") for name in ("project", "rule", "session")}


router = Router("/", route_handlers=[shown, decide_all, undo, settle, decide])
