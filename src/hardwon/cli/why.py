"""Where a lesson, a failure, an attempt or a session comes from: `why`."""

from __future__ import annotations

import re
from itertools import chain
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwon.cli.app import (
    ENDED,
    Json,
    count,
    green,
    iso,
    print_json,
    red,
    room,
    say,
    short,
    short_path,
    shown,
    sparkline,
)
from hardwon.cli.bootstrap import lesson_fields, why_untold
from hardwon.cli.failures import BINS, best, described, error_of, place, row_of, wasted
from hardwon.cli.table import cut
from hardwon.clock import microseconds, now, to_microseconds
from hardwon.errors import HardwonError, NotFound
from hardwon.text.shown import ago, apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from hardwon.api import Hardwon
    from hardwon.api.failing import Failing
    from hardwon.model.nouns import Failure, Fix, FixEvidence

_CHARACTERS_PER_COMMIT = 12
_COMMITS_SHOWN = 3
_LONGEST_CALL = 1000
_SAYING_NOTHING = ("generic", "usage")
"""Families whose names help nobody."""
_PLACES_SHOWN, _MOST_PAIRS_SHOWN = 2, 3
_TAUGHT_SHOWN = 5
"""Of the failures of a session, and of its lessons."""
_TO_READ_ONE = "  To read one: `hardwon inspect SESSION --message NUMBER`"
_STATUSES = {
    "candidate": "waits for review",
    "active": "in use",
    "superseded": "replaced by a newer one",
    "invalid": "rejected",
    "archived": "no longer used",
}
LEARNED_FROM = {
    "asked-to-keep": "what the user asked to be remembered",
    "user-directive": "what the user wants always, never, or instead",
    "user-correction": "what the user said after stopping the agent",
    "users-language": "the language that the user writes",
    "said-again": "what the user had to say more than once",
    "agent-decision": "an agent's words on what was decided",
    "fixed-by-command": "a command that failed and then worked",
    "missing-command": "a program that several sessions called and that is not there",
    "large-file": "a file that several sessions could not read in one piece",
    "edited-together": "files that change together",
    "verified-by-command": "what a command showed",
    "distilled": "what a model read in sessions",
    "remember": "an agent's proposal",
}
"""Rule → what it draws lessons from. Not those of the catalogue, which takes longer to load than all else here."""
_OF_USERS = ("user", "asked", "said")
"""How the rules are called that draw on what people type."""
_REPEATED = {"tool": "a command's output", "web": "a web page", "file": "a file"}
_OF_TOOLS = frozenset(
    "fixed-by-command missing-command refused-command large-file edited-together verified-by-command".split()
)
"""The rules that quote a tool's own answer."""
_ANSWERED = {"tool": "the tool answered", "web": "a web page said", "file": "a file said"}
_SAID = {"foreign": "somebody else said", "unsure": "the user, or a command's output under the user's heading, said"}
_DOUBTS = {
    "corroborated": "several sessions agree",
    "claimed": "nobody has confirmed it",
    "untrusted": "needs a person's yes",
}


def why(
    id: Annotated[
        str,
        typer.Argument(help="A lesson, failure, attempt or session: the beginning of its id.", show_default=False),
    ],
    all: Annotated[bool, typer.Option("--all", help="Every place, not only the newest.")] = False,
    json: Json = False,
) -> None:
    """Show where a lesson, a failure or an attempt comes from: session, message and quote.

    Example: hardwon why F3fa9
    """
    from hardwon.api import Hardwon
    from hardwon.api.connection import full_id

    if " " in id:
        raise NotFound(f"{shown(id)} is no id. In which sessions a command ran: `hardwon how {quote(id)}`")
    with Hardwon() as memory:
        full = full_id(memory, id, sessions=True)
        if full.startswith("S"):
            _one_session(memory, full, all=all, json=json)
        elif full.startswith("A"):
            _attempt(memory, full, json=json)
        elif full.startswith(("F", "X")):
            tell_failure(memory, full if full.startswith("F") else _failure_of(memory, full), all=all, json=json)
        else:
            _lesson(memory, full, all=all, json=json)


