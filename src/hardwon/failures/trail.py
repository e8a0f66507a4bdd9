"""What followed a failure: how the same thing came to work, and what was tried before that did not help."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hardwon.failures import commands, purpose, refusals, usage
from hardwon.failures import steps as between
from hardwon.failures.fetched import named_by
from hardwon.failures.shell import Command
from hardwon.failures.shell import commands as taken_apart
from hardwon.failures.steps import Done
from hardwon.failures.turns import Turn
from hardwon.failures.verdict import Verdict, ran_until_stopped, verdict
from hardwon.model.failure import OFFERED, Fix, Occurrence, Step, Tried
from hardwon.text.fence import unfenced
from hardwon.text.paths import base_name

LOOK_AHEAD = 40
_SOON = 5
_SHORTEST_PROPOSAL = 8
_WORST_FIRST: tuple[Verdict, ...] = ("again", "otherwise", "open", "passed")
_TEST_FILE = re.compile(r"(?:^test_|_test\.|\.test\.|\.spec\.|_spec\.|Tests?\.\w+$)")
_TEST_FAILED = re.compile(r"--- FAIL|^FAILED |\bAssert|\bassert|✕|●|\bfailing\b|expect\(", re.MULTILINE)
_TEST_FAILED_SAYS = ("--- FAIL", "FAILED ", "Assert", "assert", "✕", "●", "failing", "expect(")
_CODE_IS_WRONG = re.compile(
    r"(?:Name|Import|ModuleNotFound|Attribute|Syntax|Reference|Type)Error|undefined: |error TS\d"
)
_ELSEWHERE = re.compile(
    r"no such file|not found|enoent|(?:cannot|could not) find|does not exist|no module named|not a git repository"
    r"|no rule",
    re.IGNORECASE,
)


class Trail(NamedTuple):
    """What followed a failure: the fix, if it was mended, and what was tried before."""

    fix: Fix | None
    tried: list[Tried]


def follow(calls: list[Turn], at: int, failure: Occurrence) -> Trail:
    failed = calls[at]
    later = calls[at + 1 : at + 1 + LOOK_AHEAD]
    if refusals.refused(failed):
        mended = refusals.mended(failed, later)
        return Trail(_fix(failure, mended.steps, "", mended.success) if mended else None, [])
    if (swap := usage.replaced(failed, later)) is not None:
        used = commands.brief(swap.by.text, between.LONGEST)
        untrusted = _untrusted([swap.by.text], [], calls[: swap.success.position])
        return Trail(_fix(failure, swap.steps, used, swap.success, untrusted=untrusted), [])
    if failed.call.action != "run" or not _mendable(calls, at, failure):
        return Trail(None, [])
    return _retried(calls, at, failure, later)


def _mendable(calls: list[Turn], at: int, failure: Occurrence) -> bool:
    """Looking at what is not there, a merge conflict, a test that is being written are ordinary work."""
    if failure.error_type == "conflict" or not commands.changes_something(calls[at].call.command):
        return False
    return not ran_until_stopped(calls[at]) and not _in_the_making(calls[:at], calls[at])


def _in_the_making(before: list[Turn], failed: Turn) -> bool:
    """A test that was written or changed in this session and has not passed since: it is meant to fail."""
    output = failed.output
    if (
        not any(sign in output for sign in _TEST_FAILED_SAYS)
        or not _TEST_FAILED.search(output)
        or _CODE_IS_WRONG.search(output)
    ):
        return False
    wanted = commands.doing(failed.call.command)
    for turn in reversed(before):
        call = turn.call
        if call.action == "edit" and _TEST_FILE.search(name := base_name(call.target)) and name in output:
            return True
        if turn.succeeded and call.action == "run" and not _unmatched(wanted, taken_apart(call.command), ""):
            return False
    return False


def _retried(calls: list[Turn], at: int, failure: Occurrence, later: list[Turn]) -> Trail:
    """Walk on until all that the failed line did has passed; what was done since the failure last showed counts."""
    failed = calls[at]
    wanted = purpose.suspects(commands.doing(failed.call.command), failed.output)
    open_still = set(range(len(wanted)))
    since: list[Done] = []
    gone: list[Done] | None = None
    tried: list[Tried] = []
    for turn in later:
        found = taken_apart(turn.call.command) if turn.call.action == "run" else ()
        matched = _matches(wanted, found, failed, turn)
        if not matched:
            since += between.done(turn)
            continue
        before = between.of_commands(turn.position, found[: min(matched.values())])
        outcome = _outcome(turn, [found[place] for place in matched.values()], failure)
        if outcome == "again":
            used = (wanted[max(matched)], found[matched[max(matched)]])
            tried += _tried(failure, failed, [*(gone or []), *since, *before], used, turn.position)
            since, gone, open_still = [], None, set(range(len(wanted)))
        elif outcome == "otherwise":
            if gone is None and len(matched) == len(wanted):
                gone, since = [*since, *before], []
        elif outcome == "passed":
            since += before
            open_still -= set(matched)
            if not open_still:
                used = (wanted[-1], found[matched[max(matched)]])
                return Trail(_proven(calls, failed, failure, turn, since, gone, used, tried), tried)
    return Trail(None, tried)


def _matches(wanted: Sequence[Command], found: Sequence[Command], failed: Turn, turn: Turn) -> dict[int, int]:
    """Which of the wanted commands stand where in a line."""
    matched: dict[int, int] = {}
    for number, command in enumerate(wanted):
        for place, other in enumerate(found):
            if not commands.same(command, other, failed.output):
                continue
            far = turn.position - failed.position > _SOON and not purpose.checks(command)
            if not (far and command.targets != other.targets):
                matched[number] = place
    return matched


def _unmatched(wanted: Sequence[Command], found: Sequence[Command], output: str) -> Sequence[Command]:
    return [command for command in wanted if not any(commands.same(command, other, output) for other in found)]


def _outcome(turn: Turn, tries: Sequence[Command], failure: Occurrence) -> Verdict:
    judged = {verdict(turn, command, failure) for command in tries}
    return next(one for one in _WORST_FIRST if one in judged)


def _tried(failure: Occurrence, failed: Turn, done: list[Done], used: tuple[Command, Command], at: int) -> list[Tried]:
    """What did not help: the steps that a fix would have told, or the other call."""
    steps = tuple(step.step for step in between.that_matter(done, failure, failed.output, at))
    other = "" if steps or not _called_otherwise(*used) else commands.brief(used[1].text, between.LONGEST)
    if not steps and not other:
        return []
    return [Tried(fingerprint=failure.fingerprint, steps=steps, tried_as=other, call_index=failure.call_index)]


def _called_otherwise(before: Command, after: Command) -> bool:
    """Another way to call the same thing, not the same thing for something else."""
    return before.targets == after.targets and commands.difference(before, after, moved=False)


def _proven(
    calls: list[Turn],
    failed: Turn,
    failure: Occurrence,
    success: Turn,
    since: list[Done],
    gone: list[Done] | None,
    used: tuple[Command, Command],
    tried: list[Tried],
) -> Fix | None:
    in_vain = [step for one in tried for step in one.steps or (Step("run", one.tried_as),)]
    helped = between.that_matter(gone if gone is not None else since, failure, failed.output, success.position)
    if gone == []:
        helped = between.that_matter(since, failure, failed.output, success.position)
    helped = [step for step in helped if step.step not in in_vain and not _only_stages(step, used[0])]
    if _evades(*used):
        helped = []
    other_call = used[1].text if _evades(*used) else _other_call(failed, success, used, told=bool(helped))
    if not helped and not other_call:
        return None  # the same call simply worked the next time
    ran = [step.text for step in helped if step.action == "run"] + [other_call] * bool(other_call)
    written = [step.text for step in helped if step.action == "edit"]
    # What did not help is shown, too: nothing that a person should see first.
    avoid = [step for step in dict.fromkeys(in_vain) if not commands.danger(step.what)]
    return _fix(
        failure,
        tuple(dict.fromkeys(step.step for step in helped)),
        commands.brief(other_call, between.LONGEST),
        success,
        avoid=tuple(avoid[: between.MOST]),
        untrusted=_untrusted(ran, written, calls[: success.position]),
    )


def _only_stages(step: Done, failed: Command) -> bool:
    """Putting files into git's index mends nothing but what git does."""
    return failed.program != "git" and step.text.startswith(("git add", "git stage"))


