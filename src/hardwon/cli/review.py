"""Deciding on what waits, what was done, and taking it back: `review`, `history`, `undo`."""

from __future__ import annotations

import sys
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwon.cli.app import (
    Everywhere,
    Json,
    ProjectOption,
    asked_again,
    count,
    iso,
    need_known,
    of_here,
    print_json,
    project_here,
    room_of_tables,
    rows_that_fit,
    say,
    short,
    shown,
    table,
)
from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.review import Conflict, Pending
    from hardwon.model.nouns import Event
    from hardwon.store.failures import FailureRow, FixRow


SAID_SHOWN = 20
_LED_IN = 20
_EVENTS_SHOWN = 50
_EVENTS_LOOKED_AT = 200
_LINES_BELOW = 5
"""Of a screen: what is said below a table, and the prompt."""
_WIDE = 120
"""From here on, what may have helped has a column of its own; below, it stands under its error."""
_NOBODY = ("harvest", "decay")
"""Who changes things by themselves."""
_DONE = {"promote": "approved", "reject": "rejected"}


def review(
    project: ProjectOption = None,
    everywhere: Everywhere = False,
    kind: Annotated[str | None, typer.Option(help="Only lessons of this kind.")] = None,
    rule: Annotated[str | None, typer.Option(help="Only lessons found by this rule; see `hardwon rules`.")] = None,
    trust: Annotated[str | None, typer.Option(help="Only lessons with this trust: claimed or untrusted.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List what is waiting, best first; in a pipe, too.")] = False,
    promote: Annotated[
        list[str] | None,
        typer.Option(
            "--approve", "--promote", help="Approve this lesson, or fix (`hardwon why` of a failure shows its id)."
        ),
    ] = None,
    reject: Annotated[list[str] | None, typer.Option(help="Reject this lesson or fix.")] = None,
    reinforce: Annotated[
        list[str] | None, typer.Option(help="This lesson proved useful: raise its confidence a step.")
    ] = None,
    promote_all: Annotated[
        bool, typer.Option("--approve-all", "--promote-all", help="Approve everything selected by --project, --kind, …")
    ] = False,
    reject_all: Annotated[
        bool, typer.Option("--reject-all", help="Reject everything selected by --project, --kind, …")
    ] = False,
    conflicts: Annotated[
        bool, typer.Option("--conflicts", help="List the lessons that contradict each other.")
    ] = False,
    keep: Annotated[list[str] | None, typer.Option(help="Resolve a contradiction: keep this lesson.")] = None,
    both: Annotated[list[str] | None, typer.Option(help="Resolve a contradiction: keep both lessons.")] = None,
    said: Annotated[
        bool,
        typer.Option(
            "--said", help="Go through typed sentences that sound like rules; in a pipe or with --list, list."
        ),
    ] = False,
    keep_said: Annotated[
        list[str] | None, typer.Option(help="Make a lesson of this sentence (an id from --said).")
    ] = None,
    drop_said: Annotated[list[str] | None, typer.Option(help="This sentence is no rule: it waits no more.")] = None,
    why: Annotated[str, typer.Option(help="The reason, for the history.")] = "",
    json: Json = False,
) -> None:
    """Approve or reject lessons and fixes that are waiting for review.

    In a project's folder those of that project, with --everywhere or --json those of all projects.
    In a terminal you go through them one by one; with --said through the best 20 first, those of this folder's project
    before others. Contradictions come first: a number keeps one lesson, b keeps both.
    Then the other lessons and the fixes: y approves, n rejects, w rejects and asks why, e edits a lesson, m merges it,
    s skips, u undoes the last decision, q quits.
    Every decision is recorded (`hardwon history`) and can be undone (`hardwon undo`).

    Example: hardwon review --reject L3fa9 --why "true of the old build only"
    """
    from hardwon.api import Hardwon
    from hardwon.model.lesson import KINDS, TRUSTS

    need_known("kind", kind, KINDS)
    need_known("trust", trust, TRUSTS)
    if promote_all and reject_all:
        raise typer.BadParameter("pass --approve-all or --reject-all, not both")
    with Hardwon() as memory:
        if keep_said or drop_said:
            _decide_on_said(memory, keep_said or [], drop_said or [], why, json)
            return
        if said:
            _typed(memory, project, json, list_=list_)
            return
        if reinforce:
            steps = [memory.lessons.reinforce(memory.store.resolve(id), why=why) for id in reinforce]
            said_ = [f"{short(memory, one.lesson)} {one.before:.2f} → {one.after:.2f}" for one in steps]
            print_json(steps) if json else say("\n".join(said_))
            return
        holder, only_here = of_here(memory, project, everywhere=everywhere or json)
        pending = memory.review.queue(project=holder, kind=kind, rule=rule, trust=trust)
        if rule and not pending:
            from hardwon.harvest.rules.catalogue import RULES

            need_known("rule", rule, [known.name for known in RULES])
        if promote or reject:
            done = [_decide(memory, id, "promote", why) for id in promote or []]
            done += [_decide(memory, id, "reject", why) for id in reject or []]
            _told(memory, done, json)
        elif keep or both:
            settled = [_settle(memory, id, "keep", why) for id in keep or []]
            _told_settled(memory, settled + [_settle(memory, id, "both", why) for id in both or []], json)
        elif conflicts:
            _contradictions(memory, memory.review.conflicts(project=holder), json)
        elif promote_all or reject_all:
            if not (project or kind or rule or trust):
                raise HardwonError("no filter given: pass --project, --kind, --rule or --trust")
            verb = "promote" if promote_all else "reject"
            _told(memory, [_decide(memory, entry.lesson.id, verb, why) for entry in pending], json)
        else:
            fixes = [] if kind or rule or trust else _waiting_fixes(memory, holder)
            disputed = memory.review.conflicts(project=holder)
            if list_ or json or not (sys.stdin.isatty() and sys.stdout.isatty()):
                _listed(memory, pending, fixes, json, project)
            elif pending or fixes or disputed:
                from hardwon.cli.review_screen import Screen

                Screen(memory, [entry.lesson.id for entry in pending], disputed, fixes).run()
                if more := said_too(memory, project):
                    say(more)
            else:
                say(_nothing(memory, project))
        if only_here and not (promote or reject or keep or both):
            say(only_here)


