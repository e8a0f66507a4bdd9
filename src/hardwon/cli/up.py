"""`up`: learn from this machine's sessions, and show on one screen what keeps failing, what people keep saying, what
the next session is told, and the next step."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
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
from hardwon.cli.failures import nothing_to_go_by, row_of, worked
from hardwon.cli.review import SAID_SHOWN
from hardwon.cli.table import cut_in_code, hung, width, wrapped
from hardwon.errors import HardwonError, NotFound
from hardwon.text.shown import fitted

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.failing import Failing
    from hardwon.harvest.rules.said import Habit
    from hardwon.harvest.walk import Progress, Report
    from hardwon.model.lesson import StoredLesson
    from hardwon.model.nouns import Bootstrap, Line, Project
    from hardwon.store.failures import Met

_FIRST_BYTES = 4_000_000
"""What is read at a time before the first screen is shown: the newest sessions. Larger files come afterwards."""
_FIRST_SECONDS, _SOON_SECONDS = 4.0, 4.0
"""After how long a first screen is shown, and the rest read afterwards; unless that takes no longer than the second."""
_EMBEDDING_SECONDS = 15.0
"""Most time that vectors may take once the screen is shown; what is left comes with the next run."""
_PROJECTS_COMPARED = 12
_FAILURES_COUNTED, _REASONS_SHOWN, _HABITS_SHOWN = 1000, 2, 2
_MOST = {"failures": 8, "said": 4, "told": 8, "steps": 8, "lines": 2, "blank": 1}
"""Rows of each section, lines of a row, empty lines between sections: what a high terminal is shown."""
_GIVEN_UP = (
    "steps steps failures told failures told failures told failures told steps said steps failures steps lines"
    " told said failures told said blank told failures steps steps"
).split()
"""What a lower one is shown one less of, the first one first, until all of it fits."""
_LINES_OF_A_BAR, _LINES_OF_UNTOLD = 1, 2
_LINES_IN_A_PIPE = 44
_NARROWEST, _ROOMY, _IN_A_PIPE = 60, 100, 100
"""Columns: no fewer are used, from here on tokens are shown, and what is used where nobody looks."""
_EXAMPLES = ("tidepool", "lanternfish")
"""Their projects."""
_ARROW, _LEAST_OF_A_LEAD = " → ", 20
_LEFT = 11
"""Columns of an id and what parts it from the words."""


class _Row(NamedTuple):
    """A thing of a section: an id, counts, what it is, what worked, and what to show where the words do not fit."""

    id: str
    text: str
    sessions: str = ""
    tokens: str = ""
    fixed: str = ""
    or_else: str = ""
    lead: str = ""
    """What stands before the words, as much of it as there is room for."""


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
    said_again: Sequence[StoredLesson]
    habits: Sequence[Habit]
    met: Met
    another: str = ""
    """The project with the next most to say."""
    chosen: bool = False
    """Whether no other was asked for, nor is this folder another's."""
    of: str = ""
    """The option that names the project, where a command needs it."""
    last: str = ""
    """When its last session was, where that is long ago."""

    @property
    def about(self) -> str:
        """Which project it is, how old what is known of it is, and why it is shown."""
        others = f" (one of {self.projects} projects)" if self.projects > 1 else ""
        if others and self.chosen and self.came_back:
            others = f" (most errors that came back, of {self.projects} projects)"
        last = f", the last {self.last}" if self.last else ""
        last = last.replace("the last ", "") if self.project.sessions == 1 else last
        return f"{shown(self.project.name)}: {count(self.project.sessions, 'session')}{last}{others}"

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
    lead = f"{'These' if demo else 'No agent sessions were found on this machine: these'} are the bundled examples."
    if keep:
        commands = " and ".join(f"`hardwon forget -p {name}`" for name in _EXAMPLES)
        lead += f" They are saved; to remove them: {commands}"
    with Hardwon() if keep else _thrown_away() as memory:
        _up(memory, _examples(), sample, examples=not keep, mine=True, json=json, project=project, lead=lead)


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
    lead: str = "",
) -> None:
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
    early = _screen(memory) if unread and not project and os.environ.get("TERM") != "dumb" else None
    reading = f"Still reading {count(unread, 'older file')}. Ctrl-C stops and keeps what has been read."
    drawn = 0
    if early is not None and early.tells:
        first_look = [bold("A first look, at the newest sessions."), reading, *_lead(memory, report, known, early)]
        drawn = _show(memory, first_look, early, (), examples=examples, besides=_LINES_OF_A_BAR + 1)
    elif unread:
        say(reading, err=True)
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
    if drawn:
        typer.echo("\x1b[1A\x1b[2K" * drawn, nl=False, color=True)  # what is there now replaces the first look
    top = [*([lead] if lead else []), *_lead(memory, report, known, None if examples or project else screen)]
    steps = _next(memory, screen, project, examples=examples)
    notice = hung(memory.review.notice(), room(err=True)) if not examples and memory.review.notice() else []
    _show(memory, top, screen, steps, examples=examples, besides=len(notice) + _LINES_OF_A_BAR)
    if not examples:
        with progress_bar() as progress:
            memory.store.embed(seconds=_EMBEDDING_SECONDS, progress=progress)
        say_pending(memory)
        ask_about_folders(memory)


