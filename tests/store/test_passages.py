"""Passages of sessions are kept and found alike on both engines."""

from __future__ import annotations

from pathlib import Path

from hardwon.harvest.walk import harvest
from hardwon.store.database import Database
from tests.recall.test_passages import ownership, proxy


def test_both_engines_find_the_same_in_the_same_order(db: Database, tmp_path: Path) -> None:
    logs = [proxy(f"s-{day}", day).user(f"the proxy {'again ' * day}").write(tmp_path) for day in range(1, 6)]
    harvest(db, [*logs, ownership().write(tmp_path)])
    ranked = [item for item, _, _ in db.matches(["proxi"], 10, ("passage",))]
    told = dict(db.query("SELECT id, text FROM passage"))
    assert len(ranked) == 10
    assert [told[item].count("again") for item in ranked[:5]] == [1, 2, 3, 4, 5]
    assert db.matches(["proxi"], 10, ("lesson",)) == []


def test_a_session_that_is_read_anew_leaves_no_old_passage(db: Database, tmp_path: Path) -> None:
    harvest(db, [proxy().write(tmp_path)])
    harvest(db, [proxy().user("the heron is new").write(tmp_path)])
    assert [count for (count,) in db.query("SELECT count(*) FROM passage WHERE text LIKE '%squid%'")] == [1]
    assert len(db.matches(["squid"], 10, ("passage",))) == 1
    assert len(db.matches(["heron"], 10, ("passage",))) == 1