def _failure_of(memory: Hardwon, fix: str) -> str:
    return str(memory.reading().query("SELECT failure FROM fix WHERE id = ?", (fix,))[0][0])


def _lesson(memory: Hardwon, id: str, *, all: bool, json: bool) -> None:
    answer = lesson_fields(memory, id)
    sources = [_from_session(memory, source) for source in answer["sources"]]
    if json:
        print_json(answer)
        return
    own = short(memory, id)
    say(f"{own}  {answer['kind']}, {_STATUSES[answer['status']]}, {answer['confidence']:.0%} sure")
    say(f"  {shown(str(answer['text']))}\n  learned from: {learned_from(answer['rule'], answer['trust'])}")
    failed = answer["failure"] and short(memory, answer["failure"])
    if untold := why_untold(memory, id, answer["project"], answer["status"]):
        untold = untold.replace(answer["failure"] or id, failed or own)
        say(f"  not told at the start of a session: {untold}")
    if failed:
        say(f"  what failed and what then worked: `hardwon why {failed}`")
    newest = sorted(sources, key=lambda source: str(source["at"]), reverse=True)
    told = newest if all else newest[:_PLACES_SHOWN]
    for source in told:
        _print_source(memory, source, f"{who_said(source['origin'], answer['rule'])}: ")
    say()
    if len(told) < len(sources):
        say(f"  all {len(sources):,} places: `hardwon why {own} --all`")
    if any(source["path"] for source in told):
        say(_TO_READ_ONE)
    if answer["status"] in ("active", "candidate"):
        approve = f"Right? `hardwon review --approve {own}`. " if answer["status"] == "candidate" else ""
        say(f"  {approve}Wrong? `hardwon review --reject {own}`")


def learned_from(rule: str, trust: str) -> str:
    """What a lesson was drawn from, and who stands for it where that is in doubt."""
    by_hand = "a person's own words" if trust == "human" else "what was imported"
    what = LEARNED_FROM.get(rule) or by_hand
    approved = trust == "human" and what.startswith("an agent")
    doubt = "approved by a person" if approved else _DOUBTS.get(trust, "")
    return f"{what} ({doubt})" if doubt else what


def who_said(origin: str, rule: str = "") -> str:
    """Who spoke, and what they repeated."""
    if origin in _ANSWERED and rule in _OF_TOOLS:
        return _ANSWERED[origin]
    if origin in _REPEATED:
        return f"the {'user' if rule.startswith(_OF_USERS) else 'agent'} repeated {_REPEATED[origin]}"
    return _SAID.get(origin, f"the {origin} said")


def age(at: datetime | str | None) -> str:
    """How long ago something was, as every list says it."""
    return ago((microseconds(at) or 0) if isinstance(at, str) else to_microseconds(at), now())


def _attempt(memory: Hardwon, id: str, *, json: bool) -> None:
    from hardwon.store import attempts

    found = memory.journal.get(attempts.numbers(memory.reading(), [id])[id])
    by = [event.actor for event in memory.review.history(id) if event.action in ("log", "reflect")]
    usual = {"session": "a session", "import": "an import"}.get(found.source, "the journal")
    who = ", ".join(dict.fromkeys(by)) or usual
    if json:
        import msgspec

        fields = {name: value for name, value in msgspec.structs.asdict(found).items() if name != "embedding"}
        print_json({**fields, "at": iso(found.at), "written_by": who})
        return
    because = f" ({found.evidence})" if found.evidence else ""
    ended = "how it ended is not known" if found.outcome.value == "unknown" else found.outcome.value
    say(f"{short(memory, id)}  attempt {found.id}, {ended}{because}, recorded by {shown(who)}")
    say(f"  {shown(found.task)}")
    for name, text in (("tried", found.approach), ("because", found.analysis), ("learned", found.reflection)):
        if text:
            say(f"  {name}: {shown(text, 300)}")
    place = f"session {found.session}" if found.session else f"run {found.run}" if found.run else "hardwon journal"
    say(f"\n  {age(found.at)}  {found.agent}  {shown(place)}; all of it: `hardwon journal show {found.id}`")