def _lead(memory: Hardwon, report: Report, known: dict[str, int], screen: _Screen | None) -> list[str]:
    """What is said first: what was read, and of a folder that is not known how to read it."""
    from hardwon.cli.harvest import told_of_others

    lines = [_read(report, memory.store.totals(), known), *told_of_others(report)]
    return [*filter(None, [_if_not_known(memory, screen) if screen else ""]), *lines]


def _next(memory: Hardwon, screen: _Screen | None, project: str | None, *, examples: bool) -> list[tuple[str, str]]:
    tells = screen is not None and bool(screen.failing or screen.briefing.lines)
    fails = screen is None or screen.met.errors > 0
    another = screen.another if screen and not project else ""
    if examples:
        return _steps(examples=True, another=another)
    alone = screen.project if screen and not screen.chosen else None
    id = alone.id if alone else None
    waits = memory.review.counts(project=id)
    waiting = waits.lessons, waits.fixes, memory.review.count_said(project=id)
    return _steps(
        ids=tells,
        of=screen.of if screen else "",
        reviewed=_asked_for(memory, alone) if alone else "",
        waiting=waiting,
        whose=" of all projects" if screen and not alone and screen.projects > 1 else "",
        read_here=bool(project) or _is_known_here(memory),
        another=another,
        fails=fails,
        below=("", 0) if project else _unread_below(memory),
    )


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
        found = next((_screen_of(memory, known, one) for one in known if one.id == wanted), None)
        return found and found._replace(of=_asked_for(memory, found.project))
    here = project_here(memory)
    compared = [one for at, one in enumerate(known) if at < _PROJECTS_COMPARED or one.id == here]
    met = {one.id: met_in(memory.reading(), one.id) for one in compared}
    compared.sort(key=lambda one: (one.id == here, met[one.id].errors - met[one.id].different), reverse=True)

    def tells(screen: _Screen) -> bool:
        return screen.tells or (screen.project.id == here and bool(screen.briefing.text))

    screens = [_screen_of(memory, known, one) for one in compared[:1]]
    for one in compared[1:]:
        if tells(screens[-1]):
            break
        screens.append(_screen_of(memory, known, one))
    if not screens:
        return None
    found = screens[-1] if tells(screens[-1]) else screens[0]
    back = (one for one in compared if one is not found.project and met[one.id].errors > met[one.id].different)
    another = next((_asked_for(memory, one) for one in back), "")
    is_here = found.project.id == here
    return found._replace(another=another, chosen=not is_here, of="" if is_here else _asked_for(memory, found.project))


