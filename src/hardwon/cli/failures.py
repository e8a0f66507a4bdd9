"""What keeps failing: `failures`, `failures show`, `failures mute`, `failures match`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from hardwon.cli.app import (
    WORKED,
    Everywhere,
    Json,
    ProjectOption,
    age,
    count,
    day,
    iso,
    last_met,
    lines_of_screen,
    moment,
    of_here,
    print_json,
    room_of_tables,
    rows_that_fit,
    say,
    short,
    shown,
    sparkline,
    table,
    thousands,
)
from hardwon.cli.table import cut, cut_in_code, width
from hardwon.errors import NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from hardwon.api import Hardwon
    from hardwon.api.failing import Failing
    from hardwon.model.nouns import Failure, FailureCost, Fix, FixEvidence, KnownFailure, Occurrence, Step


class _ByIdToo(TyperGroup):
    """`failures F3fa9` is `failures show F3fa9`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, ["show", *args] if args and _ID.fullmatch(args[0]) else args)


_ID = re.compile(r"F[0-9a-f]{3,}")
app = typer.Typer(cls=_ByIdToo)
BINS = 12
_LEFT_IF_NARROW, _LEFT_IF_WIDE, _UNCUT = 28, 70, 1000
"""Characters of a row before the error."""
_LINES_BELOW = 3
"""Of a screen: what is said below the list, and the prompt."""
_CHARACTERS_COMPARED, _HITS_COMPARED = 1_000, 5
_LEAST_SHARED, _MOST_OF_IT = 3, 0.9
"""Words that a failure and a pasted text must share to be called alike: so many, and so much of the shorter one."""
_ALIKE_SHOWN = 2
_MOST_COUNTED = 1000
_MORE_ROWS = 50
"""What is offered where not all fit: of hundreds, nobody wants all."""
_WIDE = 160
"""From here on there is room for more than which error it is, of how many sessions and how old."""
_PROJECTS_NAMED = 2


