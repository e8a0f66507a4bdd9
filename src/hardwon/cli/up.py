"""`up`: learn from this machine's sessions, and show on one screen what keeps failing, what people keep saying, what
the next session is told, and the next step."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from hardwon.cli.app import (
    Json,
    ProjectOption,
    ask_about_folders,
    asked_again,
    bold,
    count,
    echo,
    green,
    is_here,
    last_met,
    of_here,
    our_name,
    print_json,
    progress_bar,
    project_here,
    room,
    room_behind_a_pipe,
    say,
    say_pending,
    short,
    shown,
    thousands,
    upgraded,
)
from hardwon.cli.failures import row_of, worked
from hardwon.cli.review import likeliest
from hardwon.cli.table import cut_in_code, hung, width
from hardwon.errors import HardwonError, NotFound

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.failing import Failing
    from hardwon.harvest.rules.said import Habit
    from hardwon.harvest.walk import Progress, Report
    from hardwon.model.nouns import Bootstrap, Lesson, Line, Project
    from hardwon.store.failures import Met

_FIRST_BYTES = 4_000_000
"""What is read at a time before the first screen is shown: the newest sessions. Larger files come afterwards."""
_FIRST_SECONDS, _SOON_SECONDS = 4.0, 4.0
"""After how long a first screen is shown, and the rest read afterwards; unless that takes no longer than the second."""
_EMBEDDING_SECONDS = 15.0
"""Most time that vectors may take once the screen is shown; what is left comes with the next run."""
_PROJECTS_COMPARED = 12
_FAILURES_SHOWN, _STATEMENTS_SHOWN, _HABITS_SHOWN, _LINES_SHOWN = 3, 3, 2, 4
_FAILURES_COUNTED, _REASONS_SHOWN = 1000, 2
_TALL = 30
"""Lines of a terminal that have room for all that; a lower one is shown one less of each, and no empty lines."""
_NARROWEST, _WIDEST = 60, 140
_EXAMPLES = ("tidepool", "lanternfish")
"""Their projects."""
_IN_A_PIPE = 100
_LEFT = 11
"""Columns of an id and what parts it from the words."""


class _Screen(NamedTuple):
    """What is shown of the project that has the most to say."""

    projects: int
    """How many there are in all."""
    project: Project
    briefing: Bootstrap
    failing: Sequence[Failing]
    kinds: int
    """Failures that came back, of which those are the first."""
    untold: Counter[str]
    """Why some of them are not told → how many."""
    tokens: dict[str, int]
    said_again: Sequence[Lesson]
    habits: Sequence[Habit]
    met: Met
    another: str = ""
    """The project with the next most to say."""

    @property
    def came_back(self) -> int:
        """Errors, once a session each, that an earlier session had met."""
        return self.met.errors - self.met.different

    @property
    def tells(self) -> bool:
        """Whether there is anything to look at: an error that came back, or something said again."""
        return bool(self.failing or self.said_again or self.habits)


def up(
    sample: Annotated[
        int | None, typer.Option(help="Read at most this many new sessions, the most valuable first.", min=1)
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Show the bundled examples; nothing is saved.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="With --demo: save the examples like your sessions.")] = False,
    project: ProjectOption = None,
    json: Json = False,
) -> None:
    """Read the agent sessions on this machine and show what they teach.

    Finds the sessions of every supported agent and reads the new ones, newest first. Then it picks the project of this
    folder, or else the one whose errors come back most, and shows what keeps failing, what you keep telling your
    agents, and what the next session will be told.
    If there are no sessions it shows bundled examples, which are not saved; `up --demo --keep` saves them, so that
    `why` and `failures` find them. Ctrl-C stops and keeps everything read so far.

    Example: hardwon up
    """
    from hardwon.api import Hardwon
    from hardwon.cli.install import move_over

    if keep and not demo:
        raise HardwonError("--keep is for the examples: `hardwon up --demo --keep`; your own sessions are always saved")
    move_over()
    with Hardwon() as memory:
        if not demo:
            upgraded(memory)
        found = [] if demo else memory.discover()
        if found or (not demo and memory.exists and memory.store.totals()["sessions"]):
            _up(memory, memory.sessions.retained(found), sample, examples=False, json=json, project=project)
            return
    if not json:
        why = "These" if demo else "No agent sessions were found on this machine: these"
        say(f"{why} are the bundled examples.\n")
    with Hardwon() if keep else _thrown_away() as memory:
        _up(memory, _examples(), sample, examples=not keep, mine=True, json=json, project=project)
        if keep and not json:
            commands = " and ".join(f"`hardwon forget -p {name}`" for name in _EXAMPLES)
            say(f"\nThe examples are saved. To remove them: {commands}.")


@contextmanager
def _thrown_away() -> Iterator[Hardwon]:
    from tempfile import TemporaryDirectory

    from hardwon.api import Hardwon

    with TemporaryDirectory(prefix="hardwon-") as folder, Hardwon(folder) as memory:
        yield memory


def _up(
    memory: Hardwon,
    paths: list[Path],
    sample: int | None,
    *,
    examples: bool,
    json: bool,
    mine: bool = False,
    project: str | None = None,
) -> None:
    from hardwon.api.failing import waiting_fixes

    (first, *later), known = _newest_first(paths), memory.store.totals() if memory.exists else {}
    if json or sample or not sys.stdout.isatty():
        first, later = paths, []
    all_parts = 1 + len(later)
    with progress_bar() as progress:
        begun = monotonic()
        most = sample or memory.config.sample if not later else None
        report = memory.harvest(first, most=most, mine=mine, progress=progress)
        while later and (monotonic() - begun < _FIRST_SECONDS or _soon(begun, all_parts - len(later), len(later))):
            _add_up(report, memory.harvest(later.pop(0), mine=mine, progress=progress))
    rest = [path for some in later for path in some]
    unread = len(rest) - len(memory.sessions.harvested(rest)) if rest else 0
    early = _screen(memory) if unread and not project else None
    if early is not None and early.tells:
        say(bold("A first look, at the newest sessions. The whole report follows."))
        _say_if_not_known(memory, early)
        _show(memory, report, known, early, examples=examples)
    if unread:
        say(f"\nStill reading {count(unread, 'older file')}. Ctrl-C stops and keeps what has been read.\n", err=True)
    with progress_bar() as progress:
        if rest:
            _add_up(report, memory.harvest(rest, most=memory.config.sample, mine=mine, progress=progress))
        if not examples:
            _finish(memory, report, progress)
    screen = _screen(memory, project)
    if json:
        if not examples:
            memory.store.embed(seconds=_EMBEDDING_SECONDS)
        print_json(
            {
                "examples": examples,
                "harvest": report,
                "totals": memory.store.totals(),
                "project": screen.project.name if screen else None,
                "bootstrap": screen.briefing if screen else None,
                "habits": [one._asdict() for one in screen.habits] if screen else [],
            }
        )
        return
    if early is not None and early.tells:
        differs = screen is not None and screen.project.id != early.project.id
        of = f", of another project: {shown(screen.project.name)} has more to say" if screen and differs else ""
        say(bold(f"The whole report, which replaces the first look above{of}."))
    if not (examples or project):
        _say_if_not_known(memory, screen)
    _show(memory, report, known, screen, examples=examples)
    ids = screen is not None and bool(screen.failing or screen.briefing.lines)
    another = screen.another if screen and not project else ""
    _say_next(
        examples=examples,
        ids=ids,
        waiting=0 if examples else memory.review.count(project=project),
        fixes=0 if examples else len(waiting_fixes(memory.reading(), memory.project(project))),
        said=0 if examples else memory.review.count_said(project=project),
        project=project,
        read_here=_is_known_here(memory),
        another=another,
        fails=screen is None or screen.met.errors > 0,
        below=("", 0) if examples or project else _unread_below(memory),
    )
    if not examples:
        with progress_bar() as progress:
            memory.store.embed(seconds=_EMBEDDING_SECONDS, progress=progress)
        say_pending(memory)
        ask_about_folders(memory)


def _soon(begun: float, parts_read: int, parts_left: int) -> bool:
    """Whether so little is left that whoever waits would rather see one report."""
    return (monotonic() - begun) / parts_read * parts_left < _SOON_SECONDS


def _newest_first(paths: Sequence[Path]) -> list[list[Path]]:
    """Files in the order in which they are read, a few megabytes at a time; at least one list."""
    from hardwon.harvest.pipeline import stamp_of

    stamps = {path: stamp_of(path) for path in paths}
    found: list[list[Path]] = [[]]
    size = 0
    for path in sorted(paths, key=lambda path: (stamps[path][0] > _FIRST_BYTES, -stamps[path][1])):
        if size + stamps[path][0] > _FIRST_BYTES and found[-1]:
            found.append([])
            size = 0
        size += stamps[path][0]
        found[-1].append(path)
    return found


def _finish(memory: Hardwon, report: Report, progress: Progress | None) -> None:
    """What the repositories keep, and letting go of what is too old."""
    from hardwon.cli.harvest import add_from_git

    add_from_git(memory, memory.sessions.repositories(), report, progress)
    if memory.retain_days:
        memory.store.purge(memory.retain_days)


def _add_up(report: Report, more: Report) -> None:
    import msgspec

    for name, value in msgspec.structs.asdict(more).items():
        if isinstance(value, int | float):
            setattr(report, name, getattr(report, name) + value)


def _examples() -> list[Path]:
    import hardwon
    from hardwon.sessions.discover import below

    package = Path(hardwon.__file__).parent
    for folder in (package / "examples" / "sessions", package.parent.parent / "examples" / "sessions"):
        if folder.is_dir():
            return below(folder)
    raise NotFound("no agent sessions on this machine, and the bundled examples are missing")


def _screen(memory: Hardwon, project: str | None = None) -> _Screen | None:
    """Of the project named, or of this folder's, or of the one with the most to say: errors that came back."""
    from hardwon.store.failures import met_in

    known = [one for one in memory.store.projects() if one.sessions]
    if project:
        wanted = memory.project(project)
        return next((_screen_of(memory, known, one) for one in known if one.id == wanted), None)
    here = project_here(memory)
    compared = [one for at, one in enumerate(known) if at < _PROJECTS_COMPARED or one.id == here]
    met = {one.id: met_in(memory.reading(), one.id) for one in compared}
    compared.sort(key=lambda one: (one.id == here, met[one.id].errors - met[one.id].different), reverse=True)
    screens = [_screen_of(memory, known, one) for one in compared[:1]]
    for one in compared[1:]:
        if screens[-1].tells:
            break
        screens.append(_screen_of(memory, known, one))
    if not screens:
        return None
    found = screens[-1] if screens[-1].tells else screens[0]
    back = (one.name for one in compared if one is not found.project and met[one.id].errors > met[one.id].different)
    return found._replace(another=next(back, ""))


