"""`hardwon`: the commands, what they share, and one clear line for every problem."""

from __future__ import annotations

import math
import re
import sys
from collections import UserDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache, cached_property, partial
from importlib import import_module
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from hardwon import __version__
from hardwon.cli.table import as_table, hung, wrapped
from hardwon.errors import HardwonError, NotFound, StoreOutdated

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.harvest.distil.asking import Estimate
    from hardwon.harvest.walk import Progress


# What commands share: options, results to stdout, progress and messages to stderr.

# Options that several commands share.

ProjectOption = Annotated[
    str | None, typer.Option("--project", "-p", help="Name, git remote, folder or id of a project.")
]
_RECENT = 30 * 86_400_000_000
"""Microseconds for which people need not be told how old something is."""
_BARS = "·▁▂▃▄▅▆▇█"
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Start": {
        "up": ("up:up", "Read this machine's agent sessions and show what they teach."),
        "install": ("install:install", "Add Hardwon's hooks to an agent's settings."),
        "uninstall": ("install:uninstall", "Remove Hardwon from an agent's settings."),
        "status": ("install:status", "Show which agents use Hardwon and how their hooks are doing."),
    },
    "Look": {
        "open": ("serve:open_", "Open the pages in your browser."),
        "search": ("search:search", "Search everything Hardwon knows, and past sessions."),
        "failures": ("failures:app", "List what failed and what fixed it, the most frequent first."),
        "projects": ("projects:app", "List, add, rename, merge and split projects."),
        "lessons": ("bootstrap:app", "List lessons, or add one."),
        "why": ("why:why", "Show where a lesson or failure comes from."),
        "bootstrap": ("bootstrap:bootstrap", "Print the briefing for a project's next session."),
        "map": ("map:map_", "Suggest the files and commands a task will probably need."),
        "blame": ("map:blame", "Show which sessions touched a file, and for what task."),
        "how": ("map:how", "List the commands that worked in a project."),
        "resume": ("map:resume", "Print or run the command that resumes a session."),
    },
    "Decide": {
        "review": ("review:review", "Approve or reject lessons that are waiting for review."),
        "remember": ("bootstrap:remember", "Add a lesson in your own words."),
        "history": ("review:history", "Show who changed a lesson, when and why."),
        "undo": ("review:undo", "Undo one change."),
        "forget": ("forget:forget", "Delete something for good, and verify that it is gone."),
    },
    "Prove": {
        "replay": ("replay:replay", "Replay past sessions to see which errors were foreseeable."),
        "verify": ("capture:verify", 'Check whether a run\'s "done" is backed by evidence.'),
        "measure": ("measure:measure", "Show statistics about lessons, failures, hooks and results."),
    },
    "Feed": {
        "harvest": ("harvest:harvest", "Learn from session files, folders or a git repository."),
        "watch": ("harvest:watch", "Harvest sessions as they finish, until Ctrl-C."),
        "distil": ("distil:distil", "Ask a model you already use to find lessons in sessions."),
        "sample": ("sample:sample", "Rank sessions by how much there is to learn from them."),
        "inspect": ("sample:inspect", "Show what a session file is and what was read from it."),
        "rules": ("harvest:rules", "List the rules that find lessons in sessions."),
        "run": ("capture:run", "Run a command and remember its error if it fails."),
        "capture": ("capture:app", "Record failures of a loop, or crash files."),
        "journal": ("journal:app", "Record attempts and how they ended."),
        "interactions": ("interactions:app", "Record prompts and their answers."),
        "ingest": ("exchange:ingest", "Add notes and documents to search and to briefings."),
    },
    "Share": {
        "export": ("exchange:export", "Write lessons as Markdown, or everything as JSON lines."),
        "import": ("exchange:import_", "Import an export, or the memory of another tool."),
        "migrate": ("exchange:migrate", "Copy the store to PostgreSQL, or back to a file."),
        "push": ("team:push", "Send what sessions taught to the team, never what was said."),
        "pull": ("team:pull", "Fetch what the team knows, for this machine's hooks."),
        "serve": ("serve:serve", "Serve the store over HTTP, until Ctrl-C."),
        "worker": ("worker:app", "Do the jobs of a team's store, until Ctrl-C."),
        "workspace": ("serve:workspaces", "Keep several teams apart on one PostgreSQL."),
        "mcp": ("serve:mcp", "Run the MCP server (your agent starts it)."),
        "token": ("serve:app", "Create, list and revoke access tokens for the service."),
    },
    "Care": {
        "doctor": ("doctor:doctor", "Check the installation and the store."),
        "extras": ("extras:app", "List and install optional features."),
        "config": ("doctor:config", "Show or change a setting."),
        "backup": ("doctor:backup", "Copy the store while it is in use, and verify the copy."),
        "restore": ("doctor:restore", "Restore the store from a backup."),
        "purge": ("forget:purge", "Delete data older than a given age."),
        "reindex": ("search:reindex", "Bring the search index up to date with the store."),
        "scrub": ("forget:scrub", "Redact the secrets and personal data in a text."),
    },
}
"""What a command is for → command → the module here that has it with its name there (`app`: a group of commands), and
what it does, in so few words that they fit a narrow terminal."""
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}
_LONGEST_NAME = max(map(len, COMMANDS))
_PURPOSE = "Learn from your coding agents' sessions and brief the next one."
_START = "Start with `hardwon up`."
_MORE_HELP = "What each does: `hardwon help all`."
_LEFT = ("Start", "Look", "Decide", "Prove", "Care")
"""What a wide screen shows beside the rest."""
_TWO_COLUMNS, _LINES_AROUND_COLUMNS = 156, 8
_FIRST = ("up", "failures", "lessons", "why", "open", "install")
"""What a newcomer needs, in this order."""
SETTINGS: dict[str, Any] = {"run": {"context_settings": {"allow_interspersed_args": False}}}
RunOption = Annotated[
    str, typer.Option("--run", envvar="HARDWON_RUN", help="The run this belongs to. Default: HARDWON_RUN.")
]


