"""Attempt: one try at a piece of work, and what came of it."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct, field

from hardwon.model.outcome import Outcome


class Attempt(Struct):
    """What is written into the journal, filled in as the work goes on, and what comes out of it again."""

    task_description: str
    approach: str = ""
    files_modified: list[str] = field(default_factory=list)
    """Paths relative to the root of the repository."""
    diff: str = ""
    test_results: str = ""
    outcome: Outcome = Outcome.UNKNOWN
    failure_analysis: str = ""
    reflection: str = ""
    retry_count: int = 0
    timestamp: datetime | None = None
    """When it began. Without a zone it is taken for UTC; what comes out has one."""
    id: int | None = None
    """Given by the journal."""
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
    retry_of: int | None = None
    git_commit: str = ""
    tokens: int | None = None
    duration: float | None = None
    """Seconds."""
    source: str = "log"
    key: str = ""
    """The store's id, by which lessons and failures refer to it."""


class Similar(Struct, frozen=True, kw_only=True):
    """An attempt like the one in mind, and how alike: 1.0 is the same task."""

    attempt: Attempt
    score: float
    matched: tuple[str, ...]
    """The words that both have."""
