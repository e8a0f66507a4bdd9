"""The full-text index: terms of our own tokenizer, one entry an item. It can be built again at any time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hardwon.store.database import Database, Entry, marks
from hardwon.text.digest import digest
from hardwon.text.words import terms

_AT_ONCE = 1000

_ITEMS = {
    "lesson": "SELECT id, text AS words FROM lesson",
    # What an error says counts three times: the command that met it may name anything.
    "failure": "SELECT f.id, f.signature || ' ' || f.signature || ' ' || f.signature || ' ' || coalesce((SELECT "
    "o.command FROM occurrence o WHERE o.failure = f.id ORDER BY o.at, o.source LIMIT 1), '') AS words FROM failure f",
    "attempt": "SELECT id, task || ' ' || approach || ' ' || failure_analysis || ' ' || reflection || ' ' || "
    "test_results || coalesce((SELECT ' ' || string_agg(f.path, ' ' ORDER BY f.position) FROM attempt_file f "
    "WHERE f.attempt = attempt.id), '') AS words FROM attempt",
    "chunk": "SELECT id, heading_path || ' ' || content AS words FROM chunk",
    "interaction": "SELECT id, prompt || ' ' || coalesce(nullif(response, ''), response_summary) AS words "
    "FROM interaction",
    "session": "SELECT id, task AS words FROM session WHERE task <> ''",
}
"""Type → every item with the words it is found by."""

TYPES = tuple(_ITEMS)


# The tokenizer gives them in pairs; a question may be a single one.
_IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")


def entry(item: str, type: str, text: str) -> Entry:
    words = terms(text)
    if not text.isascii():
        words += dict.fromkeys(_IDEOGRAPH.findall(text))
    return Entry(item, type, " ".join(words), digest(text))


def add(db: Database, item: str, type: str, text: str) -> None:
    db.index([entry(item, type, text)])


def remove(db: Database, item: str) -> None:
    db.unindex([item])


def keep(db: Database, item: str, type: str, text: str) -> None:
    """Add it unless the index has this very text."""
    if db.query("SELECT hash FROM search_item WHERE item = ?", (item,)) != [(digest(text),)]:
        add(db, item, type, text)


def texts(db: Database, type: str, ids: Sequence[str]) -> dict[str, str]:
    """Id → the words that an item is found by."""
    rows = db.query(
        f"SELECT i.id, i.words FROM ({_ITEMS[type]}) i WHERE i.id IN ({marks(ids)}) ORDER BY i.id", list(ids)
    )
    return dict(rows)


def disagreements(db: Database) -> int:
    """Items without an entry or with one of another text, entries without an item: more than 0 asks for mending.

    What is marked stale gets or loses its entry when it is recounted.
    """
    marked = {row[0] for row in db.query("SELECT item FROM stale")}
    behind = sum(found.item not in marked for some in _behind(db) for found in some)
    return behind + sum(item not in marked for item in _orphans(db))


def mend(db: Database) -> int:
    """Make the entries that are missing or outdated, drop those without an item; returns how many that were."""
    with db.transaction():
        return complete(db)


def complete(db: Database) -> int:
    """What `mend` does, inside a transaction."""
    orphans = _orphans(db)
    db.unindex(orphans)
    count = len(orphans)
    for some in _behind(db):
        db.index(some)
        count += len(some)
    return count


def rebuild(db: Database) -> int:
    """Throw the index away and make it again from the rows; returns how many items it has."""
    with db.transaction():
        db.unindex([row[0] for row in db.query("SELECT item FROM search_item")])
        return complete(db)


def _behind(db: Database) -> Iterator[list[Entry]]:
    """Entries as they should be, of items that have none or another. One without a hash is of an older Hardwon."""
    for type, sql in _ITEMS.items():
        after = ""
        select = (
            f"SELECT i.id, i.words, s.hash FROM ({sql}) i LEFT JOIN search_item s ON s.item = i.id "
            "WHERE i.id > ? ORDER BY i.id LIMIT ?"
        )
        while rows := db.query(select, (after, _AT_ONCE)):
            after = rows[-1][0]
            yield [entry(id, type, words) for id, words, hash in rows if hash != "" and hash != digest(words)]


def _orphans(db: Database) -> list[str]:
    items = " UNION ALL ".join(f"SELECT i.id FROM ({sql}) i" for sql in _ITEMS.values())
    rows = db.query(f"SELECT s.item FROM search_item s WHERE s.item NOT IN ({items}) ORDER BY s.item")
    return [row[0] for row in rows]