def moment(day: str | None, option: str = "--since") -> datetime | None:
    """A day that a person wrote, in UTC."""
    from hardwon.clock import microseconds, moment

    if not day:
        return None
    stamp = microseconds(day)
    if stamp is None:
        raise HardwonError(f"{option} {day} is not a date: write it as 2026-10-31")
    return moment(stamp)


Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def print_json(value: object) -> None:
    typer.echo(as_json(value))


def as_json(value: object) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def shown(text: str, longest: int = 0) -> str:
    """Text out of a transcript, safe for a terminal and cut to a width, between words."""
    from hardwon.text.shown import one_line

    flat = one_line(text)
    return flat if not longest or len(flat) <= longest else f"{wrapped(flat, longest - 2)[0]} …"


def short_path(path: str) -> str:
    """A path, from the user's home on where it lies there."""
    from pathlib import Path

    home = str(Path.home())
    return shown("~" + path[len(home) :] if path.startswith(home + "/") else path)


def short(memory: Hardwon, id: str) -> str:
    """An id as short as it can be told apart from all others."""
    from hardwon.store.meta import short_id

    return short_id(memory.reading(), id)


def iso(when: datetime | None) -> str | None:
    """A time as JSON and people are given it."""
    return when.isoformat(timespec="seconds").replace("+00:00", "Z") if when else None


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def thousands(number: int) -> str:
    return f"{number / 1000:.1f}k" if number >= 1000 else str(number)


def day(when: datetime) -> str:
    return f"{when:%Y-%m-%d}"


def age(when: datetime) -> str:
    """`17 mo`, `3 d`, `now`: how long ago, for a narrow column."""
    from hardwon.clock import now, to_microseconds
    from hardwon.text.shown import ago

    number, unit, *_ = ago(to_microseconds(when), now()).split()
    return f"{number} {unit[:2] if unit.startswith('mo') else unit[0]}" if number.isdigit() else "now"


def last_met(when: datetime) -> str:
    """`last met 3 months ago`; nothing for what is recent."""
    from hardwon.clock import now, to_microseconds
    from hardwon.text.shown import ago

    met = to_microseconds(when)
    return f"last met {ago(met, now())}" if now() - met > _RECENT else ""


