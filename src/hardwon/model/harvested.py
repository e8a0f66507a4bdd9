"""A piece of work as a session shows it: what was asked, what was changed, how it ended and why we think so."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

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
