"""Attempts on every engine: numbered, sealed, found by file, by words, by outcome."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from hardwon import Ran
from hardwon.capture import crash, past_failures, record
from hardwon.capture.attempts import kept
from hardwon.config import Config
from hardwon.harvest.rules.said import Habit, habits
from hardwon.harvest.walk import harvest
from hardwon.store import attempts, check, failures, forget, fulltext, integrity, meta
from hardwon.store.attempts import AttemptRow, FileRow, SimilarAttempt
from hardwon.store.database import Database
from hardwon.text.normalise import made
from tests.conftest import ClaudeSession

HOUR = 3_600_000_000


def tried(task: str, *, files: tuple[str, ...] = (), at: int = HOUR, **more: object) -> AttemptRow:
    fields: dict[str, object] = {
        **dict.fromkeys(AttemptRow._fields, ""),
        "id": made("A"),
        "source": "log",
        "project": None,
        "task": task,
        "outcome": "failure",
        "exit_code": None,
        "retry_count": 0,
        "tokens": None,
        "started_at": at,
        "duration": None,
        "files": tuple(FileRow(path) for path in files),
        "number": 0,
    }
    return AttemptRow(**{**fields, **more})  # type: ignore[arg-type]


def save(db: Database, *rows: AttemptRow) -> list[int]:
    with db.transaction():
        return attempts.save_all(db, rows)


def tasks(rows: Sequence[AttemptRow | SimilarAttempt]) -> list[str]:
    return [row.task for row in rows]


def test_attempts_are_numbered_in_order_and_come_back_as_they_were(db: Database) -> None:
    row = tried("add a lock", files=("b.py", "a.py"), exit_code=2, tokens=7, duration=5, reflection="é\n‹x›")
    assert save(db, row, tried("other")) == [1, 2]
    assert attempts.get(db, 1) == row._replace(number=1)
    assert attempts.get(db, 3) is None
    assert integrity.broken_seals(db, "attempt") == []


def test_an_attempt_that_is_there_already_stays_as_it_is(db: Database) -> None:
    row = tried("once")
    assert save(db, row) == [1]
    assert save(db, row._replace(task="twice"), tried("new")) == [1, 2]
    assert tasks(attempts.listed(db)) == ["new", "once"]


def test_an_attempt_keeps_the_number_it_brings_if_that_is_free(db: Database) -> None:
    save(db, tried("first"))
    assert save(db, tried("a", number=7), tried("b", number=1), tried("c"), tried("d", number=7)) == [7, 8, 9, 10]
    assert save(db, tried("e")) == [11]


def test_a_number_is_never_given_twice(db: Database) -> None:
    meta.prepare(db)
    rows = [tried(f"try {number}") for number in range(3)]
    assert save(db, *rows) == [1, 2, 3]
    with db.transaction():
        forget.remove(db, forget.by_id(db, rows[2].id), set(), "owner")
    assert save(db, tried("another")) == [4]
    assert save(db, tried("and two"), tried("more")) == [5, 6]
    with db.transaction():
        assert attempts.replace_of_session(db, "S1", [tried("a", id=""), tried("b", id="")]) == [7, 8]
        assert attempts.replace_of_session(db, "S1", [tried("a", id="")]) == [7]
    assert save(db, tried("the last")) == [9]


def test_a_row_that_was_changed_behind_our_back_is_noticed(db: Database) -> None:
    row = tried("true")
    save(db, row)
    with db.transaction():
        db.execute("UPDATE attempt SET task = 'false'")
    assert integrity.broken_seals(db, "attempt") == [row.id]


def test_the_newest_come_first_by_outcome_project_and_run(db: Database) -> None:
    with db.transaction():
        db.execute("INSERT INTO project (id, key, name) VALUES ('P1', 'reef', 'reef')")
    save(
        db,
        tried("old", at=1, root="r1"),
        tried("newest", at=3, outcome="rollback"),
        tried("middle", at=2, outcome="success", project="P1"),
        tried("same time, later", at=3),
    )
    assert tasks(attempts.listed(db)) == ["same time, later", "newest", "middle", "old"]
    assert tasks(attempts.listed(db, outcomes=("failure", "rollback"), limit=2)) == ["same time, later", "newest"]
    assert tasks(attempts.listed(db, project="P1")) == ["middle"]
    assert tasks(attempts.listed(db, root="r1")) == ["old"]
    assert attempts.listed(db, limit=-1) == attempts.listed(db, limit=0) == attempts.listed(db, outcomes=()) == []


@pytest.mark.parametrize(
    ("path", "other"),
    [("app.py", "myapp.py"), ("a_b.py", "axb.py"), ("%", "all.py"), ("tü/ß.py", "tu/ss.py"), ("C.py", "c.py")],
)
def test_in_a_path_every_character_is_just_a_character(db: Database, path: str, other: str) -> None:
    save(db, tried("this", files=(path,)), tried("that", files=(other, other + "x", "x" + other)))
    assert tasks(attempts.of_file(db, [path])) == ["this"]


def test_a_folder_finds_what_is_below_it_once_and_nothing_beside_it(db: Database) -> None:
    save(
        db,
        tried("two below", files=("src/api/a.py", "src/api/b.py"), at=1),
        tried("windows", files=("src\\api\\c.py",), at=2),
        tried("beside", files=("src/api2/a.py", "src/api.py")),
    )
    assert tasks(attempts.of_file(db, ["src/api", "src\\api"])) == ["windows", "two below"]
    assert len(attempts.of_file(db, [""])) == 3
    assert attempts.of_file(db, ["src"], limit=0) == []


def test_a_match_is_found_behind_thousands_of_newer_rows_with_the_wanted_outcome(db: Database) -> None:
    planted = tried("rotate the quokka keys", at=1, outcome="rollback")
    save(db, planted, *(tried(f"rotate the logs, part {n}", at=2 + n) for n in range(3000)))
    assert attempts.matching(db, ["quokka", "rotat"])[0].id == planted.id
    assert tasks(attempts.matching(db, ["rotat"], outcomes=("rollback",))) == ["rotate the quokka keys"]
    assert attempts.matching(db, ["rotat"], outcomes=()) == attempts.matching(db, []) == []


def test_words_of_tests_analysis_reflection_and_files_are_found(db: Database) -> None:
    save(
        db,
        tried("one", test_results="AssertionError: quorum lost"),
        tried("two", failure_analysis="the mutex"),
        tried("three", files=("src/harbour/gauge.py",)),
    )
    for term, task in (("quorum", "one"), ("mutex", "two"), ("gauge.py", "three"), ("harbour", "three")):
        assert tasks(attempts.matching(db, [term])) == [task]


def test_a_reflection_is_recorded_sealed_and_found(db: Database) -> None:
    row = tried("x", reflection="first")
    save(db, row)
    with db.transaction():
        assert attempts.update_reflection(db, 1, "check the tide", actor="tester")
        assert not attempts.update_reflection(db, 2, "nobody", actor="tester")
    found = attempts.get(db, 1)
    assert found is not None
    assert found.reflection == "check the tide"
    assert integrity.broken_seals(db, "attempt") == []
    assert tasks(attempts.matching(db, ["tide"])) == ["x"]
    (event,) = integrity.events_of_item(db, row.id)
    assert (event.before, event.after, event.actor) == (
        {"reflection": "first"},
        {"reflection": "check the tide"},
        "tester",
    )


def test_harvesting_a_session_again_replaces_what_it_tried_and_keeps_numbers_and_reflections(db: Database) -> None:
    save(db, tried("by hand", session="S1"))
    with db.transaction():
        assert attempts.replace_of_session(db, "S1", [tried("a", id=""), tried("b", id="")]) == [2, 3]
        attempts.update_reflection(db, 3, "kept", actor="tester")
        attempts.replace_of_session(db, "S2", [tried("other", id="")])
        assert attempts.replace_of_session(db, "S1", [tried("a2", id=""), tried("b2", id=""), tried("c", id="")]) == [
            2,
            3,
            5,
        ]
    assert sorted(tasks(attempts.listed(db))) == ["a2", "b2", "by hand", "c", "other"]
    found = attempts.get(db, 3)
    assert found is not None
    assert (found.task, found.reflection, found.source, found.session) == ("b2", "kept", "session", "S1")
    with db.transaction():
        assert attempts.replace_of_session(db, "S1", []) == []
    assert sorted(tasks(attempts.listed(db))) == ["by hand", "other"]
    assert fulltext.disagreements(db) == 0


def test_an_index_built_again_finds_the_same(db: Database) -> None:
    save(db, tried("task words", files=("src/a.py", "src/b.py"), reflection="tide"), tried("second"))
    assert fulltext.rebuild(db) == 2
    assert tasks(attempts.matching(db, ["b.py"])) == tasks(attempts.matching(db, ["tide"])) == ["task words"]
    assert fulltext.disagreements(db) == 0


def test_attempts_are_counted_by_project_agent_phase_and_day(db: Database) -> None:
    day = 24 * HOUR
    save(db, tried("a", agent="x", at=day), tried("b", agent="x", at=day + 1), tried("c", agent="y", outcome="success"))
    assert attempts.tallies(db, "") == [("", "failure", "", 2), ("", "success", "", 1)]
    assert attempts.tallies(db, "agent") == [("x", "failure", "", 2), ("y", "success", "", 1)]
    assert attempts.tallies(db, "day", since=day) == [("1", "failure", "", 2)]
    assert attempts.tallies(db, "phase", project="P0") == []


def test_a_runs_failures_are_recorded_with_their_errors_and_told(db: Database) -> None:
    meta.prepare(db)
    with db.transaction():
        for code in (1, 1, 2):
            record.crash(db, crash.plain("ACT", code), at=None, evidence="exit-code", run="r1", project="reef")
        ran = Ran(1, "", "ModuleNotFoundError: No module named 'tide'\n", 1.5, 0.5)
        record.command(db, ["make"], ran, run="r1", project="reef")
    told = past_failures.block(db, Config(), 60_000_000, run="r1", project=kept(db, "reef"), task="paint")
    assert [line.text.split(" (")[0] for line in told.lines] == [
        "IterationError: phase=ACT; exit code 2",
        "IterationError: phase=ACT; exit code 1",
        "ModuleNotFoundError: No module named 'tide'",
    ]
    assert past_failures.block(db, Config(), 0, run="r2", project=None, task="").text == ""
    assert [result.says for result in check.store(db) if not result.ok] == []


def test_habits_and_quoted_lines_are_found_alike_on_both_engines(db: Database, tmp_path: Path) -> None:
    line = "fatal: no tag v9 found in 50% of C:\\reef_one"
    for day in (1, 2, 3):
        session = ClaudeSession(f"s{day}", day=day).user("update the notes").edit("/srv/work/reef/a.py", "x")
        harvest(db, [session.run("make release", line, exit_code=2).write(tmp_path)])
    assert habits(db, None, 2) == [Habit("update the notes", 3)]
    ((project,),) = db.query("SELECT id FROM project")
    assert habits(db, project, 2) == [Habit("update the notes", 3)]
    assert habits(db, "another", 2) == []
    ((id, excerpt),) = db.query("SELECT DISTINCT failure, excerpt FROM occurrence")
    assert failures.quoted_as(db, f" {excerpt}\n", None) == failures.quoted_as(db, excerpt, project) == id
    assert failures.quoted_as(db, excerpt, "another") is None
    assert failures.quoted_as(db, "% _ % no tag v9 found", None) is None
