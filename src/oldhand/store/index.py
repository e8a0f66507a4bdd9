"""The full-text index: terms of our own tokenizer, one entry an item. It can be built again at any time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from oldhand.store.database import Database, Entry, marks
from oldhand.text.digest import digest
from oldhand.text.words import terms

_AT_ONCE = 1000

_ITEMS = {
    "lesson": "SELECT id, text AS words FROM lesson",
    "failure": "SELECT f.id, f.signature || ' ' || coalesce((SELECT o.command FROM occurrence o WHERE o.failure = f.id "
    "ORDER BY o.at, o.source LIMIT 1), '') AS words FROM failure f",
    "attempt": "SELECT id, task || ' ' || approach || ' ' || failure_analysis || ' ' || reflection || ' ' || "
    "test_results AS words FROM attempt",
    "chunk": "SELECT id, heading_path || ' ' || content AS words FROM chunk",
    "interaction": "SELECT id, prompt || ' ' || coalesce(nullif(response, ''), response_summary) AS words "
    "FROM interaction",
    "session": "SELECT id, task AS words FROM session WHERE task <> ''",
}
"""Type → every item with the words it is found by; they may come in several rows, one after the other."""

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
    return dict(_joined(rows))


def disagreements(db: Database) -> int:
    """Items without an entry or with one of another text, entries without an item: more than 0 asks for mending."""
    return len(_behind(db)) + len(_orphans(db))


def mend(db: Database) -> int:
    """Make the entries that are missing or outdated, drop those without an item; returns how many that were."""
    with db.transaction():
        orphans, behind = _orphans(db), _behind(db)
        db.unindex(orphans)
        for some in _batches(behind):
            db.index(some)
    return len(orphans) + len(behind)


def rebuild(db: Database) -> int:
    """Throw the index away and make it again from the rows; returns how many items it has."""
    with db.transaction():
        db.unindex([row[0] for row in db.query("SELECT item FROM search_item")])
        count = 0
        for some in _batches(entries(db)):
            db.index(some)
            count += len(some)
    return count


def entries(db: Database) -> Iterator[Entry]:
    """What the index should hold."""
    for type, sql in _ITEMS.items():
        for id, words in _joined(db.query(f"{sql} ORDER BY 1")):
            yield entry(id, type, words)


def _behind(db: Database) -> list[Entry]:
    """Entries as they should be, of items that have none or another. One without a hash is of an older Oldhand."""
    known: dict[str, str] = dict(db.query("SELECT item, hash FROM search_item"))
    return [
        entry(id, type, words)
        for type, sql in _ITEMS.items()
        for id, words in _joined(db.query(f"{sql} ORDER BY 1"))
        if id not in known or known[id] not in ("", digest(words))
    ]


def _orphans(db: Database) -> list[str]:
    items = " UNION ALL ".join(f"SELECT i.id FROM ({sql}) i" for sql in _ITEMS.values())
    rows = db.query(f"SELECT s.item FROM search_item s WHERE s.item NOT IN ({items}) ORDER BY s.item")
    return [row[0] for row in rows]


def _joined(rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((id, " ".join(row[1] for row in some)) for id, some in groupby(rows, key=lambda row: row[0]))


def _batches(found: Iterable[Entry]) -> Iterator[list[Entry]]:
    left = iter(found)
    while some := list(islice(left, _AT_ONCE)):
        yield some