def _is_known_here(memory: Hardwon) -> bool:
    return of_here(memory, None, everywhere=False)[0] is not None


def _say_if_not_known(memory: Hardwon, screen: _Screen | None) -> None:
    """That nothing below is of this folder, and which command reads what lies in it."""
    from hardwon.sessions.checkpoints import how_to_read

    command, files = how_to_read(".")
    if files and not _is_known_here(memory):
        of = f". What follows is of {shown(screen.project.name)}." if screen else ""
        say(bold(f"This folder is not known yet. {count(files, 'session')} of it can be read: `{command}`{of}"))


def _unread_below(memory: Hardwon) -> tuple[str, int]:
    """The command that reads the histories of projects one or two folders below this one, and how many are unread."""
    from hardwon.sessions.checkpoints import HISTORY, histories

    found = {
        pattern: [path for place in glob(pattern) for path in histories(place.removesuffix(HISTORY))]
        for pattern in (f"*/{HISTORY}", f"*/*/{HISTORY}")
    }
    there = [pattern for pattern, paths in found.items() if paths]
    paths = [path.absolute() for pattern in there for path in found[pattern]]
    if not paths:
        return "", 0
    unread = len(paths) - len(memory.sessions.harvested(paths))
    places = there[0] if len(there) == 1 else f"{{*,*/*}}/{HISTORY}"
    return f"hardwon harvest {places} --mine", unread


