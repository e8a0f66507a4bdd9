"""What was dealt and what became of it, on both engines."""

from __future__ import annotations

from hardwon.measure import outcomes
from hardwon.store import hook_data, spool
from hardwon.store.database import Database, insert
from hardwon.store.hook_data import Dealt
from hardwon.store.spool import HELD_OUT, OFF, TREATED

NOW = 1_790_000_000_000_000
SECOND = 1_000_000


def put(db: Database, table: str, **values: object) -> None:
    db.execute(insert(table, list(values)), list(values.values()))


def dealt(root: str, *lines: tuple[str, int], arm: str = TREATED, at: int = NOW, id: str = "") -> Dealt:
    propensity = {TREATED: 0.9, HELD_OUT: 0.1, OFF: 1.0}[arm]
    placed: list[spool.Placed] = [(item, rank, 20, shown, 0.8, 0.5) for rank, (item, shown) in enumerate(lines)]
    return Dealt(id or f"B{root}{at}", root, "P1", "codex", "session-start", arm, propensity, "D", "", at, placed)


def session(db: Database, name: str, *, calls: int = 10, errors: int = 2, subagent: str = "") -> str:
    id = f"S{name}{subagent}"
    put(
        db, "session", id=id, agent="codex", external_id=name, subagent=subagent, root=f"codex:{name}", project=None,
        format="codex", version="1", path=f"{name}.jsonl", branch="", started_at=NOW, ended_at=NOW + 60 * SECOND,
        messages=20, user_messages=4, tool_calls=calls, errors=errors, unknown_records=0, redactions=0,
        content_hash="", harvester_version=1,
    )  # fmt: skip
    return id


def occurrence(
    db: Database, source: str, failure: str, *, root: str, at: int = NOW + SECOND, position: int = 0
) -> None:
    put(
        db, "occurrence", source=source, position=position, failure=failure, project=None, root=root, agent="codex",
        message_index=0, at=at, command="pytest", exit_code=1, phase="", friction="", tokens=100, excerpt="x",
    )  # fmt: skip


def failure(db: Database, id: str) -> None:
    put(
        db, "failure", id=id, version=1, family="python", error_type="E", signature="E", first_seen=1, last_seen=1,
        occurrences=1, sessions=1,
    )  # fmt: skip


def call(db: Database, session: str, position: int, subject: str, *, outcome: str = "ok") -> None:
    put(
        db, "call", session=session, position=position, message_index=position, at=NOW + position * SECOND,
        tool="Bash", action="run", subject=subject, outcome=outcome, evidence="exit-code", exit_code=0, tokens=0,
    )  # fmt: skip


def test_each_line_is_joined_with_whether_its_failure_came_back(db: Database) -> None:
    with db.transaction():
        for id in ("F1", "F2", "F3"):
            failure(db, id)
        hook_data.record_exposure(db, dealt("codex:a", ("F1", 1), ("F2", 0), ("F3", 1)))
        source = session(db, "a")
        occurrence(db, source, "F2", root="codex:a")
        occurrence(db, source, "F3", root="codex:a", at=NOW - SECOND, position=1)  # before the session was told
        helper = session(db, "a", subagent="helper", calls=3, errors=1)
        occurrence(db, helper, "F1", root="codex:a")  # a sub-agent's failure is the session's
    trial = outcomes.load(db)
    assert [(unit.item, unit.shown, unit.recurred) for unit in trial.units] == [
        ("F1", True, True),
        ("F2", False, True),
        ("F3", True, False),
    ]
    (result,) = trial.sessions
    assert (result.tool_calls, result.failed_calls, result.tokens > 300) == (13, 3, True)


