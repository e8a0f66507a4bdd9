"""Asking what is known, and adding to it: `bootstrap`, `lessons`, `lessons add`, `remember`, `why`."""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from hardwon.cli.app import (
    Everywhere,
    Json,
    ProjectOption,
    asked_again,
    bold,
    confirmed,
    count,
    echo,
    iso,
    lines_of_screen,
    need_known,
    of_here,
    print_json,
    room,
    room_of_tables,
    rows_that_fit,
    say,
    short,
    shown,
    table,
)
from hardwon.cli.table import cut, width
from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.model.nouns import LeftOut, Lesson


_ASKS_FOR = re.compile(
    r"(?i)(?:please )?(?:always|never|don'?t|do not|prefer|use|avoid|only)\b|.*[,;:] (?:always|never|not)\b"
)
_WHOLE_ID = re.compile(r"\b[LF][0-9a-f]{12,32}\b")
_FEWEST_WORDS = 2
_POINTS = re.compile(r"(?i)\b(?:it|this|that|them|these|those)\b")
"""Words that say something only beside what they point at."""
_LIKE_IT = 0.5
"""The share of their words that two lessons have in common of which a person need keep only one."""


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
        Path | None,
        typer.Option(
            help="Show the change, and write it into a block of this file, such as AGENTS.md. In a terminal it asks."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="With --write: write it without asking.")] = False,
    left_out: Annotated[
        bool, typer.Option("--left-out", help="List instead what is known and not told, and why.")
    ] = False,
    json: Json = False,
) -> None:
    """Print the briefing for a project's next session.

    Default: the project of the current folder. Failures come likeliest first: a recent one may stand before one that
    happened more often.

    Example: hardwon bootstrap --project tidepool --task "create the readings table" --budget 600
    """
    from hardwon.api import Hardwon
    from hardwon.briefing.compose import hook_json, markdown_of
    from hardwon.cli.harvest import held_back

    with Hardwon() as memory:
        found = memory.bootstrap(project or ".", agent=agent, task=task, budget=budget)
        if left_out and not json:
            _print_left_out(memory, project or ".", found.left_out)
            return
        if write is not None:
            keep(write, markdown_of(found), write=yes or not somebody_looks())
        elif json:
            print_json(found)
        elif found.least:
            needs = f"the shortest line needs {found.least:,}"
            say(f"There is something to tell, but nothing fits into {found.budget:,} tokens: {needs}.", err=True)
        elif not found.text:
            say(f"There is nothing to tell yet.{held_back(memory, project or '.')}", err=True)
        else:
            made = {BootstrapFormat.markdown: markdown_of, BootstrapFormat.hook: hook_json}.get(format)
            told = made(found) if made else found.text
            say(told) if sys.stdout.isatty() else echo(told)  # no line of somebody's file is broken
        if sys.stdout.isatty() and format is BootstrapFormat.plain and not (json or write) and found.left_out:
            say("What is known and not told, and why: the same with `--left-out`.", err=True)
        if task and found.text and found.text == memory.bootstrap(project or ".", agent=agent, budget=budget).text:
            say("The task changes nothing: every session of this project is told this.", err=True)


def _with_short_ids(memory: Hardwon, reason: str) -> str:
    return _WHOLE_ID.sub(lambda found: short(memory, found[0]), reason)