def _waiting_fixes(memory: Hardwon, project: str | None) -> list[tuple[FailureRow, FixRow]]:
    from hardwon.briefing.asked import waiting_fixes

    return waiting_fixes(memory.reading(), memory.project(project)) if memory.exists else []


def said_too(memory: Hardwon, project: str | None) -> str:
    """A line about the sentences that wait besides; empty where none does."""
    said = memory.review.count_said(project=project)
    asked = asked_again({"--project": project})
    return f"{likeliest(said)}: `hardwon review --said{asked}`." if said else ""


def likeliest(said: int) -> str:
    """How many sentences somebody should look at; of many, no more than are worth it."""
    if said > SAID_SHOWN:
        return f"{SAID_SHOWN} sentences of yours, the likeliest rules"
    return f"{count(said, 'sentence')} of yours that may be a rule"


def _nothing(memory: Hardwon, project: str | None) -> str:
    return " ".join(filter(None, ("Nothing is waiting for review.", said_too(memory, project))))


def _decide_on_said(memory: Hardwon, keep: list[str], drop: list[str], why: str, json: bool) -> None:
    from hardwon.api.connection import full_id

    def whole(id: str) -> str:
        source, _, place = id.partition("/")
        return f"{full_id(memory, source, sessions=True)}/{place}"

    made = [memory.review.keep_said(whole(id), why=why) for id in keep]
    events = [memory.review.drop_said(whole(id), why=why) for id in drop]
    told = [f"{short(memory, id)} will be told from now on; to undo: `hardwon undo {short(memory, id)}`" for id in made]
    told += [f"{id} rejected; to undo: `hardwon undo {event}`" for id, event in zip(drop, events, strict=True)]
    print_json(made + events) if json else say("\n".join(told))


