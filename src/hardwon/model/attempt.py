"""Attempt: one try at a piece of work, what came of it, and how a session shows it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from msgspec import Struct, StructMeta, field

from hardwon.errors import NotAllowed

# One name for one thing, in options, lines of JSON, HTTP, MCP and Python alike; what it was called before is read.

FORMER_NAMES = {
    "task_description": "task",
    "files_modified": "files",
    "file": "files",
    "failure_analysis": "analysis",
    "timestamp": "at",
    "created_at": "at",
}


def renamed(given: dict[str, Any]) -> dict[str, Any]:
    """Fields of an attempt or an interaction by the names that they have today."""
    return {FORMER_NAMES.get(name, name): value for name, value in given.items()}


class TakesFormerNames(StructMeta):
    """Makes a class whose objects can be made with the former names of its fields."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        return super().__call__(*given, **renamed(named))


def formerly(name: str) -> Any:
    """The former name of a field, to read and to write."""
    return property(lambda one: getattr(one, name), lambda one, value: setattr(one, name, value))


# What came of an attempt.


class Outcome(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"
    ROLLBACK = "rollback"
    PARTIAL = "partial"
    UNKNOWN = "unknown"


FAILED = (Outcome.FAILURE, Outcome.ROLLBACK)
Outcomes = Outcome | str | Iterable[Outcome | str] | None
"""One outcome or several; None means any."""
AttemptId = int | str
"""The number that the journal gave an attempt, or its id (`A…`), which searches, lessons and failures name it by."""


def outcome_called(name: Outcome | str) -> Outcome:
    """Raises `NotAllowed` for what is none."""
    try:
        return Outcome(name)
    except ValueError:
        raise NotAllowed(f"unknown outcome {name!r}; known: {', '.join(Outcome)}") from None


def outcomes_meant(given: Outcomes) -> list[Outcome] | None:
    """None for any. Raises `NotAllowed` for an outcome that there is not."""
    if given is None:
        return None
    return [outcome_called(given)] if isinstance(given, str) else [*map(outcome_called, given)]


class Attempt(Struct, metaclass=TakesFormerNames):
    """What is written into the journal, filled in as the work goes on, and what comes out of it again."""

    task: str
    approach: str = ""
    files: list[str] = field(default_factory=list)
    """Those it changed: paths relative to the root of the repository."""
    diff: str = ""
    test_results: str = ""
    outcome: Outcome = Outcome.UNKNOWN
    analysis: str = ""
    reflection: str = ""
    retry_count: int = 0
    at: datetime | None = None
    """When it began. Without a zone it is taken for UTC; what comes out has one."""
    id: int | None = None
    """The number that the journal gave it."""
    embedding: bytes | None = None
    """Not kept: the store makes its own vectors."""
    project: str = ""
    """A name, git remote or folder going in; the project's id coming out."""
    agent: str = ""
    session: str = ""
    run: str = ""
    """What several attempts of one loop have in common."""
    phase: str = ""
    evidence: str = ""
    """What the outcome rests on: `stated`, `exit-code`, `test-report`, …"""
    exit_code: int | None = None
    files_read: list[str] = field(default_factory=list)
    retry_of: AttemptId | None = None
    """The attempt that it repeats, by its number or its id going in; its number coming out."""
    git_commit: str = ""
    tokens: int | None = None
    duration: float | None = None
    """Seconds."""
    source: str = "log"
    key: str = ""
    """Its id in the store (`A…`), which searches, lessons and failures name it by; it opens it as the number does."""

    task_description, files_modified = formerly("task"), formerly("files")
    failure_analysis, timestamp = formerly("analysis"), formerly("at")


class Similar(Struct, frozen=True, kw_only=True):
    """An attempt like the one in mind, and how alike: 1.0 is the same task."""

    attempt: Attempt
    score: float
    matched: tuple[str, ...]
    """The words that both have."""


# A piece of work as a session shows it: what was asked, what was changed, how it ended and why we think so.

AttemptOutcome = Literal["success", "failure", "rollback", "partial", "unknown"]
TestOutcome = Literal["green", "red", "none"]
FileRole = Literal["created", "edited", "deleted"]


class TouchedFile(NamedTuple):
    path: str
    role: FileRole


class HarvestedAttempt(Struct, frozen=True, kw_only=True):
    """One task prompt of the user and everything up to the next."""

    message_index: int
    """Of the prompt."""
    started_at: int | None = None
    ended_at: int | None = None
    task: str
    """The user's words in one line."""
    approach: str = ""
    files: tuple[TouchedFile, ...] = ()
    diff: tuple[str, ...] = ()
    """File and head of each hunk, never whole files."""
    tests: TestOutcome = "none"
    """How the last test run ended."""
    test_command: str = ""
    commits: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    """Fingerprints of its failures, each once."""
    tool_calls: int = 0
    outcome: AttemptOutcome = "unknown"
    evidence: str = ""
    """Why the outcome is what it is, in our words."""
