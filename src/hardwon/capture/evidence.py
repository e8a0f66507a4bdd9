"""What an attempt's outcome rests on: without evidence it is unknown."""

from __future__ import annotations

import re

from hardwon.model.outcome import Outcome
from hardwon.sessions import tools

MEASURED = ("exit-code", "test-report", "crash-file")
"""Evidence that is not just somebody's word."""

_TAIL = 6_000
# Each is a runner's own closing line; that nothing failed is checked before.
_PASSED = re.compile(
    r"^=+ .*\b[1-9]\d* passed\b.* in [\d.]+s.* =+$"  # pytest
    r"|^[1-9]\d* passed(?:, \d+ \w+)* in [\d.]+s"  # pytest -q
    r"|^Ran [1-9]\d* tests? in [\d.]+s\s+OK\b"  # unittest
    r"|^test result: ok\. [1-9]"  # cargo test
    r"|^\s*Tests?:? +(?:.*\| )?[1-9]\d* passed\b"  # jest, vitest
    r"|^\s+[1-9]\d* passing\b"  # mocha
    r"|^ok\s+\S+\s+[\d.]+s$"  # go test
    r"|^[1-9]\d* examples?, 0 failures"  # RSpec
    r"|^OK \([1-9]\d* tests?"  # PHPUnit
    r"|^# pass [1-9]",  # node --test
    re.MULTILINE,
)


def judged(outcome: Outcome, exit_code: int | None, test_results: str) -> tuple[Outcome, str]:
    """The outcome and its evidence. What the caller says stands, with what speaks against it."""
    measured, evidence = _measured(exit_code, test_results)
    if outcome is Outcome.UNKNOWN:
        return measured, evidence
    if measured in (Outcome.UNKNOWN, outcome):
        return outcome, evidence or "stated"
    if outcome is Outcome.SUCCESS or measured is Outcome.SUCCESS:
        return outcome, f"stated, against the {evidence}"
    return outcome, evidence  # a rollback or a part of the work is how a failure ended


def _measured(exit_code: int | None, test_results: str) -> tuple[Outcome, str]:
    if exit_code is not None:
        return (Outcome.FAILURE if exit_code else Outcome.SUCCESS), "exit-code"
    if tools.failed(test_results):
        return Outcome.FAILURE, "test-report"
    if _PASSED.search(test_results[-_TAIL:]):
        return Outcome.SUCCESS, "test-report"
    return Outcome.UNKNOWN, ""
