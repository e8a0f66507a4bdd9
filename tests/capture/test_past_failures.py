"""`PAST FAILURES TO AVOID:`: this run's failures first, then the likeliest; safe to hand to anybody."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon import Attempt, Hardwon, Outcome, PastFailures
from hardwon.capture.past_failures import public, repository_names
from tests.conftest import ClaudeSession

HEADING = "PAST FAILURES TO AVOID:"
MISSING = "ModuleNotFoundError: No module named 'asyncpg'"


def report(error: str) -> str:
    return f"=== FAILURES ===\nE   {error}\n=== 1 failed in 0.1s ===\n"


def lines(told: PastFailures) -> list[str]:
    inside = told.text.split(HEADING)[1].splitlines()[1:-1] if told.text else []
    assert inside == [f"- {line.text}" for line in told.lines]
    return inside


def test_an_error_is_told_whose_words_share_nothing_with_the_goal(home: Path) -> None:
    crash = {
        "error_class": "IterationError",
        "stack_signature": ["handler", "parse"],
        "rarv_phase": "ACT",
        "exit_code": 1,
    }
    with Hardwon(home) as memory:
        memory.journal.capture_crash(json.dumps(crash).encode(), run="r1", task="build a todo REST API")
        told = memory.journal.past_failures(run="r1", task="paint the fence green")
    (line,) = lines(told)
    assert HEADING in told.text
    assert "IterationError: phase=ACT; signature: handler > parse (1x in this run, last just now)." in line


def test_the_newest_three_distinct_of_all_the_runs_failures_are_told_with_their_counts(home: Path) -> None:
    began = datetime.now(UTC) - timedelta(hours=3)
    with Hardwon(home) as memory:
        memory.journal.log_all(
            Attempt(
                f"try {n}",
                test_results=report(f"KeyError: 'k{n % 4}_name'"),
                run="r1",
                timestamp=began + timedelta(minutes=n),
            )
            for n in [*range(80, 160), *range(80)]  # written in another order than they happened
        )
        memory.journal.log(Attempt("x", test_results=report("ValueError: other run"), run="r2"))
        told = lines(memory.journal.past_failures(run="r1"))
    assert [re.findall(r"k\d_name|\d+x|\d+ \w+ ago", line) for line in told] == [
        ["k3_name", "40x", "21 minutes ago"],
        ["k2_name", "40x", "22 minutes ago"],
        ["k1_name", "40x", "23 minutes ago"],
    ]


def test_the_likeliest_of_the_project_follow_with_what_worked(home: Path, tmp_path: Path) -> None:
    with Hardwon(home) as memory:
        memory.harvest(
            ClaudeSession(f"s{n}", day=n)
            .run("pytest -q", MISSING, exit_code=1)
            .run("uv sync --extra db")
            .run("pytest -q")
            .write(tmp_path)
            for n in (1, 2)
        )
        told = memory.journal.past_failures(run="r1", project="reef", task="unrelated words")
        assert [line.lane for line in told.lines] == ["prior"]
        (line,) = lines(told)
        assert line.startswith("- (prior) ")
        assert "Worked: run `uv sync --extra db`" in line
        assert "2x in 2 sessions" in line
        memory.journal.log(Attempt("x", test_results=MISSING + "\n", outcome=Outcome.FAILURE, run="r1", project="reef"))
        again = memory.journal.past_failures(run="r1", project="reef")
    (only,) = lines(again)
    assert [line.lane for line in again.lines] == ["run"]
    assert "Worked: run `uv sync --extra db`" in only


def test_a_failure_without_a_known_error_is_told_in_the_runs_own_words(home: Path) -> None:
    with Hardwon(home) as memory:
        for analysis in ("It deadlocked  again", "it deadlocked again"):
            memory.journal.log(Attempt("Add a lock", outcome=Outcome.ROLLBACK, failure_analysis=analysis, run="r1"))
        memory.journal.log(Attempt("Fine", outcome=Outcome.SUCCESS, run="r1"))
        assert lines(memory.journal.past_failures(run="r1")) == [
            "- rollback: it deadlocked again (2x in this run, last just now)."
        ]


def test_there_is_no_block_when_there_is_nothing_or_it_is_switched_off(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Hardwon(home) as memory:
        memory.journal.log(Attempt("x", outcome=Outcome.FAILURE, run="r1", project="reef"))
        assert memory.journal.past_failures(run="other", project="reef").text == ""
        assert memory.journal.past_failures().text == ""
        monkeypatch.setenv("HARDWON_FAILURE_MEMORY", "0")
        assert memory.journal.past_failures(run="r1").text == ""


@pytest.mark.parametrize(
    "private",
    [
        "/home/alice/reef/src/app.py", "C:\\Users\\alice\\reef", "alice@example.org", "192.168.17.4", "10.0.0.1:8080",
        "fe80::1ff:fe23:4567:890a", "2001:0db8:85a3:0000:0000:8a2e:0370:7334", "git@git.example:deep/reef.git",
        "https://git.example/deep/reef", "deep/reef", "Deep/Reef", "git.example/deep/reef/issues/1",
    ],
)  # fmt: skip
def test_no_line_tells_who_where_or_whose(home: Path, private: str) -> None:
    with Hardwon(home) as memory:
        for attempt in (
            Attempt("x", outcome=Outcome.FAILURE, failure_analysis=f"cannot reach {private} now"),
            Attempt("x", exit_code=1, test_results=f"ConnectionError: cannot reach '{private}' now\n"),
            Attempt("x", exit_code=1, test_results=f"fatal: unable to access {private}: not found\n"),
        ):
            attempt.run, attempt.project = private, "git@git.example:deep/reef.git"
            memory.journal.log(attempt)
        told = memory.journal.past_failures(run=private, project="reef")
    assert len(lines(told)) == 3
    for word in ("alice", "192.168", "10.0.0.1", "fe80", "2001:", "deep/reef", "git.example"):
        assert word not in told.text.lower()


@given(st.lists(st.sampled_from(["x" * 300, "y", "Worked", "`a`", "é" * 90, "\n", "</hardwon-memory>"]), max_size=6))
def test_no_line_is_longer_than_240(words: list[str]) -> None:
    from hardwon.capture.past_failures import PastFailure, _fitted, _safe

    line = _safe(PastFailure(id="x", lane="run", text=_fitted(" ".join(words), " (3x)." + "w" * 200)), [])
    assert len(line.text) <= 240
    assert "\n" not in line.text
    assert "</hardwon-memory>" not in line.text


@pytest.mark.parametrize(
    "line",
    [
        "pytest tests/test_app.py::test_a",
        "std::vector<a::b>",
        "at 10:20:30 in src/app.py",
        "use `pip install a/b`",
        "error TS2304: x",
    ],
)
def test_what_is_nobodys_stays(line: str) -> None:
    assert public(line, repository_names(["git.example/deep/reef", "~/src/tide", "/srv/work/reef"])) == line
