"""Where to look: `map`, `blame`, `how`, `resume`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hardwon.cli.app import Json, ProjectOption, asked_again, day, iso, print_json, say, short, shown, table
from hardwon.errors import HardwonError, NotFound
from hardwon.text.normalise import base_name

if TYPE_CHECKING:
    from datetime import datetime

    from hardwon.api import Hardwon
    from hardwon.model.nouns import Habit, Map

    _Row = tuple[str, str, datetime | None]

_ROWS = 10
_EVERYDAY = re.compile(r"git (?!submodule|subtree|lfs|annex)")
"""What is run in every project: no news to whoever asks about this one."""
_EVERYDAY_LEFT_OUT = 16
_MANY_SESSIONS = 10
_IN_ONE = re.compile(r"(?:[\w-]+: )?\w+ in 1 of (\d+) sessions(?! about| with)")
"""What the map says of files and commands that one session went to."""
_ABOUT_IT = re.compile(r" sessions (?:about|with) |^its (?:name|folder) has |\bnamed\b")
"""What the map says of files and commands that have to do with the task."""
_OF_ALL = re.compile(r"\w in \d+ of (\d+) sessions(?! about| with)")
_LAST = re.compile(r"(.*?), last [^;]+(.*)$")
_RAN = re.compile(
    r"(?:(?P<purpose>[\w-]+): )?(?:ran|failed) in (?P<ran>\d+) of \d+ sessions"
    r"(?:: passed in (?P<passed>\d+), failed in (?P<failed>\d+)(?:, some both)?|, passed in all"
    r"|(?P<never>, never worked))?"
    r"(?:, last .+)?$"
)
"""What the map says of files, and of commands."""
_CHARACTERS_OF_A_TASK, _CHARACTERS_OF_A_SESSION = 60, 200
_PATHS_NAMED = 5
_NAMES_NEAR, _LEAST_LIKENESS = 3, 0.75
_OUTCOMES = {"completed": "", "unknown": "", "failure": "failed call"}
"""What a session ended with, as people read it: a failure is one whose last call failed."""
Limit = Annotated[int, typer.Option(help="Maximum number of rows of each.", min=1, max=200)]


def map_(
    words: Annotated[
        list[str] | None, typer.Argument(help="What you want to do, as for --task; or a project.", show_default=False)
    ] = None,
    project: ProjectOption = None,
    task: Annotated[str, typer.Option(help="What you want to do; ranks the files for it.")] = "",
    limit: Annotated[
        int | None, typer.Option(help=f"Maximum number of rows of each. Default: {_ROWS}.", min=1, max=200)
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(help="Draw the project into this SVG file: folders sized by sessions, coloured by age."),
    ] = None,
    json: Json = False,
) -> None:
    """Suggest the files and commands that a task will probably need.

    Based on what earlier sessions read, edited and ran. These are suggestions: check before you rely on them. Default:
    the project of the current folder. Left out: what only one session of many went to (--limit shows it) and git add,
    commit, push (a task shows them). --json has everything.

    Example: hardwon map "retry failed uploads" --project tidepool
    """
    from hardwon.api import Hardwon
    from hardwon.cli.harvest import held_back

    said = " ".join(words or ())
    with Hardwon() as memory:
        wanted = project or (said if _is_project(memory, said, task) else ".")
        task = task or ("" if wanted == said else said)
        most = limit or _ROWS
        limits = most if json else most + _EVERYDAY_LEFT_OUT
        found = memory.map(wanted, task=task, limit=limits)
        unknown = ""
        if (
            task
            and not json
            and not any(
                map(_ABOUT_IT.search, [*(one.why for one in found.files), *(one.why for one in found.commands)])
            )
        ):
            found, task, unknown = memory.map(wanted, limit=limits), "", task
        others = "" if found.files or found.commands else held_back(memory, wanted)
        if svg is not None:
            from hardwon.durable import write_whole

            write_whole(svg, memory.picture(wanted))
            say(f"{svg} shows the project.", err=True)
    if json:
        print_json(found)
    elif not found.files and not found.commands:
        say(f"Nothing is known of this project's files yet.{others}")
    else:
        _print(found, most, task=task, whole=limit is not None, unknown=unknown)


def _is_project(memory: Hardwon, words: str, task: str) -> bool:
    """Whether what is named is where to look and not what to do: both were asked for in this place."""
    if task and words:
        return True
    try:
        return bool(words and memory.project(words))
    except NotFound as error:
        return "several" in str(error)


def _print(found: Map, most: int, *, task: str, whole: bool, unknown: str) -> None:
    """What a map suggests; for an `unknown` task, what sessions needed most."""
    own = [one for one in found.commands if task or not _EVERYDAY.match(one.command)]
    told: list[tuple[str, list[_Row]]] = [
        ("FILE", [(one.path, one.why, one.last) for one in found.files[:most]]),
        ("COMMAND", [(one.command, one.why, one.last) for one in own[:most]]),
    ]
    of_all = _number_of_sessions([row[1] for _, rows in told for row in rows])
    if not whole:
        telling = [(heading, [row for row in rows if not _says_little(row[1])]) for heading, rows in told]
        told = telling if any(rows for _, rows in telling) else told
    if unknown:
        say(f'No session here was about "{shown(unknown, _CHARACTERS_OF_A_TASK)}". For any task:')
    if of_all:
        by = "the likeliest for this task" if task else "the likeliest for the next one"
        lately = "" if task else "; lately counts more than often"
        say(f"Of {_those(of_all)}, {by} first{lately}:\n")
    for number, (heading, rows) in enumerate((heading, rows) for heading, rows in told if rows):
        say() if number else None
        if heading == "COMMAND":
            _print_commands(rows)
            continue
        dated = [
            (name, _LAST.sub(r"\1\2", _without_all(why, of_all)), day(last) if last else "") for name, why, last in rows
        ]
        table((heading, "WHY", "LAST"), dated)


def _those(sessions: str) -> str:
    """Which sessions are counted: not those that only talked, nor older ones than a map holds."""
    those = "the one session" if sessions == "1" else f"the newest {sessions} sessions"
    return f"{those} that read, edited or ran something"


def _print_commands(rows: Sequence[_Row]) -> None:
    """In how many sessions each ran and how it ended there, of what the map says in words."""
    cells: list[tuple[str, ...]] = []
    both = False
    for name, why, last in rows:
        found = _RAN.match(why)
        when = day(last) if last else ""
        if not found:  # no words of ours
            cells.append((name, why, "", "", "", when))
            continue
        ran = found["ran"]
        passed, failed = (found["passed"], found["failed"]) if found["failed"] else (ran, "0")
        if found["never"]:
            passed, failed = "0", ran
        both = both or int(passed) + int(failed) > int(ran)
        cells.append((name, found["purpose"] or "", ran, passed, failed, when))
    table(("COMMAND", "FOR", "SESSIONS", "PASSED", "FAILED", "LAST"), cells, right=(2, 3, 4), spare=(1,))
    if both:
        say("\nA session in which it failed and then passed counts in both.")


def _number_of_sessions(whys: Sequence[str]) -> str:
    """Of how many sessions most of these speak; empty where none does."""
    found = Counter(_OF_ALL.findall(" ".join(whys))).most_common(1)
    return found[0][0] if found else ""


def _without_all(why: str, sessions: str) -> str:
    """What speaks for a row, where all rows are of so many sessions."""
    why = why.replace(f" in 1 of {sessions} sessions", " in 1 session")
    return why.replace(f" of {sessions} sessions", " sessions")


def _says_little(why: str) -> bool:
    """Whether all that speaks for a row is that one session of many went there."""
    once = _IN_ONE.match(why)
    return bool(once) and int(once[1]) >= _MANY_SESSIONS  # type: ignore[index]


def blame(
    path: Annotated[
        str,
        typer.Argument(
            help="A file or folder, relative to the project's root; or the end of its path.", show_default=False
        ),
    ],
    project: ProjectOption = None,
    limit: Limit = 20,
    json: Json = False,
) -> None:
    """Show which sessions touched a file, for what task and with what outcome.

    Example: hardwon blame src/store/queue.py --project tidepool
    """
    from hardwon.api import Hardwon
    from hardwon.cli.harvest import held_back
    from hardwon.store import sessions

    with Hardwon() as memory:
        found = memory.blame(path, project=project or ".", limit=limit + 1)
        if not found and (whole := _ending_so(memory, path, project or ".")):
            found = memory.blame(whole, project=project or ".", limit=limit + 1)
            say(f"{shown(whole)}:", err=json)
        others = "" if found else f"{_near(memory, path, project or '.')}{held_back(memory, project or '.')}"
        stopped = sessions.stopped(memory.reading(), (one.session for one in found)) if found else set()
    found, more = found[:limit], len(found) > limit
    if json:
        print_json(
            [{**{name: getattr(one, name) for name in one.__struct_fields__}, "at": iso(one.at)} for one in found]
        )
    elif not found:
        say(f"No session is known to have touched {shown(path)}.{others}")
    else:
        commits = any(one.commit for one in found)
        ended = {
            one.session: "interrupted" if one.session in stopped else _OUTCOMES.get(one.outcome, one.outcome)
            for one in found
        }
        rows = [
            (
                short(memory, one.session),
                day(one.at),
                " ".join(one.uses),
                *([ended[one.session]] if any(ended.values()) else []),
                *([one.commit[:9] or "-"] if commits else []),
                one.task,
            )
            for one in found
        ]
        headings = [
            "SESSION", "DAY", "DID", *(["ENDED WITH"] if any(ended.values()) else []), *(["COMMIT"] if commits else []),
            "TASK",
        ]  # fmt: skip
        table(headings, rows, most_lines=1)
        if all(list(one.uses) == ["read"] for one in found) and _of_specstory(memory, [one.session for one in found]):
            say("SpecStory's files seldom tell what was edited: those sessions may have changed it, too.")
        if more:
            say(f"There are more: add `--limit {5 * limit}`.")


def _near(memory: Hardwon, path: str, project: str) -> str:
    """Files that are called nearly so."""
    from difflib import get_close_matches

    from hardwon.store import projects

    holder = memory.project(project)
    called = {base_name(known): known for known in projects.paths_touched(memory.reading(), holder)} if holder else {}
    found = get_close_matches(base_name(path), called, n=_NAMES_NEAR, cutoff=_LEAST_LIKENESS)
    return f" Called nearly so: {', '.join(shown(called[name]) for name in found)}." if found else ""


def _of_specstory(memory: Hardwon, sessions: list[str]) -> bool:
    """Whether one of these is known by what SpecStory wrote of it."""
    return any(memory.sessions.get(id).session.format == "specstory" for id in sessions)


def _ending_so(memory: Hardwon, path: str, project: str) -> str:
    """The one file whose path ends so."""
    from hardwon.api.whereabouts import paths_ending

    holder = memory.project(project)
    found = paths_ending(memory.reading(), holder, path) if holder else []
    if len(found) > 1:
        more = [f"and {len(found) - _PATHS_NAMED} more"] if len(found) > _PATHS_NAMED else []
        named = "\n  ".join([*map(shown, found[:_PATHS_NAMED]), *more])
        raise HardwonError(f"{len(found)} files are called so. Which?\n  {named}")
    return found[0] if found else ""


def how(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="What for: test, lint, deploy, a program's name; without it, the most used.", show_default=False
        ),
    ] = None,
    project: ProjectOption = None,
    limit: Limit = 10,
    json: Json = False,
) -> None:
    """List the commands that worked in a project; for one of them, in which sessions.

    Example: hardwon how "run the tests" --project tidepool
    """
    from hardwon.api import Hardwon
    from hardwon.cli.harvest import held_back

    said = " ".join(words or ())
    with Hardwon() as memory:
        found = memory.how(said, project=project or ".", limit=limit)
        others = "" if found else held_back(memory, project or ".")
        if found and not json and found[0].command == said:
            _print_sessions_of(memory, found[0])
            return
    if json:
        print_json(found)
    elif not found:
        say(f"No command that worked here fits.{others}")
    else:
        if sessions := _number_of_sessions([one.why for one in found]):
            git = ", git's last" if not words and any(_EVERYDAY.match(one.command) for one in found) else ""
            first = "what fits best" if words else "what passed in most"
            say(f"Of {_those(sessions)}, {first} first{git}; … stands for words that differ:\n")
        _print_commands([(one.command, one.why, one.last) for one in found])
        if not words:
            named = asked_again({"-p": project})
            say(
                f"\nIn which sessions: `hardwon how{named} 'COMMAND'`. Of one purpose: `hardwon how{named} test`. "
                f"For a task: `hardwon map{named} TASK`"
            )


def _print_sessions_of(memory: Hardwon, found: Habit) -> None:
    """Where a command ran, and how it ended there."""
    seen = {id: memory.sessions.get(id).session for id in dict.fromkeys((*found.passed, *found.failed))}
    say(f"{shown(found.command)}\n{found.why}\n")
    rows = [
        (
            short(memory, id),
            day(one.started_at),
            " and ".join(["failed"] * (id in found.failed) + ["passed"] * (id in found.passed)),
            shown(one.task, _CHARACTERS_OF_A_SESSION),
        )
        for id, one in sorted(seen.items(), key=lambda item: item[1].started_at, reverse=True)
    ]
    table(("SESSION", "DAY", "IT", "TASK"), rows, most_lines=1)
    say("\nTo look at one: `hardwon why SESSION`")


def resume(
    id: Annotated[
        str, typer.Argument(help="A session: the beginning of its id, or the agent's own.", show_default=False)
    ],
    run: Annotated[bool, typer.Option("--run", help="Run it in the project's folder.")] = False,
    json: Json = False,
) -> None:
    """Print the command that resumes a session in its agent, or run it.

    Example: hardwon resume S1a2b3c4d
    """
    import os
    import shlex

    from hardwon.api import Hardwon

    with Hardwon() as memory:
        found = memory.resume(id)
    if json:
        print_json(found)
        return
    if not run:
        typer.echo(found.line)
        if found.folder and not Path(found.folder).expanduser().is_dir():
            say(f"{shown(found.folder)} is not on this machine: the agent may not find the session.", err=True)
        return
    folder = Path(found.folder).expanduser()
    if found.folder and folder.is_dir():
        os.chdir(folder)
    words = shlex.split(found.command)
    try:
        os.execvp(words[0], words)  # noqa: S606 - a program from our own table, its id of plain signs
    except OSError as error:
        raise typer.BadParameter(f"{words[0]} cannot be run: {error.strerror}") from error