def sparkline(times: Sequence[datetime], first: datetime, last: datetime, bins: int) -> str:
    """How often something happened between two moments, as a row of bars."""
    counts = [0] * bins
    whole = (last - first) or timedelta(microseconds=1)
    for at in times:
        if first <= at <= last:
            counts[min(bins - 1, (at - first) * bins // whole)] += 1
    return bars(counts)


def bars(values: Sequence[float], most: float = 0) -> str:
    """A row of bars, the highest for `most`, or for the largest value."""
    most = most or max(values, default=0) or 1
    return "".join(_BARS[math.ceil(value / most * (len(_BARS) - 1))] for value in values)


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    right: Sequence[int] = (),
    spare: Sequence[int] = (),
    most_lines: int = 0,
) -> None:
    """Print a table that fits the terminal; in a pipe, nothing of a cell is cut."""
    most = most_lines if sys.stdout.isatty() else 0

    def paint(row: int, column: int) -> Callable[[str], str]:
        cell = str(rows[row][column])
        return green if cell.startswith(WORKED) else dim if headings[column] in _DIM else str

    echo(
        as_table(
            headings, rows, room=room_of_tables(), right=right, spare=spare, most_lines=most, emphasis=bold, paint=paint
        )
    )


def rows_that_fit(
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    right: Sequence[int] = (),
    spare: Sequence[int] = (),
    most_lines: int = 0,
    besides: int = 0,
) -> int:
    """How many of the first rows of a table a screen holds with `besides` other lines; in a pipe, all."""
    if not sys.stdout.isatty():
        return len(rows)
    lines = lines_of_screen() - besides
    for number in range(min(len(rows), lines), 1, -1):
        drawn = as_table(
            headings, rows[:number], room=room_of_tables(), right=right, spare=spare, most_lines=most_lines
        )
        if drawn.count("\n") < lines:
            return number
    return min(1, len(rows))


def lines_of_screen() -> int:
    import shutil

    return shutil.get_terminal_size((100, 24)).lines


_IN_A_PIPE, _TABLE_IN_A_PIPE = 10_000, 120
"""Characters of a line that nobody looks at; of a table, which somebody may."""
WORKED, _DIM = "→ ", ("ID", "LAST", "WHEN")
"""How a cell begins that tells what worked, and the headings of what is seldom read."""


def say(text: str = "", *, err: bool = False, style: Callable[[str], str] = str) -> None:
    """Print what a person reads: no word is cut at the edge of the terminal.

    The answer and all that belongs to it, such as what stands below a list, goes to stdout, also in a pipe: on stderr
    a pager is painted over. `err` is for what a script must not read: warnings, questions, what is being done.
    """
    text = text.replace("`hardwon ", f"`{our_name()} ")
    wide = room(err=err)
    if wide < _IN_A_PIPE:
        text = "\n".join(part for line in text.split("\n") for part in hung(line, wide))
    echo(style(text), err=err)


def question(text: str, *, err: bool = False) -> str:
    """What a person is asked, broken between words, with room for the answer."""
    return "\n".join(hung(text, max(room(err=err) - len(" [y/N]: y"), 1)))


def confirmed(text: str, *, err: bool = False, more: tuple[str, str, Callable[[], None]] | None = None) -> bool:
    """Whether a person says yes; what is no answer is told the choices. `more`: a key, what it shows, and how."""
    choices = f"y/N, {more[0]}: show {more[1]}" if more else "y/N"
    asked = question(text, err=err)
    while True:
        answer = str(typer.prompt(f"{asked} [{choices}]", default="n", show_default=False, err=err)).strip().lower()
        if answer in ("y", "yes", "n", "no"):
            return answer.startswith("y")
        if more and answer == more[0]:
            more[2]()
        else:
            say(f"y: yes. n, or Enter alone: no.{f' {more[0]}: show {more[1]}.' if more else ''}", err=err)


def asked_again(options: dict[str, str | None]) -> str:
    """The options that were given, for a hint that leads on from there."""
    from shlex import quote

    return "".join(f" {name} {quote(value)}" for name, value in options.items() if value)


def project_here(memory: Hardwon) -> str | None:
    """The project of the folder that the command is run in, where there is one."""
    import os

    try:
        return memory.project(os.getcwd())
    except (NotFound, OSError):
        return None


Everywhere = Annotated[
    bool, typer.Option("--everywhere", help="Of all projects; default in a project's folder: of that one.")
]


def of_here(memory: Hardwon, project: str | None, *, everywhere: bool) -> tuple[str | None, str]:
    """What a list for people is of, where nobody has said: this folder's project; and a line that says so."""
    if project and everywhere:
        raise HardwonError("--project is one project, --everywhere all: give one of them")
    here = None if project or everywhere or not memory.exists else project_here(memory)
    own = next((one for one in memory.store.projects() if one.id == here and one.sessions), None)
    return (own.id, f"Only {shown(own.name)}. All projects: `--everywhere`") if own else (project, "")


def need_known(option: str, value: str | None, choices: Iterable[str]) -> None:
    """Say so where a filter is given a value that nothing can have."""
    known = list(choices)
    if value and value not in known:
        raise HardwonError(f"unknown {option} '{value}'; known: {', '.join(known)}")


@cache
def our_name() -> str:
    """What to type for this very program: `hardwon` where the shell finds it by that, else as it was started."""
    import os
    import shutil

    typed = sys.argv[0]
    if os.path.basename(typed) != "hardwon" or not os.path.dirname(typed):
        return "hardwon"
    found = shutil.which("hardwon")
    if found and os.path.samefile(found, typed):
        return "hardwon"
    near = os.path.relpath(typed)
    return typed if near.startswith(os.pardir) else near


def is_here(extra: str) -> bool:
    """Whether what an extra needs is installed."""
    from importlib.util import find_spec

    from hardwon.cli.extras import EXTRAS

    return find_spec(EXTRAS[extra][0]) is not None


def bold(text: str) -> str:
    """Heavier, where somebody looks and has not said that they want no such thing."""
    return _styled(text, bold=True)


def green(text: str) -> str:
    """What worked, likewise."""
    return _styled(text, fg="green")


def red(text: str) -> str:
    """What failed."""
    return _styled(text, fg="red")


def dim(text: str) -> str:
    """What is seldom read: ids, dates."""
    return _styled(text, dim=True)


def _styled(text: str, **style: Any) -> str:
    return typer.style(text, **style) if _in_colour() else text


def echo(text: str, *, err: bool = False) -> None:
    """Print, with the colours that are wanted also where nobody looks."""
    typer.echo(text, err=err, color=_in_colour() or None)


def _in_colour() -> bool:
    import os

    wanted = sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))
    return wanted and not os.environ.get("NO_COLOR")


