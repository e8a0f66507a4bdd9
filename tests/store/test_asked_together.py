"""What is asked several times while nothing is written is looked up once."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from hardwon.store.database import Database, asked_together, kept
from hardwon.store.sqlite import SqliteDatabase


def test_an_answer_is_kept_only_while_things_are_asked_together(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(db: Database, name: str) -> int:
        asked.append(name)
        return int(db.query("SELECT count(*) FROM meta WHERE key = ?", (name,))[0][0])

    with closing(SqliteDatabase(tmp_path / "one.db", write=True)) as db:
        with asked_together(db):
            assert [kept(db, ask, name) for name in ("a", "b", "a")] == [0, 0, 0]
            with asked_together(db):
                kept(db, ask, "b")
        assert asked == ["a", "b"]
        with db.transaction():
            db.execute("INSERT INTO meta (key, value) VALUES ('a', '1')")
        assert [kept(db, ask, "a"), kept(db, ask, "a")] == [1, 1]
        assert asked == ["a", "b", "a", "a"]
