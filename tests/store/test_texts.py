"""Every text of a store can be walked through, on both engines."""

from __future__ import annotations

from hardwon.store.database import Database, StoredText, stored_texts


def test_texts_of_every_table_come_with_their_row_and_column(db: Database) -> None:
    with db.transaction():
        db.execute("INSERT INTO meta (key, value) VALUES ('a', 'one')")
        db.execute(
            "INSERT INTO hook_run (id, at, event, agent, microseconds, error) VALUES ('h1', 1, 'start', '', 2, 'two')"
        )
    found = list(stored_texts(db))
    assert StoredText("meta", "a", "value", "one") in found
    assert StoredText("hook_run", "h1", "error", "two") in found
    assert not any(text.table == "hook_run" and text.column in ("agent", "at") for text in found)