def room(*, err: bool = False) -> int:
    """How many characters a line may have: in a pipe to a terminal as many as there."""
    import shutil

    if (sys.stderr if err else sys.stdout).isatty():
        return shutil.get_terminal_size((100, 24)).columns
    return room_behind_a_pipe(_IN_A_PIPE) if sys.stderr.isatty() else _IN_A_PIPE


def room_of_tables() -> int:
    """The same for a row of a table."""
    return room() if sys.stdout.isatty() else room_behind_a_pipe(_TABLE_IN_A_PIPE)


def room_behind_a_pipe(usual: int) -> int:
    """What COLUMNS says, or else the terminal that messages go to: what `| head` prints is read there, too."""
    import os
    import shutil

    if sys.stderr.isatty():
        usual = os.get_terminal_size(sys.stderr.fileno()).columns or usual
    return shutil.get_terminal_size((usual, 24)).columns


def upgraded(memory: Hardwon) -> bool:
    """Bring a store of an older Hardwon up to date; whether it was one."""
    try:
        if memory.exists:
            memory.reading()
    except StoreOutdated:
        memory.writing()
        return True
    return False


_DOING = {
    "harvesting": "reading sessions",
    "counting": "looking at files",
    "learning meanings": "preparing search by meaning",
    "embedding": "preparing search by meaning",
    "replaying": "replaying sessions",
}
"""What is done, as the bar says it."""


