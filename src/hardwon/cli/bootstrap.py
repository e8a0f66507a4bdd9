"""Asking what is known, and adding to it: `bootstrap`, `lessons`, `lessons add`, `remember`, `why`."""

from __future__ import annotations

from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwon.cli.app import (
    ENDED,
    Json,
    ProjectOption,
    count,
    day,
    described,
    error_of,
    green,
    iso,
    need_known,
    place,
    print_json,
    say,
    short,
    short_path,
    shown,
    table,
)
from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from hardwon.api import Hardwon


_CHARACTERS_PER_COMMIT = 12
_COMMITS_SHOWN = 3
_SOURCES_SHOWN = 5


class BootstrapFormat(StrEnum):
    plain = "plain"
    markdown = "markdown"
    hook = "hook"


def bootstrap(
    project: ProjectOption = None,
    agent: Annotated[str, typer.Option(help="The agent that will read it, such as claude-code.")] = "",
    task: Annotated[str, typer.Option(help="What the session is about; ranks the lines for it.")] = "",
    budget: Annotated[int | None, typer.Option(help="Token limit.", min=0)] = None,
    format: Annotated[
        BootstrapFormat, typer.Option(help="plain: as agents get it; markdown: for people; or the JSON of a hook.")
    ] = BootstrapFormat.plain,
    write: Annotated[
        Path | None, typer.Option(help="Write it into a block of this file, such as AGENTS.md, and show the change.")
    ] = None,
    json: Json = False,
) -> None:
    """Print the briefing for a project's next session.

    Default: the project of the current folder.

    Example: hardwon bootstrap --project tidepool --task "fix the failing migration" --budget 600
    """
    from hardwon.api import Hardwon
    from hardwon.briefing.compose import hook_json, markdown_of

    with Hardwon() as memory:
        found = memory.bootstrap(project or ".", agent=agent, task=task, budget=budget)
        if write is not None:
            _keep(write, markdown_of(found))
        elif json:
            print_json(found)
        elif not found.text:
            say("There is nothing to tell yet.", err=True)
        elif format is BootstrapFormat.plain:
            say(found.text)
        else:
            say(markdown_of(found) if format is BootstrapFormat.markdown else hook_json(found))


def _keep(file: Path, block: str) -> None:
    from hardwon.briefing.agents_md import keep_block

    change = keep_block(file, block)
    say(change or f"{file} is up to date.", err=not change)


app = typer.Typer()


@app.callback(invoke_without_command=True)
def lessons(
    context: typer.Context,
    project: ProjectOption = None,
    kind: Annotated[str | None, typer.Option(help="pitfall, preference, decision, …")] = None,
    status: Annotated[str | None, typer.Option(help="active, candidate, …")] = None,
    json: Json = False,
) -> None:
    """List lessons.

    Example: hardwon lessons --project tidepool --kind preference
    """
    if context.invoked_subcommand is not None:
        return
    from hardwon.api import Hardwon
    from hardwon.model.lesson import KINDS, STATUSES
    from hardwon.store import projects

    need_known("kind", kind, KINDS)
    need_known("status", status, STATUSES)
    with Hardwon() as memory:
        found = memory.lessons.list(project=project, kind=kind, status=status)
        if json:
            told = _told(memory, {lesson.project for lesson in found})
            print_json([lesson_fields(memory, lesson.id) | {"told": lesson.id in told} for lesson in found])
            return
        names = projects.names(memory.reading()) if found else {}
    unused = [] if status else [one for one in found if one.status not in ("active", "candidate")]
    found = [one for one in found if one not in unused]
    if not found:
        asked = "No such lesson is known." if project or kind or status else "No lessons are known."
        say(asked, err=True)
        return
    several = len({one.project for one in found}) > 1
    rows = [
        (short(memory, one.id), one.kind, f"{one.confidence:.2f}", one.source_count,
         *([names.get(one.project, "everywhere")] if several else []),
         one.text if one.status in ("active", status) else f"{one.text} ({one.status})")
        for one in found
    ]  # fmt: skip
    headings = ("ID", "KIND", "SURE", "SESSIONS", *(["PROJECT"] if several else []), "LESSON")
    table(headings, rows, right=(3,), spare=(2, 3, 1) if several else (2, 3))
    if unused:
        number = "1 more is" if len(unused) == 1 else f"{len(unused):,} more are"
        say(f"{number} no longer used: `hardwon lessons --status {unused[0].status}`", err=True)