def _typed(memory: Hardwon, project: str | None, json: bool, *, list_: bool) -> None:
    waiting = memory.review.said(project=project, limit=None)
    if not (json or project) and (here := project_here(memory)):
        of_here = {one.id for one in memory.review.said(project=here, limit=None)}
        waiting.sort(key=lambda one: (one.skipped, one.id not in of_here))
    if json:
        print_json(waiting)
    elif waiting and not list_ and sys.stdin.isatty() and sys.stdout.isatty():
        from hardwon.cli.review_screen import SaidScreen

        SaidScreen(memory, waiting).run()
    elif waiting:
        in_projects = _projects_of(memory, [one.id.partition("/")[0] for one in waiting[:SAID_SHOWN]])
        rows = [
            (f"{short(memory, source)}/{place}", shown(one.text, 200), in_projects.get(source, ""))
            for one in waiting[:SAID_SHOWN]
            for source, _, place in [one.id.partition("/")]
        ]
        columns = 3 if len({row[2] for row in rows}) > 1 else 2  # whose they are, where that differs
        headings, cells = ("ID", "TYPED", "PROJECT")[:columns], [row[:columns] for row in rows]
        kept = rows_that_fit(headings, cells, besides=_LINES_BELOW)
        table(headings, cells[:kept])
        left = f"{len(rows) - kept} more: in a pipe (`| less`). " if len(rows) > kept else ""
        if len(waiting) > len(rows):
            left += f"{len(waiting) - len(rows)} less likely ones are left out (`--json` lists all). "
        say(f"\n{left}To make one a lesson: `hardwon review --keep-said ID`; it is none: `--drop-said ID`.")
    else:
        say("No typed sentence is waiting.")


def _projects_of(memory: Hardwon, sessions: list[str]) -> dict[str, str]:
    """Session → the name of its project."""
    from hardwon.store import projects

    names = projects.names(memory.reading())
    return {id: names.get(memory.sessions.get(id).session.project, "") for id in dict.fromkeys(sessions)}


def _settle(memory: Hardwon, id: str, verb: str, why: str) -> dict[str, Any]:
    full = memory.store.resolve(id)
    step = memory.review.keep if verb == "keep" else memory.review.both_stand
    return {"lesson": full, "decision": verb, "conflicts": step(full, why=why)}


def _told_settled(memory: Hardwon, done: list[dict[str, Any]], json: bool) -> None:
    if json:
        print_json(done)
        return
    for one in done:
        what = (
            "kept; the lessons that contradict it are retired"
            if one["decision"] == "keep"
            else "kept, together with the others"
        )
        say(f"{short(memory, one['lesson'])} {what}")


def _brief(conflict: Conflict) -> list[dict[str, Any]]:
    return [
        {
            "id": one.id,
            "kind": one.kind,
            "text": one.text,
            "trust": one.trust,
            "project": one.project,
            "last_confirmed": iso(one.last_confirmed),
        }
        for one in conflict.lessons
    ]


def _contradictions(memory: Hardwon, found: list[Conflict], json: bool) -> None:
    if json:
        print_json([{"id": each.id, "since": iso(each.since), "lessons": _brief(each)} for each in found])
    elif found:
        rows = [
            (f"{at}", short(memory, one.id), one.trust, one.text)
            for at, each in enumerate(found, 1)
            for one in each.lessons
        ]
        table(("", "ID", "TRUST", "LESSON"), rows)
    else:
        say("No lessons contradict each other.")


