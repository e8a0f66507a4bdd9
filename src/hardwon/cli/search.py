"""Finding what is known: `search`, `reindex`."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import (
    WORKED,
    Everywhere,
    Json,
    ProjectOption,
    asked_again,
    day,
    iso,
    lines_of_screen,
    moment,
    need_known,
    of_here,
    our_name,
    print_json,
    progress_bar,
    red,
    room,
    room_of_tables,
    rows_that_fit,
    say,
    short,
    shown,
    table,
)
from hardwon.cli.bootstrap import OTHER_NAMES
from hardwon.cli.failures import error_of, worked
from hardwon.cli.table import as_table, cut, wrapped
from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.failing import Failing
    from hardwon.model.nouns import Hit

_RESULTS = 10
_LINES_OF_A_PASSAGE = 3
_LINES_OF_A_ROW = 3
_LINES_BELOW = 4
"""Of a screen: what is said above and below the results, and the prompt."""
_LEFT_OF_A_TEXT = 20
_CHARACTERS_OF_A_TASK = 160
_PARTS = {"lexical": "words", "vector": "meaning", "weight": "meaning counts", "recency": "age", "context": "here"}
"""What a score is made of, as people are told."""
_SIGNS: dict[str, str] = {"> ": "> you", "$ ": "$ a command", "! ": "! an error"}
_HOW = re.compile(r"(?i)\bhow (?:do|to|can|should|are|is)\b|\bcommand\b")
_TO_DO = re.compile(r"(?i)\b(?:run|tests?|build|compile|lint|check|typecheck|format|start|install|deploy|release)\b")
"""With the above a question that the commands of a project answer, not what was said."""
_ID = re.compile(r"[LFSAX][0-9a-f]{6,32}")


def search(
    words: Annotated[
        list[str],
        typer.Argument(metavar="QUERY", help="Words, names, paths: any text. Flags behind --.", show_default=False),
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
    limit: Annotated[
        int | None, typer.Option(help=f"Most results. Default: {_RESULTS}, or as many as fit the screen.", min=1)
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each score is made up.")] = False,
    json: Json = False,
) -> None:
    """Search lessons, failures, attempts, documents, interactions, and what was said and done in sessions.

    Searches by words and, with the extra `semantic`, by meaning; sessions by words only. The query is plain text
    without special syntax, except that an exact match of a "quoted phrase" ranks higher. In a project's folder it
    searches that project, with --everywhere or --json all of them.

    For a session it shows the best passage: > is what the user said, $ a command, ! an error; other lines are the
    agent's.

    Example: hardwon search "asyncpg not installed" --type failure --since 2026-09-01

    Example: hardwon search "how did we set up the proxy" --type session
    """
    import msgspec

    from hardwon.api import Hardwon
    from hardwon.store import projects
    from hardwon.text.shown import SAID_KINDS

    query = " ".join(words)
    if not query.strip():
        raise HardwonError("say what to search for")
    end, most = moment(until, "--until"), limit or _RESULTS
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
            limit=most,
            sessions=True,
        )
        names = projects.names(memory.reading()) if found.hits or found.passages else {}
        is_news = found.notice != memory.embedder.notice  # what is not installed is told where words found nothing
        if not (found.hits or found.passages):
            _need_known(memory, kind, status, agent)
    passages = found.passages[: max(most - len(found.hits), most // 3)]
    hits = found.hits[: most - len(passages)]
    nothing = not (hits or passages)
    if found.notice and (is_news or (nothing and json)):
        say(f"hardwon: {found.notice}", err=True)
    if json:
        best = sorted((*hits, *passages), key=lambda hit: -hit.score)
        print_json([{**msgspec.structs.asdict(hit), "at": iso(hit.at)} for hit in best])
        return
    if nothing:
        known = f" That is an id: `hardwon why {query}` tells of it." if _ID.fullmatch(query) else ""
        say(f"Nothing found for “{shown(query, _CHARACTERS_OF_A_TASK)}”.{known or _only_a_part(memory, type_)}")
    if _HOW.search(query) and (asked := _TO_DO.findall(query)):
        likely = Counter(names[hit.project] for hit in (*hits, *passages) if hit.project in names).most_common(1)
        where = asked_again({"-p": project or ("" if only_here else likely[0][0] if likely else "PROJECT")})
        say(f"The commands that worked: `hardwon how {asked[-1].lower()}{where}`")
    if explain:
        _print_scores(memory, sorted((*hits, *passages), key=lambda hit: -hit.score))
    elif hits or passages:
        if not passages and not any(hit.parts.get("lexical") for hit in hits):
            say("None of these words were found. Nearest in meaning:")
        left = _print(memory, hits, passages, {} if holder else names, holder, query, whole=limit is not None)
        if left:
            say(f"{left} more: add `--limit {most}`")
    if only_here:
        say(only_here)
    if nothing and found.notice and not is_news:
        say(f"{found.notice[:1].upper()}{found.notice[1:]}")


def _print_scores(memory: Hardwon, hits: Sequence[Hit]) -> None:
    """Best first, each with what its score is made of."""
    from hardwon.text.shown import said_status

    rows: list[tuple[str, ...]] = []
    for hit in hits:
        made_of = [f"{_PARTS.get(name, name)} {value:.2f}" for name, value in hit.parts.items()]
        about = [*made_of, said_status(hit.status).replace("unknown", ""), day(hit.at)]
        text = shown(hit.text, _LINES_OF_A_ROW * room_of_tables() // 2)
        rows += [
            (f"{hit.score:.2f}", short(memory, hit.id), hit.type, text),
            ("", "", "", " · ".join(filter(None, about))),
        ]
    table(("SCORE", "ID", "TYPE", "TEXT"), rows, right=(0,))


def _print(
    memory: Hardwon,
    hits: Sequence[Hit],
    passages: Sequence[Hit],
    names: dict[str, str],
    holder: str | None,
    query: str,
    *,
    whole: bool,
) -> int:
    """What fits the screen, or all; returns how many results are left out."""
    from hardwon.store.projects import with_failures

    failing = _failing(memory, hits, holder)
    told = [hit for hit in hits if hit.type != "failure" or hit.id in failing]
    held = with_failures(memory.reading(), list(failing))
    rows = []
    for hit in told:
        where = names.get(next(iter(held.get(hit.id, ())), hit.project), "")
        row = failing.get(hit.id)
        text = _words_of(memory, hit, query, whole=whole) if row is None else _error_found(row, hit.id)
        rows.append((short(memory, hit.id), hit.type, _of_project(text, where, whole=whole)))
        if row and (fixed := worked(row.failure, aged=False)):
            rows.append(("", "", f"{WORKED}{fixed}"))
    blocks = [_lines_of(memory, hit, names.get(hit.project, ""), query) for hit in passages]
    signs = [
        said for sign, said in _SIGNS.items() if any(line.startswith(f"  {sign}") for one in blocks for line in one)
    ]
    if any(line.endswith("…") for hit in passages for line in hit.text.splitlines()):
        signs.append("of a long line only the beginning is kept")
    heading = "SAID AND DONE IN SESSIONS" + (f" ({', '.join(signs)})" if signs else "")
    columns, most_lines, kept = ("ID", "TYPE", "TEXT"), 0 if whole else _LINES_OF_A_ROW, len(rows)
    if sys.stdout.isatty() and not whole:
        lines = lines_of_screen() - _LINES_BELOW
        besides = _LINES_BELOW + (min(sum(map(len, blocks)) + 2, lines // 2) if blocks else 0)
        kept = rows_that_fit(columns, rows, besides=besides, most_lines=most_lines)
        kept -= 1 < kept < len(rows) and not rows[kept][0]  # an error is not parted from what worked
        drawn = as_table(columns, rows[:kept], room=room_of_tables(), most_lines=most_lines) if rows else ""
        while len(blocks) > 1 and sum(map(len, blocks)) > lines - drawn.count("\n") - 3:
            blocks.pop()
    if rows:
        table(columns, rows[:kept], most_lines=most_lines)
    if blocks:
        say(f"\n{heading}" if rows else heading)
        for line in (line for block in blocks for line in block):
            say(line, style=red if line.startswith("  ! ") else str)
    kept -= sum(not row[0] for row in rows[:kept])
    return len(told) - kept + len(passages) - len(blocks)


def _of_project(text: str, project: str, *, whole: bool) -> str:
    """With its project behind it, also where not all of the text has room."""
    if not project:
        return text
    wide = room_of_tables() - _LEFT_OF_A_TEXT
    most, told = _LINES_OF_A_ROW * wide, f"{text} ({shown(project)})"
    while not whole and sys.stdout.isatty() and len(wrapped(told, wide)) > _LINES_OF_A_ROW and most > wide:
        most -= 4
        told = f"{shown(text, most)} ({shown(project)})"
    return told


def _only_a_part(memory: Hardwon, type: str | None) -> str:
    """That what was not found may have been said all the same, where sessions are searched."""
    if type not in (None, "session", "passage") or not memory.exists:
        return ""
    if memory.config.search_sessions != "on":
        return " What was said in sessions is not searched: `hardwon config search_sessions on`."
    return " Of each session only a part can be searched; the agent's own files have the rest."


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


def _error_found(row: Failing, id: str) -> str:
    """The one that was found, and how many like it the lists show as one row with it."""
    found = next((one for one in row.alike if one.id == id), row.failure)
    return error_of(found) + (f" (and {len(row.alike) - 1} like it)" if row.alike else "")


def _words_of(memory: Hardwon, hit: Hit, query: str, *, whole: bool) -> str:
    """What an item says, from where the question's words stand; of an attempt whose task has none, where one does."""
    from hardwon.recall.search import line_of_attempt
    from hardwon.text.words import around

    if hit.type == "session":
        return shown(around(shown(hit.text), query, _CHARACTERS_OF_A_TASK), _CHARACTERS_OF_A_TASK)
    found = line_of_attempt(memory.reading(), hit, query) if hit.type == "attempt" else ""
    if found:
        return f"“{shown(hit.text, 60)}”, with {shown(found, 160)}"
    return hit.text if whole else around(shown(hit.text), query, _LINES_OF_A_ROW * (room_of_tables() - _LEFT_OF_A_TEXT))


