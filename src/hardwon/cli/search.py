"""Finding what is known: `search`, `reindex`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import (
    Everywhere,
    Json,
    ProjectOption,
    asked_again,
    day,
    iso,
    moment,
    need_known,
    of_here,
    our_name,
    print_json,
    progress_bar,
    room,
    say,
    short,
    shown,
    table,
)
from hardwon.cli.bootstrap import OTHER_NAMES
from hardwon.cli.failures import row_of, say_of_a_kind, worked
from hardwon.cli.table import wrapped
from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.failing import Failing
    from hardwon.model.nouns import Hit

_LINES_OF_A_PASSAGE = 3
_CHARACTERS_OF_A_TASK = 160
_HOW = re.compile(r"(?i)\bhow (?:do|to|can|should|are|is)\b|\bcommand\b")
_TO_DO = re.compile(r"(?i)\b(?:run|tests?|build|compile|lint|check|typecheck|format|start|install|deploy|release)\b")
"""With the above a question that the commands of a project answer, not what was said."""
_ID = re.compile(r"[LFSAX][0-9a-f]{6,32}")


def search(
    words: Annotated[
        list[str],
        typer.Argument(metavar="QUERY...", help="Words, names, flags, paths: any text.", show_default=False),
    ],
    type_: Annotated[
        str | None, typer.Option("--type", help="lesson, failure, attempt, chunk, interaction, session or passage.")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="pitfall, preference, …; for failures, the family.")] = None,
    project: ProjectOption = None,
    everywhere: Everywhere = False,
    agent: Annotated[str | None, typer.Option(help="Only sessions of this agent, such as claude-code.")] = None,
    status: Annotated[str | None, typer.Option(help="active, candidate, …; for attempts, the outcome.")] = None,
    since: Annotated[str | None, typer.Option(help="From this date, YYYY-MM-DD.")] = None,
    until: Annotated[str | None, typer.Option(help="Up to and including this date.")] = None,
    file: Annotated[str | None, typer.Option(help="About this file: changed, described or mentioned.")] = None,
    limit: Annotated[int, typer.Option(help="Maximum number of results.", min=1)] = 10,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each score is made up.")] = False,
    json: Json = False,
) -> None:
    """Search lessons, failures, attempts, documents, interactions, and what was said and done in sessions.

    Searches by words and, with the extra `semantic`, by meaning; sessions by words only. The query is plain text
    without special syntax, except that an exact match of a "quoted phrase" ranks higher. In a project's folder it
    searches that project, with --everywhere or --json all of them.

    For a session it shows the best passage: > is what the user said, $ a command, ! an error, ~ a changed file; other
    lines are the agent's.

    Example: hardwon search "asyncpg not installed" --type failure --since 2026-09-01

    Example: hardwon search "how did we set up the proxy" --type session
    """
    import msgspec

    from hardwon.api import Hardwon
    from hardwon.store import projects
    from hardwon.text.shown import SAID_KINDS, kind_of_error, said_status

    query = " ".join(words)
    if not query.strip():
        raise HardwonError("say what to search for")
    end = moment(until, "--until")
    kind = next((family for family, said in SAID_KINDS.items() if said == kind), kind)
    with Hardwon() as memory:
        holder, only_here = (project, "") if json else of_here(memory, project, everywhere=everywhere)
        found = memory.search(
            query,
            type=type_,
            kind=kind,
            project=holder,
            agent=agent,
            status=OTHER_NAMES.get(status or "", status),
            since=moment(since),
            until=end + timedelta(days=1) if end else None,
            file=file,
            limit=limit,
            sessions=True,
        )
        names = projects.names(memory.reading()) if found.passages else {}
        is_news = found.notice != memory.embedder.notice  # what is not installed is told where words found nothing
        if not (found.hits or found.passages):
            _need_known(memory, kind, status, agent)
    passages = found.passages[: max(limit - len(found.hits), limit // 3)]
    hits = found.hits[: limit - len(passages)]
    if found.notice and (is_news or not (hits or passages)):
        say(f"hardwon: {found.notice}", err=True)
    if json:
        best = sorted((*hits, *passages), key=lambda hit: -hit.score)
        print_json([{**msgspec.structs.asdict(hit), "at": iso(hit.at)} for hit in best])
        return
    if not (hits or passages):
        known = f" That is an id: `hardwon why {query}` tells of it." if _ID.fullmatch(query) else ""
        say(f"Nothing found.{known}", err=True)
    elif explain:
        for hit in (*hits, *passages):
            what = f"{hit.type} {kind_of_error(hit.kind)}  {shown(hit.text, 200)}"
            say(f"{hit.score:.2f}  {short(memory, hit.id)}  {what}".rstrip())
            made_of = "  ".join(f"{name} {value:.2f}" for name, value in hit.parts.items())
            say(f"      {made_of}  ({said_status(hit.status) or 'no status'}, {day(hit.at)})")
    else:
        if not passages and not any(hit.parts.get("lexical") for hit in hits):
            say("None of these words were found. Nearest in meaning:", err=True)
        failing = _failing(memory, hits, holder)
        rows = [
            (
                short(memory, failing[hit.id].failure.id if hit.id in failing else hit.id),
                f"{hit.score:.2f}",
                hit.type,
                kind_of_error(hit.kind),
                _words_of(memory, hit, query) if hit.type != "failure" else _and_fix(failing[hit.id]),
            )
            for hit in hits
            if hit.type != "failure" or hit.id in failing
        ]
        if rows:
            table(("ID", "SCORE", "TYPE", "KIND", "TEXT"), rows)
            say_of_a_kind([*failing.values()])
        if passages:
            say("SAID AND DONE IN SESSIONS" if not rows else "\nSAID AND DONE IN SESSIONS")
        for hit in passages:
            _tell(memory, hit, names.get(hit.project, ""), query)
    if only_here:
        say(only_here, err=True)
    if _HOW.search(query) and (asked := _TO_DO.findall(query)):
        where = asked_again({"-p": project or ("" if holder else "PROJECT")})
        say(f"The commands that worked: `hardwon how {asked[-1]}{where}`", err=True)


def _need_known(memory: Hardwon, kind: str | None, status: str | None, agent: str | None) -> None:
    from hardwon.failures.fingerprint import FAMILIES
    from hardwon.model.attempt import Outcome
    from hardwon.model.lesson import KINDS, STATUSES
    from hardwon.store.pages import agents
    from hardwon.text.shown import said_status

    seen = agents(memory.reading())
    need_known("agent", agent, seen)
    need_known("kind", kind, [*KINDS, *(family for family, _ in FAMILIES), "hook", *seen])
    need_known("status", status and said_status(status), [*map(said_status, STATUSES), *Outcome])


def _failing(memory: Hardwon, hits: Sequence[Hit], project: str | None) -> dict[str, Failing]:
    """Of failures that lists show as one row the first that was found, with what fixed them."""
    from hardwon.api.failing import EVER, rows_with
    from hardwon.store.pages import Counted

    ids = [hit.id for hit in hits if hit.type == "failure"]
    return rows_with(memory.reading(), Counted(memory.project(project), EVER), ids)


def _and_fix(row: Failing) -> str:
    return "; ".join(filter(None, (row_of(row), worked(row.failure))))


def _words_of(memory: Hardwon, hit: Hit, query: str) -> str:
    """What an item says; of an attempt whose task has no word of the question, also where one was found."""
    from hardwon.recall.search import line_of_attempt

    if hit.type == "session":
        return shown(hit.text, _CHARACTERS_OF_A_TASK)
    found = line_of_attempt(memory.reading(), hit, query) if hit.type == "attempt" else ""
    return f"“{shown(hit.text, 60)}”: {shown(found, 160)}" if found else hit.text


def _tell(memory: Hardwon, hit: Hit, project: str, query: str) -> None:
    """When and where, the lines that fit the question best, and how to open it."""
    width = room()
    whose = "somebody else's" if hit.owner == "foreign" else ""
    about = [
        short(memory, hit.session),
        day(hit.at),
        f"{hit.score:.2f}",
        shown(project, 24),
        shown(hit.kind, 16),
        whose,
    ]
    say(wrapped(" · ".join(filter(None, about)), width)[0])
    for line in _fitting(hit.text, query, width - 2):
        say(f"  {line}")
    how = shown(hit.open.replace("hardwon ", f"{our_name()} ", 1) if hit.open.startswith("hardwon ") else hit.open)
    say(f"  → {how if len(how) <= width - 4 else _end_of(how, width - 4)}")


def _end_of(path: str, width: int) -> str:
    """The last parts of a path that a line can hold."""
    kept = path[2 - width :]
    return f"…{kept[kept.find('/') :]}" if "/" in kept else f"…{kept}"


def _fitting(text: str, query: str, width: int) -> list[str]:
    """Of the lines of a passage the few that hold most of the question's words, in their order."""
    from hardwon.text.words import fitting

    lines = [piece for line in text.splitlines() for piece in _marked(shown(line), width)]
    return fitting(lines, query, _LINES_OF_A_PASSAGE)


def _marked(line: str, width: int) -> list[str]:
    """A line in pieces, all of them right of the sign that says what it is."""
    mark, rest = (line[:2], line[2:]) if line[:2] in ("> ", "$ ", "! ", "~ ") else ("", line)
    return [f"{'  ' if mark and at else mark}{piece}" for at, piece in enumerate(wrapped(rest, width - len(mark)))]


def reindex(
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Rebuild the full-text index.")] = False,
    json: Json = False,
) -> None:
    """Bring the search index and vectors up to date.

    Makes vectors for new and changed items, and for everything after a change of model.

    Example: hardwon reindex
    """
    from hardwon.api import Hardwon

    with Hardwon() as memory, progress_bar() as progress:
        done = memory.store.reindex(rebuild=rebuild, progress=progress)
    if json:
        print_json(done)
        return
    mended = f", {done.mended:,} of them mended" if done.mended else ""
    say(f"{done.items:,} items can be found{mended}; {done.vectors:,} vectors made, {done.left:,} left.")
    if done.notice:
        say(f"hardwon: {done.notice}", err=True)
