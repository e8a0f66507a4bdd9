"""What every engine promises."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import StoreError, StoreTooNew
from hardwon.store import migrations
from hardwon.store.database import Database, Entry, Vector, insert
from hardwon.store.sqlite import SqliteDatabase
from tests.store.conftest import Open


def test_reading_never_writes(db: Database, open_store: Open) -> None:
    reader = open_store()
    with pytest.raises(StoreError):
        reader.execute("DELETE FROM lesson")


def test_a_failed_transaction_leaves_nothing(db: Database) -> None:
    with suppress(ZeroDivisionError), db.transaction():
        db.execute(insert("meta", ("key", "value")), ("a", "b"))
        raise ZeroDivisionError
    assert db.query("SELECT key FROM meta WHERE key = 'a'") == []


def test_a_committed_transaction_is_seen_by_others(db: Database, open_store: Open) -> None:
    reader = open_store()
    with db.transaction():
        db.execute(insert("meta", ("key", "value")), ("a", "b"))
    assert reader.query("SELECT value FROM meta WHERE key = ?", ("a",)) == [("b",)]


def test_both_engines_have_the_same_tables_and_columns(db: Database, tmp_path_factory: pytest.TempPathFactory) -> None:
    model = SqliteDatabase(tmp_path_factory.mktemp("model") / "model.db", write=True)
    assert db.columns() == model.columns()


def test_a_newer_schema_is_refused(db: Database, open_store: Open) -> None:
    newer = migrations.NEWEST + 1
    bump = f"PRAGMA user_version = {newer}" if db.engine == "sqlite" else f"UPDATE schema_version SET version = {newer}"
    db.execute(bump)
    db.execute("ALTER TABLE lesson ADD COLUMN of_a_later_version TEXT")
    with pytest.raises(StoreTooNew, match="upgrade Hardwon"):
        open_store(write=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
        max_size=8,
    )
)
def test_any_text_comes_back_as_it_was_in_the_order_of_its_bytes(db: Database, rows: dict[str, str]) -> None:
    with db.transaction():
        db.execute("DELETE FROM meta")
        db.bulk(insert("meta", ("key", "value")), rows.items())
    assert db.query("SELECT key, value FROM meta ORDER BY key") == sorted(rows.items(), key=lambda row: row[0].encode())


def test_changes_are_counted(db: Database) -> None:
    with db.transaction():
        db.bulk(insert("stale", ("item",), "ON CONFLICT (item) DO NOTHING"), ((str(n % 7),) for n in range(20)))
        assert db.changed("DELETE FROM stale WHERE item < ?", ("3",)) == 3
        assert db.claim("SELECT item FROM stale ORDER BY item LIMIT ?", (2,)) == [("3",), ("4",)]


HOSTILE = (
    "it's", "'; DELETE FROM stale; --", "a\\", "\\'; DELETE FROM stale; --", "E'\\''", "$1", "$$", "?", "%s %% %(a)s",
    "/*", "\u2019 \u02bc \uff07 \ufffd", "\x1b\n\r\t", "''", "\\\\''", "\U0001f9ea", "",
)  # fmt: skip


@pytest.mark.parametrize("times", [1, 12])
def test_a_value_is_a_value_whatever_it_says(db: Database, times: int) -> None:
    """Again and again, too: a server then has the statement prepared."""
    for number in range(times):
        for text in HOSTILE:
            with db.transaction():
                db.bulk(insert("stale", ("item",)), [(f"{number} {text}",)])
                db.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (f"{number} {text}", text))
                found = db.query("SELECT ?, key, value FROM meta WHERE key = ?", (-number, f"{number} {text}"))
                assert found == [(-number, f"{number} {text}", text)]
    assert {row[0] for row in db.query("SELECT item FROM stale")} == {
        f"{number} {text}" for number in range(times) for text in HOSTILE
    }


def _write(db: Database, *items: str, error: Exception | None = None) -> None:
    with db.transaction():
        for item in items:
            db.execute("INSERT INTO stale (item) VALUES (?)", (item,))
        if error:
            raise error


def test_a_statement_that_waits_fails_at_the_latest_where_its_transaction_ends(db: Database) -> None:
    with pytest.raises(StoreError):
        _write(db, "a", "a")
    with db.transaction():
        _write(db, "b")
        with pytest.raises(StoreError):
            _write(db, "c", "b")
        _write(db, "d")
    with pytest.raises(ZeroDivisionError):
        _write(db, "e", error=ZeroDivisionError())
    assert db.query("SELECT item FROM stale ORDER BY item") == [("b",), ("d",)]


def test_the_index_finds_any_term_and_ranks_rare_ones_first(db: Database) -> None:
    with db.transaction():
        db.index(Entry(f"L{n}", "lesson", f"common word{n}") for n in range(50))
        db.index([Entry("L7", "lesson", "common it's \\back rare")])
    assert db.matches(["rare", "common"], 3)[0][0] == "L7"
    assert [row[:2] for row in db.matches(["it's"], 9)] == [("L7", "lesson")]
    assert [row[0] for row in db.matches(["\\back"], 9)] == ["L7"]
    assert db.matches(["word7"], 9) == []
    assert len(db.matches(["common"], 100)) == 50
    with db.transaction():
        db.unindex(["L7", "never there"])
    assert db.matches(["rare"], 9) == []
    assert db.matches([], 9) == []


def test_vectors_are_found_by_direction_and_another_model_is_a_loud_error(db: Database) -> None:
    pytest.importorskip("numpy")
    with db.transaction():
        db.put_vectors(
            "small", [Vector("La", (1.0, 0.0, 0.0)), Vector("Lb", (0.0, 2.0, 0.0)), Vector("Lc", (1.0, 1.0, 0.0))]
        )
        db.put_vectors("small", [Vector("La", (5.0, 0.0, 0.0))])
    found = db.nearest("small", (1.0, 0.1, 0.0), 2)
    assert [near.item for near in found] == ["La", "Lc"]
    assert found[0].similarity == pytest.approx(0.995, abs=0.001)
    with pytest.raises(StoreError, match="small, not of other"):
        db.nearest("other", (1.0, 0.0, 0.0), 2)
    with pytest.raises(StoreError, match="3 dimensions, not 2"):
        db.nearest("small", (1.0, 0.0), 2)
