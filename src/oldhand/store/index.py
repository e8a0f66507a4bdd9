"""The full-text index: terms of our own tokenizer, one entry an item. It can be built again at any time."""

from __future__ import annotations

from collections.abc import Iterator

from oldhand.store.database import Database, Entry, Row
from oldhand.text.words import terms

_AT_ONCE = 1000

_ITEMS = {
    "lesson": "SELECT id, text AS words FROM lesson",
    "failure": "SELECT f.id, f.signature || ' ' || coalesce((SELECT o.command FROM occurrence o WHERE o.failure = f.id "
    "ORDER BY o.at, o.source LIMIT 1), '') AS words FROM failure f",
    "attempt": "SELECT id, task || ' ' || approach || ' ' || failure_analysis || ' ' || reflection || ' ' || "
    "test_results || ' ' || coalesce((SELECT string_agg(f.path, ' ') FROM attempt_file f "
    "WHERE f.attempt = attempt.id), '') AS words FROM attempt",
    "chunk": "SELECT id, heading_path || ' ' || content AS words FROM chunk",
}
"""Type → every item with the words it is found by; they may come in several rows, one after the other."""


def entry(item: str, type: str, text: str) -> Entry:
    return Entry(item, type, " ".join(terms(text)))


def add(db: Database, item: str, type: str, text: str) -> None:
    db.index([entry(item, type, text)])


def remove(db: Database, item: str) -> None:
    db.unindex([item])


def holds(db: Database, item: str) -> bool:
    return bool(db.query("SELECT 1 FROM search_item WHERE item = ?", (item,)))


def disagreements(db: Database) -> int:
    """Items without an entry and entries without an item; more than 0 means the index must be rebuilt.

    What is marked stale gets or loses its entry when it is recounted.
    """
    items = " UNION ALL ".join(f"SELECT id, '{type}' AS type FROM {type}" for type in _ITEMS)
    same = "s.item = i.id AND s.type = i.type"
    missing = db.query(
        f"SELECT count(*) FROM ({items}) i WHERE NOT EXISTS (SELECT 1 FROM search_item s WHERE {same}) "
        "AND NOT EXISTS (SELECT 1 FROM stale WHERE stale.item = i.id)"
    )[0][0]
    orphans = db.query(f"SELECT count(*) FROM search_item s WHERE NOT EXISTS (SELECT 1 FROM ({items}) i WHERE {same})")[
        0
    ][0]
    return int(missing) + int(orphans)


def rebuild(db: Database) -> int:
    """Throw the index away and make it again from the rows; returns how many items it has."""
    with db.transaction():
        return fill(db)


def fill(db: Database) -> int:
    """What `rebuild` does, inside a transaction."""
    db.unindex([row[0] for row in db.query("SELECT item FROM search_item")])
    count = 0
    for type in _ITEMS:
        for some in _some(db, type):
            db.index(entry(id, type, words) for id, words in some)
            count += len(some)
    return count


def _some(db: Database, type: str) -> Iterator[list[Row]]:
    """The items of a type with their words, as many at a time as fit into memory."""
    after = ""
    select = f"SELECT i.id, i.words FROM ({_ITEMS[type]}) i WHERE i.id > ? ORDER BY i.id LIMIT ?"
    while rows := db.query(select, (after, _AT_ONCE)):
        yield rows
        after = rows[-1][0]
