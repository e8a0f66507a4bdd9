"""Failures and fixes as lines that an agent can act on, at most `MAX_LINE_CHARACTERS` long."""

from __future__ import annotations

import time

from hardwon.text.shown import one_line

TYPE_CHECKING = False

MAX_LINE_CHARACTERS = 320
_QUOTED = ("run", "drop")
_AGAIN = "often passes when run again"

if TYPE_CHECKING:
    from collections.abc import Sequence

    Steps = Sequence[tuple[str, str]]  # (action, what): the hook has no structs


def day(stamp: int) -> str:
    """The date of a time in microseconds: `2026-10-03`."""
    return time.strftime("%Y-%m-%d", time.gmtime(stamp // 1_000_000))


def failure_line(
    *,
    command: str,
    error: str,
    occurrences: int,
    sessions: int,
    last_seen: int,
    worked: str,
    avoid: Steps,
    waits: bool = False,
    hook: bool = False,
) -> str:
    """`pytest`: ModuleNotFoundError … (3x in 2 sessions, last 2026-10-03). Worked: run `uv sync`."""
    lead = f"`{command}{' hook' if hook else ''}`: " if command and not error.startswith("`") else ""
    places = f"in {sessions} sessions" if sessions > 1 else "in one session"
    seen = f" ({occurrences}x {places}, last {day(last_seen)})."
    remedy_ = f" Worked: {worked}." if worked else " A fix waits for review." if waits else ""
    tried = f" Did not help: {_told(avoid[:2])}." if avoid else ""
    for text in (f"{lead}{error}{seen}{remedy_}{tried}", f"{lead}{error}{seen}{remedy_}", f"{error}{seen}{remedy_}"):
        line = one_line(text)
        if len(line) <= MAX_LINE_CHARACTERS:
            break
    return line if len(line) <= MAX_LINE_CHARACTERS else line[: MAX_LINE_CHARACTERS - 1].rstrip() + "…"


def remedy(steps: Steps, succeeded_as: str) -> str:
    """What worked: the steps, and the call that then succeeded when it was another one."""
    done = _told(steps)
    if succeeded_as:
        used = f"use `{succeeded_as}`"
        return f"{done}, then {used}" if done else used
    return done


def _told(steps: Steps) -> str:
    return ", then ".join(
        _AGAIN
        if action == "again"
        else what
        if action == "did"
        else f"{action} `{what}`"
        if action in _QUOTED
        else f"{action} {what}"
        for action, what in steps
    )