def _print_left_out(memory: Hardwon, project: str, left_out: Sequence[LeftOut]) -> None:
    """By reason, the most frequent first, failures of most sessions before others; on a screen some of each.

    Failures are counted as `failures` does.
    """
    from hardwon.api.failing import EVER, rows_with
    from hardwon.briefing.policy import against_failure
    from hardwon.cli.failures import row_of
    from hardwon.store.pages import Counted

    groups: dict[str, list[_Untold]] = defaultdict(list)
    refused = [one for one in left_out if one.reason == against_failure("agent")]
    failed = [one.id for one in left_out if one.id.startswith("F") and one not in refused]
    rows_of = rows_with(memory.reading(), Counted(memory.project(project), EVER), failed)
    for one in left_out:
        if known := rows_of.get(one.id):
            said = _Untold(known.failure.sessions, short(memory, known.failure.id), shown(row_of(known)))
            groups[one.reason].append(said)
        elif one.id.startswith("L"):
            text = memory.lessons.get(one.id).lesson.text
            groups[one.reason].append(_Untold(0, short(memory, one.id), shown(text)))
    if not groups:
        say("Nothing is left out.")
        return
    whys = {_with_short_ids(memory, why): rows for why, rows in groups.items()}
    alone = [rows[0]._replace(why=why) for why, rows in whys.items() if len(rows) == 1]
    parts = [(why, rows) for why, rows in whys.items() if len(rows) > 1]
    parts.sort(key=lambda part: -len(part[1]))
    parts += [("other reasons" if parts else "each for its reason", alone)] if alone else []
    say("Known and not told, each with how many sessions met it:")
    rows_of_each = _rows_of_each([len(rows) for _, rows in parts])
    for why, rows in parts:
        say(f"{bold(why[0].upper() + why[1:])} ({len(rows)}):", style=str)
        rows.sort(key=lambda row: -row.sessions)
        for row in rows[:rows_of_each]:
            say(_drawn(row), style=str)
    if any(len(rows) > rows_of_each for _, rows in parts):
        say("The first of each; in a pipe all are listed (`| less`).")
    if refused:
        say(f"Without {count(len(refused), 'refusal')} of agents' own tools.")
    say('To have a session told of one: `hardwon remember "…"`.')


class _Untold(NamedTuple):
    """What is not told: in how many sessions it failed, what it is, and why where that is not said above."""

    sessions: int
    id: str
    text: str
    why: str = ""


def _rows_of_each(sizes: Sequence[int]) -> int:
    """How many rows of each part fit the screen, at least one; in a pipe, all."""
    most = max(sizes)
    if not sys.stdout.isatty():
        return most
    room_left = lines_of_screen() - _LINES_BELOW - 1 - len(sizes)
    return next((rows for rows in range(most, 1, -1) if sum(min(rows, size) for size in sizes) <= room_left), 1)


def _drawn(row: _Untold) -> str:
    left = f"  {row.id:{_ID}}{row.sessions or '':>4}  "
    if not sys.stdout.isatty():
        return f"{left}{row.text}{f' ({row.why})' if row.why else ''}"
    space = room() - len(left)
    why = f" ({cut(row.why, space // 2)})" if row.why else ""
    return f"{left}{cut(row.text, space - width(why))}{why}"


def somebody_looks() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def keep(file: Path, block: str, *, write: bool) -> None:
    """Show what changes in a file, and write it; first it asks, where nobody has said so and somebody can answer."""
    from hardwon.briefing.agents_md import keep_block

    change = keep_block(file, block, write=False)
    if not change:
        say(f"{file} is up to date.", err=True)
        return
    say(change)
    if write or (somebody_looks() and confirmed(f"Write this into {file}?")):
        keep_block(file, block)
        say(f"Written into {file}.", err=True)
    else:
        say("Nothing was written. To write it: the same with `--yes`.", err=True)


app = typer.Typer()
OTHER_NAMES = {"rejected": "invalid"}
"""What people call a status → what it is called."""
_ROOMY, _WIDE = 100, 120
"""On a narrower screen the text of a lesson needs the room."""
_ID = 10
_LINES_BELOW = 4
"""Of a screen: what is said below the table, and the prompt."""