@contextmanager
def doing(what: str, *, in_a_pipe: bool = False) -> Iterator[None]:
    """A line on stderr that says what takes so long, with a sign of life while someone is watching."""
    if not sys.stderr.isatty():
        if in_a_pipe:
            say(what, err=True)
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """A bar on stderr while someone is watching; nothing otherwise."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("so far{task.fields[then]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None, then="", left="")

        def update(what: str, done: int, total: int) -> None:
            doing = _DOING.get(what, what)
            if doing != bar.tasks[0].description:
                bar.reset(task)  # how fast files are looked at tells nothing of how long reading them takes
            bar.update(task, description=doing, completed=done, total=total, then=",", left="left")

        yield update


ENDED = {
    "completed": "ended",
    "failure": "ended with a failed call",
    "interrupted": "interrupted by the user",
    "unknown": "ended",
    "committed": "ended with a commit",
}
"""How a session is said to have ended: that its last call passed does not mean that the task was done."""


def cost_of(cost: Estimate) -> str:
    """What it would cost to let a model read the sessions."""
    tokens = round(cost.tokens, 2 - len(f"{cost.tokens}"))
    money = f", {cost.cost:.2f} at the configured prices" if cost.cost else ""
    set_price = "" if money else "\nIn money: `hardwon config llm_price_in PRICE` (of a million), then this again."
    return (
        f"{cost.sessions:,} sessions and sub-agents of {count(cost.projects, 'project')}: "
        f"{count(cost.questions, 'question')}, about {tokens:,} tokens{money}.{set_price}"
    )


# A word about what waits for review, where a person is looking anyway.


def say_pending(memory: Hardwon) -> None:
    if notice := memory.review.notice():
        say(notice, err=True)


def ask_about_folders(memory: Hardwon) -> None:
    """Whether folders are clones of what they claim to be; where nobody can answer, only say that this is open."""
    for folder, remote in memory.store.claims().items():
        told = f"{shown(folder)} claims to be a clone of {shown(remote)}, which you already use in another folder."
        if sys.stdin.isatty() and sys.stdout.isatty():
            asked = f"{told} Is it yours? Then it shares that project's lessons."
            memory.store.confirm(folder, yes=confirmed(asked))
        else:
            say(f"{told} Until you confirm it (`hardwon status` in a terminal) its sessions get no briefing.", err=True)


class _Entry:
    """A command, loaded and built when it is needed: to load them all takes longer than most of them do."""

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def _source(self) -> Any:
        module, _, own = COMMANDS[self.name][0].partition(":")
        return getattr(import_module(f"hardwon.cli.{module}"), own)

    def built(self) -> Any:
        if isinstance(self._source, typer.Typer):
            self._source.rich_markup_mode = None  # as the program around it
            group = typer.main.get_group(self._source)
            group.name = self.name
            if group.invoke_without_command:
                group.subcommand_metavar = "[COMMAND]"
            for command in (group, *group.commands.values()):
                _name_values(command)
            return group
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        alone.command(self.name, **SETTINGS.get(self.name, {}))(self._source)
        command = typer.main.get_command(alone)
        _name_values(command)
        return command


def _name_values(command: Any) -> None:
    """An option's value is called as the option is, and not by its type; an argument in capitals, as everywhere."""
    for each in command.params:
        name = each.metavar or each.name.strip("_").replace("_", "-").upper()
        if each.param_type_name == "argument":
            each.make_metavar = partial(_named_argument, name + "..." * (each.nargs != 1), each.required)
        elif not (each.is_flag or each.metavar):
            each.metavar = name


def _named_argument(name: str, required: bool, ctx: Any, *, usage: bool = False) -> str:  # noqa: ARG001 - as typer asks
    return name if required or not usage else f"[{name}]"