@app.callback(invoke_without_command=True)
def failures(
    context: typer.Context,
    project: ProjectOption = None,
    everywhere: Everywhere = False,
    since: Annotated[str | None, typer.Option(help="Only failures since this date, YYYY-MM-DD.")] = None,
    open: Annotated[bool, typer.Option("--open", help="Only failures without a known fix.")] = False,
    all: Annotated[
        bool, typer.Option("--all", help="Also those you muted, and those of tools of agents and MCP servers.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(help="Most rows. Default: as many as fit; in a pipe, all.", min=1)
    ] = None,
    refingerprint: Annotated[
        bool, typer.Option("--refingerprint", help="Regroup old failures after an upgrade; the list says when to.")
    ] = False,
    json: Json = False,
) -> None:
    """List what failed and what fixed it, the most frequent first.

    In a project's folder: what failed there. With --everywhere or --json: in all projects. The same failure in
    different files is one row (not with --json). Left out, as in `up`: what an agent's own tool refused ("File has not
    been read yet"), and what you muted. The bars: when it was met, each row against its own highest.

    Example: hardwon failures --project tidepool --since 2026-10-01 --open
    """
    if context.invoked_subcommand is not None:
        return
    from hardwon.api import Hardwon
    from hardwon.api.failing import EVER, failing
    from hardwon.clock import to_microseconds
    from hardwon.store.pages import Counted
    from hardwon.store.pages import failing as counted

    with Hardwon() as memory:
        if refingerprint:
            changed = memory.failures.refingerprint()
            print_json(changed) if json else say(changed.said)
            return
        if json:
            found = memory.failures.list(project=project, since=moment(since), only_open=open)
            rows = [row for row in found if all or row.family != "agent"][:limit]
            cost = memory.failures.costs([row.id for row in rows], since=moment(since))
            print_json([{**described(row), **wasted(cost[row.id])} for row in rows])
            return
        hidden = None if all else False
        holder, only_here = of_here(memory, project, everywhere=everywhere)
        which = Counted(
            memory.project(holder),
            (to_microseconds(moment(since)), EVER[1]),
            fixed=False if open else None,
            of_agents=hidden,
            muted=hidden,
        )
        everything = which._replace(of_agents=None, muted=None)
        db = memory.reading()
        shown_, _ = failing(db, which, limit=limit or (lines_of_screen() if sys.stdout.isatty() else _MOST_COUNTED))
        known, besides = (len(counted(db, one, after=None, limit=_MOST_COUNTED)) for one in (which, everything))
        cost = memory.failures.costs([id for row in shown_ for id in row.ids], since=moment(since))
        if shown_:
            in_projects = [] if holder else _names_of_projects(memory, shown_)
            shown_ = shown_[: _print_list(memory, shown_, in_projects, cost, whole=limit is not None)]
        else:
            say(f"No failures found.{nothing_to_go_by(memory, holder)}")
        more = known - len(shown_)
        most = min(known, max(_MORE_ROWS, 2 * len(shown_)))
        hints = [f"{len(shown_)} of {known:,}", f"more: `--limit {most}`"] if more else []
        hints += ["without a fix: `--open`"] if known > 1 and not open else []
        hints += [f"{besides - known} of tools of agents and MCP servers, or muted: `--all`"] if besides > known else []
        if hints or only_here:
            say(". ".join(filter(None, ("; ".join(hints), only_here))))
        if behind := memory.failures.outdated():
            say(f"{behind} failures were grouped by an older version. To update: `hardwon failures --refingerprint`")


def nothing_to_go_by(memory: Hardwon, project: str | None) -> str:
    """That nobody can know what failed in a project, where its transcripts do not say; else empty."""
    from hardwon.store.projects import without_outputs

    held, ran = without_outputs(memory.reading(), memory.project(project)) if memory.exists else (0, 0)
    ran_in = f"{count(ran, 'command')} in {count(held, 'session')}"
    return f" What failed cannot be known: the transcripts do not say how a command ended ({ran_in})." if ran else ""


def _names_of_projects(memory: Hardwon, rows: list[Failing]) -> list[str]:
    """The projects of each row; none where all are of one."""
    from hardwon.store.projects import names, with_failures

    db = memory.reading()
    held, named = with_failures(db, [id for row in rows for id in row.ids]), names(db)
    of_rows = [list(dict.fromkeys(project for id in row.ids for project in held.get(id, ()))) for row in rows]
    if len({project for each in of_rows for project in each}) < 2:
        return []
    told = [[named.get(project, "") or "-" for project in each] for each in of_rows]
    more = [f" +{len(each) - _PROJECTS_NAMED}" if len(each) > _PROJECTS_NAMED else "" for each in told]
    return [", ".join(each[:_PROJECTS_NAMED]) + rest for each, rest in zip(told, more, strict=True)]


def _print_list(
    memory: Hardwon,
    rows: list[Failing],
    in_projects: list[str],
    cost: dict[str, FailureCost],
    *,
    whole: bool,
) -> int:
    """Returns how many rows were printed: all, or those that fit the screen."""
    narrow = room_of_tables() < _WIDE
    times = {row.failure.id: [at for id in row.ids for at in cost[id].times] for row in rows}
    first, last = min(map(min, times.values())), max(map(max, times.values()))
    uncut = whole or not sys.stdout.isatty()
    room = room_of_tables() - (_LEFT_IF_NARROW if narrow else _LEFT_IF_WIDE)
    lines: list[tuple[object, ...]] = []
    for at, row in enumerate(rows):
        failure, where = row.failure, in_projects[at] if in_projects else ""
        id, error = short(memory, failure.id), row_of(row)
        below = _worked_in(failure, where if narrow else "", _UNCUT if uncut else 2 * room - 12)
        if below.startswith("(") and width(f"{error} {below}") <= room:
            error, below = f"{error} {below}", ""
        if narrow:
            left: tuple[object, ...] = (id, failure.sessions, age(failure.last_seen))
        else:
            tokens = thousands(sum(cost[one].tokens for one in row.ids))
            drawn = sparkline(times[failure.id], first, last, BINS)
            left = (id, failure.occurrences, failure.sessions, tokens, drawn, day(failure.last_seen))
        right = (where,) if in_projects and not narrow else ()
        lines.append((*left, error, *right))
        if below:
            lines.append((*[""] * len(left), below, *[""] * len(right)))
    wide = ("ID", "TIMES", "SESSIONS", "TOKENS LOST", _span(first, last), "LAST", "ERROR")
    headings = ("ID", "SESSIONS", "LAST", "ERROR") if narrow else (*wide, *["PROJECT"] * bool(in_projects))
    look: dict[str, Any] = {"right": (1, 2, 3), "spare": (4, 1)}
    if narrow:
        look = {"right": (1,)}
    look["most_lines"] = 0 if whole else 2 if narrow else 1
    kept = len(lines) if whole else rows_that_fit(headings, lines, besides=_LINES_BELOW, **look)
    if 1 < kept < len(lines) and not lines[kept][0]:
        kept -= 1  # an error is not parted from what worked
    table(headings, lines[:kept], **look)
    return sum(bool(line[0]) for line in lines[:kept])


def _worked_in(failure: Failure, project: str, room: int) -> str:
    """What stands below an error in a list: what worked, and in how many sessions or in which project."""
    fix = best(failure)
    behind = project or (count(fix.confirmed, "session") if fix and fix.confirmed else "")
    behind = f" ({behind})" if behind else ""
    if fix is None:
        return behind[1:]
    room -= len(WORKED)
    return f"{WORKED}{cut_in_code(fix.text, room - len(behind)) or cut(fix.text, room - len(behind))}{behind}"


def _span(first: datetime, last: datetime) -> str:
    """The heading of bars: `MAY–JUN 25`."""
    begin, end = f"{first:%b %y}".upper(), f"{last:%b %y}".upper()
    return end if begin == end else f"{begin[:3] if first.year == last.year else begin}–{end}"


def wasted(cost: FailureCost) -> dict[str, int]:
    return {"wasted_calls": len(cost.times), "wasted_tokens": cost.tokens}


@app.command("show")
def show(
    id: Annotated[str, typer.Argument(help="A failure's id, or its beginning.", show_default=False)],
    all: Annotated[bool, typer.Option("--all", help="Every place, not only the newest.")] = False,
    json: Json = False,
) -> None:
    """Show a failure and what fixed it; the same as `why`.

    Example: hardwon failures show F3fa9
    """
    from hardwon.api import Hardwon
    from hardwon.api.connection import full_id
    from hardwon.cli.why import tell_failure

    with Hardwon() as memory:
        tell_failure(memory, full_id(memory, id), all=all, json=json)


_PLACE = re.compile(r"^\S*[/\\.]\S*?(?::\d+){1,2}:? (?=\S)")
"""What differs among failures of a kind."""
_NODE = re.compile(r"^\d+>(?=\S)")
"""Which of its processes MSBuild heard it from."""


def row_of(row: Failing) -> str:
    """What failed, and how many failures the row is."""
    if not row.alike:
        return error_of(row.failure)
    like_it = f"{row.files} files" if row.files > 1 else f"{len(row.alike)} alike"
    return f"{_PLACE.sub('', row.failure.error)} ({like_it})"


def best(row: Failure) -> Fix | None:
    """Of the fixes that are told, the first that calls what the row does."""
    from hardwon.failures.shell import calls_the_same

    return next(
        (fix for fix in row.fixes if fix.status == "active" and calls_the_same(fix.succeeded_as, row.command)), None
    )


def worked(row: Failure, *, aged: bool = True) -> str:
    """What worked, how often, and perhaps how old that is; nothing where none is told."""
    fix = best(row)
    if fix is None:
        return ""
    often = "" if not fix.confirmed else " once" if fix.confirmed == 1 else f" in {fix.confirmed:,} sessions"
    age = f", {met}" if aged and (met := last_met(row.last_seen)) else ""
    return f"worked{often}{age}: {fix.text}"


@app.command("mute")
def mute(
    ids: Annotated[list[str], typer.Argument(help="Failures' ids, or their beginnings.", show_default=False)],
    off: Annotated[bool, typer.Option("--off", help="Tell agents of them again.")] = False,
    json: Json = False,
) -> None:
    """Stop telling agents of a failure; `failures` leaves it out, too.

    Example: hardwon failures mute F3fa9
    """
    from hardwon.api import Hardwon
    from hardwon.api.connection import full_id

    with Hardwon() as memory:
        events = memory.failures.mute([full_id(memory, id) for id in ids], muted=not off)
    if json:
        print_json({"events": events})
        return
    undo = f"; `hardwon undo {events[0]}` takes it back" if len(events) == 1 else ""
    say(f"{count(len(events), 'failure')} {'told again' if off else 'muted'}{undo}.")


@app.command("match")
def match(
    file: Annotated[
        str | None, typer.Argument(help="A file with the output, or the error itself; without it, stdin is read.")
    ] = None,
    command: Annotated[str, typer.Option(help="The command that failed.")] = "",
    project: ProjectOption = None,
    json: Json = False,
) -> None:
    """Look up the error in a failed command's output. Where it is not known, one line on stderr says so.

    Example: pytest 2>&1 | hardwon failures match
    """
    from hardwon.api import Hardwon

    if file is None and sys.stdin.isatty():
        say("Paste the output of the failed command, then press Ctrl-D on a line of its own.", err=True)
    text = sys.stdin.read() if file in (None, "-") else _given(str(file))
    with Hardwon() as memory:
        found = memory.failures.recall(text, command=command, project=project)
    if json:
        import msgspec

        print_json({**msgspec.structs.asdict(found), "last_seen": iso(found.last_seen)})
    elif found.said:
        say(f"{shown(found.text)}\n{found.said}")
        _say_where_from(memory, found, text, project, command)
    elif not text.strip():
        say("Nothing was given: pipe the output of the failed command into it, or name a file that has it.", err=True)
    elif alike := _alike(memory, text, project):
        say("Not seen in exactly these words. Like it:", err=True)
        for row in alike:
            fixed = f"; {fixed}" if (fixed := worked(row)) else ""
            say(f"  {short(memory, row.id)}  {shown(error_of(row))}{shown(fixed)}", err=True)
        say("More of one: `hardwon why ID`", err=True)
    else:
        say("No failure like this is known.", err=True)


def _say_where_from(memory: Hardwon, found: KnownFailure, text: str, project: str | None, command: str) -> None:
    """What `why` shows more of; and others that the same line is of, where no command tells them apart."""
    from hardwon.store.failures import with_line

    id = found.fingerprint if found.known else found.fixes[0].id
    say(f"Where this comes from: `hardwon why {short(memory, id)}`", err=True)
    same = set() if command else with_line(memory.reading(), text, memory.project(project)) - {found.fingerprint}
    others = sorted((memory.failures.get(id).failure for id in same), key=lambda row: (-row.sessions, row.id))
    if others:
        say("The same words, of other commands (`--command` tells them apart):", err=True)
    for row in others[:_ALIKE_SHOWN]:
        often = f"{count(row.occurrences, 'time')} in {count(row.sessions, 'session')}"
        fixed = f"; {fixed}" if (fixed := worked(row)) else ""
        say(f"  {short(memory, row.id)}  {shown(error_of(row))}, {often}{shown(fixed)}", err=True)


def _given(text: str) -> str:
    """What a file holds, or what was typed in its place."""
    path = Path(text) if "\n" not in text else None
    if path is not None and path.is_file():
        return path.read_text(encoding="utf-8", errors="replace")
    if " " not in text.strip():
        raise NotFound(f"no such file: {text}")
    return text


def _alike(memory: Hardwon, text: str, project: str | None) -> list[Failure]:
    """Failures of the same words, one having some more: somebody pastes a line where a session had all of it."""
    from hardwon.text.words import unique_terms

    if not memory.exists:
        return []
    given = set(unique_terms(text[-_CHARACTERS_COMPARED:]))
    hits = memory.search(text[-_CHARACTERS_COMPARED:], type="failure", project=project, limit=_HITS_COMPARED).hits
    found = [memory.failures.get(hit.id).failure for hit in hits]
    own = {row.id: set(unique_terms(row.error.partition("`: ")[2] or row.error)) for row in found}
    shared = {id: (len(words & given), min(len(words), len(given))) for id, words in own.items()}
    return [row for row in found if _LEAST_SHARED <= shared[row.id][0] >= _MOST_OF_IT * shared[row.id][1]][
        :_ALIKE_SHOWN
    ]


# A failure as every command tells it in JSON.


def error_of(row: Failure) -> str:
    """What failed; a hook's step is one failure, for whatever reason it stopped a commit."""
    from hardwon.failures.told import titled

    error = _NODE.sub("", row.error)
    any_cause = row.family == "hook" and row.occurrences > 1 and row.error.endswith(" failed")
    return f"{error} (in a git hook, various causes)" if any_cause else titled(error, row.family, row.command)


def described(row: Failure) -> dict[str, Any]:
    return {
        "id": row.id,
        "error": row.error,
        "family": row.family,
        "command": row.command,
        "agents": row.agents,
        "occurrences": row.occurrences,
        "sessions": row.sessions,
        "first_seen": iso(row.first_seen),
        "last_seen": iso(row.last_seen),
        "fixes": [
            {
                "id": fix.id,
                "text": fix.text,
                "steps": fix.steps,
                "succeeded_as": fix.succeeded_as,
                "avoid": fix.avoid,
                "status": fix.status,
                "untrusted": fix.untrusted,
                "confirmed": fix.confirmed,
                "failed_again": fix.failed_again,
                "evidence": [_both_ends(each, fix.steps) for each in fix.evidence],
            }
            for fix in row.fixes
        ],
    }


def _both_ends(found: FixEvidence, steps: list[Step]) -> dict[str, Any]:
    """What failed, what was done and what then passed, in one session."""
    return {
        "session": found.session,
        "path": found.path,
        "failing": {"command": found.failing, "message": found.failing_message},
        "steps": steps,
        "passing": {"command": found.passing, "message": found.passing_message},
        "cause": found.cause,
        "untrusted": found.untrusted,
    }


def place(found: Occurrence) -> dict[str, Any]:
    return {
        "session": found.session,
        "path": found.path,
        "agent": found.agent,
        "project": found.project,
        "at": iso(found.at),
        "message": found.message_index,
        "command": found.command,
        "exit_code": found.exit_code,
        "quote": found.excerpt,
    }