def _asked_for(memory: Hardwon, project: Project) -> str:
    """The option that names this project and no other."""
    from hardwon.store.projects import called

    return asked_again({"-p": shown(called(memory.reading())[project.id])})


def _is_known_here(memory: Hardwon) -> bool:
    return of_here(memory, None, everywhere=False)[0] is not None


def _if_not_known(memory: Hardwon, screen: _Screen) -> str:
    """That nothing below is of this folder: it has nothing to tell, or a command reads what lies in it."""
    from hardwon.sessions.checkpoints import how_to_read

    of = f"Shown meanwhile: {shown(screen.project.name)}"
    here = project_here(memory)
    own = next((one for one in memory.store.projects() if one.id == here and one.sessions), None)
    if own and own.id != screen.project.id:
        why = nothing_to_go_by(memory, own.id) or " No error came back in it."
        nothing = (
            f"{shown(own.name)}, this folder's project ({count(own.sessions, 'session')}), has nothing to tell yet."
        )
        return bold(f"{nothing}{why} {of}.")
    command, files = how_to_read(".")
    if not files or own:
        return ""
    there = f"Its {count(files, 'session file')} can be read" if files > 1 else "Its session file can be read"
    return bold(f"This folder is not known yet. {there}: `{command}`. {of}.")


def _unread_below(memory: Hardwon) -> tuple[str, int]:
    """The command that reads the histories of projects one or two folders below this one, and how many are unread."""
    from hardwon.harvest.learn import VERSION
    from hardwon.sessions.checkpoints import HISTORY, histories
    from hardwon.store.sessions import known_files
    from hardwon.text.normalise import base_name, tilde

    found = {
        pattern: [path for place in glob(pattern) for path in histories(place.removesuffix(HISTORY))]
        for pattern in (f"*/{HISTORY}", f"*/*/{HISTORY}")
    }
    there = [pattern for pattern, paths in found.items() if paths]
    paths = [path.absolute() for pattern in there for path in found[pattern]]
    if not paths:
        return "", 0
    known = known_files(memory.reading(), VERSION) if memory.exists else {}
    names, done = {base_name(name) for name in known}, memory.sessions.harvested(paths)
    copies = [path for path in paths if path.name in names and tilde(str(path)) not in known]  # of what is known
    unread = len({*paths} - done - {*copies})
    places = there[0] if len(there) == 1 else f"{{*,*/*}}/{HISTORY}"
    return f"hardwon harvest {places} --mine", unread


def _screen_of(memory: Hardwon, known: Sequence[Project], project: Project) -> _Screen:
    from hardwon.api.failing import EVER, failing
    from hardwon.clock import moment
    from hardwon.harvest.rules.said import habits
    from hardwon.store.failures import met_in
    from hardwon.store.pages import Counted, last_session, said_again

    which = Counted(project.id, EVER, of_agents=False, muted=False, again=True)
    back, _ = failing(memory.reading(), which, limit=_FAILURES_COUNTED)
    first = back[: _MOST["failures"]]
    costs = memory.failures.costs([id for row in first for id in row.ids])
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
        said_again(memory.reading(), project.id, _MOST["said"]),
        often,
        met,
        last=last_met(moment(last_session(memory.reading(), project.id))).removeprefix("last met "),
    )


def _untold(memory: Hardwon, back: Sequence[Failing], briefing: Bootstrap) -> Counter[str]:
    """Of failures that came back those that neither a line nor a lesson tells of, by why that is so."""
    lessons = [memory.lessons.get(line.id).lesson for line in briefing.lines if line.id.startswith("L")]
    told = {line.id for line in briefing.lines} | {lesson.failure for lesson in lessons}
    why = {one.id: one.reason for one in briefing.left_out}
    reasons = [{id: why.get(id, "") for id in row.ids} for row in back if told.isdisjoint(row.ids)]
    return Counter(next(filter(None, each.values()), "") for each in reasons)


