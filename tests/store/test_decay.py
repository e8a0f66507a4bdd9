"""What nobody needed for long is archived, and comes back when it is seen again."""

from __future__ import annotations

from typing import Any

import pytest

from hardwon.clock import now
from hardwon.harvest import upkeep
from hardwon.store import integrity, lessons
from hardwon.store.database import Database, insert
from hardwon.store.lessons import Cited, LessonRow

DAY = 86_400_000_000
NOW = now()
HALF_LIFE = 90.0


def lesson(db: Database, id: str, *, days: float, **changes: Any) -> str:
    """An active pitfall that was last confirmed so many days ago, and came into the store then."""
    at = round(NOW - days * DAY)
    row = LessonRow(
        id=id, kind="pitfall", text=f"Mind the {id}.", scope="global", project=None, agent="", base_confidence=0.9,
        confidence=0.9, status="active", trust="measured", rule="r", failure="", first_seen=at, last_confirmed=at,
        source_count=1, harvester_version=1,
    )._replace(**changes)  # fmt: skip
    with db.transaction():
        lessons.add(db, [row], [Cited(id, "S1", 0, "S1", at, "quote", "tool")])
        integrity.record_events(db, "harvest", at, [integrity.Happened("create", id, {}, {}, "")])
    return id


def settle(db: Database, at: int = NOW) -> list[str]:
    with db.transaction():
        return upkeep.archive_idle(db, at, HALF_LIFE)


def status(db: Database, id: str) -> str:
    return str(db.query("SELECT status FROM lesson WHERE id = ?", (id,))[0][0])


def test_it_is_archived_when_its_confidence_has_halved_below_a_third_and_can_be_restored(db: Database) -> None:
    # 0.9 reaches 0.3 after 1.585 half-lives, which is 142.6 days.
    young, old = lesson(db, "Lyoung", days=142), lesson(db, "Lold", days=143)
    assert settle(db) == [old]
    assert (status(db, young), status(db, old)) == ("active", "archived")
    story = integrity.events_of_item(db, old)
    assert (story[-1].actor, story[-1].why) == ("decay", "not seen, used or needed for 143 days")
    assert settle(db) == []


@pytest.mark.parametrize(
    "changes", [{"kind": "preference"}, {"kind": "decision"}, {"pinned": 1}, {"kept": 1}, {"reference_count": 1}]
)
def test_what_a_person_said_or_decided_or_an_answer_used_stays(db: Database, changes: dict[str, Any]) -> None:
    id = lesson(db, "Lold", days=1000, **changes)
    assert settle(db) == []
    assert status(db, id) == "active"


def test_rare_is_not_stale(db: Database) -> None:
    with db.transaction():
        counts = dict.fromkeys(("occurrences", "sessions", "first_seen", "version"), 0)
        known = {"id": "F1", "last_seen": NOW - 10 * DAY, "status": "active"} | counts
        row = {name: known.get(name, "") for name in db.columns()["failure"]}
        db.execute(insert("failure", list(row)), list(row.values()))
    lesson(db, "Lold", days=1000, failure="F1")
    assert settle(db) == []


def test_what_came_into_the_store_lately_is_not_old(db: Database) -> None:
    id = lesson(db, "Lold", days=10)
    with db.transaction():
        db.execute("UPDATE lesson SET last_confirmed = ?", (NOW - 1000 * DAY,))
    assert settle(db) == []
    assert status(db, id) == "active"


def test_what_is_seen_again_comes_back(db: Database) -> None:
    id = lesson(db, "Lold", days=400)
    settle(db)
    later = integrity.events_of_item(db, id)[-1].at + DAY
    with db.transaction():
        lessons.cite(db, [Cited(id, "S2", 0, "S2", later, "quote", "tool")])
        lessons.refresh(db, [id])
    assert settle(db) == [id]
    assert status(db, id) == "active"
    assert db.query("SELECT kept FROM lesson") == [(0,)], "no person decided on it"
