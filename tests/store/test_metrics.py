"""Metrics count what is there, on both engines."""

from __future__ import annotations

import pytest

from hardwon import Metrics
from hardwon.measure.metrics import collect, snapshot
from hardwon.measure.tallies import Window, met_again
from hardwon.store import hook_data
from hardwon.store.database import Database
from hardwon.store.failures import seen_before
from hardwon.store.spool import HELD_OUT
from tests.store.test_exposures import NOW, SECOND, dealt, failure, occurrence, put, session

DAY = 24 * 3600 * SECOND
ALL = Window(0, NOW + 2 * DAY)


def project(db: Database, id: str) -> None:
    put(db, "project", id=id, key=id, name=id)


def lesson(
    db: Database, id: str, *, status: str = "active", sources: int = 1, confidence: float = 0.8, at: int = NOW - DAY
) -> None:
    put(
        db, "lesson", id=id, kind="fact", text=id, scope="project", project="P1", agent="", base_confidence=confidence,
        confidence=confidence, status=status, trust="measured", rule="fix", failure="", first_seen=at,
        last_confirmed=at, source_count=sources, harvester_version=1,
    )  # fmt: skip


def attempt(db: Database, number: int, root: str, outcome: str) -> None:
    empty = dict.fromkeys("approach phase diff test_results failure_analysis reflection git_commit seal".split(), "")
    put(
        db, "attempt", id=f"A{number}", number=number, source="session", session="", root=root, project="P1",
        agent="codex", task="t", outcome=outcome, evidence="", retry_count=0, retry_of="",
        started_at=NOW + number * SECOND, **empty,
    )  # fmt: skip


@pytest.fixture
def lived(db: Database) -> Database:
    with db.transaction():
        project(db, "P1")
        for id in ("F1", "F2"):
            failure(db, id)
            put(
                db, "failure_in_project", project="P1", failure=id, occurrences=2, sessions=2, first_seen=NOW + SECOND,
                last_seen=NOW + 9 * SECOND, command="", agents="codex", place="",
            )  # fmt: skip
        put(
            db, "fix", id="X1", failure="F1", steps="[]", succeeded_as="", avoid="[]", status="active", untrusted="",
            confirmed=1, failed_again=0, last_seen=1,
        )  # fmt: skip
        for name in "abcd":
            session(db, name)
        db.execute("UPDATE session SET project = 'P1', tokens_in = 400000, tokens_out = 100000, redactions = 2")
        occurrence(db, "Sa", "F1", root="codex:a", at=NOW + SECOND)
        occurrence(db, "Sb", "F1", root="codex:b", at=NOW + 5 * SECOND)
        occurrence(db, "Sb", "F1", root="codex:b", at=NOW + 6 * SECOND, position=1)
        occurrence(db, "Sc", "F2", root="codex:c", at=NOW + SECOND)
        db.execute("UPDATE occurrence SET project = 'P1'")
        db.execute("UPDATE failure SET sessions = 2 WHERE id = 'F1'")
        lesson(db, "L1", sources=3)
        lesson(db, "L2", status="invalid")
        lesson(db, "L3", status="candidate", at=NOW - 200 * DAY)
        lesson(db, "L4", at=NOW - 200 * DAY)
        attempt(db, 1, "codex:a", "failure")
        attempt(db, 2, "codex:a", "success")
        attempt(db, 3, "codex:b", "success")
        attempt(db, 4, "codex:c", "unknown")
        hook_data.record_exposure(db, dealt("codex:a", ("F1", 1), ("F2", 0)))
        hook_data.record_exposure(db, dealt("codex:b", ("F1", 0), ("F2", 0), arm=HELD_OUT))
        hook_data.record_exposure(db, dealt("codex:b", ("F1", 1), at=NOW + 2 * SECOND, id="B-resumed"))
        db.execute("UPDATE exposure SET used = 1 WHERE item = 'F1' AND shown = 1")
        db.execute("UPDATE exposure SET used = 0 WHERE item = 'F1' AND shown = 0")
        for number, (took, error) in enumerate([(30_000, ""), (40_000, ""), (50_000, "BusyError"), (0, "")]):
            event = "spool" if number == 3 else "session-start"
            put(db, "hook_run", id=str(number), at=NOW, event=event, agent="", microseconds=took, error=error)
    return db


