"""A new version of the fingerprint regroups old failures only when asked, and loses nothing. On both engines."""

from __future__ import annotations

from msgspec.structs import replace

from hardwon.failures.fingerprint import VERSION, fingerprint
from hardwon.failures.ledger import Findings
from hardwon.failures.signature import signature
from hardwon.model.failure import Fix, Occurrence, Step
from hardwon.store import check, failures, meta, sessions
from hardwon.store.database import Database
from hardwon.store.refingerprint import refingerprint
from hardwon.text.normalise import digest

OUTPUTS = ["ModuleNotFoundError: No module named 'asyncpg'", "ModuleNotFoundError: No module named 'redis'"]


def occurrence(output: str, position: int, id: str) -> Occurrence:
    return Occurrence(
        message_index=position,
        call_index=position,
        at=1_700_000_000_000_000 + position,
        tool="Bash",
        command="pytest",
        exit_code=1,
        fingerprint=id,
        family="python",
        error_type="ModuleNotFoundError",
        signature="ModuleNotFoundError",
        excerpt=output,
    )


def a_session(place: failures.Place) -> sessions.SessionRow:
    """What the failures of a place come from."""
    texts = dict.fromkeys("subagent format version path branch task content_hash".split(), "")
    numbers = "started_at ended_at messages user_messages tool_calls errors unknown_records redactions"
    counts = dict.fromkeys([*numbers.split(), "harvester_version"], 1)
    known = {"id": place.source, "agent": place.agent, "external_id": place.root, "root": place.root}
    return sessions.SessionRow(**known, **texts, **counts, project=None, outcome="unknown")  # type: ignore[arg-type]


def recognised_too_coarsely(db: Database) -> None:
    """Two different errors under one id, as an older version might have done; each with its fix."""
    for session, (output, cure) in enumerate(zip(OUTPUTS, ("uv add asyncpg", "uv add redis"), strict=True)):
        found = occurrence(output, 0, "Fcoarse")
        fix = Fix(occurrence=found, steps=(Step("run", cure),), succeeded_as="", succeeded_at=1)
        place = failures.Place(f"S{session}", f"claude-code:{session}", None, "claude-code", 5)
        with db.transaction():
            sessions.add(db, a_session(place), [])
            meta.mark_stale(db, failures.save(db, place, Findings([found], [fix], []), {}))
    with db.transaction():
        db.execute("UPDATE failure SET version = ?", (VERSION - 1,))
    meta.recount_stale(db)


def test_failures_are_told_apart_again_each_with_its_own_fix(db: Database) -> None:
    recognised_too_coarsely(db)
    assert failures.outdated(db) == 1
    done = refingerprint(db)
    assert (done.before, done.after, done.unrecognised) == (1, 2, 0)
    assert failures.outdated(db) == 0
    wanted = {fingerprint(output).id: cure for output, cure in zip(OUTPUTS, ("asyncpg", "redis"), strict=True)}  # type: ignore[union-attr]
    fixes = failures.fixes(db, wanted)
    for id, cure in wanted.items():
        assert [fix.steps[0].what for fix in fixes[id]] == [f"uv add {cure}"]
        assert fixes[id][0].confirmed == 1
    assert failures.get(db, "Fcoarse") is None
    assert [each for each in check.store(db) if not each.ok] == []


def test_what_cannot_be_told_stays_where_it_was(db: Database) -> None:
    place = failures.Place("S1", "claude-code:1", None, "claude-code", 5)
    with db.transaction():
        meta.mark_stale(db, failures.save(db, place, Findings([occurrence("", 0, "Fold")], [], []), {}))
        db.execute("UPDATE failure SET version = ?", (VERSION - 1,))
    meta.recount_stale(db)
    assert refingerprint(db).unrecognised == 1
    row = failures.get(db, "Fold")
    assert row is not None
    assert row.occurrences == 1


def test_an_excerpt_that_says_less_than_the_output_did_moves_nothing(db: Database) -> None:
    """Of a test's output only its last words are kept: a failure of another tool would be made of them."""
    output = "error: the pump is dry\n(fail) gauge > opens the reef [1.00ms]\n"
    found = fingerprint(output, "bun test")
    assert found is not None
    known = replace(
        occurrence(found.excerpt, 0, found.id), family=found.family, command="bun test", signature=signature(found)
    )
    place = failures.Place("S1", "claude-code:1", None, "claude-code", 5)
    with db.transaction():
        sessions.add(db, a_session(place), [])
        meta.mark_stale(db, failures.save(db, place, Findings([known], [], []), {}))
        db.execute("UPDATE failure SET version = ?", (VERSION - 1,))
    meta.recount_stale(db)
    refingerprint(db)
    row = failures.get(db, found.id)
    assert row is not None
    assert (row.family, row.occurrences, failures.outdated(db)) == ("jest", 1, 0)


def test_an_error_that_is_recognised_as_before_keeps_its_id_through_an_upgrade(db: Database) -> None:
    """As version 2 had named it: what it had learned is found again without asking."""
    found = fingerprint(OUTPUTS[0], "pytest")
    assert found is not None
    assert found.id == "F" + digest("2", "python", "ModuleNotFoundError", "No module named 'asyncpg'", "")


def test_nothing_outdated_nothing_done(db: Database) -> None:
    assert refingerprint(db).said == "0 failures became 0."