def _said_of_untold(screen: _Screen, *, roomy: bool) -> list[str]:
    """How many of the failures above no session is told, and why: from the longest way to say so to the shortest.

    None where all are told.
    """
    untold = screen.untold.total()
    if not untold:
        return []
    named = [(reason, often) for reason, often in screen.untold.most_common() if reason][:_REASONS_SHOWN]
    each = [f"{reason}: {often}" for reason, often in named]
    if others := untold - sum(often for _, often in named):
        each.append(f"other reasons: {others}")
    whys = [f" ({'; '.join(each)})"] if roomy and named else []
    whys += [f" ({'mostly: ' if len(screen.untold) > 1 else ''}{reason})" for reason, _ in named[:1]]
    told = screen.kinds - untold
    are, others_are = ("is" if number == 1 else "are" for number in (told, untold))
    said = f"{told or 'None'} of the {count(screen.kinds, 'failure')} that came back {are if told else 'is'} told"
    said = "The failure that came back is not told" if screen.kinds == 1 else said
    return [f"{said}{f', {untold} {others_are} not' if told else ''}{why}" for why in (*whys, "")]


def _show(
    memory: Hardwon,
    lead: Sequence[str],
    screen: _Screen | None,
    steps: Sequence[tuple[str, str]],
    *,
    examples: bool,
    besides: int = 0,
) -> int:
    """Print as much as a screen holds with so many other lines; returns the lines that it took."""
    sections = _sections(memory, screen, examples=examples) if screen else None
    above = [line for text in lead for line in hung(_named(text), _wide())]
    most, given_up = {**_MOST}, []

    def drawn() -> list[str]:
        of_project = _drawn(screen, sections, most) if screen and sections else []
        next_ = [*_blank(most), bold("Next:"), *_drawn_steps(steps[: most["steps"]])] if steps else []
        return [*above, *of_project, *next_]

    lines = drawn()
    for name in _GIVEN_UP:
        if len(lines) <= _height() - besides:
            break
        most[name] -= 1
        given_up.append(name)
        lines = drawn()
    for name in reversed(given_up):  # what fits after all
        most[name] += 1
        if len(more := drawn()) <= _height() - besides:
            lines = more
        else:
            most[name] -= 1
    echo("\n".join(lines))
    return len(lines)


class _Sections(NamedTuple):
    failing: list[_Row]
    said: list[_Row]
    told: list[_Row]
    left_out: str
    """The command that lists what is not told."""


def _sections(memory: Hardwon, screen: _Screen, *, examples: bool) -> _Sections:
    from hardwon.cli.harvest import held_back

    failing = []
    for one in screen.failing:
        row = one.failure
        error = row_of(one)
        found = worked(row)
        met = last_met(row.last_seen)
        young = found.replace(f", {met}", "", 1)  # where the fix itself needs the room
        found = young if met == f"last met {screen.last}" else found
        tokens = thousands(screen.tokens[row.id])
        failing.append(_Row(short(memory, row.id), error, f"{row.sessions:,}", tokens, found, young))
    said = [_Row(short(memory, one.id), one.text, f"{one.source_count}") for one in screen.said_again]
    said += [_Row("", f'a request that came again: "{one.words}"', f"{one.sessions}") for one in screen.habits]
    if not said:
        waits = not examples and memory.review.count_said(project=screen.project.id)
        once = " Said once: `hardwon review --said`" if waits else ""
        said = [_Row("", f"Nothing in nearly the same words in several sessions.{once}")]
    lines = _likeliest_first(screen.briefing)
    told = [
        _Row(short(memory, one.id), f"{one.fix or one.text}", or_else=one.text, lead=one.error if one.fix else "")
        for one in lines
    ]
    told += [_Row("", text) for text in _told_lines(screen.briefing) if text not in {one.text for one in lines}]
    if not told:
        told = [_Row("", f"Nothing yet: no line is worth its tokens.{held_back(memory, screen.project.id)}")]
    return _Sections(failing, said, told, "" if examples else f": `hardwon bootstrap --left-out{screen.of}`")


