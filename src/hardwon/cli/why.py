"""Where a lesson, a failure, an attempt or a session comes from: `why`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwon.cli.app import (
    ENDED,
    Json,
    count,
    day,
    green,
    iso,
    last_met,
    print_json,
    say,
    short,
    short_path,
    shown,
    sparkline,
)
from hardwon.cli.bootstrap import lesson_fields, why_untold
from hardwon.cli.failures import BINS, best, described, error_of, place, wasted
from hardwon.errors import HardwonError, NotFound
from hardwon.text.shown import UNSURE, apart

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.failing import Failing
    from hardwon.model.nouns import Failure

_CHARACTERS_PER_COMMIT = 12
_COMMITS_SHOWN = 3
_CHARACTERS_PER_CALL = 160
_PLACES_SHOWN, _MOST_PAIRS_SHOWN, _ALIKE_SHOWN = 2, 3, 2
_TO_READ_ONE = "  To read one: `hardwon inspect SESSION --message NUMBER`"
_STATUSES = {
    "candidate": "waits for review",
    "active": "in use",
    "superseded": "replaced by a newer one",
    "invalid": "rejected",
    "archived": "no longer used",
}
_LEARNED_FROM = {
    "asked-to-keep": "what the user asked to be remembered",
    "user-directive": "what the user wants always, never, or instead",
    "user-correction": "what the user said after stopping the agent",
    "users-language": "the language that the user writes",
    "said-again": "what the user had to say in several sessions",
    "agent-decision": "an agent's words on what was decided",
    "fixed-by-command": "a command that failed and then worked",
    "missing-command": "a program that several sessions called and that is not there",
    "refused-command": "a command that the user refused in several sessions",
    "large-file": "a file that several sessions could not read in one piece",
    "edited-together": "files that change together",
    "verified-by-command": "what a command showed",
    "distilled": "what a model read in sessions",
    "remember": "an agent's proposal",
}
"""Rule → what it draws lessons from. Not those of the catalogue, which takes longer to load than all else here."""
_OF_USERS = ("user", "asked", "said")
"""How the rules are called that draw on what people type."""
_AFTER = {"tool": "a command had printed it", "web": "a web page had said it", "file": "a file had said it"}
_SAID = {"foreign": "somebody else said", "unsure": f"perhaps the user said ({UNSURE})"}
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

    with Hardwon() as memory:
        full = full_id(memory, id, sessions=True)
        if full.startswith("S"):
            _one_session(memory, full, json=json)
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
    say(f"{id}  {answer['kind']}, {_STATUSES[answer['status']]}, confidence {answer['confidence']:.2f}")
    say(f"  {shown(str(answer['text']))}\n  learned from: {learned_from(answer['rule'], answer['trust'])}")
    if untold := why_untold(memory, id, answer["project"], answer["status"]):
        say(f"  not told at the start of a session: {untold}")
    if answer["failure"]:
        say(f"  what failed and what then worked: `hardwon why {short(memory, answer['failure'])}`")
    told = sources if all else sources[:_PLACES_SHOWN]
    for source in told:
        _print_source(memory, source, f"{who_said(source['origin'], answer['rule'])}: ")
    say()
    _say_more(memory, id, len(sources) - len(told))
    if any(source["path"] for source in told):
        say(_TO_READ_ONE)
    if answer["status"] in ("active", "candidate"):
        say(f"  Wrong? `hardwon review --reject {short(memory, id)}`")


def learned_from(rule: str, trust: str) -> str:
    """What a lesson was drawn from, and who stands for it where that is in doubt."""
    by_hand = "a person's own words" if trust == "human" else "what was imported"
    what = _LEARNED_FROM.get(rule) or by_hand
    approved = trust == "human" and what.startswith("an agent")
    doubt = "approved by a person" if approved else _DOUBTS.get(trust, "")
    return f"{what} ({doubt})" if doubt else what


def who_said(origin: str, rule: str = "") -> str:
    """Who spoke; of what repeats an output, a page or a file, where it stood before."""
    if origin in _AFTER:
        return f"the {'user' if rule.startswith(_OF_USERS) else 'agent'} said, after {_AFTER[origin]}"
    return _SAID.get(origin, f"the {origin} said")


def _say_more(memory: Hardwon, id: str, more: int) -> None:
    if more > 0:
        say(f"  and {more:,} more: `hardwon why {short(memory, id)} --all`")


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
    say(f"{id}  attempt {found.id}, {ended}{because}, recorded by {shown(who)}")
    say(f"  {shown(found.task)}")
    for name, text in (("tried", found.approach), ("because", found.analysis), ("learned", found.reflection)):
        if text:
            say(f"  {name}: {shown(text, 300)}")
    place = f"session {found.session}" if found.session else f"run {found.run}" if found.run else "hardwon journal"
    say(f"\n  {iso(found.at)}  {found.agent}  {shown(place)}; all of it: `hardwon journal show {found.id}`")


def _one_session(memory: Hardwon, id: str, *, json: bool) -> None:
    from hardwon.store import sessions

    found = memory.sessions.get(id).session
    if json:
        print_json(found)
        return
    calls = f"{count(found.tool_calls, 'call')}, {count(found.errors, 'error')}"
    ended = "interrupted" if sessions.stopped(memory.reading(), [id]) else found.outcome
    say(f"{id}  session of {found.agent}, {day(found.started_at)}, {calls}, {ENDED[ended]}")
    say(f"  {shown(found.task, 300) or '(no words of a person)'}\n    {short_path(found.path)}")
    if told := _session(memory, id)[1]:
        say(f"    {told}")
    try:
        memory.resume(id)
        on = f"To continue it: `hardwon resume {short(memory, id)}`. "
    except HardwonError:
        on = ""
    say(f"\n  {on}To look into it: `hardwon inspect {short(memory, id)}`.")


def tell_failure(memory: Hardwon, id: str, *, all: bool, json: bool) -> None:
    """All that is known of a failure."""
    from hardwon.api import convert
    from hardwon.api.failing import EVER, row_with
    from hardwon.store import failures as stored
    from hardwon.store.pages import Counted
    from hardwon.text.shown import kind_of_error

    found = memory.failures.get(id)
    row, met = found.failure, found.occurrences
    spent = memory.failures.costs([row.id])[row.id]
    if all:
        met = [*map(convert.occurrence, stored.occurrences(memory.reading(), id, limit=row.occurrences))]
    if json:
        seen = [_from_session(memory, place(each)) for each in met]
        print_json({**described(row), **wasted(spent), "seen": seen})
        return
    say(f"{row.id}  {kind_of_error(row.family)}\n  {shown(error_of(row))}")
    drawn = sparkline(spent.times, row.first_seen, row.last_seen, BINS)
    say(
        f"  {count(row.occurrences, 'time')} in {count(row.sessions, 'session')}, "
        f"{', '.join(filter(None, (f'{day(row.first_seen)} {drawn} {day(row.last_seen)}', last_met(row.last_seen))))}; "
        f"cost {count(row.occurrences, 'call')} and {count(spent.tokens, 'token')}"
    )
    if row.family == "hook":
        say(
            "  What fixes it is not kept, since a hook fails for many reasons: the errors below name them, and "
            "`hardwon search` finds what sessions did."
        )
    kind = row_with(memory.reading(), Counted(None, EVER), row.id)
    above = _tell_fixes(memory, row, all=all)
    if kind:
        _tell_alike(memory, row, kind, all=all)
    others = [each for each in met if (each.session, each.message_index) not in above]
    told = met if all else others[: max(_PLACES_SHOWN - len(above), 1)]
    for each in told:
        _print_source(memory, _from_session(memory, place(each)))
    say()
    _say_more(memory, row.id, row.occurrences - len(told) - (0 if all else len(above)))
    say(_TO_READ_ONE)


def _tell_alike(memory: Hardwon, row: Failure, kind: Failing, *, all: bool) -> None:
    """That lists count it with others, and what fixed one of these where nothing fixed this one."""
    whole, others = kind.failure, [one for one in kind.alike if one.id != row.id]
    fix = None if row.fixes else best(whole)
    if fix:
        say(f"  worked {fix.confirmed}x for others of its kind: {shown(fix.text)}", style=green)
    together = f"{count(whole.occurrences, 'time')} in {count(whole.sessions, 'session')}"
    own = best(row)
    if own and (often := best(whole)) and often.confirmed > own.confirmed:
        together += f", worked in {often.confirmed:,}"
    named = ", ".join(short(memory, one.id) for one in others[:_ALIKE_SHOWN])
    more = ", …" if len(others) > _ALIKE_SHOWN else ""
    say(f"  one of {len(kind.alike)} of a kind; together {together}{':' if all else f' (others: {named}{more})'}")
    for one in others if all else ():
        say(f"    {short(memory, one.id)}  {shown(one.error)}")


def _tell_fixes(memory: Hardwon, row: Failure, *, all: bool) -> set[tuple[str, int]]:
    """What worked, each with its newest examples; returns where these failed: (session, message).

    What may be chance is only counted, unless all is asked for.
    """
    from hardwon.api.failing import may_have_helped
    from hardwon.model.failure import GOT_PAST, Step
    from hardwon.store.pages import came_back
    from hardwon.text.shown import remedy

    told: set[tuple[str, int]] = set()
    back = came_back(memory.reading(), [row.id]).get(row.id)
    pairs = _MOST_PAIRS_SHOWN if all else 1
    by_chance = 0
    for fix in row.fixes:
        waits = fix.untrusted and fix.status == "candidate"
        if waits and not all and not may_have_helped(fix, row.command):
            by_chance += 1
            continue
        note = f"  [not told to agents: {fix.untrusted}]" if waits else ""
        again = f", failed again {fix.failed_again}x" if fix.failed_again else ""
        times = f" {fix.confirmed}x" if fix.confirmed else ""
        worked = "may have helped" if waits else "worked"
        say(f"  {worked}{times}{again}: {shown(fix.text)}{note}", style=green)
        if back and back.again and fix.status == "active":
            say(f"    {back.said(fix.confirmed)}.")
        examples = {(ends.failing, ends.passing): ends for ends in reversed(fix.evidence)}
        for ends in [*examples.values()][: -pairs - 1 : -1]:
            told.add((ends.session, ends.failing_message))
            both = shown(ends.failing), shown(ends.passing)
            failed, passed = (
                one or shown(call, _CHARACTERS_PER_CALL)
                for one, call in zip(apart(*both, _CHARACTERS_PER_CALL), both, strict=True)
            )
            say(f"    failed  message {ends.failing_message}: $ {failed}")
            between = [one.what for one in fix.steps if one.action in ("run", "edit") and one.what not in ends.passing]
            for what in between:
                say(f"    between: {shown(what, 160)}")
            came = "past  " if ends.cause == GOT_PAST else "passed"
            say(f"    {came}  message {ends.passing_message}: $ {passed}")
            say(f"            of {short(memory, ends.session)}{f' ({ends.cause})' if ends.cause else ''}")
        if waits:
            say(f"    to tell it: `hardwon review --approve {short(memory, fix.id)}`")
        else:
            say(f"    wrong? `hardwon review --reject {short(memory, fix.id)}`")
        for step in fix.avoid:
            say(f"    did not help: {shown(remedy([Step(step.action, step.what)], ''))}")
    if by_chance:
        what = "thing that" if by_chance == 1 else "things that"
        say(f"  {by_chance} more {what} may have worked by chance: `hardwon why {short(memory, row.id)} --all`")
    return told


def _from_session(memory: Hardwon, source: dict[str, Any]) -> dict[str, Any]:
    """A source, with what is known of the session that it is."""
    source["commits"], source["from"] = _session(memory, source["session"])
    return source


def _print_source(memory: Hardwon, source: dict[str, Any], said: str = "") -> None:
    where = source["path"] or source["session"]
    told = f", message {source['message']}" if source["path"] and not str(source["session"]).startswith("C") else ""
    when = f"session of {source['at']}" if "origin" in source else source["at"]
    of = f" of {short(memory, source['session'])}" if told else ""
    say(f"\n  {when}  {source['agent']}{told}{of}\n    {short_path(where)}")
    if source["from"]:
        say(f"    {source['from']}")
    if source.get("command"):
        say(f"    $ {shown(source['command'], 120)}")
    say(f"    {said}{shown(source['quote'], 300)}")


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