def _told(memory: Hardwon, projects: set[str]) -> set[str]:
    """The lessons that the briefings of these projects tell now."""
    return {line.id for project in sorted(projects - {""}) for line in memory.bootstrap(project).lines}


# A lesson in a person's own words: `remember`.


def remember(
    text: Annotated[str, typer.Argument(help="One sentence that stands by itself.", show_default=False)],
    kind: Annotated[str, typer.Option(help="fact, preference, decision, pitfall, pattern, tool-quirk, …")] = "fact",
    project: ProjectOption = None,
    everywhere: Annotated[bool, typer.Option("--global", help="It applies to every project.")] = False,
    candidate: Annotated[bool, typer.Option("--candidate", help="Only propose it, for review.")] = False,
    why: Annotated[str, typer.Option(help="The reason, for the history.")] = "",
    json: Json = False,
) -> None:
    """Add a lesson in your own words; later sessions will be told.

    Without --project it belongs to the project of the current folder.

    Example: hardwon remember "Releases are cut on Mondays." --project tidepool
    """
    from typing import cast

    from hardwon.api import Hardwon
    from hardwon.model.lesson import Kind, Scope

    with Hardwon() as memory:
        holder = "" if everywhere else memory.project_to_keep(project or ".")
        if not (everywhere or holder):
            raise HardwonError("this folder is not a known project: pass --project NAME or --global")
        if candidate:
            id = memory.lessons.propose(text, kind=cast(Kind, kind), project=holder, why=why)
        else:
            scope: Scope = "project" if holder else "global"
            id = memory.lessons.add(text, kind=cast(Kind, kind), scope=scope, project=holder, why=why)
        found = memory.lessons.get(id).lesson
        names = {each.id: each.name for each in memory.store.projects()}
        where = f"in {shown(names[holder])}" if holder in names else "everywhere"
    print_json(found) if json else say(f"{short(memory, id)} {found.status} {where}")


@wraps(remember)
def _add(**given: object) -> None:
    remember(**given)  # type: ignore[arg-type]


_add.__doc__ = (remember.__doc__ or "").replace("hardwon remember", "hardwon lessons add")
app.command("add")(_add)


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
    from hardwon.api import Hardwon, convert
    from hardwon.api.connection import full_id
    from hardwon.store import failures
    from hardwon.text.shown import kind_of_error

    with Hardwon() as memory:
        full = full_id(memory, id, sessions=True)
        if full.startswith("S"):
            _one_session(memory, full, json=json)
            return
        if full.startswith("A"):
            _attempt(memory, full, json=json)
            return
        if full.startswith("L"):
            answer = lesson_fields(memory, full)
            sources, more = answer["sources"], 0
            sure = f"confidence {answer['confidence']:.2f}" + (f", rule {answer['rule']}" if answer["rule"] else "")
            told = str(answer["text"])
            head = f"{full}  {answer['kind']}, {answer['status']}, {answer['trust']}, {sure}"
        else:
            found = memory.failures.get(full)
            row = found.failure
            answer, told = described(row), error_of(row)
            met = found.occurrences
            if all:
                rows = failures.occurrences(memory.reading(), full, limit=row.occurrences)
                met = [*map(convert.occurrence, rows)]
            sources = answer["seen"] = [place(each) for each in met]
            more = row.occurrences - len(met)
            times = f"{count(row.occurrences, 'time')} in {count(row.sessions, 'session')}"
            head = f"{full}  {kind_of_error(row.family)} failure, {times}"
        told_of = sources if all else sources[:_SOURCES_SHOWN]
        more += len(sources) - len(told_of)
        for source in sources if json else told_of:
            source["commits"], source["from"] = _session(memory, source["session"])
    if json:
        print_json(answer)
        return
    say(head)
    say(f"  {shown(told)}")
    for fix in answer.get("fixes", []):
        note = f"  [needs review: {fix['untrusted']}]" if fix["untrusted"] else ""
        say(f"  worked {fix['confirmed']}x: {shown(fix['text'])}{note}", style=green)
        pairs = [(ends["failing"]["command"], ends["passing"]["command"]) for ends in fix["evidence"]]
        for failing, passing in dict.fromkeys(pairs):
            say(f"    failed: $ {shown(failing, 160)}")
            say(f"    passed: $ {shown(passing, 160)}")
    for source in told_of:
        _print_source(source)
    if more:
        say(f"\n  and {more:,} more: `hardwon why {short(memory, full)} --all`")


