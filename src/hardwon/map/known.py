"""What is known of a project's files and commands, as hooks and everybody else read it. Standard library only."""

from __future__ import annotations

import time

from hardwon.text.shown import ago, estimate, one_line

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any


VISITS_KEPT = 120
"""The newest sessions of a project: what older ones did tells nothing that these do not."""
FILES_KEPT = 240
COMMANDS_KEPT = 60


class Visit:
    """One earlier session, its sub-agents included."""

    __slots__ = ("at", "branch", "came_true", "norm", "outcome", "terms", "title", "told")

    def __init__(
        self,
        at: int,
        branch: str,
        title: str,
        terms: Collection[str],
        norm: float,
        outcome: str,
        told: int = 0,
        came_true: int = 0,
    ) -> None:
        self.at = at
        self.branch = branch
        self.title = title
        self.terms = terms
        """The words of its task."""
        self.norm = norm
        """Their length as a vector."""
        self.outcome = outcome
        self.told = told
        """Files that the map before it would have told it; counted for the newest sessions only."""
        self.came_true = came_true
        """Of these, files that it then touched."""


class File:
    """In which sessions a file was edited, and in which it was looked at or run."""

    __slots__ = ("_touched", "edited", "looked", "path", "path_terms", "symbols", "terms")

    def __init__(
        self,
        path: str,
        edited: list[int],
        looked: list[int],
        terms: Collection[str],
        path_terms: Collection[str],
        symbols: str,
    ) -> None:
        self.path = path
        self.edited = edited
        self.looked = looked
        self.terms = terms
        """The words of its name."""
        self.path_terms = path_terms
        """The words of its path."""
        self.symbols = symbols
        """Marks of the words that sessions wrote and read in it."""
        self._touched: set[int] | None = None

    @property
    def touched(self) -> set[int]:
        if self._touched is None:
            self._touched = {*self.edited, *self.looked}
        return self._touched


class Command:
    """In which sessions a command worked, and in which it failed."""

    __slots__ = ("broken", "failed", "key", "purpose", "text", "worked")

    def __init__(
        self, key: str, text: str, purpose: str, worked: list[int], failed: list[int], broken: list[int]
    ) -> None:
        self.key = key
        self.text = text
        self.purpose = purpose
        """test, lint, build, check, run, or an empty text."""
        self.worked = worked
        self.failed = failed
        self.broken = broken
        """Sessions in which it failed when it ran last."""


class Known:
    """A project, by its newest sessions: they are numbered, the earliest is 0."""

    __slots__ = ("commands", "files", "visits")

    def __init__(self, visits: list[Visit], files: list[File], commands: list[Command]) -> None:
        self.visits = visits
        self.files = files
        self.commands = commands


def packed(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers))


def unpacked(text: str) -> list[int]:
    return list(map(int, text.split()))


def from_rows(visits: Sequence[Any], files: Sequence[Any], commands: Sequence[Any]) -> Known:
    """A map as the store keeps it for hooks; numbers in lists of sessions stand for the visits in their order."""
    return Known(
        [
            Visit(at, branch, title, terms.split(), norm, outcome, told, came_true)
            for at, branch, title, terms, norm, outcome, told, came_true in visits
        ],
        [
            File(path, unpacked(edited), unpacked(looked), terms.split(), path_terms.split(), symbols)
            for path, edited, looked, terms, path_terms, symbols in files
        ],
        [
            Command(key, text, purpose, unpacked(worked), unpacked(failed), unpacked(broken))
            for key, text, purpose, worked, failed, broken in commands
        ],
    )


# How a project is built, checked and run: what is told before anybody says what to do. Standard library only.

START_TOKENS = 120
"""Most that a session is told of it at its start."""
HOW_IT_IS_RUN = "HOW THIS PROJECT WAS BUILT, CHECKED AND RUN (verify):"
LEAST_VISITS = 3
"""So many sessions before files are foreseen."""
AND_MORE = " …"
"""Behind a command that had arguments, of which none is kept."""
_FEW_VISITS = 8
"""Until then a check counts though one session alone ran it."""
_PURPOSES = ("test", "lint", "build", "check", "run")
_HALF_LIFE_SESSIONS = 16
_LEAST_SESSIONS = 2
_CHECKS = ("test", "lint", "build", "check")
_FILES_LEFT_OPEN = 2
_DAY_MICROSECONDS = 86_400_000_000
_STALE_DAYS = 30
"""After so long, how the last session ended tells nothing about the next."""


