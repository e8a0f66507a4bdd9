"""A session's failures, and for each the steps after which the same thing worked."""

from __future__ import annotations

from typing import NamedTuple

from oldhand.failures import commands
from oldhand.failures.fingerprint import fingerprint
from oldhand.failures.signature import signature
from oldhand.model.failure import Fix, Occurrence, Step
from oldhand.model.session import Session, ToolCall, ToolResult
from oldhand.text.paths import base_name

LOOK_AHEAD = 40
_MOST_STEPS = 3
_LONGEST_STEP = 160
_SHORTEST_PROPOSAL = 8


class Turn(NamedTuple):
    """One call and what came of it, in order."""

    position: int
    message_index: int
    at: int | None
    call: ToolCall
    result: ToolResult | None

    @property
    def failed(self) -> bool:
        return self.result is not None and self.result.outcome == "error"

    @property
    def succeeded(self) -> bool:
        return self.result is not None and self.result.outcome == "ok"


class Findings(NamedTuple):
    occurrences: list[Occurrence]
    fixes: list[Fix]


def turns(session: Session) -> list[Turn]:
    results = {result.call_id: result for result in session.results()}
    paired = ((at, message.at, call) for at, message in enumerate(session.messages) for call in message.calls)
    return [
        Turn(position, message_index, at, call, results.get(call.id))
        for position, (message_index, at, call) in enumerate(paired)
    ]


def examine(session: Session) -> Findings:
    """Every failure worth remembering in a session, and every fix that the session proves."""
    calls = turns(session)
    failures = {turn.position: found for turn in calls if (found := occurrence(turn)) is not None}
    fixes = [fix for at, found in failures.items() if (fix := _fix(calls, at, found, failures)) is not None]
    return Findings(list(failures.values()), _first_per_failure(fixes))


def occurrence(turn: Turn) -> Occurrence | None:
    result = turn.result
    if result is None or not turn.failed or result.evidence in ("rejected", "interrupted"):
        return None
    if "Sibling tool call errored" in result.text[:80]:
        return None  # another call of the same message failed, not this one
    if result.exit_code == 1 and commands.exit_one_is_an_answer(turn.call.command):
        return None
    found = fingerprint(result.text)
    if found is None:
        return None
    return Occurrence(
        message_index=turn.message_index,
        call_index=turn.position,
        at=turn.at,
        tool=turn.call.name,
        command=turn.call.command or turn.call.name,
        exit_code=result.exit_code,
        fingerprint=found.id,
        family=found.family,
        error_type=found.error_type,
        signature=signature(found),
        excerpt=found.excerpt,
    )


def _fix(calls: list[Turn], at: int, failure: Occurrence, failures: dict[int, Occurrence]) -> Fix | None:
    failed = calls[at]
    if not _mendable(failed.call, failure):
        return None
    steps: list[Turn] = []
    avoid: list[Turn] = []
    for turn in calls[at + 1 : at + 1 + LOOK_AHEAD]:
        if _same_try(failed.call, turn.call):
            if turn.succeeded:
                return _proven(failed, failure, turn, steps, avoid, calls)
            if turn.failed:
                again = failures.get(turn.position)
                if again is not None and again.fingerprint == failure.fingerprint:
                    avoid.extend(steps)
                    steps = []
                continue
        if turn.succeeded and _may_matter(failed.call, turn.call, failure):
            steps.append(turn)
    return None


def _mendable(call: ToolCall, failure: Occurrence) -> bool:
    """Looking at what is not there, and a merge conflict, are ordinary work: nothing to learn."""
    if failure.error_type == "conflict":
        return False
    return call.action != "run" or commands.changes_something(call.command)


def _proven(
    failed: Turn, failure: Occurrence, success: Turn, steps: list[Turn], avoid: list[Turn], calls: list[Turn]
) -> Fix | None:
    relevant = _relevant(steps, failure)
    told = _told(relevant, failed.call)
    changed_call = failed.call.action == "run" and commands.differ(
        failed.call.command, success.call.command, ignoring_options=bool(told)
    )
    succeeded_as = commands.brief(success.call.command, _LONGEST_STEP) if changed_call else ""
    if not told and not succeeded_as:
        return None  # the same call simply worked the next time
    # What did not help is shown, too: nothing that a person should see first.
    tried = tuple(step for step in _told(avoid, failed.call) if step not in told and not commands.danger(step.what))
    ran = [turn.call.command for turn in relevant if turn.call.action == "run"]
    if succeeded_as:
        ran.append(success.call.command)
    written = [turn.call.detail for turn in relevant if turn.call.action == "edit"]
    return Fix(
        occurrence=failure,
        steps=told,
        succeeded_as=succeeded_as,
        avoid=tried[:_MOST_STEPS],
        untrusted=_untrusted(ran, written, calls[: success.position]),
    )


def _same_try(failed: ToolCall, later: ToolCall) -> bool:
    if failed.action == "run":
        return later.action == "run" and commands.alike(failed.command, later.command)
    return bool(failed.target) and failed.action == later.action and failed.target == later.target


def _may_matter(failed: ToolCall, step: ToolCall, failure: Occurrence) -> bool:
    if failure.family == "agent":
        # An edit refused because the file was not read is mended by reading it, and by nothing else.
        return step.action == "read" and step.target == failed.target
    if step.action == "edit":
        return bool(step.target)
    return step.action == "run" and commands.changes_something(step.command)


def _relevant(steps: list[Turn], failure: Occurrence) -> list[Turn]:
    """Steps whose file or words stand in the error; without any, the last few."""
    about = f"{failure.excerpt} {failure.signature}".lower()
    named = [turn for turn in steps if _mentioned(turn.call, about)]
    return (named or steps)[-_MOST_STEPS:]


def _mentioned(call: ToolCall, about: str) -> bool:
    if call.target:
        return base_name(call.target).lower() in about
    words = {word.strip("'\"").lower() for word in call.command.split() if len(word) > 3}
    return any(word in about for word in words)


def _told(done: list[Turn], failed: ToolCall) -> tuple[Step, ...]:
    told: list[Step] = []
    for turn in done:
        call = turn.call
        if call.action == "run":
            step = Step("run", commands.brief(call.command, _LONGEST_STEP))
        elif call.action == "edit":
            head = f": {call.detail}" if call.detail else ""
            step = Step("edit", f"{base_name(call.target)}{head}"[:_LONGEST_STEP])
        else:
            same = call.target == failed.target
            step = Step(call.action, "the file first" if same else base_name(call.target)[:_LONGEST_STEP])
        if step not in told:
            told.append(step)
    return tuple(told)


def _untrusted(ran: list[str], written: list[str], before: list[Turn]) -> str:
    for text in ran + written:
        if why := commands.danger(text):
            return why
    for command in ran:
        bare = " ".join(command.split())
        if len(bare) >= _SHORTEST_PROPOSAL and any(
            turn.result is not None and bare in " ".join(turn.result.text.split()) for turn in before
        ):
            return "proposed by tool output"
    return ""


def _first_per_failure(fixes: list[Fix]) -> list[Fix]:
    """A failure tried three times has one fix in a session: the steps after its last failure."""
    chosen: dict[tuple[str, str, tuple[Step, ...]], Fix] = {}
    for fix in fixes:
        chosen.setdefault((fix.occurrence.fingerprint, fix.succeeded_as, fix.steps), fix)
    return list(chosen.values())