def _drawn(screen: _Screen, sections: _Sections, most: dict[str, int]) -> list[str]:
    failing, said, told = sections.failing, sections.said, sections.told
    lines = hung(screen.about, _wide())
    if before := screen.came_back:
        of = f"{before:,} of its {screen.met.errors:,} errors, counted once a session"
        merged = "; below, the same in several files is one row" if any(row.alike for row in screen.failing) else ""
        lines += hung(f"{of}, came up in an earlier session{merged}.", _wide())
    parts = "sessions, tokens lost" if _wide() >= _ROOMY else "sessions"
    lines += _section("WHAT KEEPS FAILING", parts, failing[: most["failures"]], screen.kinds, most)
    if not failing:
        lines.append(f"{'':{_LEFT}}No error of a command has come back in a second session.")
    lines += _section(
        "WHAT YOU KEEP TELLING THEM", "sessions" if said[0].sessions else "", said[: most["said"]], 0, most
    )
    parts = f"{screen.briefing.tokens} tokens"
    lines += _section("WHAT THE NEXT SESSION WILL BE TOLD", parts, told[: most["told"]], len(told), most)
    ways = [
        hung(f"{'':{_LEFT}}{_named(untold + sections.left_out)}", _wide())
        for untold in _said_of_untold(screen, roomy=most["lines"] > 1)
    ]
    lines += next((way for way in ways if len(way) <= _LINES_OF_UNTOLD), ways[-1] if ways else [])
    return lines


def _section(title: str, parts: str, rows: Sequence[_Row], known: int, most: dict[str, int]) -> list[str]:
    """A heading that says what the numbers are, and under it the rows, their counts beside the words."""
    of = f", {len(rows)} of {known}" if known > len(rows) else ""
    lines = [*_blank(most), f"{bold(title + of)}{f' ({parts})' if parts else ''}"]
    counts = [[row.sessions, row.tokens] if _wide() >= _ROOMY else [row.sessions] for row in rows]
    widths = [max(map(len, column)) for column in zip(*counts, strict=True)]
    for row, numbers in zip(rows, counts, strict=True):
        cells = (f"{number:>{wide}}  " for number, wide in zip(numbers, widths, strict=True) if wide)
        left = f"{row.id:{_LEFT}}{''.join(cells)}"
        space = _wide() - len(left)
        text = _in_lines(_led_in(row, space * most["lines"]), space, most["lines"])
        text = text or _in_lines(row.or_else, space, most["lines"])
        lines += [f"{lead}{line}" for lead, line in zip([left, *[" " * len(left)] * len(text)], text, strict=False)]
        fixed = row.fixed if width(row.fixed) <= space else row.or_else
        lines += [green(f"{'':{len(left)}}{line}") for line in _in_lines(fixed, space, _MOST["lines"]) if row.fixed]
    return lines


def _led_in(row: _Row, space: int) -> str:
    """What failed and what worked: where both do not fit, less of what failed."""
    if not row.lead:
        return row.text
    lead = shown(row.lead)
    if width(lead) + width(row.text) + len(_ARROW) > space:
        lead = cut_in_code(lead, max(_LEAST_OF_A_LEAD, space - width(row.text) - len(_ARROW)))
    return f"{lead}{_ARROW}{row.text}"