def habits(known: Known, folder: str = "") -> list[Command]:
    """For each purpose the command that worked most often lately, if it did so in several sessions.

    While few are known, one is enough for a check: what passed once is how it is run here. In a folder of the project
    those that ran there come first; at its top those of a folder count half.
    """

    def order(command: Command) -> tuple[int, float, str]:
        of = parted(command.key)[0]
        worth = worked_lately(command, len(known.visits)) * (0.5 if of and not folder else 1)
        return _distance(of, folder) if folder else 0, -worth, command.key

    ranked = sorted(known.commands, key=order)
    young = len(known.visits) <= _FEW_VISITS
    several = [
        command
        for command in ranked
        if len(command.worked) >= (1 if young and command.purpose in _CHECKS else _LEAST_SESSIONS)
        and not (command.purpose == "run" and command.text.endswith(AND_MORE))
    ]
    found = (next((command for command in several if command.purpose == purpose), None) for purpose in _PURPOSES)
    return [command for command in found if command is not None]


def parted(command: str) -> tuple[str, str]:
    """(the folder of the project that a command runs in, empty for its top; the command there)."""
    before, there, after = command.partition(" && ")
    return (before[3:], after) if there and before.startswith("cd ") else ("", command)


def _distance(of: str, folder: str) -> int:
    """0 for what ran in a folder or below it, 1 for what holds everywhere, 2 for what ran elsewhere."""
    if not of:
        return 1
    return 0 if folder and (of == folder or of.startswith(f"{folder}/") or folder.startswith(f"{of}/")) else 2


def worked_lately(command: Command, count: int) -> float:
    """In how many sessions a command worked, the newest for one, older ones for less."""
    return float(sum(0.5 ** ((count - 1 - number) / _HALF_LIFE_SESSIONS) for number in command.worked))


def at_start(known: Known, now: int | None = None, folder: str = "") -> list[str]:
    """The lines of the block, without its heading."""
    count = len(known.visits)
    lines = [
        f"{command.purpose}: `{one_line(command.text)}` ({_ran(command, count)})" for command in habits(known, folder)
    ]
    at = time.time_ns() // 1000 if now is None else now
    if lines and at - known.visits[-1].at < _STALE_DAYS * _DAY_MICROSECONDS and (open_end := _unfinished(known)):
        lines.append(f"the last session ({age(at - known.visits[-1].at)}) {open_end}")
    return within(HOW_IT_IS_RUN, lines, START_TOKENS)


def _ran(command: Command, count: int) -> str:
    if count == 1:
        return "worked in the one session known"
    ran = len({*command.worked, *command.failed})
    return f"{ran} session{'s' if ran > 1 else ''}{how_it_ended(command)}"


def how_it_ended(command: Command) -> str:
    """Of the sessions that ran a command: many a one saw it fail and then pass."""
    if not command.failed:
        return ", passed in all"
    both = ", some both" if set(command.worked) & set(command.failed) else ""
    return f": passed in {len(command.worked)}, failed in {len(command.failed)}{both}"


def _unfinished(known: Known) -> str:
    """How the last session ended, if something was left failing, and what it had edited."""
    newest = len(known.visits) - 1
    failing = [command for command in known.commands if command.purpose and command.broken[-1:] == [newest]]
    if not failing:
        return "ended with a failed check" if known.visits[-1].outcome == "failure" else ""
    edited = [file.path for file in known.files if file.edited[-1:] == [newest]][:_FILES_LEFT_OPEN]
    changed = ", having edited " + ", ".join(f"`{path}`" for path in edited) if edited else ""
    return f"left `{one_line(failing[0].text)}` failing{changed}"


def within(heading: str, lines: Sequence[str], tokens: int) -> list[str]:
    """The first lines that fit under a heading."""
    left = tokens - estimate(heading) - 1
    kept = []
    for line in map(one_line, lines):
        price = estimate(f"- {line}") + 1
        if price <= left:
            left -= price
            kept.append(line)
    return kept


def age(passed: int) -> str:
    """How old something is, to the day."""
    days = max(0, passed) // _DAY_MICROSECONDS
    if days == 0:
        return "today"
    return "yesterday" if days == 1 else ago(0, passed)
