"""An attempt is judged by what was measured: changes, test runs, what the user said next. Claims count for nothing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from benchmarks import fix_pairs

from hardwon import Session
from hardwon.failures.ledger import examine, turns
from hardwon.harvest.attempts import MAX_TASK_CHARACTERS, attempts
from hardwon.model.attempt import HarvestedAttempt
from hardwon.sessions.reader import read
from tests.conftest import ClaudeSession

GAUGE = "/srv/work/reef/src/gauge.py"


def found(session: ClaudeSession, folder: Path) -> list[HarvestedAttempt]:
    (read_back,) = read(session.write(folder)).sessions
    return tried_in(read_back)


def tried_in(session: Session) -> list[HarvestedAttempt]:
    return attempts(session, turns(session), examine(session).occurrences)


def only(session: ClaudeSession, folder: Path) -> HarvestedAttempt:
    (attempt,) = found(session, folder)
    return attempt


def test_a_change_with_green_tests_after_it_is_a_success(tmp_path: Path) -> None:
    session = (
        ClaudeSession()
        .user("Round the level\nto two digits")
        .run("pytest -q", "1 failed in 0.1s", exit_code=1)
        .edit(GAUGE, "level = round(level, 2)")
        .run("pytest -q", "3 passed in 0.1s")
        .run('git commit -am "Round"', "[main 1a2b3c4d] Round\n 1 file changed")
    )
    attempt = only(session, tmp_path)
    assert (attempt.outcome, attempt.evidence) == ("success", "tests passed after the last change: pytest -q")
    assert attempt.task == "Round the level to two digits"
    assert attempt.files == (("src/gauge.py", "edited"),)
    assert attempt.diff == ("gauge.py: level = round(level, 2)",)
    assert (attempt.tests, attempt.test_command, attempt.commits) == ("green", "pytest -q", ("1a2b3c4d",))
    assert len(attempt.errors) == 1


def test_a_claim_without_change_and_test_is_unknown(tmp_path: Path) -> None:
    session = ClaudeSession().user("Fix it").run("ls", "a").says("All done, everything works and all tests pass!")
    attempt = only(session, tmp_path)
    assert (attempt.outcome, attempt.evidence) == ("unknown", "nothing was changed")


def test_green_tests_before_the_last_change_prove_nothing(tmp_path: Path) -> None:
    session = ClaudeSession().user("Fix it").edit(GAUGE, "a").run("pytest", "3 passed").edit(GAUGE, "b")
    attempt = only(session, tmp_path)
    assert (attempt.outcome, attempt.evidence) == ("unknown", "tests passed before the last change only")


def test_a_commit_without_tests_is_unknown(tmp_path: Path) -> None:
    session = ClaudeSession().user("Fix it").edit(GAUGE, "a").run("git commit -am x", "[main 1a2b3c4] x")
    attempt = only(session, tmp_path)
    assert (attempt.outcome, attempt.evidence, attempt.commits) == ("unknown", "no test run; committed", ("1a2b3c4",))


def test_a_red_last_test_run_is_a_failure(tmp_path: Path) -> None:
    session = ClaudeSession().user("Fix it").edit(GAUGE, "a").run("go test ./...", "--- FAIL: TestA\nFAIL", exit_code=1)
    attempt = only(session, tmp_path)
    assert (attempt.outcome, attempt.tests) == ("failure", "red")


def test_red_tests_are_nobodys_failure_where_nothing_was_changed(tmp_path: Path) -> None:
    session = ClaudeSession().user("Run the tests").run("go test ./...", "--- FAIL: TestA\nFAIL", exit_code=1)
    assert only(session, tmp_path).outcome == "unknown"


def test_red_tests_before_the_last_change_prove_nothing(tmp_path: Path) -> None:
    session = ClaudeSession().user("Fix it").edit(GAUGE, "a").run("go test ./...", "--- FAIL: TestA\nFAIL", exit_code=1)
    attempt = only(session.edit(GAUGE, "b"), tmp_path)
    assert (attempt.outcome, attempt.evidence) == (
        "unknown",
        "tests failed before the last change, and were not run again",
    )


@pytest.mark.parametrize(("failed", "outcome"), [(0, "success"), (3, "failure")])
def test_the_report_of_bun_is_read_behind_a_pipe(failed: int, outcome: str, tmp_path: Path) -> None:
    said = f"[pool] 2 failed, as they should\n\n 31 pass\n 1 skip\n {failed} fail\n 90 expect() calls"
    session = ClaudeSession().user("Fix it").edit(GAUGE, "a").run("bun run test 2>&1 | tail -5", said)
    assert only(session, tmp_path).outcome == outcome


def test_a_run_that_head_cut_off_has_no_end(tmp_path: Path) -> None:
    said = "\n".join(["[pool] 2 failed, as they should"] * 20)
    session = ClaudeSession().user("Fix it").edit(GAUGE, "a").run("bun run test 2>&1 | head -20", said)
    assert only(session, tmp_path).outcome == "unknown"


def test_a_red_run_behind_a_pipe_is_seen(tmp_path: Path) -> None:
    session = ClaudeSession().user("Fix it").edit(GAUGE, "a").run("go test ./... | tail -3", "--- FAIL: TestA\nFAIL")
    assert only(session, tmp_path).outcome == "failure"


def test_what_the_user_corrects_right_after_failed_whatever_the_tests_say(tmp_path: Path) -> None:
    session = (
        ClaudeSession()
        .user("Fix it")
        .edit(GAUGE, "a")
        .run("pytest", "3 passed")
        .user("No, it still prints the old level")
        .edit(GAUGE, "b")
        .run("pytest", "3 passed")
    )
    first, second = found(session, tmp_path)
    assert (first.outcome, first.evidence) == ("failure", "the user corrected it right after")
    assert second.outcome == "success"


def test_undone_changes_are_a_rollback_and_a_popped_stash_is_not(tmp_path: Path) -> None:
    undone = ClaudeSession("s-1").user("Fix it").edit(GAUGE, "a").run("git checkout -- src/gauge.py", "")
    elsewhere = ClaudeSession("s-2").user("Fix it").edit(GAUGE, "a").run("git checkout -- README.md", "")
    popped = ClaudeSession("s-3").user("Fix it").edit(GAUGE, "a").run("git stash", "").run("git stash pop", "")
    assert only(undone, tmp_path).outcome == "rollback"
    assert only(elsewhere, tmp_path).outcome == "unknown"
    assert only(popped, tmp_path).outcome == "unknown"


@pytest.mark.parametrize(
    ("commands", "outcome"),
    [
        (["git branch tides && git reset --hard HEAD~2 && git checkout tides"], "unknown"),
        (["git commit -am Low", "git switch -c tides", "git reset --hard origin/main"], "unknown"),
        (["git commit -am Low", "git stash"], "unknown"),
        (["git commit -am Low", "git reset --hard HEAD~1"], "rollback"),
        (["git branch -D tides", "git reset --hard HEAD~1"], "rollback"),
        (["git reset --hard"], "rollback"),
    ],
)
def test_commits_that_are_moved_to_a_branch_are_not_undone(commands: list[str], outcome: str, tmp_path: Path) -> None:
    session = ClaudeSession().user("Fix it").edit(GAUGE, "a")
    for command in commands:
        session = session.run(command, "[main 1a2b3c4] Low" if "commit" in command else "")
    assert only(session, tmp_path).outcome == outcome


def test_tests_passed_where_a_later_link_of_their_chain_failed(tmp_path: Path) -> None:
    chain = (
        ClaudeSession()
        .user("Fix it")
        .edit(GAUGE, "a")
        .run("bun run test && bun run lint", " 4 pass\n 0 fail", exit_code=1)
    )
    attempt = only(chain, tmp_path)
    assert (attempt.outcome, attempt.tests, attempt.test_command) == ("success", "green", "bun run test")


def test_tests_that_never_started_have_not_failed(tmp_path: Path) -> None:
    wrapped = "error: unrecognized subcommand 'bun'"
    session = ClaudeSession().user("Fix it").edit(GAUGE, "a").run("sea bun run test", wrapped, exit_code=2)
    assert only(session, tmp_path).outcome == "unknown"


def test_stopped_after_green_tests_is_partial(tmp_path: Path) -> None:
    refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    session = (
        ClaudeSession()
        .user("Fix it")
        .edit(GAUGE, "a")
        .run("pytest", "3 passed")
        .call("Bash", {"command": "make deploy"}, refusal, error=True)
    )
    assert only(session, tmp_path).outcome == "partial"


def test_each_task_is_an_attempt_and_a_nod_belongs_to_the_task_before(tmp_path: Path) -> None:
    session = (
        ClaudeSession()
        .user("Add a gauge")
        .call("Write", {"file_path": GAUGE, "content": "x"}, f"File created successfully at: {GAUGE}")
        .user("yes, go ahead")
        .edit(GAUGE, "y")
        .user("Now what does it do?")
        .says("It measures.")
        .user("x" * 500)
        .run("ls", "a")
    )
    first, last = found(session, tmp_path)
    assert first.files == (("src/gauge.py", "created"),)
    assert first.tool_calls == 2
    assert len(last.task) == MAX_TASK_CHARACTERS


def test_a_test_runner_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    session = (
        ClaudeSession().user("Fix it").edit(GAUGE, "a").run("pytest", "bash: pytest: command not found", exit_code=127)
    )
    attempt = only(session, tmp_path)
    assert (attempt.outcome, attempt.tests) == ("unknown", "none")


def test_real_sessions_give_every_outcome_that_can_be_proven(shared: Path) -> None:
    """Forty-six were read beside their sessions; none is called a success without a green run after its last change."""
    kept = [
        attempt
        for place in fix_pairs.examined(shared)
        if not place.file.startswith("transcripts/aider")
        for attempt in tried_in(place.session)
    ]
    outcomes = Counter(attempt.outcome for attempt in kept)
    assert len(kept) > 500
    assert outcomes["success"] > 100
    assert outcomes["failure"] > 10
    assert outcomes["partial"] > 0
    assert all(attempt.files and attempt.tests == "green" for attempt in kept if attempt.outcome == "success")
    assert not any(attempt.outcome == "success" for attempt in kept if not attempt.diff)