def _in_lines(text: str, space: int, most: int) -> list[str]:
    """A text in so many lines, cut at a word; none where what matters does not fit."""
    text = _named(shown(text))
    ways = [hung(way, space) for room in (space * most, space * most * 3 // 4, space) if (way := fitted(text, room))]
    lines = next((way for way in ways if len(way) <= most), ways[-1] if ways else [])
    if len(lines) > most:
        lines = [*lines[: most - 1], cut_in_code(" ".join(lines[most - 1 :]), space)]
    return [line for line in lines if line]


def _named(text: str) -> str:
    return text.replace("`hardwon ", f"`{our_name()} ")


def _blank(most: dict[str, int]) -> list[str]:
    return [""] * most["blank"]


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
    took = f" in {report.seconds:.0f} s" if report.seconds >= 1 else ""
    return f"Read {read}{took}{learned}."


def _steps(
    *,
    examples: bool = False,
    ids: bool = False,
    of: str = "",
    reviewed: str = "",
    waiting: tuple[int, int, int] = (0, 0, 0),
    whose: str = "",
    read_here: bool = False,
    another: str = "",
    fails: bool = True,
    below: tuple[str, int] = ("", 0),
) -> list[tuple[str, str]]:
    """What to do next, the most useful first: commands, and what each is for.

    `of` and `reviewed` name the project where it has to be named, `waiting` counts lessons, fixes and sentences, and
    `whose` says of which projects.
    """
    from hardwon.cli.install import here
    from hardwon.harvest.distil.chosen import installed
    from hardwon.sessions.checkpoints import how_to_read

    steps = []
    if examples:
        steps = [
            ("hardwon up --demo --keep", "save these examples, to try other commands"),
            ("hardwon harvest FOLDER", "learn from sessions in another folder"),
        ]
    else:
        command, files = how_to_read(".")
        if files and not read_here:
            steps.append((command, f"learn from the {count(files, 'session')} in this folder"))
    if below[1]:
        steps.append((below[0], f"learn from {count(below[1], 'SpecStory session')}"))
    first, *others = [agent.agent for agent in here() if agent.found and not agent.installed] or [""]
    if first:
        too = f"; {', '.join(others[:2])} too" if others else ""
        steps.append((f"hardwon install {first}", f"brief its sessions{too}"))
    steps += _to_review(waiting, of if reviewed else "", reviewed, whose)
    steps += [("hardwon why ID", "where a line comes from")] if ids and not examples else []
    steps += [(f"hardwon failures{of}", "everything that failed")] if fails and not examples else []
    if another:
        demo = " --demo" if examples else ""
        steps.append((f"hardwon up{demo}{another}", "the same of another project"))
    if examples:
        return steps
    if is_here("serve"):
        steps.append(("hardwon open", "look at all of it in your browser"))
    else:
        steps.append(("hardwon extras add serve", "for the pages in your browser"))
    if models := installed():
        steps.append((f"hardwon distil --with {models[0]}", "more lessons; shows the cost first"))
    return steps


def _to_review(waiting: tuple[int, int, int], of: str, said_of: str, whose: str) -> list[tuple[str, str]]:
    lessons, fixes, said = waiting
    counted = [count(lessons, "lesson")] * bool(lessons) + [count(fixes, "fix", "fixes")] * bool(fixes)
    steps = [(f"hardwon review{of}", f"decide on {' and '.join(counted)}{whose}")] if counted else []
    if said:
        typed = count(min(said, SAID_SHOWN), "sentence")  # of many, no more than are worth a look
        steps.append((f"hardwon review --said{said_of}", f"pick rules from {typed} of yours"))
    return steps


def _drawn_steps(steps: Sequence[tuple[str, str]]) -> list[str]:
    typed = [(f"{our_name()}{command.removeprefix('hardwon')}", what) for command, what in steps]
    left = max((width(command) for command, _ in typed if width(command) <= _wide() // 2), default=0)
    lines = []
    for command, what in typed:
        first, *more = wrapped(what, _wide() - left - 4)
        if width(command) > left:
            first, more = "", [first, *more]
        lines.append(f"  {bold(command)}{'':{max(0, left - width(command))}}  {first}".rstrip())
        lines += [f"{'':{left + 4}}{line}" for line in more]
    return lines


def _wide() -> int:
    return max(_NARROWEST, room() if sys.stdout.isatty() else room_behind_a_pipe(_IN_A_PIPE))


def _height() -> int:
    """Lines that a screen has besides the prompt."""
    from shutil import get_terminal_size

    return get_terminal_size().lines - 1 if sys.stdout.isatty() else _LINES_IN_A_PIPE
