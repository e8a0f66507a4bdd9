"""A session's failures, for each the steps after which the same thing worked, and the tries that did not help."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from hardwon.failures import tools
from hardwon.failures.error_line import error_line
from hardwon.failures.fingerprint import Fingerprint, fingerprint
from hardwon.failures.fixes import follow
from hardwon.failures.signature import signature
from hardwon.failures.turns import Turn, turns
from hardwon.failures.verdicts import printed
from hardwon.model.failure import Fix, Occurrence, Step, Tried
from hardwon.model.session import Session

__all__ = ["Findings", "Turn", "examine", "occurrence", "turns"]


_OF_A_SCREEN = ("text", "test-report")
"""How it is known that a call failed whose transcript kept what a terminal showed: prompts, echoes and all."""


class Findings(NamedTuple):
    """What a session teaches about failures."""

    occurrences: list[Occurrence]
    fixes: list[Fix]
    tried: list[Tried]


def examine(session: Session) -> Findings:
    """Every failure worth remembering in a session, every fix that the session proves, every try it disproves."""
    calls = turns(session)
    failures = {turn.position: found for turn in calls if (found := occurrence(turn)) is not None}
    trails = [follow(calls, at, found) for at, found in failures.items()]
    fixes = [trail.fix for trail in trails if trail.fix is not None]
    counted = [replace(fix, failed_again=_failed_again(fix, fixes, failures, calls)) for fix in fixes]
    tried = {(one.fingerprint, one.steps, one.tried_as): one for trail in trails for one in trail.tried}
    return Findings(list(failures.values()), _first_per_failure(counted), list(tried.values()))


def occurrence(turn: Turn) -> Occurrence | None:
    """The failure that a call shows; None where it did not fail, was stopped, or only answered no."""
    result = turn.result
    if result is None or not turn.failed or turn.stopped:
        return None
    if "Sibling tool call errored" in result.text[:80]:
        return None  # another call of the same message failed, not this one
    if result.exit_code == 1 and tools.exit_one_is_an_answer(turn.call.command):
        return None
    command = turn.call.command or turn.call.name
    screen = turn.call.command and result.evidence in _OF_A_SCREEN
    output = "\n".join(printed(command, result.text)) if screen else result.text
    found = fingerprint(output, turn.call.command)
    if found is not None and not turn.call.command:
        found = Fingerprint("agent", "refused", found.message, "", found.excerpt, found.beginning)
    if found is None or (found.family == "generic" and turn.call.command and not tools.changes_something(command)):
        return None  # what only looks says in its own words that it could not; the rest is what it looked at
    return Occurrence(
        message_index=turn.message_index,
        call_index=turn.position,
        at=turn.at,
        tool=turn.call.name,
        command=command,
        exit_code=result.exit_code,
        fingerprint=found.id,
        family=found.family,
        error_type=found.error_type,
        signature=signature(found),
        words=error_line(found, turn.call.name, command),
        excerpt=found.excerpt,
        beginning=found.beginning,
    )


def _failed_again(fix: Fix, fixes: list[Fix], failures: dict[int, Occurrence], calls: list[Turn]) -> int:
    """Whether the same call failed the same way later, and something else, or nothing, mended that."""
    failure = fix.occurrence
    mended = {
        other.occurrence.call_index
        for other in fixes
        if (other.steps, other.succeeded_as) == (fix.steps, fix.succeeded_as)
    }
    subject = _subject(calls[failure.call_index])
    return int(
        any(
            other.fingerprint == failure.fingerprint and at not in mended and _subject(calls[at]) == subject
            for at, other in failures.items()
            if at > fix.succeeded_at
        )
    )


def _subject(turn: Turn) -> tuple[str, ...]:
    wanted = tools.doing(turn.call.command) if turn.call.action == "run" else []
    return tuple(f"{command.program} {command.subcommand}" for command in wanted) or (turn.call.target,)


def _first_per_failure(fixes: Iterable[Fix]) -> list[Fix]:
    """A failure tried three times has one fix in a session: the steps after its last failure."""
    chosen: dict[tuple[str, str, tuple[Step, ...]], Fix] = {}
    for fix in fixes:
        chosen.setdefault((fix.occurrence.fingerprint, fix.succeeded_as, fix.steps), fix)
    return list(chosen.values())