def _one_session(memory: Hardwon, id: str, *, all: bool, json: bool) -> None:
    from hardwon.store import projects, sessions

    found = memory.sessions.get(id).session
    if json:
        print_json(found)
        return
    calls = f"{count(found.tool_calls, 'call')}, {count(found.errors, 'error')}"
    ended = "interrupted" if sessions.stopped(memory.reading(), [id]) else found.outcome
    project = projects.names(memory.reading()).get(found.project, "")
    of = f"{found.agent} in {shown(project)}" if project else found.agent
    say(f"{short(memory, id)}  session of {of}, {age(found.started_at)}, {calls}, {ENDED[ended]}")
    say(f"  {shown(found.task, 300) or '(no words of a person)'}\n    {short_path(found.path)}")
    if told := _session(memory, id)[1]:
        say(f"    {told}")
    _tell_taught(memory, id, all=all)
    try:
        memory.resume(id)
        on = f"To continue it: `hardwon resume {short(memory, id)}`. "
    except HardwonError:
        on = ""
    say(f"\n  {on}To look into it: `hardwon inspect {short(memory, id)}`.")


def _tell_taught(memory: Hardwon, id: str, *, all: bool) -> None:
    """What failed in a session, with what worked there, and the lessons drawn from it."""
    from hardwon.store import failures, lessons

    db = memory.reading()
    here = {str(fix) for (fix,) in db.query("SELECT fix FROM fix_evidence WHERE source = ?", (id,))}
    met = [memory.failures.get(one).failure for one in failures.of_source(db, id)]
    fixes = {row.id: [fix for fix in _worth_telling(row, all=all) if fix.id in here] for row in met}
    met.sort(key=lambda row: (row.family == "agent", not fixes[row.id], -row.sessions, row.id))
    known = [memory.lessons.get(one).lesson for one in sorted(lessons.taught_by(db, id))]
    failed = [
        [(row.id, error_of(row)), *((fix.id, f"  {_worked(fix)}: {shown(fix.text)}") for fix in fixes[row.id])]
        for row in met
    ]
    learned = [[(one.id, shown(one.text))] for one in known]
    for what, found in (("What failed", failed), ("Lessons drawn from it", learned)):
        say(f"\n  {what}:{'' if found else ' none.'}")
        for own, text in chain.from_iterable(found if all else found[:_TAUGHT_SHOWN]):
            left = f"    {short(memory, own)}{' ' * (len(text) - len(text.lstrip()))}  "
            told = text.lstrip() if all else cut(text.lstrip(), room() - len(left))
            say(left + told, style=green if own.startswith("X") else str)
        if not all and len(found) > _TAUGHT_SHOWN:
            say(f"    all {len(found)}: `hardwon why {short(memory, id)} --all`")


def tell_failure(memory: Hardwon, id: str, *, all: bool, json: bool) -> None:
    """All that is known of a failure."""
    from hardwon.api import convert
    from hardwon.api.failing import EVER, Failing, row_with
    from hardwon.store import failures as stored
    from hardwon.store.pages import Counted
    from hardwon.text.shown import kind_of_error

    found = memory.failures.get(id)
    row, met = found.failure, found.occurrences
    if json:
        if all:
            met = [*map(convert.occurrence, stored.occurrences(memory.reading(), id, limit=row.occurrences))]
        seen = [_from_session(memory, place(each)) for each in met]
        print_json({**described(row), **wasted(memory.failures.costs([row.id])[row.id]), "seen": seen})
        return
    listed = row_with(memory.reading(), Counted(None, EVER), row.id) or Failing(row, [])
    whole, spent = listed.failure, memory.failures.costs(listed.ids).values()
    if all:
        ids = listed.ids
        places = [one for id in ids for one in stored.occurrences(memory.reading(), id, limit=whole.occurrences)]
        met = sorted(map(convert.occurrence, places), key=lambda one: one.at, reverse=True)
    kind = "" if row.family in _SAYING_NOTHING else f", {kind_of_error(row.family)}"
    say(f"{short(memory, row.id)}  failure{kind}\n  {shown(row_of(listed))}")
    times, first = [at for each in spent for at in each.times], min(one.first_seen for one in (row, *listed.alike))
    drawn = f"  {sparkline(times, first, whole.last_seen, BINS)}" if whole.occurrences > 1 else ""
    say(
        f"  {_often(whole)}, {_between(first, whole.last_seen)}{drawn}  "
        f"lost: {count(sum(each.tokens for each in spent), 'token')}"
    )
    if listed.alike:
        _tell_alike(memory, row, listed, all=all)
    if row.family == "hook":
        say(
            "  What fixes it is not kept, since a hook fails for many reasons: the errors below name them, and "
            "`hardwon search` finds what sessions did."
        )
    above = _tell_fixes(memory, row, whole, all=all)
    others = [each for each in met if (each.session, each.message_index) not in above]
    told = met if all else others[: max(_PLACES_SHOWN - len(above), 1)]
    for each in told:
        _print_source(memory, _from_session(memory, place(each)))
    say()
    if not all and len(told) + len(above) < whole.occurrences:
        say(f"  all {whole.occurrences:,} places: `hardwon why {short(memory, row.id)} --all`")
    say(_TO_READ_ONE)