@app.callback(invoke_without_command=True)
def lessons(
    context: typer.Context,
    project: ProjectOption = None,
    everywhere: Everywhere = False,
    kind: Annotated[str | None, typer.Option(help="pitfall, preference, decision, …")] = None,
    status: Annotated[str | None, typer.Option(help="active, candidate, rejected, …")] = None,
    limit: Annotated[
        int | None, typer.Option(help="Most rows. Default: what fits the screen; in a pipe, all.", min=1)
    ] = None,
    json: Json = False,
) -> None:
    """List lessons, the best known first, those that no session is told last.

    In a project's folder those told there, with --everywhere or --json those of all projects.

    Example: hardwon lessons --project tidepool --kind preference
    """
    if context.invoked_subcommand is not None:
        return
    from hardwon.api import Hardwon
    from hardwon.api.lessons import untold
    from hardwon.model.lesson import KINDS, STATUSES
    from hardwon.store import projects
    from hardwon.text.shown import said_status

    need_known("kind", kind, KINDS)
    status = OTHER_NAMES.get(status or "", status)
    need_known("status", status and said_status(status), map(said_status, STATUSES))
    with Hardwon() as memory:
        holder, only_here = (project, "") if json else of_here(memory, project, everywhere=everywhere)
        found = memory.lessons.list(project=holder, kind=kind, status=status)
        if json:
            chosen = found[:limit]
            told = _told(memory, {lesson.project for lesson in chosen})
            print_json([lesson_fields(memory, lesson.id) | {"told": lesson.id in told} for lesson in chosen])
            return
        names = projects.names(memory.reading())
        not_told = untold(memory, found)
    found.sort(key=lambda one: one.id in not_told)
    unused = [] if status else [one for one in found if one.status not in ("active", "candidate")]
    found = [one for one in found if one not in unused]
    if not found:
        such = " ".join(filter(None, (said_status(status) if status else "", kind or "")))
        of = f" of {shown(names.get(memory.project(holder) or '', '') or project or '')}" if holder else ""
        say(f"No {such}{' ' if such else ''}lessons{of} yet. {'' if project else only_here}".strip())
        return
    kept = _print_lessons(
        memory,
        found[:limit],
        names,
        [_note(memory, one, status, not_told) for one in found[:limit]],
        whole=limit is not None,
    )
    if more := len(found) - kept:
        asked = asked_again({"--project": project, "--kind": kind, "--status": status})
        asked += " --everywhere" if everywhere else ""
        say(f"{more:,} more: `hardwon lessons{asked} --limit {len(found)}`")
    if unused:
        number = "1 more is" if len(unused) == 1 else f"{len(unused):,} more are"
        asked = asked_again({"--project": project, "--kind": kind, "--status": said_status(unused[0].status)})
        asked += " --everywhere" if everywhere else ""
        say(f"{number} no longer used: `hardwon lessons{asked}`")
    if only_here:
        say(only_here)
    wrong = " Wrong? `hardwon review --reject ID`" if status in (None, "active", "candidate") else ""
    say(f"Where one comes from: `hardwon why ID`.{wrong}")


def _print_lessons(
    memory: Hardwon, found: Sequence[Lesson], names: dict[str, str], notes: Sequence[str], *, whole: bool
) -> int:
    """Returns how many were printed: all, or those that fit the screen."""
    several = len({one.project for one in found}) > 1
    wide, roomy = room_of_tables() >= _WIDE, room_of_tables() >= _ROOMY
    rows = []
    for one, note in zip(found, notes, strict=True):
        behind = [names.get(one.project, "everywhere")] * several + [note or "told"] * any(notes)
        text = one.text if roomy else f"{one.text}{''.join(f' ({told})' for told in behind if told != 'told')}"
        middle = (one.kind, f"{one.confidence:.0%}") if wide else ()
        rows.append((short(memory, one.id), *middle, one.source_count, text, *(behind if roomy else ())))
    headings = ["ID", *(["KIND", "SURE"] if wide else []), "SESSIONS", "LESSON"]
    right = (len(headings) - 2,)
    headings += ["PROJECT"] * (several and roomy) + ["STATE"] * (roomy and any(notes))
    kept = len(rows) if whole else rows_that_fit(headings, rows, right=right, besides=_LINES_BELOW)
    table(headings, rows[:kept], right=right)
    return kept