def _lines_of(memory: Hardwon, hit: Hit, project: str, query: str) -> list[str]:
    """When and where, the lines that fit the question best, and how to open it."""
    from hardwon.text.words import fitting, terms, unique_terms

    wide, id = room(), short(memory, hit.session)
    whose = "somebody else's" if hit.owner == "foreign" else ""
    about = " · ".join(filter(None, (id, day(hit.at), shown(project, 24), shown(hit.kind, 16), whose)))
    lines = fitting([shown(line) for line in hit.text.splitlines()], query, _LINES_OF_A_PASSAGE)
    wanted = set(unique_terms(query))
    lines = [line for line in lines if line[:2] in _SIGNS or wanted & set(terms(line))] or lines[:1]
    how = f"{our_name()} why {id}"  # which names the file
    if hit.open.startswith("hardwon "):
        how = shown(hit.open.replace("hardwon ", f"{our_name()} ", 1))
    return [cut(about, wide), *(f"  {_around(_said_plainly(line), query, wide - 2)}" for line in lines), f"  → {how}"]


def _said_plainly(line: str) -> str:
    return f"changed {line[2:]}" if line.startswith("~ ") else line


def _around(line: str, query: str, room: int) -> str:
    """A line cut to the room: its beginning, or else from where the question's words stand."""
    from hardwon.text.words import around

    mark = line[:2] if line[:2] in _SIGNS else ""
    return cut(mark + around(line[len(mark) :], query, room - len(mark)), room)


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