def _between(first: datetime, last: datetime) -> str:
    """`28 May – 15 June 2025 (17 months ago)`; of one day that day."""
    begin = f"{first.day} {first:%B}{f' {first.year}' if first.year != last.year else ''} – "
    return f"{begin if first.date() != last.date() else ''}{last.day} {last:%B %Y} ({age(last)})"


def _often(row: Failure) -> str:
    return f"{count(row.occurrences, 'time')} in {count(row.sessions, 'session')}"


def _worked(fix: Fix) -> str:
    """How a fix did, in the words of the lists."""
    often = "" if not fix.confirmed else " once" if fix.confirmed == 1 else f" in {fix.confirmed:,} sessions"
    return f"{'may have helped' if _waits(fix) else 'worked'}{often}"


def _waits(fix: Fix) -> bool:
    return bool(fix.untrusted) and fix.status == "candidate"


def _worth_telling(row: Failure, *, all: bool) -> list[Fix]:
    """Without what may be chance, unless all is asked for."""
    from hardwon.briefing.asked import may_have_helped

    return [fix for fix in row.fixes if all or not _waits(fix) or may_have_helped(fix, row.command)]


def _tell_alike(memory: Hardwon, row: Failure, listed: Failing, *, all: bool) -> None:
    """Which of those that lists show as one row it is, and what fixed others where nothing fixed this one."""
    others = [one for one in listed.alike if one.id != row.id]
    say(f"  this one {_often(row)}, last met {age(row.last_seen)}: {shown(error_of(row))}")
    lead = f"  {len(others)} like it:"
    say(lead if all else f"{lead} {cut(', '.join(short(memory, one.id) for one in others), room() - len(lead) - 1)}")
    for one in others if all else ():
        say(f"    {short(memory, one.id)}  {_often(one)}: {shown(error_of(one))}")
    fix = None if row.fixes else best(listed.failure)
    if fix:
        say(f"  {_worked(fix)} for others of its kind: {shown(fix.text)}", style=green)


def _tell_fixes(memory: Hardwon, row: Failure, whole: Failure, *, all: bool) -> set[tuple[str, int]]:
    """What worked, each with its newest examples; returns where these failed: (session, message).

    `whole` is the row of the lists, in whose sessions it is counted.
    """
    from hardwon.model.failure import Step
    from hardwon.store.pages import came_back
    from hardwon.text.shown import remedy

    told: set[tuple[str, int]] = set()
    back = came_back(memory.reading(), [row.id]).get(row.id)
    together = {(fix.status, fix.text): fix for fix in whole.fixes}
    worth_telling = _worth_telling(row, all=all)
    for fix in worth_telling:
        waits = _waits(fix)
        in_lists = together.get((fix.status, fix.text), fix)
        of_these = f", {fix.confirmed:,} of them with this one" if in_lists.confirmed > fix.confirmed else ""
        again = f", failed again {fix.failed_again}x" if fix.failed_again else ""
        note = f"  [not told to agents: {fix.untrusted}]" if waits else ""
        say(f"  {_worked(in_lists)}{of_these}{again}: {shown(fix.text)}{note}", style=green)
        if back and back.told and fix.status == "active":
            say(f"    {back.who_was_told}.")
        for ends in newest_ends(fix, _MOST_PAIRS_SHOWN if all else 1):
            told.add((ends.session, ends.failing_message))
            for line in both_ends(memory, fix, ends):
                say(f"    {line}", style=red if line.startswith("failed ") else str)
        if waits:
            say(f"    to tell it: `hardwon review --approve {short(memory, fix.id)}`")
        else:
            say(f"    wrong? `hardwon review --reject {short(memory, fix.id)}`")
        for step in fix.avoid:
            say(f"    did not help: {shown(remedy([Step(step.action, step.what)], ''))}")
    if by_chance := len(row.fixes) - len(worth_telling):
        what = "thing that" if by_chance == 1 else "things that"
        say(f"  {by_chance} more {what} may have worked by chance: `hardwon why {short(memory, row.id)} --all`")
    return told