def _screen_of(memory: Hardwon, known: Sequence[Project], project: Project) -> _Screen:
    from hardwon.api.failing import EVER, failing
    from hardwon.harvest.rules.said import habits
    from hardwon.store.failures import met_in
    from hardwon.store.pages import Counted

    which = Counted(project.id, EVER, of_agents=False, muted=False, again=True)
    back, _ = failing(memory.reading(), which, limit=_FAILURES_COUNTED)
    first = back[:_FAILURES_SHOWN]
    costs = memory.failures.costs([id for row in first for id in row.ids])
    said = memory.lessons.list(project=project.id, status="active")
    again = [one for one in said if one.trust == "human" and one.source_count > 1]
    again.sort(key=lambda one: -one.source_count)
    tokens = {row.failure.id: sum(costs[id].tokens for id in row.ids) for row in first}
    often = habits(memory.reading(), project.id, _HABITS_SHOWN)
    met = met_in(memory.reading(), project.id)
    briefing = memory.bootstrap(project.id)
    return _Screen(
        len(known),
        project,
        briefing,
        first,
        len(back),
        _untold(memory, back, briefing),
        tokens,
        again[:_STATEMENTS_SHOWN],
        often,
        met,
    )


def _untold(memory: Hardwon, back: Sequence[Failing], briefing: Bootstrap) -> Counter[str]:
    """Of failures that came back those that neither a line nor a lesson tells of, by why that is so."""
    lessons = [memory.lessons.get(line.id).lesson for line in briefing.lines if line.id.startswith("L")]
    told = {line.id for line in briefing.lines} | {lesson.failure for lesson in lessons}
    why = {one.id: one.reason for one in briefing.left_out}
    reasons = [{id: why.get(id, "") for id in row.ids} for row in back if told.isdisjoint(row.ids)]
    return Counter(next(filter(None, each.values()), "") for each in reasons)