def _evades(before: Command, after: Command) -> bool:
    """Whether the call worked because a check was left out, whatever else was done in between."""
    return bool(commands.danger(after.text)) and not commands.danger(before.text)


def _other_call(failed: Turn, success: Turn, used: tuple[Command, Command], *, told: bool) -> str:
    """The call that succeeded, if it was another one and that made the difference."""
    before, after = used
    if told:
        return after.text if before.settings != after.settings else ""
    if success.position - failed.position > _SOON or before.subcommand != after.subcommand:
        return ""
    if purpose.checks(before) and (before.targets != after.targets or _TEST_FAILED.search(failed.output)):
        return ""  # it ran something else, or it is flaky
    moved = _ELSEWHERE.search(failed.output) is not None
    if not commands.difference(before, after, moved=moved):
        return ""
    return f"cd {after.folder} && {after.text}" if moved and after.folder != before.folder else after.text


def _fix(
    failure: Occurrence,
    steps: tuple[Step, ...],
    succeeded_as: str,
    success: Turn,
    *,
    avoid: tuple[Step, ...] = (),
    untrusted: str = "",
) -> Fix:
    return Fix(
        occurrence=failure,
        steps=steps,
        succeeded_as=succeeded_as,
        succeeded_at=success.position,
        avoid=avoid,
        untrusted=untrusted,
    )


def _untrusted(ran: list[str], written: list[str], before: list[Turn]) -> str:
    for text in ran + written:
        if why := commands.danger(text):
            return why
    offered = ""
    for command in ran:
        bare = " ".join(command.split())
        if len(bare) < _SHORTEST_PROPOSAL:
            continue
        holding = [turn.output for turn in before if bare in " ".join(turn.output.split())]
        if any(bare in " ".join(unfenced(output).split()) for output in holding):
            return "proposed by tool output"
        offered = offered or (OFFERED if holding else "")
    if not offered and named_by(ran, (unfenced(turn.output) for turn in before)):
        return "fetches what tool output named"
    return offered
