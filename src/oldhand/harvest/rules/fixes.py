"""Pitfalls and tool quirks that a session measured: it failed, this was done, the same thing worked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from oldhand.failures import commands
from oldhand.failures.signature import informative
from oldhand.model.failure import Fix
from oldhand.model.lesson import Draft, Kind, Source

RULE = "fixed-by-command"
ONCE = 0.72
_LONGEST_REMEDY = 100
_TEMPORARY = re.compile(r"/tmp/|/var/folders/|\\Temp\\|\$TMPDIR")  # noqa: S108
_FILE_TOOLS = ("cp ", "mv ", "ln ", "rm ", "touch ")
_ABOUT_TOOLS = frozenset(("shell", "git", "npm"))


def drafts(fixes: Iterable[Fix]) -> list[Draft]:
    """Only fixes made of commands: an edit mends the code once, and the code now says so itself."""
    return [_draft(fix) for fix in fixes if _worth_telling(fix)]


def _worth_telling(fix: Fix) -> bool:
    failure = fix.occurrence
    if failure.family == "agent" or any(step.action not in ("run", "drop") for step in fix.steps):
        return False
    if failure.family == "generic" and not informative(failure.signature):
        return False
    told = [step.what for step in fix.steps] + [fix.succeeded_as]
    return not any(_of_the_moment(command) for command in told)


def _of_the_moment(command: str) -> bool:
    """A program written for the occasion, a folder that is gone, a file moved once: no use to the next session."""
    passing = "<<" in command or command.startswith(_FILE_TOOLS)
    return passing or len(command) > _LONGEST_REMEDY or bool(_TEMPORARY.search(command))


def _draft(fix: Fix) -> Draft:
    failure = fix.occurrence
    kind: Kind = "tool-quirk" if failure.family in _ABOUT_TOOLS else "pitfall"
    return Draft(
        kind=kind,
        text=_sentence(fix),
        confidence=ONCE,
        rule=RULE,
        failure=failure.fingerprint,
        untrusted=fix.untrusted,
        source=Source(message_index=failure.message_index, quote=failure.excerpt[:280], origin="tool"),
    )


def _sentence(fix: Fix) -> str:
    failure = fix.occurrence
    if fix.steps and fix.steps[0].action == "drop":
        return f"Use `{fix.succeeded_as}`: `{fix.steps[0].what}` fails with {failure.signature}."
    failed = f"`{commands.gist(failure.command)}` fails with {failure.signature}"
    remedy = " and ".join(f"`{step.what}`" for step in fix.steps)
    if fix.succeeded_as and remedy:
        return f"{failed}: after {remedy}, `{fix.succeeded_as}` works."
    if fix.succeeded_as:
        return f"{failed}: use `{fix.succeeded_as}`."
    return f"{failed} until {remedy} is run."