def _said_of_untold(screen: _Screen) -> str:
    """How many of the failures above no session is told, and why; empty where all are."""
    untold = screen.untold.total()
    if not untold:
        return ""
    named = [(reason, often) for reason, often in screen.untold.most_common() if reason][:_REASONS_SHOWN]
    why = [f"{often}: {reason}" for reason, often in named]
    if not _is_tall():
        why = [f"{'mostly: ' if len(screen.untold) > 1 else ''}{reason}" for reason, _ in named[:1]]
    elif others := untold - sum(often for _, often in named):
        why.append(f"{others}: other reasons")
    told = screen.kinds - untold
    some = f"{told or 'none'} {'are' if told > 1 else 'is'} told"
    return f"Of {count(screen.kinds, 'failure')} that came back {some} ({'; '.join(why)})"


def _show(memory: Hardwon, report: Report, known: dict[str, int], screen: _Screen | None, *, examples: bool) -> None:
    from hardwon.cli.harvest import held_back, say_of_others

    totals = memory.store.totals()
    say(_read(report, totals, known))
    say_of_others(report)
    if screen is None:
        return
    project, briefing = screen.project, screen.briefing
    less = 0 if _is_tall() else 1
    others = f" (one of {screen.projects} projects)" if screen.projects > 1 else ""
    say(f"{'' if less else chr(10)}{shown(project.name)}: {count(project.sessions, 'session')}{others}")
    if before := screen.came_back:
        say(f"{before:,} of its {screen.met.errors:,} errors, counted once a session, had come up in an earlier one.")
    listed = min(_FAILURES_SHOWN - less, len(screen.failing))
    some = f", {listed} of {screen.kinds}" if screen.kinds > listed else ""
    roomy = _wide() >= _IN_A_PIPE  # else the error needs the room
    _heading(f"WHAT KEEPS FAILING{some}", "sessions  times  tokens" if roomy else "sessions  tokens")
    for one in screen.failing[: _FAILURES_SHOWN - less]:
        row, tokens = one.failure, thousands(screen.tokens[one.failure.id])
        calls = f"{row.occurrences:>7}" if roomy else ""
        _item(short(memory, row.id), row_of(one), f"{row.sessions:>8}{calls}{tokens:>8}")
        if fixed := worked(row):
            short_of_age = fixed.replace(f", {last_met(row.last_seen)}", "", 1)  # the fix itself needs the room
            _item("", fixed if width(fixed) <= _wide() - _LEFT else short_of_age, style=green)
    if not screen.failing:
        _item("", "No error has come back in a second session.")
    _heading("WHAT YOU KEEP TELLING THEM", "sessions")
    said = screen.said_again[: _STATEMENTS_SHOWN - less]
    for lesson in said:
        _item(short(memory, lesson.id), lesson.text, f"{lesson.source_count:>8}")
    for habit in screen.habits[: _STATEMENTS_SHOWN - less - len(said)]:
        _item("", f'a request that came again: "{habit.words}"', f"{habit.sessions:>8}")
    if not (screen.said_again or screen.habits):
        waits = not examples and memory.review.count_said(project=project.id)
        once = " Said once: `hardwon review --said`" if waits else ""
        _item("", f"Nothing in several sessions.{once}")
    _heading("WHAT THE NEXT SESSION WILL BE TOLD", f"{briefing.tokens} tokens")
    lines = _likeliest_first(briefing)[: _LINES_SHOWN - less]
    for line in lines:
        _item(short(memory, line.id), f"{line.fix} for {line.error}" if line.fix else line.text, or_else=line.text)
    told = _told_lines(briefing)
    if not lines:  # what has no id: how the project is built, checked and run
        for text in told[: _LINES_SHOWN - less]:
            _item("", text)
        if not told:
            say(f"{'':11}Nothing yet: no line is worth its tokens.{held_back(memory, project.id)}")
    if (more := len(told) - min(_LINES_SHOWN - less, len(lines) or len(told))) > 0:
        where = "" if examples else f": `hardwon bootstrap --project {shown(project.name)}`"
        say(f"{'':11}and {count(more, 'more line')}{where}")
    if untold := _said_of_untold(screen):
        where = "" if examples else f": `hardwon bootstrap --left-out -p {shown(project.name)}`"
        echo("\n".join(hung(f"{'':11}{untold}{where}", _wide())))


