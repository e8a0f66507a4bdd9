"""A session's calls in order, each with what came of it."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from hardwon.failures.fingerprint import fingerprint
from hardwon.failures.shell import Command
from hardwon.model.failure import Occurrence
from hardwon.model.session import Session, ToolCall, ToolResult


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

    @property
    def stopped(self) -> bool:
        """The user refused or interrupted it."""
        return self.result is not None and self.result.evidence in ("rejected", "interrupted")

    @property
    def output(self) -> str:
        return self.result.text if self.result else ""


def turns(session: Session) -> list[Turn]:
    """Every call of a session in order, with its result if there is one."""
    results = {result.call_id: result for result in session.results()}
    paired = ((at, message.at, call) for at, message in enumerate(session.messages) for call in message.calls)
    return [
        Turn(position, message_index, at, call, results.get(call.id))
        for position, (message_index, at, call) in enumerate(paired)
    ]


# What a later call of the same thing tells: it passed, failed the same way again, failed otherwise, or leaves it open.

Verdict = Literal["passed", "again", "otherwise", "open"]
Colour = Literal["green", "red", ""]

_CUTS = frozenset(("head", "tail", "tee", "cat", "less", "more"))
_TAIL_CHARACTERS_SEARCHED = 8_000
_RED = re.compile(
    r"^\s*(?:FAIL\b|--- FAIL|FAILED\b|not ok |Traceback \(most recent|npm (?:ERR!|error)|panic: |[✖✗✘⨯] )"
    r"|\berror(?:\[\w+\])?: |\berror TS\d+|^\S+\.go:\d+:\d+: |^[1-9]\d* issues:|\b[1-9]\d* (?:failed|errors?)\b"
    r"|command not found|No such file or directory|^(?:ERROR|Error): ",
    re.MULTILINE,
)
_GREEN = re.compile(
    r"^ok\s+\S+|^PASS$|--- PASS|\b[1-9]\d* (?:passed|passing)\b|^0 issues|(?:build|tests?)[: ]+(?:ok|pass)|\bsuccess",
    re.MULTILINE | re.IGNORECASE,
)
_TESTS_FAILED = re.compile(
    r"^\s*(?:FAIL\b|--- FAIL|FAILED\b|not ok \d)|✗ FAIL|\b[1-9]\d* (?:failed|failing)\b", re.MULTILINE
)
_TESTS_PASSED = re.compile(
    r"^ok\s+\S+|^PASS$|--- PASS|\b[1-9]\d* (?:passed|passing)\b|^OK$|test result: ok", re.MULTILINE
)
_NOT_STARTED = re.compile(r"command not found|No module named pytest|[Mm]issing script|: not found$", re.MULTILINE)
_HEAD_CHARACTERS_SEARCHED = 600
_RAN_UNTIL_STOPPED = re.compile(r"terminated command after exceeding timeout|terminated by signal SIGTERM")


def verdict(turn: Turn, command: Command, failure: Occurrence) -> Verdict:
    """Of a call that tries the failed thing again by `command`."""
    if turn.result is None or turn.stopped or turn.result.outcome == "unknown":
        return "open"
    if turn.failed:
        if _shows(turn, failure):
            return "again"
        return "passed" if ran_until_stopped(turn) else "otherwise"
    if not command.masked:
        return "passed"
    # The exit code is that of another command: the output must speak.
    if _RED.search(turn.output[-_TAIL_CHARACTERS_SEARCHED:]):
        return "again" if _shows(turn, failure) else "otherwise"
    if all(program in _CUTS for program in command.through) or _GREEN.search(turn.output[-_TAIL_CHARACTERS_SEARCHED:]):
        return "passed"
    return "open"


def ran_until_stopped(turn: Turn) -> bool:
    """A server that the agent's tool ended after a while has not failed."""
    return _RAN_UNTIL_STOPPED.search(turn.output[-_TAIL_CHARACTERS_SEARCHED:]) is not None


def colour(turn: Turn, command: Command) -> Colour:
    """How a test run ended, as far as its exit code or its own report says."""
    if turn.result is None or turn.stopped or _NOT_STARTED.search(turn.output[:_HEAD_CHARACTERS_SEARCHED]):
        return ""
    if turn.failed:
        return "red"
    if turn.succeeded and not command.masked:
        return "green"
    tail = turn.output[-_TAIL_CHARACTERS_SEARCHED:]
    if _TESTS_FAILED.search(tail):
        return "red"
    return "green" if _TESTS_PASSED.search(tail) else ""


def _shows(turn: Turn, failure: Occurrence) -> bool:
    """Whether the failure is in an output, be it as its second error."""
    output = turn.output
    found = fingerprint(output, turn.call.command)
    if found is not None and found.id == failure.fingerprint:
        return True
    lines = [line.strip() for line in failure.excerpt.splitlines()]
    told = max(lines, key=len, default="")
    return len(told) >= 30 and _solid(told) in _solid(output)


def _solid(text: str) -> str:
    """Without spaces and ends of lines: a terminal breaks lines where it likes."""
    return "".join(text.split())
