"""Upgrades are the same on both engines: to what a new store has, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from hardwon import StoreError
from hardwon.harvest.walk import harvest
from hardwon.store import check, database, integrity, migrations, schema
from hardwon.store.database import CASCADE, Database, Index, Reference, Table, connect, integer, ours, table
from hardwon.store.integrity import whole_hash
from hardwon.store.migrations import Step, Upgrade
from hardwon.text.normalise import text_hash
from tests.conftest import EXAMPLES
from tests.store.conftest import Open
from tests.store.old_stores import physical, released

Declare = Callable[..., None]


@pytest.fixture
def declare(monkeypatch: pytest.MonkeyPatch) -> Iterator[Declare]:
    """Another declaration, with steps that lead to it."""

    def declared(steps: list[Step], *tables: Table, rebuilt: dict[int, tuple[Table, ...]] | None = None) -> None:
        new = {table.name: table for table in (*schema.TABLES, *tables)}
        monkeypatch.setattr(schema, "TABLES", database.declared(*new.values()))
        monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, *steps))
        monkeypatch.setattr(migrations, "NEWEST", migrations.STEPS[-1].to)
        monkeypatch.setattr(migrations, "_REBUILT", migrations._REBUILT | (rebuilt or {}))
        migrations.tables_at.cache_clear()

    yield declared
    monkeypatch.undo()
    migrations.tables_at.cache_clear()


def make(db: Database, version: int) -> None:
    """The empty tables of a schema, in place of a store's own."""
    for name in reversed(migrations.tables_at(migrations.NEWEST)):
        db.execute(f"DROP TABLE {name}")
    for each in migrations.tables_at(version).values():
        for statement in database.create_sql(each, db.engine):
            db.execute(statement)


def sound(db: Database) -> list[str]:
    return [f"{found.name}: {found.says}" for found in check.store(db) if not found.ok]


def test_steps_are_numbered_without_a_gap() -> None:
    assert [step.to for step in migrations.STEPS] == list(range(2, migrations.NEWEST + 1))


def test_each_schema_is_the_one_before_and_what_came_since() -> None:
    assert migrations.tables_at(migrations.NEWEST) == {table.name: table for table in schema.TABLES.in_order}
    for declared in schema.TABLES:
        since = [column.since or declared.since for column in declared.columns]
        assert since == sorted(since), f"the new columns of {declared.name} must be its last"


@pytest.mark.parametrize("version", range(1, migrations.NEWEST))
def test_an_upgraded_store_is_what_a_new_one_is(db: Database, version: int) -> None:
    fresh = physical(db)
    with db.transaction():
        if db.engine == "sqlite":
            db.execute("PRAGMA defer_foreign_keys = ON")
        make(db, version)
    assert version == migrations.NEWEST or physical(db) != fresh
    with db.transaction():
        migrations.upgrade(db, version)
    assert _without_search_vectors(physical(db)) == _without_search_vectors(fresh)


def _without_search_vectors(found: list[object]) -> list[object]:
    """PostgreSQL's own column of vectors was made with schema 2 and is no part of the declaration."""
    return [row for row in found if "embedding_direction" not in str(row) and "'direction'" not in str(row)]


def three_of_the_kind(declare: Declare) -> None:
    """A new table; a column that a function fills, under the seal; a table that others refer to, rebuilt."""
    now = migrations.NEWEST
    tide = table(
        "tide",
        ours("lesson", refers=Reference("lesson", on_delete=CASCADE, on_update=CASCADE)),
        integer("height", default=0, check="height >= 0"),
        ours("state", one_of=("ebb", "flood")),
        key="lesson state",
        indexes=[Index("tide_by_height", "height")],
        rowid=False,
        since=now + 1,
    )
    lesson = schema.TABLES.named["lesson"]
    marked = replace(
        lesson,
        columns=(*lesson.columns, ours("mark", default="", sealed=True, since=now + 2)),
        indexes=(*lesson.indexes, Index("lesson_by_mark", "mark", since=now + 2)),
    )
    fix = schema.TABLES.named["fix"]
    weighed = replace(fix, columns=(*fix.columns[:3], integer("weight"), *fix.columns[3:]))
    names = ", ".join(fix.names[3:])
    declare(
        [
            Step(now + 1, "tides", _fill_tides),
            Step(now + 2, "lessons have a mark", lambda to: to.fill("lesson", "mark", text_hash, "text")),
            Step(
                now + 3,
                "fixes have a weight",
                lambda to: to.rebuild_table(weighed, f"SELECT id, failure, steps, confirmed * 2, {names} FROM old_fix"),
            ),
        ],
        tide,
        marked,
        weighed,
        rebuilt={now + 2: (fix,)},
    )


def _fill_tides(to: Upgrade) -> None:
    to.execute("INSERT INTO tide (lesson, state) SELECT id, 'ebb' FROM lesson")