def _likeliest_first(briefing: Bootstrap) -> list[Line]:
    """The lines as they are read, but for the failure that is likeliest to come back: few are shown here."""
    first = next((line for line in briefing.lines if line.kind == "failure"), None)
    return [*([first] if first else []), *(line for line in briefing.lines if line is not first)]


def _told_lines(briefing: Bootstrap) -> list[str]:
    return [line[2:] for line in briefing.text.split("\n") if line.startswith("- ")]


def _read(report: Report, totals: dict[str, int], known: dict[str, int]) -> str:
    """What was read, and what is new by it."""
    from hardwon.cli.harvest import read_now

    if not report.sessions:
        return f"Nothing new since last time. {count(totals['sessions'], 'session')} known."
    new = [
        count(totals[name] - known.get(name, 0), noun, name)
        for name, noun in (("lessons", "lesson"), ("fixes", "fix"))
        if totals[name] > known.get(name, 0)
    ]
    learned = f": {' and '.join(new)} new" if new and known else ""
    read = read_now(report, totals["sessions"], known.get("sessions", 0))
    return f"Read {read} in {report.seconds:.0f} s{learned}."


def _say_next(
    *,
    examples: bool,
    ids: bool,
    waiting: int,
    fixes: int = 0,
    said: int = 0,
    project: str | None = None,
    read_here: bool = False,
    another: str = "",
    fails: bool = True,
    below: tuple[str, int] = ("", 0),
) -> None:
    """What to do next; of a project that was asked for, what is of it."""
    from hardwon.cli.install import here
    from hardwon.harvest.distil.chosen import installed
    from hardwon.sessions.checkpoints import how_to_read

    of = ""
    if examples:
        steps = [
            ("hardwon up --demo --keep", "save these examples, to try other commands with them"),
            ("hardwon harvest FOLDER", "learn from sessions in another folder"),
        ]
    else:
        command, files = how_to_read(".")
        unread = bool(files) and not (read_here or project)
        of = asked_again({"-p": project})
        steps = [(command, f"learn from the {count(files, 'session')} in this folder")] if unread else []
        if below[1]:
            steps.append((below[0], f"learn from {count(below[1], 'SpecStory session')}"))
        steps += [("hardwon why ID", "where a line comes from")] if ids else []
        steps += [(f"hardwon failures{of}", "everything that keeps failing")] if fails else []
    if another:
        demo = " --demo" if examples else ""
        steps.append((f"hardwon up{demo} -p {shown(another)}", "the same of another project"))
    if waiting:
        steps.append((f"hardwon review{of}", f"{count(waiting, 'lesson')} to approve or reject"))
    if fixes:
        steps.append((f"hardwon review --list{of}", f"{count(fixes, 'fix', 'fixes')} to approve or reject"))
    if said:
        steps.append((f"hardwon review --said{of}", likeliest(said)))
    first, *others = [agent.agent for agent in here() if agent.found and not agent.installed] or [""]
    if first:
        too = f"; {', '.join(others[:2])} too" if others else ""
        steps.append((f"hardwon install {first}", f"brief its sessions{too}"))
    if not examples and (models := installed()):
        steps.append((f"hardwon distil --with {models[0]}", "more lessons; shows the cost first"))
    if not examples and is_here("serve"):
        steps.append(("hardwon open", "look at all of it in your browser"))
    elif not examples:
        steps.append(("hardwon extras add serve", "for the pages in your browser"))
    say("\nNext:" if _is_tall() else "Next:")
    typed = [(f"{our_name()}{command.removeprefix('hardwon')}", what) for command, what in steps]
    left = max((width(command) for command, _ in typed if width(command) <= _wide() // 2), default=0)
    for command, what in typed:
        first, *more = hung(f"  {command.ljust(left)}  {what}", _wide())
        echo("\n".join([first.replace(command, bold(command)), *more]))


def _heading(title: str, note: str) -> None:
    wide = _wide()
    blank = "\n" if _is_tall() else ""
    echo(blank + bold(title) + note.rjust(max(len(note) + 2, wide - len(title))))


def _wide() -> int:
    wide = room() if sys.stdout.isatty() else room_behind_a_pipe(_IN_A_PIPE)
    return min(_WIDEST, max(_NARROWEST, wide))


def _is_tall() -> bool:
    from shutil import get_terminal_size

    return not sys.stdout.isatty() or get_terminal_size().lines >= _TALL


def _item(id: str, text: str, note: str = "", style: Callable[[str], str] = str, or_else: str = "") -> None:
    """A line or two: an id, words cut to the room there is, and a note at the right; nothing if that is too little."""
    wide = _wide()
    left = id.ljust(_LEFT)
    note = note.lstrip()
    space = wide - len(left) - (len(note) + 2 if note else 0)
    ways = (cut_in_code(shown(one).replace("`hardwon ", f"`{our_name()} "), space) for one in (text, or_else))
    if not (first := next(filter(None, ways), "")):
        return
    echo(style(f"{left}{first}{note.rjust(wide - len(left) - width(first)) if note else ''}".rstrip()))