class _Built(UserDict[str, Any]):
    """Name → command, each built when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        found = self.data[name]
        if isinstance(found, _Entry):
            found = self.data[name] = found.built()
        return found


_OUT_OF_RANGE = re.compile(r"is not in the range (?:x>=(-?\d+)|(-?\d+)<=x<=(-?\d+))\.$")


def _in_plain_words(problem: str) -> str:
    """What is wrong with a number, without the words of the library that noticed."""
    for library, plain in (("int", "whole number"), ("int range", "whole number"), ("float range", "number")):
        problem = problem.replace(f"is not a valid {library}.", f"is not a {plain}.")
    return _OUT_OF_RANGE.sub(
        lambda found: f"is too low: at least {found[1]}." if found[1] else f"is not between {found[2]} and {found[3]}.",
        problem,
    )


UsageError: Any = typer.BadParameter.__base__
_TAKE_ANY_WORDS = ("search", "how")


class _Group(TyperGroup):
    told_whole = False

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": _Built({name: _Entry(name) for name in COMMANDS})})

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as for every group
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """`help`, `help COMMAND` and `version` are what other programs call `--help` and `--version`."""
        if args == ["version"]:
            _version(wanted=True)
        if args in (["help"], ["help", "all"]):
            self.told_whole = args[1:] == ["all"]
            typer.echo(ctx.get_help())
            raise typer.Exit
        return super().resolve_command(ctx, [*args[1:], "--help"] if args[0] == "help" else args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("hardwon: stopped; what was done is kept", err=True)
            raise typer.Exit(130) from None
        except typer.BadParameter as error:
            if not (error.param or error.param_hint):  # no value is wrong, but what was asked for as a whole
                said = "\n".join(hung(f"Error: {error.message}", room(err=True))).removeprefix("Error: ")
                raise UsageError(said, ctx=error.ctx) from None
            lead = "Error: Invalid value: "  # which the library puts before it
            lines = hung(lead + _in_plain_words(error.message), room(err=True))
            error.message = "\n".join(lines).removeprefix(lead)
            raise
        except UsageError as error:
            option = getattr(error, "option_name", "")
            if (
                option
                and not getattr(error, "possibilities", ())
                and error.ctx
                and error.ctx.info_name in _TAKE_ANY_WORDS
            ):
                error.message += f". To look for it: hardwon {error.ctx.info_name} -- {option}"
            raise

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """On a screen what it holds; in a pipe all. The last line is the one that surely is seen."""
        if self.told_whole or not sys.stdout.isatty():
            super().format_help(ctx, formatter)
            formatter.write(f"\n{_START}\n")
            return
        self.format_usage(ctx, formatter)
        formatter.write(f"{_PURPOSE}\n\n")
        halves = [_described_commands(names) for names in (_LEFT, [name for name in GROUPS if name not in _LEFT])]
        if room() >= _TWO_COLUMNS and lines_of_screen() > max(map(len, halves)) + _LINES_AROUND_COLUMNS:
            for left, right in zip_longest(*halves, fillvalue=""):
                formatter.write(f"{left.ljust(_TWO_COLUMNS // 2)}{right}".rstrip() + "\n")
        else:
            formatter.write("\n".join(_names_of_commands()) + "\n")
        formatter.write("\n".join(hung(f"{_MORE_HELP} {_START}", room())) + "\n")

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as for every group
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name.ljust(_LONGEST_NAME), what) for name, (_, what) in commands.items()])


app = typer.Typer(
    cls=_Group,
    name="hardwon",
    help=f"{_PURPOSE} {_START}",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hardwon {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = typer.Option(  # noqa: ARG001 - its callback looks at it
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    if context.invoked_subcommand is None:
        _overview()
        raise typer.Exit(2)


def _overview() -> None:
    """A screen for who types the name alone: what to begin with, and the names of the rest."""
    say("\n".join([f"{_PURPOSE}\n", *_names_of_commands(err=True), f"{_MORE_HELP} {_START}"]), err=True)


def _names_of_commands(*, err: bool = False) -> list[str]:
    """The few that one begins with and what they do, and the names of all."""
    lines = [f"  {name.ljust(_LONGEST_NAME)}  {COMMANDS[name][1]}" for name in _FIRST]
    for group, commands in GROUPS.items():
        lines += hung(f"{group.ljust(max(map(len, GROUPS)))}  {', '.join(commands)}", room(err=err))
    return [
        "Begin with:",
        *lines[: len(_FIRST)],
        "",
        "All commands (`hardwon COMMAND --help` tells about one):",
        *lines[len(_FIRST) :],
    ]


def _described_commands(groups: Iterable[str]) -> list[str]:
    lines: list[str] = []
    for group in groups:
        lines += [f"{group}:", *(f"  {name.ljust(_LONGEST_NAME)}  {what}" for name, (_, what) in GROUPS[group].items())]
    return lines


def entire() -> None:
    """`entire hardwon`: the commands; without one, learn from the checkpoints that Entire keeps in this repository."""
    if not sys.argv[1:]:
        sys.argv[1:] = ["harvest", "--git", "."]
    main()


def main() -> None:
    try:
        app()
    except HardwonError as error:
        say(f"hardwon: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has seen enough
        sys.exit(0)