def _print_source(source: dict[str, Any]) -> None:
    where = source["path"] or source["session"]
    told = f", message {source['message']}" if source["path"] and not str(source["session"]).startswith("C") else ""
    say(f"\n  {source['at']}  {source['agent']}{told}\n    {short_path(where)}")
    if source["from"]:
        say(f"    {source['from']}")
    say(f"    {shown(source['quote'], 300)}")


def _attempt(memory: Hardwon, id: str, *, json: bool) -> None:
    from hardwon.store import attempts

    found = memory.journal.get(attempts.numbers(memory.reading(), [id])[id])
    by = [event.actor for event in memory.review.history(id) if event.action in ("log", "reflect")]
    usual = {"session": "a session", "import": "an import"}.get(found.source, "the journal")
    who = ", ".join(dict.fromkeys(by)) or usual
    if json:
        fields = {name: value for name, value in _fields(found).items() if name != "embedding"}
        print_json({**fields, "at": iso(found.at), "written_by": who})
        return
    say(f"{id}  attempt {found.id}, {found.outcome.value} by {found.evidence or 'nobody'}, recorded by {shown(who)}")
    say(f"  {shown(found.task)}")
    for name, text in (("tried", found.approach), ("because", found.analysis), ("learned", found.reflection)):
        if text:
            say(f"  {name}: {shown(text, 300)}")
    place = f"session {found.session}" if found.session else f"run {found.run}" if found.run else "hardwon journal"
    say(f"\n  {iso(found.at)}  {found.agent}  {shown(place)}; all of it: `hardwon journal show {found.id}`")


def _one_session(memory: Hardwon, id: str, *, json: bool) -> None:
    found = memory.sessions.get(id).session
    if json:
        print_json(found)
        return
    calls = f"{count(found.tool_calls, 'call')}, {count(found.errors, 'error')}"
    say(f"{id}  session of {found.agent}, {day(found.started_at)}, {calls}, {ENDED[found.outcome]}")
    say(f"  {shown(found.task, 300) or '(no words of a person)'}\n    {short_path(found.path)}")
    if told := _session(memory, id)[1]:
        say(f"    {told}")
    say(f"\n  To continue it: `hardwon resume {short(memory, id)}`. To read it: `hardwon open`.")


def _session(memory: Hardwon, id: str) -> tuple[list[str], str]:
    """The commits of the session that a source is, and a line: whose it was, what it led to."""
    from hardwon.errors import NotFound

    try:
        found = memory.sessions.get(id).session
    except NotFound:
        return [], ""  # an import, a document, somebody's own words
    said = ["somebody else's session"] if found.owner == "foreign" else []
    if found.commits:
        said.append("committed " + ", ".join(sha[:_CHARACTERS_PER_COMMIT] for sha in found.commits[-_COMMITS_SHOWN:]))
    return list(found.commits), ", ".join(said)


def _fields(struct: Any) -> dict[str, Any]:
    import msgspec

    return msgspec.structs.asdict(struct)


def lesson_fields(memory: Hardwon, id: str) -> dict[str, Any]:
    found = memory.lessons.get(id)
    fields = _fields(found.lesson)
    for name in ("first_seen", "last_confirmed", "valid_from", "valid_until", "last_referenced"):
        fields[name] = iso(fields[name])
    fields["sources"] = [
        {
            "session": source.source,
            "path": source.path,
            "agent": source.agent,
            "at": iso(source.at),
            "message": source.message_index,
            "quote": source.quote,
            "origin": source.origin,
        }
        for source in found.sources
    ]
    return fields
