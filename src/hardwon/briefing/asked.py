"""What of the fixes that are not told a person is asked about, and what is shown to whoever looks at the failure."""

from __future__ import annotations

from collections.abc import Sequence

from hardwon.failures import tools
from hardwon.failures.shell import Command, commands
from hardwon.model.nouns import Fix
from hardwon.store import failures
from hardwon.store.database import Database
from hardwon.store.failures import FailureRow, FixRow
from hardwon.text.normalise import lazy_pattern
from hardwon.text.shown import cut_short, one_line, remedy

_CHARACTERS_OF_A_CALL = 72
_INTO_A_FOLDER = lazy_pattern(r"^cd (?:\"[^\"]+\"|'[^']+'|(?:\\.|[^\s;&|\\])+) ?(?:&&|;) ?(?=\S+ \S)")


def waiting_fixes(db: Database, project: str | None = None) -> list[tuple[FailureRow, FixRow]]:
    """The fixes that a person is asked about, each with its failure; `why` offers more of each failure."""
    rows = [row for id in failures.with_waiting_fixes(db, project) if (row := failures.get(db, id))]
    fixes = failures.fixes(db, [row.id for row in rows])
    return [
        (row, fix)
        for row in rows
        for fix in fixes[row.id]
        if fix.status == "candidate" and fix.untrusted and _is_worth_asking(fix, row.command)
    ]


def why_not_told(db: Database, fixes: Sequence[FixRow]) -> dict[str, str]:
    """Fix → why a person must look first; with the call that passed, where the fix does not show all of it."""
    newest = failures.evidence(db, [fix.id for fix in fixes], limit=1)
    why: dict[str, str] = {}
    for fix in fixes:
        failing, passing = next(((one_line(ends.failing), one_line(ends.passing)) for ends in newest[fix.id]), ("", ""))
        own = _INTO_A_FOLDER.sub("", passing)
        shows = passing == failing or own in remedy(fix.steps, fix.succeeded_as)
        called = cut_short(passing if len(passing) <= _CHARACTERS_OF_A_CALL else own, _CHARACTERS_OF_A_CALL)
        why[fix.id] = fix.untrusted if shows else f"{fix.untrusted}; what passed was `{called}`"
    return why


def _is_worth_asking(fix: FixRow, command: str) -> bool:
    """Of what came once and the error does not name only what changed the call, or provides something."""
    if not may_have_helped(fix, command):
        return False
    return fix.untrusted != failures.COINCIDENCE or not fix.steps or _changes_the_call(fix) or _provides(fix)


def may_have_helped(fix: Fix | FixRow, command: str) -> bool:
    """Whether a person may want to approve it: force passes against anything, what came once is mostly chance.

    Of that, what calls the same program as the `command` that failed or provides something is left, and another call
    that can be told whole.
    """
    if any("--force" in text for text in (fix.succeeded_as, *(step.what for step in fix.steps))):
        return False
    if fix.untrusted != failures.COINCIDENCE:
        return True
    if not fix.steps:
        return "…" not in fix.succeeded_as
    failed = {one.program for one in commands(command)}
    return _changes_the_call(fix) or any(one.program in failed or tools.provides(one) for one in _ran(fix))


def _changes_the_call(fix: Fix | FixRow) -> bool:
    return any(step.action in ("drop", "replace", "add") for step in fix.steps)


def _provides(fix: Fix | FixRow) -> bool:
    """A script of the project (`npm run x`) may do anything."""
    return any(tools.provides(one) and one.subcommand.partition(" ")[0] != "run" for one in _ran(fix))


def _ran(fix: Fix | FixRow) -> list[Command]:
    return [one for step in fix.steps if step.action == "run" for one in commands(step.what)]