def test_sessions_that_are_not_harvested_are_pending_and_those_without_the_experiment_are_left_out(
    db: Database,
) -> None:
    with db.transaction():
        hook_data.record_exposure(db, dealt("codex:a", ("F1", 1)))
        hook_data.record_exposure(db, dealt("codex:b", ("F1", 0), arm=HELD_OUT))
        hook_data.record_exposure(db, dealt("codex:c", ("F1", 1), arm=OFF))
        session(db, "b")
        session(db, "c")
    trial = outcomes.load(db)
    assert (len(trial.sessions), trial.pending, trial.off) == (1, 1, 1)
    assert trial.dealt == {TREATED: (1, 0), HELD_OUT: (1, 1)}
    assert (trial.sessions[0].is_held_out, trial.sessions[0].held_out_chance) == (True, 0.1)


def test_storing_twice_adds_nothing_and_what_came_first_counts(db: Database) -> None:
    first = dealt("codex:a", ("F1", 0))
    resumed = dealt("codex:a", ("F1", 1), ("F2", 1), at=NOW + 5 * SECOND, id="B-later")
    with db.transaction():
        for each in (first, first, resumed):
            hook_data.record_exposure(db, each)
        session(db, "a")
    trial = outcomes.load(db)
    assert [(unit.item, unit.shown) for unit in trial.units] == [("F1", False), ("F2", True)]
    assert (trial.crossed, len(trial.sessions)) == (1, 1)


def test_the_number_of_calls_until_tests_pass_is_seen(db: Database) -> None:
    with db.transaction():
        for name in "abc":
            hook_data.record_exposure(db, dealt(f"codex:{name}", ("F1", 1)))
        for name, ended in (("a", ("error", "ok")), ("b", ("error", "error"))):
            id = session(db, name)
            for position, outcome in enumerate(ended):
                call(db, id, 2 * position, "pytest -q", outcome=outcome)
                call(db, id, 2 * position + 1, "ls")
        call(db, session(db, "c"), 0, "ls")
    assert [each.calls_to_green for each in outcomes.load(db).sessions] == [3, 4, None]


def test_a_line_is_used_when_the_session_did_what_it_says_whether_it_was_shown_or_not(db: Database) -> None:
    with db.transaction():
        for id in ("F1", "F2"):
            failure(db, id)
            put(
                db, "fix", id=f"X{id}", failure=id, steps=f'[["run","uv add {id}"]]', succeeded_as="", avoid="[]",
                status="active", untrusted="", confirmed=1, failed_again=0, last_seen=1,
            )  # fmt: skip
            put(
                db, "fix_evidence", fix=f"X{id}", source="Sold", root="codex:old", at=1, avoid="[]", untrusted="",
                failed_again=0,
            )  # fmt: skip
        hook_data.record_exposure(db, dealt("codex:a", ("F1", 1), ("F2", 0), ("F3", 1)))
        hook_data.record_exposure(db, dealt("codex:b", ("F1", 0), ("F2", 1)))
        call(db, session(db, "a"), 1, "cd x &&  uv add F1")
        id = session(db, "b")
        call(db, id, 1, "uv add F1")
        call(db, id, 2, "uv add F2", outcome="error")
    assert hook_data.settle_exposures(db, NOW) == 4
    used = {(unit.root[-1], unit.item): unit.used for unit in outcomes.load(db).units}
    assert used == {
        ("a", "F1"): True, ("a", "F2"): False, ("a", "F3"): None, ("b", "F1"): True, ("b", "F2"): False,
    }  # fmt: skip
    assert hook_data.settle_exposures(db, NOW) == 0


def test_looking_at_one_project_or_a_time_leaves_the_rest_out(db: Database) -> None:
    with db.transaction():
        hook_data.record_exposure(db, dealt("codex:a", ("F1", 1)))
        hook_data.record_exposure(db, dealt("codex:b", ("F1", 1), at=NOW + 10 * SECOND)._replace(project="P2"))
        session(db, "a")
        session(db, "b")
    assert [each.root for each in outcomes.load(db, project="P2").sessions] == ["codex:b"]
    assert [each.root for each in outcomes.load(db, since=NOW + SECOND).sessions] == ["codex:b"]
    assert len(outcomes.load(db).sessions) == 2