def _decide(memory: Hardwon, id: str, verb: str, why: str) -> dict[str, Any]:
    full = memory.store.resolve(id)
    step = memory.review.promote if verb == "promote" else memory.review.reject
    return {"lesson": full, "decision": verb, "event": step(full, why=why)}


def _told(memory: Hardwon, done: list[dict[str, Any]], json: bool) -> None:
    if json:
        print_json(done)
        return
    for one in done:
        say(f"{short(memory, one['lesson'])} {_DONE[one['decision']]}; to undo: `hardwon undo {one['event']}`")
    if not done:
        say("No lesson matches.")


def _listed(
    memory: Hardwon,
    pending: list[Pending],
    fixes: list[tuple[FailureRow, FixRow]],
    json: bool,
    project: str | None,
) -> None:
    from hardwon.briefing.asked import why_not_told
    from hardwon.text.shown import remedy

    names = {each.id: each.name for each in memory.store.projects()} if pending and not json else {}
    if json:
        lessons = [
            {
                "id": entry.lesson.id,
                "score": entry.score,
                "kind": entry.lesson.kind,
                "text": entry.lesson.text,
                "trust": entry.lesson.trust,
                "rule": entry.lesson.rule,
                "project": entry.lesson.project,
            }
            for entry in pending
        ]
        of_fixes = [
            {
                "id": fix.id,
                "score": 0.0,
                "kind": "fix",
                "text": remedy(fix.steps, fix.succeeded_as),
                "trust": "untrusted",
                "rule": "",
                "project": fix.projects,
                "failure": row.id,
                "untrusted": fix.untrusted,
            }
            for row, fix in fixes
        ]
        print_json([*lessons, *of_fixes])
        return
    if pending:
        rows = [
            (short(memory, e.lesson.id), e.lesson.kind, names.get(e.lesson.project, ""), e.lesson.text) for e in pending
        ]
        say(f"{count(len(rows), 'lesson')}:")
        table(("ID", "KIND", "PROJECT", "LESSON"), rows, spare=(1, 2))
    why = why_not_told(memory.reading(), [fix for _, fix in fixes]) if fixes else {}
    told = [(short(memory, fix.id), row.error, remedy(fix.steps, fix.succeeded_as), why[fix.id]) for row, fix in fixes]
    if fixes:
        say(f"{chr(10) if pending else ''}{count(len(fixes), 'fix', 'fixes')}:")
    if fixes and room_of_tables() < _WIDE:
        lines = [
            ((id, error), ("", f"may have helped: {fix}"), ("", f"not told because: {why}"))
            for id, error, fix, why in told
        ]
        table(("ID", "ERROR"), [*chain.from_iterable(lines)])
    elif fixes:
        table(("ID", "ERROR", "MAY HAVE HELPED", "NOT TOLD BECAUSE"), told)
    if pending or fixes:
        one = short(memory, pending[0].lesson.id if pending else fixes[0][1].id)
        say(
            f"\nTo decide: `hardwon review` in a terminal, or `hardwon review --approve {one}`, `--reject {one}`. "
            f"Where it comes from: `hardwon why {one}`"
        )
        if more := said_too(memory, project):
            say(more)
    else:
        say(_nothing(memory, project))


# What was done, and taking it back: `history`, `undo`.