def newest_ends(fix: Fix, most: int) -> Sequence[FixEvidence]:
    """The newest sessions in which it worked, those with the same calls once."""
    examples = {(ends.failing, ends.passing): ends for ends in reversed(fix.evidence)}
    return [*examples.values()][: -most - 1 : -1]


def both_ends(memory: Hardwon, fix: Fix, ends: FixEvidence) -> Iterator[str]:
    """Lines: what failed, what was done, what then passed, and where."""
    from hardwon.model.failure import GOT_PAST

    both = shown(ends.failing), shown(ends.passing)
    most = min(4 * room(), _LONGEST_CALL)
    failed, passed = (one or shown(call, most) for one, call in zip(apart(*both, most), both, strict=True))
    own = short(memory, ends.session)
    yield f"failed    {own} message {ends.failing_message}: $ {failed}"
    for one in fix.steps:
        if one.action in ("run", "edit") and one.what not in ends.passing:
            yield f"between:  {shown(one.what, most)}"
    yield f"{'got past ' if ends.cause == GOT_PAST else 'passed   '} {own} message {ends.passing_message}: $ {passed}"
    try:
        when = age(memory.sessions.get(ends.session).session.started_at)
    except NotFound:
        when = ""  # an attempt
    if about := "; ".join(filter(None, (when, ends.cause))):
        yield f"          {about}"


def _from_session(memory: Hardwon, source: dict[str, Any]) -> dict[str, Any]:
    """A source, with what is known of the session that it is."""
    source["commits"], source["from"] = _session(memory, source["session"])
    return source


def _print_source(memory: Hardwon, source: dict[str, Any], said: str = "") -> None:
    where = source["path"] or source["session"]
    told = f", message {source['message']}" if source["path"] and not str(source["session"]).startswith("C") else ""
    of = f" of {short(memory, source['session'])}" if told else ""
    say(f"\n  {age(source['at'])}  {source['agent']}{told}{of}\n    {short_path(where)}")
    if source["from"]:
        say(f"    {source['from']}")
    if source.get("command"):
        say(f"    $ {shown(source['command'], 120)}")
    say(f"    {said}{shown(_unglued(source['quote']), 300)}")


def _unglued(quote: str) -> str:
    """Lines about the same file, each on its own: some were taken for one that a terminal had broken."""
    file = re.match(r"\S+?\.\w+(?=[:(]\d)", quote)
    return re.sub(rf"(?<=\w)(?={re.escape(file[0])}[:(]\d)", "\n", quote) if file else quote


def _session(memory: Hardwon, id: str) -> tuple[list[str], str]:
    """The commits of the session that a source is, and a line: whose it was, what it led to."""
    try:
        found = memory.sessions.get(id).session
    except NotFound:
        return [], ""  # an import, a document, somebody's own words
    said = ["somebody else's session"] if found.owner == "foreign" else []
    if found.subagent:
        said.append(f"its sub-agent {shown(found.subagent)}, whose messages are counted apart")
    if found.commits:
        said.append("committed " + ", ".join(sha[:_CHARACTERS_PER_COMMIT] for sha in found.commits[-_COMMITS_SHOWN:]))
    return list(found.commits), ", ".join(said)