def _note(memory: Hardwon, lesson: Lesson, status: str | None, untold: dict[str, str]) -> str:
    """Why a lesson that is listed is not told."""
    if lesson.status not in ("active", status):
        return "waits for review"
    why = _WHOLE_ID.sub(lambda id: short(memory, id[0]), untold.get(lesson.id, ""))
    return f"not told: {why}" if why else ""


def _told(memory: Hardwon, projects: set[str]) -> set[str]:
    """The lessons that the briefings of these projects tell now."""
    return {line.id for project in sorted(projects - {""}) for line in memory.bootstrap(project).lines}


# A lesson in a person's own words: `remember`.


def remember(
    text: Annotated[str, typer.Argument(help="One sentence that stands by itself.", show_default=False)],
    kind: Annotated[
        str, typer.Option(help="fact, preference, decision, pitfall, pattern, tool-quirk, …; without it, by its words.")
    ] = "",
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
    from hardwon.clock import moment, now
    from hardwon.model.lesson import Kind, Scope
    from hardwon.text.words import terms

    words = terms(text)
    if text.isascii() and (len(text.split()) < _FEWEST_WORDS or len(words) < (2 if _POINTS.search(text) else 1)):
        raise HardwonError(
            f"'{shown(text)}' does not stand by itself: say in a sentence what a later session should know"
        )
    began = moment(now())
    kind = kind or ("preference" if _ASKS_FOR.match(text) else "fact")
    with Hardwon() as memory:
        before = {each.id for each in memory.store.projects()} if memory.exists else set()
        if project and memory.exists and not os.path.isdir(project):
            memory.project(project)  # a name that is not known is a slip; a folder may be new
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
        untold = why_untold(memory, id, holder, found.status)
        alike = [one for one in memory.review.consider(id).similar if one.status == "active" and one.share >= _LIKE_IT]
        disputes = [one.lessons for one in memory.review.conflicts() if id in {each.id for each in one.lessons}]
        against = {one.id: one for among in disputes for one in among if one.id != id}
    if json:
        print_json(found)
        return
    often = f" (said in {count(found.source_count, 'session')})" if found.source_count else ""
    known = f" was known already{often}:" if found.first_seen < began else ""
    not_told = f", but not told: {untold}" if untold else ""
    say(f"{short(memory, id)}{known} {found.status} {where}{not_told}")
    if holder and holder not in before:
        folder = shown(os.path.abspath(project or "."))
        say(f"{folder} was no project yet. For another: --project NAME; for all: --global", err=True)
    if not known and found.text.strip(".") != text.strip().strip("."):
        say(f"kept as: {shown(found.text)}", err=True)
    for other in against.values():
        keep = f"`hardwon review --keep {short(memory, id)}`"
        what = f"It contradicts {short(memory, other.id)}: {shown(other.text)}"
        say(f"{what} Neither is told until you decide; to keep the new one: {keep}", err=True)
    for one in [] if against else alike[:1]:
        drop = f"`hardwon review --reject {short(memory, one.id)}`"
        say(
            f"Much like {short(memory, one.id)}: {shown(one.text)} Both are told; to keep the new one alone: {drop}",
            err=True,
        )
    if not known:
        say(f"To undo: `hardwon undo {short(memory, id)}`", err=True)


def why_untold(memory: Hardwon, id: str, project: str | None, status: str) -> str:
    """Why the briefing of its project leaves a lesson out; empty where it is told, or is not believed anyway."""
    left_out = memory.bootstrap(project).left_out if project and status == "active" else []
    return next((one.reason for one in left_out if one.id == id), "")


@wraps(remember)
def _add(**given: object) -> None:
    remember(**given)  # type: ignore[arg-type]


_add.__doc__ = (remember.__doc__ or "").replace("hardwon remember", "hardwon lessons add")
app.command("add")(_add)


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