def test_three_more_steps_upgrade_a_filled_store(place: Path | str, tmp_path: Path, declare: Declare) -> None:
    released(place, tmp_path)
    before = connect(place, write=True)  # gives SQLite its sums
    texts = before.query("SELECT id, text FROM lesson ORDER BY id")
    fixes = before.query("SELECT id, confirmed, succeeded_as FROM fix ORDER BY id")
    evidence = before.query("SELECT fix, source FROM fix_evidence ORDER BY 1, 2")
    spoilt = texts[0][0]
    with before.transaction():
        before.execute("UPDATE lesson SET pinned = 1 WHERE id = ?", (spoilt,))
    before.close()
    assert texts
    assert fixes
    three_of_the_kind(declare)
    db = connect(place, write=True)
    assert db.query("SELECT id, mark FROM lesson ORDER BY id") == [(id, text_hash(text)) for id, text in texts]
    assert db.query("SELECT lesson, height, state FROM tide ORDER BY 1") == [(id, 0, "ebb") for id, _ in texts]
    assert db.query("SELECT id, weight, succeeded_as FROM fix ORDER BY id") == [
        (id, 2 * n, how) for id, n, how in fixes
    ]
    assert db.query("SELECT fix, source FROM fix_evidence ORDER BY 1, 2") == evidence
    assert integrity.broken_seals(db, "lesson") == [spoilt], "what was damaged before must not be sealed by an upgrade"
    with db.transaction():
        integrity.reseal(db, "lesson", [spoilt])
    assert sound(db) == []
    db.close()


def test_what_three_more_steps_lead_to_is_what_a_new_store_is(
    place: Path | str, open_store: Open, tmp_path: Path, declare: Declare
) -> None:
    released(place, tmp_path)
    three_of_the_kind(declare)
    db = open_store(write=True)
    upgraded = physical(db)
    assert "lesson_by_mark" in str(upgraded)
    if isinstance(place, Path):
        place = tmp_path / "new" / "hardwon.db"
    else:
        ((workspace,),) = db.query("SELECT current_schema()")
        db.execute(f"DROP SCHEMA {workspace} CASCADE")
        db.execute(f"CREATE SCHEMA {workspace}")
    new = connect(place, write=True)
    assert physical(new) == upgraded
    new.close()


def test_references_hold_after_a_table_was_rebuilt(place: Path | str, tmp_path: Path, declare: Declare) -> None:
    released(place, tmp_path)
    three_of_the_kind(declare)
    db = connect(place, write=True)
    with pytest.raises(StoreError), db.transaction():
        db.execute("UPDATE fix_evidence SET fix = 'Xnone'")
    with db.transaction():
        db.execute("DELETE FROM fix")
    assert db.query("SELECT count(*) FROM fix_evidence") == [(0,)]
    db.close()


def emptied(to: Upgrade) -> None:
    to.execute("DELETE FROM fix_evidence")


def divided(to: Upgrade) -> None:
    to.execute("UPDATE lesson SET text = 'gone'")
    raise ZeroDivisionError("division by zero\nsecond line")


def mistyped(to: Upgrade) -> None:
    to.execute("UPDATE lesson SET no_such_column = 1")


def refused(to: Upgrade) -> None:
    to.execute("UPDATE lesson SET status = 'splendid'")


@pytest.mark.parametrize(
    ("fails", "why"), [(divided, "division by zero"), (mistyped, "no_such_column"), (refused, "refuses a row")]
)
def test_a_step_that_fails_leaves_the_store_as_it_was(
    place: Path | str, tmp_path: Path, fails: Callable[[Upgrade], None], why: str
) -> None:
    released(place, tmp_path)
    before = connect(place, write=True)
    was, held = physical(before), whole_hash(before)
    before.close()
    now = migrations.NEWEST
    more = Step(now + 1, "marks", emptied), Step(now + 2, "tides", fails)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "STEPS", (*migrations.STEPS, *more))
        patch.setattr(migrations, "NEWEST", now + 2)
        with pytest.raises(StoreError, match=why) as told:
            connect(place, write=True)
    assert "\n" not in str(told.value)
    assert f"could not be upgraded to schema {now + 2} (tides) and is as it was: " in str(told.value)
    after = connect(place, write=True)
    assert (physical(after), whole_hash(after)) == (was, held)
    assert sound(after) == []
    after.close()


@pytest.mark.parametrize("schema", [2, 3])
def test_an_old_store_gets_passages_with_the_next_harvest(place: Path | str, tmp_path: Path, schema: int) -> None:
    released(place, tmp_path, schema)
    db = connect(place, write=True)
    assert db.query("SELECT count(*) FROM passage") == [(0,)]
    harvest(db, sorted(EXAMPLES.rglob("*.jsonl")))
    assert len(db.matches(["asyncpg"], 10, ("passage",))) > 1
    assert sound(db) == []
    db.close()


def test_the_trail_of_a_store_of_one_lane_holds_after_the_upgrade(place: Path | str, tmp_path: Path) -> None:
    released(place, tmp_path, 4)
    db = connect(place, write=True)
    assert db.query("SELECT count(*) FROM event") == [(9,)]
    assert sound(db) == []
    harvest(db, sorted(EXAMPLES.rglob("*.jsonl")))
    assert sound(db) == []
    db.close()
