"""Failed tests are an error even when the command that ran them exits 0."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardwon.sessions.reader import read
from hardwon.sessions.tool_calls import failed
from tests.conftest import ClaudeSession

FAILED = [
    "FAILED tests/test_a.py::test_b - assert 1 == 2\n==== 1 failed, 3 passed in 0.12s ====",
    "1 failed, 3 passed in 0.12s",
    "==== 2 errors in 1.02s ====",
    "Ran 3 tests in 0.001s\n\nFAILED (failures=1)",
    "test result: FAILED. 3 passed; 1 failed; 0 ignored",
    "Tests:       1 failed, 4 passed, 5 total",
    "      Tests  2 failed | 11 passed (13)",
    "  3 passing\n  1 failing",
    "--- FAIL: TestTide (0.00s)\nFAIL\texample/tide\t0.012s",
    "12 examples, 2 failures",
    "Tests: 4, Assertions: 9, Failures: 1.",
    "Tests run: 8, Failures: 0, Errors: 1, Skipped: 0",
    "# pass 3\n# fail 1",
]
PASSED = [
    "==== 3 passed in 0.12s ====",
    "0 failed, no errors found",
    "test result: ok. 3 passed; 0 failed; 0 ignored",
    "Tests:       5 passed, 5 total",
    "12 examples, 0 failures",
    "Tests run: 8, Failures: 0, Errors: 0, Skipped: 0",
    "# pass 4\n# fail 0",
    "added error handling; nothing failed",
    "the log says that 3 failed attempts were made",
]


@pytest.mark.parametrize("output", FAILED)
def test_a_failed_report_is_recognised(output: str) -> None:
    assert failed(output)


@pytest.mark.parametrize("output", PASSED)
def test_text_that_only_mentions_failure_is_not(output: str) -> None:
    assert not failed(output)


def test_only_commands_can_have_failed_tests(tmp_path: Path) -> None:
    session = ClaudeSession().run("pytest -q || true", FAILED[0]).call("Read", {"file_path": "log.txt"}, FAILED[0])
    (read_back,) = read(session.write(tmp_path)).sessions
    ran, looked = read_back.results()
    assert (ran.outcome, ran.evidence) == ("error", "test-report")
    assert looked.outcome == "ok"
