"""The journal: what goes in comes out, scrubbed and judged; what is alike is found among all of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Attempt, Hardwon, HardwonError, Interaction, NotAllowed, NotFound, Outcome
from hardwon.model.metric import rate
from tests.scrub.fakes import text as random_text

FAILED_TESTS = (
    "=== FAILURES ===\nE   ModuleNotFoundError: No module named 'asyncpg'\n=== 1 failed, 3 passed in 0.12s ===\n"
)
PASSED_TESTS = "collected 4 items\n\n=== 4 passed in 0.12s ===\n"


def tasks(found: Iterable[Attempt]) -> list[str]:
    return [attempt.task for attempt in found]


def test_former_names_of_fields_are_still_read_and_written() -> None:
    day = datetime(2024, 1, 1, tzinfo=UTC)
    former = {"task_description": "x", "files_modified": ["a"], "failure_analysis": "why", "timestamp": day}
    made = Attempt(**former)  # type: ignore[call-arg]
    assert made == Attempt("x", files=["a"], analysis="why", at=day)
    assert {name: getattr(made, name) for name in former} == former
    made.task_description = "y"
    assert made.task == "y"
    assert Interaction(prompt="x", created_at=day).at == Interaction(prompt="x", at=day).created_at  # type: ignore[call-arg]


def test_an_attempt_comes_back_with_all_its_fields(home: Path) -> None:
    logged = Attempt(
        "Add a lock to the store",
        approach="a file lock",
        files=["src/store.py", "a/b.py"],
        diff="+lock()",
        test_results="some output",
        outcome=Outcome.ROLLBACK,
        analysis="it deadlocked",
        reflection="locks need an order",
        retry_count=2,
        at=datetime(2024, 2, 29, 12, 30, 1, 123457, tzinfo=timezone(timedelta(hours=2))),
        project="reef",
        agent="timmy",
        session="s-1",
        run="run-7",
        phase="ACT",
        exit_code=3,
        files_read=["README.md"],
        git_commit="abc1234",
        tokens=900,
        duration=1.5,
    )
    with Hardwon(home) as memory:
        id = memory.journal.log(logged)
        found = memory.journal.get(id)
        again = memory.journal.log(Attempt("Again", retry_of=id))
        retried = memory.journal.get(again)
    assert isinstance(id, int)
    assert found is not None
    assert retried is not None
    assert retried.retry_of == id
    for name in Attempt.__struct_fields__:
        if name not in ("id", "key", "project", "evidence", "at"):
            assert getattr(found, name) == getattr(logged, name), name
    assert found.at == logged.at
    assert found.at is not None
    assert found.at.utcoffset() == timedelta(0)
    assert (found.id, found.evidence) == (id, "exit-code")


def test_a_time_without_a_zone_is_utc_and_one_not_given_is_now(home: Path) -> None:
    with Hardwon(home) as memory:
        first = memory.journal.log(Attempt("a", at=datetime(2020, 1, 2, 3, 4, 5)))
        second = memory.journal.log(Attempt("b"))
        old, new = memory.journal.get(first), memory.journal.get(second)
    assert old is not None
    assert new is not None
    assert old.at == datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert new.at is not None
    assert abs(new.at - datetime.now(UTC)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("given_", "outcome", "evidence"),
    [
        (Attempt("x"), "unknown", ""),
        (Attempt("x", outcome=Outcome.SUCCESS), "success", "stated"),
        (Attempt("x", exit_code=0), "success", "exit-code"),
        (Attempt("x", exit_code=1), "failure", "exit-code"),
        (Attempt("x", test_results=FAILED_TESTS), "failure", "test-report"),
        (Attempt("x", test_results=PASSED_TESTS), "success", "test-report"),
        (Attempt("x", test_results="no errors found, 0 failed"), "unknown", ""),
        (Attempt("x", outcome=Outcome.ROLLBACK, exit_code=1), "rollback", "exit-code"),
        (Attempt("x", outcome=Outcome.SUCCESS, exit_code=1), "failure", "exit-code, against a stated success"),
        (
            Attempt("x", outcome=Outcome.FAILURE, test_results=PASSED_TESTS),
            "failure",
            "stated, against the test-report",
        ),
    ],
)
def test_an_outcome_is_unknown_unless_there_is_evidence(
    home: Path, given_: Attempt, outcome: str, evidence: str
) -> None:
    with Hardwon(home) as memory:
        found = memory.journal.get(memory.journal.log(given_))
    assert found is not None
    assert (found.outcome, found.evidence) == (outcome, evidence)


def test_an_attempt_without_a_task_is_refused_and_nothing_of_its_batch_is_kept(home: Path) -> None:
    with Hardwon(home) as memory:
        with pytest.raises(NotAllowed, match="needs a task"):
            memory.journal.log_all([Attempt("good"), Attempt("  ")])
        assert memory.journal.list() == []
        with pytest.raises(NotAllowed, match="attempt 9"):
            memory.journal.log(Attempt("x", retry_of=9))
        for wrong in (Attempt("x", exit_code=10**30), Attempt("x", duration=float("nan"))):
            with pytest.raises(NotAllowed, match="is out of range"):
                memory.journal.log(wrong)


def test_an_empty_journal_answers_and_makes_no_store(home: Path) -> None:
    with Hardwon(home) as memory:
        journal = memory.journal
        assert journal.similar("anything") == []
        assert journal.list() == []
        assert journal.for_file("a.py") == []
        for ask in (lambda: journal.get(1), lambda: journal.reflect(1, "x")):
            with pytest.raises(NotFound, match="no attempt 1"):
                ask()
        assert journal.stats().overall.attempts == 0
        assert journal.past_failures(run="r", task="x").text == ""
    assert not home.exists()


def test_secrets_and_homes_never_reach_the_journal_and_long_texts_keep_their_ends(home: Path) -> None:
    token = "ghp_" + random_text(Random(3), 36)
    long = "first line\n" + "x" * 30_000 + "\nlast line"
    with Hardwon(home) as memory:
        memory.journal.log(
            Attempt(
                f"use {token}",
                approach=token,
                files=[f"/home/alice/{token}.py"],
                diff=f"+{token}\n{long}",
                test_results=long,
                analysis="mail alice@example.org",
                reflection=token,
                agent=token,
                phase=token,
                run=token,
                session=token,
                project=f"https://{token}@git.example/deep/reef.git",
            )
        )
        (found,) = memory.journal.list()
        memory.journal.reflect(1, f"again {token}")
    assert len(found.diff) <= 20_100
    assert len(found.test_results) <= 20_000
    assert found.test_results.startswith("first line\n")
    assert found.test_results.endswith("\nlast line")
    assert "alice" not in found.analysis + found.files[0]
    for path in home.rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes()


def test_the_most_alike_comes_first_and_of_equals_the_newest(home: Path) -> None:
    with Hardwon(home) as memory:
        memory.journal.log_all(
            [
                Attempt("Add retry to the HTTP client", at=datetime(2024, 1, 1)),
                Attempt("Add retry to the HTTP client", at=datetime(2025, 1, 1), outcome=Outcome.SUCCESS),
                Attempt("Rewrite the HTTP server's address parser", approach="retry parsing"),
                Attempt("Water the plants"),
            ]
        )
        found = memory.journal.similar("add retries to http client")
        assert [entry.attempt.id for entry in found] == [2, 1, 3]
        assert found[0].score > 0.9 > found[2].score
        assert set(found[0].matched) == {"add", "retries", "http", "client"}
        only = memory.journal.similar("add retries to http client", outcomes=[Outcome.SUCCESS])
        assert [entry.attempt.id for entry in only] == [2]
        assert memory.journal.similar("http", limit=-1) == []
        assert memory.journal.similar("http", outcomes=[]) == []
        assert memory.journal.similar("") == memory.journal.similar("the of to") == []


@pytest.mark.parametrize("query", ["endpoints.", "(endpoints)", "ENDPOINTS", "endpoint"])
def test_punctuation_case_and_endings_do_not_hide_a_match_and_parts_of_words_are_none(home: Path, query: str) -> None:
    with Hardwon(home) as memory:
        memory.journal.log_all([Attempt("Add user endpoints"), Attempt("Change the address of the blog")])
        assert tasks(one.attempt for one in memory.journal.similar(query)) == ["Add user endpoints"]
        assert tasks(one.attempt for one in memory.journal.similar("add log")) == ["Add user endpoints"]


def test_files_and_errors_make_attempts_alike(home: Path) -> None:
    with Hardwon(home) as memory:
        memory.journal.log_all(
            [
                Attempt("One", files=["src/harbour/gauge.py"]),
                Attempt("Two", test_results="sqlite3.OperationalError: database is locked"),
                Attempt("Three", analysis="the mutex was held twice"),
            ]
        )
        similar = memory.journal.similar
        assert similar("x", files=["src/harbour/gauge.py"])[0].attempt.id == 1
        assert similar("why is the database locked")[0].attempt.id == 2
        assert similar("mutex held")[0].attempt.id == 3


def test_a_match_behind_a_hundred_newer_rows_is_found(home: Path) -> None:
    with Hardwon(home) as memory:
        memory.journal.log(Attempt("Fix the flaky login test", outcome=Outcome.FAILURE))
        memory.journal.log_all(Attempt(f"Fix the colour of button {n}") for n in range(100))
        assert memory.journal.similar("fix flaky login test", limit=1)[0].attempt.id == 1


PATHS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12).map(lambda name: f"dir/{name}")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.lists(PATHS, min_size=2, max_size=6, unique=True))
def test_any_path_finds_the_attempts_that_touched_it_and_no_others(home: Path, paths: list[str]) -> None:
    with Hardwon(home) as memory:
        ids = {memory.journal.log(Attempt("x", files=[path])): path for path in paths}
        for id, path in ids.items():
            found = [entry.id for entry in memory.journal.for_file(path, limit=1000) if entry.id in ids]
            same = [other for other, its in ids.items() if _alike(its, path)]
            assert id in found
            assert set(found) <= set(same)


def _alike(path: str, asked: str) -> bool:
    """The same file, or one below it, whatever the separators and whatever is invisible."""
    from hardwon.capture.attempts import file_path

    stored, wanted = (file_path(name).replace("\\", "/") for name in (path, asked))
    return wanted in ("", stored) or stored.startswith(wanted + "/")


def test_paths_are_kept_relative_to_the_root_of_their_repository(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    with Hardwon(home) as memory:
        memory.journal.log(Attempt("x", files=[str(root / "src" / "a.py"), "./src//b.py", "src\\c.py"]))
        (found,) = memory.journal.list()
        assert found.files == ["src/a.py", "src/b.py", "src\\c.py"]
        for path in (
            "src/a.py",
            "./src/a.py",
            str(root / "src"),
            "src",
            "src/c.py",
            "src\\b.py",
            ".",
            "src/../src/a.py",
        ):
            assert memory.journal.for_file(path), path
        for path in ("a.py", "rc/a.py", "src/a", "SRC/a.py", "s%", "src/_.py"):
            assert not memory.journal.for_file(path), path


def test_rates_have_counts_and_intervals(home: Path) -> None:
    with Hardwon(home) as memory:
        memory.journal.log_all(
            [
                *(Attempt("x", outcome=Outcome.SUCCESS, project="reef", agent="a", phase="ACT") for _ in range(3)),
                Attempt("x", exit_code=1, project="tide", agent="b", at=datetime(2024, 3, 31, 23, 59)),
                Attempt("x", agent="b", at=datetime(2024, 4, 1)),
            ]
        )
        stats = memory.journal.stats()
        reef = memory.journal.stats(project="reef")
    assert stats.overall.success_rate.value == 0.75
    assert stats.overall.outcomes == {"success": 3, "failure": 1, "rollback": 0, "partial": 0, "unknown": 1}
    assert (stats.overall.attempts, stats.overall.measured, stats.overall.success_rate.n) == (5, 1, 4)
    low, high = stats.overall.success_rate.low, stats.overall.success_rate.high
    assert low is not None
    assert high is not None
    assert 0.2 < low < 0.75 < high < 1
    assert {(group.name, group.attempts) for group in stats.project} == {("reef", 3), ("tide", 1), ("", 1)}
    assert {(group.name, group.attempts) for group in stats.agent} == {("a", 3), ("b", 2)}
    assert {(group.name, group.attempts) for group in stats.phase} == {("ACT", 3), ("", 2)}
    assert {"2024-03", "2024-04"} < {group.name for group in stats.month}
    assert reef.overall.attempts == 3
    assert reef.month[0].success_rate.value == 1.0


def test_wilsons_interval_is_that_of_the_textbook() -> None:
    of = rate(1, 10)
    assert (of.value, of.low, of.high) == (0.1, 0.0179, 0.4042)
    assert (rate(0, 10).low, rate(0, 10).high) == (0.0, 0.2775)
    assert rate(0, 0).value is None


def test_the_error_of_a_failed_attempt_is_remembered_as_a_failure(home: Path) -> None:
    with Hardwon(home) as memory:
        for run in ("r1", "r2"):
            memory.journal.log(Attempt("x", test_results=FAILED_TESTS, project="reef", run=run))
        memory.journal.log(Attempt("x", test_results=FAILED_TESTS, project="reef", outcome=Outcome.SUCCESS))
        (failure,) = memory.failures.list(project="reef")
        assert (failure.occurrences, failure.sessions) == (3, 3)  # the report denies the last one's word
        assert "asyncpg" in failure.error
        assert all(check.ok for check in memory.store.check())


def test_switched_off_nothing_is_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_OFF", "1")
    with Hardwon(home) as memory, pytest.raises(HardwonError, match="HARDWON_OFF"):
        memory.journal.log(Attempt("x"))
    assert not home.exists()


def test_switched_off_nothing_that_agents_say_is_written_and_a_persons_own_words_are(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Hardwon(home) as memory:
        lesson = memory.lessons.add("Moor at the pier.", project="reef")
        number = memory.journal.log(Attempt("Moor", project="reef"))
        asked = memory.interactions.record(Interaction(prompt="Always moor at the pier.", response="ok"))
        monkeypatch.setenv("HARDWON_OFF", "1")
        for step in (
            lambda: memory.lessons.propose("Never moor at the pier.", project="reef"),
            lambda: memory.lessons.feedback(lesson, helped=True),
            lambda: memory.journal.reflect(number, "Moor earlier."),
            lambda: memory.interactions.extract(asked),
            lambda: memory.interactions.reinforce(asked),
            lambda: memory.documents.add("arch", "The pier is old.", project="reef"),
        ):
            with pytest.raises(HardwonError, match="HARDWON_OFF"):
                step()  # type: ignore[no-untyped-call]
        assert memory.bootstrap("reef").text == ""
        assert memory.journal.past_failures(project="reef").text == ""
        own = memory.lessons.add("Paint in spring.", project="reef")
        memory.review.edit(own, text="Paint in May.")
        assert [hit.id for hit in memory.search("paint").hits] == [own]