def value(found: Metrics, name: str) -> tuple[float | None, int]:
    metric = found.named(name)
    return metric.value, metric.n


def test_each_number_is_what_the_rows_say(lived: Database) -> None:
    found = collect(lived, ALL)
    assert found.sessions == 4
    assert value(found, "recurrence") == (0.3333, 3), "F1 came back in b; twice there counts once"
    assert value(found, "coverage") == (0.5, 2)
    assert value(found, "failed_calls") == (0.2, 40)
    assert value(found, "completion") == (0.6667, 3)
    assert value(found, "first_try") == (0.5, 2)
    assert value(found, "unjudged") == (0.25, 4)
    assert value(found, "queue") == (1.0, 1)
    assert value(found, "redactions") == (8.0, 4)
    assert value(found, "hook_p50") == (40.0, 3)
    assert value(found, "hook_failures") == (0.3333, 3)
    assert value(found, "lessons_a_million_tokens") == (2.0, 4)
    assert value(found, "knowledge_age")[1] == 2
    assert value(found, "old_knowledge") == (0.5, 2)
    assert (found.calibration.resolved, found.calibration.unresolved.successes) == (2, 2)


def test_every_screen_counts_the_same_errors(lived: Database) -> None:
    """`up`, `harvest`, `measure` and the home page: once a session, without those of agents' own tools."""
    with lived.transaction():
        failure(lived, "F3")
        lived.execute("UPDATE failure SET family = 'agent' WHERE id = 'F3'")
        for root, later in (("codex:a", 1), ("codex:b", 7)):
            occurrence(lived, "Sx" + root[-1], "F3", root=root, at=NOW + later * SECOND)
    assert value(collect(lived, ALL), "recurrence") == (0.3333, 3)
    assert seen_before(lived) == (3, 1)
    assert [(each.errors, each.before) for _, each in met_again(lived, ALL)] == [(3, 1)]


def test_what_the_experiment_says_is_causal_and_a_resumed_session_counts_once(lived: Database) -> None:
    found = collect(lived, ALL)
    assert (found.shown.successes, found.shown.n) == (1, 1)
    assert (found.withheld.successes, found.withheld.n) == (1, 3)
    assert found.named("recurrence_effect").value == pytest.approx(1 - 1 / 3, abs=1e-3)
    assert value(found, "hit_rate_excess") == (1.0, 2)
    causal = {metric.name for metric in found.metrics if metric.label == "causal"}
    assert causal == {"hit_rate_excess", "recurrence_effect", "tokens_saved"}


def test_no_number_stands_without_what_it_was_counted_on(lived: Database) -> None:
    for metric in collect(lived, ALL).metrics:
        assert metric.n > 0
        assert metric.of
        if metric.low is not None and metric.high is not None and metric.value is not None:
            assert metric.low <= metric.value <= metric.high


def test_nothing_counted_gives_no_value(db: Database) -> None:
    found = collect(db, ALL)
    assert {metric.name for metric in found.metrics if metric.value is not None} <= {
        "lessons_a_day", "queue", "redactions",
    }  # fmt: skip


def test_a_project_and_a_time_are_looked_at_alone(lived: Database) -> None:
    with lived.transaction():
        project(lived, "P2")
    assert collect(lived, ALL._replace(project="P2")).sessions == 0
    assert value(collect(lived, ALL._replace(project="P1")), "recurrence") == (0.3333, 3)
    later = collect(lived, ALL._replace(since=NOW + DAY))
    assert (later.sessions, value(later, "completion")) == (0, (None, 0))


def test_changes_are_told_against_the_snapshot_of_that_time(lived: Database) -> None:
    def at(days: int) -> Metrics:
        found = collect(lived, ALL._replace(until=ALL.until + days * DAY))
        with lived.transaction():
            snapshot(lived, found)
        return found

    assert at(0).named("queue").week is None
    with lived.transaction():
        lesson(lived, "L5", status="candidate")
    week = at(8).named("queue")
    assert (week.value, week.week, week.month) == (2.0, 1.0, None)
    assert at(31).named("queue").month == 1.0
    kept = lived.query("SELECT value FROM metric_snapshot WHERE name = 'queue' AND scope = '' ORDER BY at")
    assert kept == [(1.0,), (2.0,), (2.0,)]
