"""What is known of a project's files and commands, as hooks and everybody else read it. Standard library only."""

from __future__ import annotations

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

    __slots__ = ("edited", "looked", "path", "path_terms", "symbols", "terms")

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

    @property
    def touched(self) -> set[int]:
        return {*self.edited, *self.looked}


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
