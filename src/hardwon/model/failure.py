"""Failures as they stand in a session: what failed, how it is recognised, what made it work, what did not."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

OFFERED = "offered by Hardwon"
"""Why a session's word for a fix counts for nothing by itself: it was told, and only here."""
PROPOSED = "proposed by tool output"
HINTED = "the failing program's own hint"
"""Measured only when two sessions that know nothing of each other followed it and it worked."""
FETCHES = "fetches what no manifest of the repository names"
"""Told only on the word of sessions in which one was read that does."""
GOT_PAST = "it got past this error, and then failed at its work"
"""Why a call counts that failed as well; it proves only with a second session."""
FOREIGN = "from somebody else's session"
"""Why it counts for nothing, neither for the fix nor against it."""


UNNOTICED = 0
"""The exit code of a failed call whose agent was told that it had passed: that of what it was piped into."""


class Occurrence(Struct, frozen=True, kw_only=True):
    """One failed call."""

    message_index: int
    call_index: int
    at: int | None
    tool: str
    command: str
    exit_code: int | None
    fingerprint: str
    family: str
    error_type: str
    signature: str
    """The error in a line, made of known words and identifiers only; safe to show anywhere."""
    excerpt: str
    """The scrubbed error span."""
    words: str = ""
    """The error in its own words, one line, to be quoted as data in its own project."""
    beginning: str = ""
    """How the output begins, as a digest."""


class Step(NamedTuple):
    """One thing done between the failure and the success: `run` a command, `edit`, `read` or `find` a file; or how the
    call was changed: `replace`, `drop` or `add` a word of it."""

    action: str
    what: str


class Fix(Struct, frozen=True, kw_only=True):
    """The steps after which the same thing worked, and the tries that did not help."""

    occurrence: Occurrence
    steps: tuple[Step, ...]
    succeeded_as: str
    """The call that succeeded, when it differs from the one that failed."""
    succeeded_at: int
    """Its place among the session's calls."""
    passing: str = ""
    passing_message: int = 0
    """The call that passed, and the message it stands in."""
    cause: str = ""
    """What the steps have to do with the error; empty for what may be a coincidence."""
    avoid: tuple[Step, ...] = ()
    untrusted: str = ""
    """Why a person must look first: proposed by tool output, destructive, downloads and executes."""
    failed_again: int = 0
    """How often, later in the session, the same call failed the same way and these steps did not mend it."""


class Tried(Struct, frozen=True, kw_only=True):
    """Steps after which the same thing failed the same way again, told as a fix would tell them."""

    fingerprint: str
    steps: tuple[Step, ...]
    tried_as: str = ""
    """The call that failed again, when it differs from the one that failed before."""
    call_index: int
    """Of the failure that they did not mend."""
