"""One hash says whether two stores know the same. On both engines."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.store import lessons, lifecycle, schema
from hardwon.store.database import ROWS_PER_PAGE, Database
from hardwon.store.integrity import content_hash, whole_hash
from hardwon.store.sqlite import SqliteDatabase
from tests.conftest import EXAMPLES, same_marks
from tests.store.conftest import Open
from tests.store.test_lifecycle import make, row


def harvested(home: Path, database: Path | str, *, order: int = 0) -> tuple[str, str]:
    """The hashes of a store with the examples in it, read in some order."""
    paths = sorted(EXAMPLES.rglob("*.jsonl"))
    random.Random(order).shuffle(paths)
    home.mkdir(parents=True)
    if isinstance(database, str):
        (home / "config.toml").write_text(f'database = "{database}"\n')
    with Hardwon(home) as memory:
        same_marks(memory)
        memory.harvest(paths[: len(paths) // 2])
        memory.harvest(paths)
        return content_hash(memory.reading()), whole_hash(memory.reading())


def test_the_same_files_give_the_same_content_on_either_engine_in_any_order(tmp_path: Path, postgres: str) -> None:
    first, first_whole = harvested(tmp_path / "a", tmp_path / "a" / "hardwon.db")
    second, second_whole = harvested(tmp_path / "b", postgres, order=7)
    assert first == second
    assert first_whole != second_whole  # two stores have keys of their own


def test_the_tables_are_those_of_the_store_and_what_others_refer_to_comes_first(db: Database) -> None:
    assert {table.name: list(table.names) for table in schema.TABLES.in_order} == db.columns()
    order = [table.name for table in schema.TABLES.in_order]
    assert order.index("project") < order.index("lesson") < order.index("lesson_source")
    assert all(table.key for table in schema.TABLES.in_order)


def test_every_change_of_a_lesson_changes_the_hash(db: Database) -> None:
    seen = {content_hash(db)}
    id = make(db, "Port 8080 is taken.")
    seen.add(content_hash(db))
    for step in (lifecycle.promote, lifecycle.archive):
        with db.transaction():
            step(db, id, actor="ada")
        seen.add(content_hash(db))
    with db.transaction():
        lifecycle.edit(db, id, {"text": "Port 8081 is taken."}, actor="ada")
    assert len(seen | {content_hash(db)}) == 5


def test_what_only_the_trail_knows_is_in_the_whole_alone(db: Database) -> None:
    id = make(db, "Port 8080 is taken.")
    content, whole = content_hash(db), whole_hash(db)
    with db.transaction():
        number = lifecycle.edit(db, id, {"pinned": True}, actor="ada")
        lifecycle.undo(db, number, actor="ada")
    assert content_hash(db) == content
    assert whole_hash(db) != whole


@pytest.mark.parametrize("count", [ROWS_PER_PAGE - 1, ROWS_PER_PAGE, ROWS_PER_PAGE + 1, ROWS_PER_PAGE * 2 + 500])
def test_all_rows_are_read_some_at_a_time(tmp_path: Path, count: int) -> None:
    db = SqliteDatabase(tmp_path / "many.db", write=True)
    with db.transaction():
        lessons.add(db, [row(f"Fact {n}.", id=f"L{n:05}") for n in range(count)], [])
    (lesson,) = (table for table in schema.TABLES.in_order if table.name == "lesson")
    ids = [values[0] for some in lesson.rows(db) for values in some]
    assert ids == [f"L{n:05}" for n in range(count)]
    db.close()


def test_a_snapshot_sees_one_moment_and_holds_nobody_up(db: Database, open_store: Open) -> None:
    reader = open_store()
    with reader.snapshot():
        before = content_hash(reader)
        make(db, "Port 8080 is taken.")
        assert content_hash(reader) == before
    assert content_hash(reader) != before
