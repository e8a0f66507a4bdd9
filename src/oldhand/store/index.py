"""The full-text index: terms of our own tokenizer, one entry an item."""

from __future__ import annotations

from oldhand.store.sqlite import Database
from oldhand.text.words import terms


def add(db: Database, item: str, type: str, text: str) -> None:
    """Index an item once; what an item says never changes under its id."""
    if db.query("SELECT 1 FROM search_item WHERE item = ?", (item,)):
        return
    db.execute("INSERT INTO search_item (item, type) VALUES (?, ?)", (item, type))
    row = db.query("SELECT id FROM search_item WHERE item = ?", (item,))[0][0]
    db.execute("INSERT INTO search_index (rowid, terms) VALUES (?, ?)", (row, " ".join(terms(text))))


def remove(db: Database, item: str) -> None:
    for (row,) in db.query("SELECT id FROM search_item WHERE item = ?", (item,)):
        db.execute("DELETE FROM search_index WHERE rowid = ?", (row,))
        db.execute("DELETE FROM search_item WHERE id = ?", (row,))


def matches(db: Database, query_terms: list[str], limit: int) -> list[tuple[str, str, float]]:
    """(item, type, score) of what holds any of the terms, best first; a higher score is better."""
    if not query_terms:
        return []
    expression = " OR ".join('"' + term.replace('"', '""') + '"' for term in query_terms)
    return db.query(
        "SELECT s.item, s.type, -bm25(search_index) FROM search_index JOIN search_item s ON s.id = search_index.rowid "
        "WHERE search_index MATCH ? ORDER BY bm25(search_index), s.item LIMIT ?",
        (expression, limit),
    )


def disagreements(db: Database) -> int:
    """Items without an entry and entries without an item; more than 0 means the index must be rebuilt."""
    return int(
        db.query(
            "SELECT (SELECT count(*) FROM (SELECT id FROM lesson UNION ALL SELECT id FROM failure) i "
            "WHERE NOT EXISTS (SELECT 1 FROM search_item s WHERE s.item = i.id)) + "
            "(SELECT count(*) FROM search_item s WHERE NOT EXISTS (SELECT 1 FROM lesson l WHERE l.id = s.item) "
            "AND NOT EXISTS (SELECT 1 FROM failure f WHERE f.id = s.item)) + "
            "abs((SELECT count(*) FROM search_item) - (SELECT count(*) FROM search_index))"
        )[0][0]
    )