def history(
    id: Annotated[str, typer.Argument(help="The id of an item, or its beginning. Default: the latest changes.")] = "",
    limit: Annotated[
        int | None, typer.Option(help="Most rows. Default: 50, or as many as fit the screen.", min=1)
    ] = None,
    json: Json = False,
) -> None:
    """Show who changed a lesson, when and why: without an id what was done last, the newest first.

    Example: hardwon history L3fa9
    """
    from hardwon.api import Hardwon
    from hardwon.api.connection import full_id

    with Hardwon() as memory:
        most = limit or _EVENTS_SHOWN
        events = memory.review.history(full_id(memory, id, sessions=True) if id else "", limit=most + (limit is None))
    if json:
        print_json([_event(event) for event in events[: None if id else most]])
        return
    rows = [
        (event.number, f"{event.at:%Y-%m-%d %H:%M}", event.actor, event.action, short(memory, event.item), _said(event))
        for event in events[:most]
    ]
    if rows:
        headings = ("EVENT", "WHEN", "WHO", "WHAT", "ITEM", "CHANGE")
        look: dict[str, Any] = {"right": (0,), "spare": (2,)}
        kept = len(rows) if id or limit else rows_that_fit(headings, rows, besides=2, **look)
        table(headings, rows[:kept], **look)
        if kept < len(events) and not id and not limit:
            say(f"Older ones: `hardwon history --limit {_EVENTS_SHOWN}`")
    else:
        say("No changes are recorded.")


def undo(
    event: Annotated[
        str,
        typer.Argument(
            help="The event's number, as `hardwon history` shows it; or an id, for its last change.", show_default=False
        ),
    ] = "",
    why: Annotated[str, typer.Option(help="The reason, for the history.")] = "",
    json: Json = False,
) -> None:
    """Undo one change. The undo is recorded too, and can itself be undone.

    Example: hardwon undo 42
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory:
        if not event:
            raise HardwonError(_say_which(memory))
        undone = int(event) if event.isdecimal() else _last_change(memory, event)
        number = memory.review.undo(undone, why=why)
    if json:
        print_json({"undone": undone, "event": number})
    else:
        say(f"Event {undone} is undone. To redo it: `hardwon undo {number}`.")


def _say_which(memory: Hardwon) -> str:
    last = next((one for one in memory.review.history(limit=_EVENTS_LOOKED_AT) if one.actor not in _NOBODY), None)
    if last is None:
        return "nothing was changed by hand yet"
    what = f"{last.action} {short(memory, last.item)}"
    return f"say which change: the last one was {what}, `hardwon undo {last.number}`; `hardwon history` lists more"


def _last_change(memory: Hardwon, id: str) -> int:
    events = memory.review.history(memory.store.resolve(id))
    taken_back = {event.undoes for event in events}
    left = [event.number for event in events if event.undoes is None and event.number not in taken_back]
    if not left:
        raise HardwonError(f"nothing was changed about {id}")
    return left[-1]


def _said(event: Event) -> str:
    from hardwon.cli.why import LEARNED_FROM

    if event.action == "create" and event.after.get("text"):
        learned = LEARNED_FROM.get(event.why.removeprefix("rule "), event.why)
        waits = "waits for review" if event.after.get("status") == "candidate" else ""
        about = "; ".join(filter(None, (learned and f"from {learned}", waits)))
        return f"{shown(str(event.after['text']))}{f' ({about})' if about else ''}"
    parts = []
    for name, value in event.after.items():
        was, now = (_in_words(name, one) for one in (event.before.get(name) or "", value))
        at = _first_difference(was, now)
        before = f"{shown(was[at:], 40)} → " if was else ""
        parts.append(f"{name}: {'…' if at else ''}{before}{shown(now[at:])}")
    if event.undoes is not None:
        parts.insert(0, f"undoes {event.undoes}")
    return "; ".join(parts) + (f" ({event.why})" if event.why else "")


def _first_difference(was: str, now: str) -> int:
    """Where to begin, so that what changed can be seen: a word or two before it, if it comes late."""
    same = next((at for at, (one, other) in enumerate(zip(was, now, strict=False)) if one != other), len(was))
    return now.rfind(" ", 0, same - _LED_IN) + 1 if same > 2 * _LED_IN else 0


def _in_words(name: str, value: object) -> str:
    from hardwon.text.shown import said_status

    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return said_status(str(value)) if name == "status" else str(value)


def _event(event: Event) -> dict[str, Any]:
    import msgspec

    return {**msgspec.structs.asdict(event), "at": iso(event.at)}
