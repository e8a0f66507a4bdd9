"""SQLite's full-text index, asked so that its cost is bounded: a question of common words takes no longer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

from hardwon.store.database import Database, Row, marks
from hardwon.store.rank import Corpus, most_postings, rarest_first

T = TypeVar("T")

_AT_ONCE = 500
_AVERAGES = 1
"""The row of FTS5's own table in which it keeps how much it holds, as numbers of variable length."""

_INDEX = """CREATE VIRTUAL TABLE search_index USING fts5 (
    terms,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
)"""
"""Terms come from our own tokenizer; the index only splits them at spaces."""
_SCHEMA = (
    (1, "CREATE TABLE search_item (id INTEGER PRIMARY KEY, item TEXT NOT NULL UNIQUE, type TEXT NOT NULL) STRICT"),
    (1, _INDEX),
    (1, "INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 1)"),
    # The hash of the text that was indexed, and how many items hold a term.
    (2, "ALTER TABLE search_item ADD COLUMN hash TEXT NOT NULL DEFAULT ''"),
    (2, "CREATE VIRTUAL TABLE search_vocabulary USING fts5vocab (search_index, row)"),
)
"""(since which schema, statement)."""

_CONTENT = "SELECT s.item, s.type, c.c0 FROM search_item s JOIN search_index_content c ON c.id = s.id"


def statements(after: int, to: int) -> list[str]:
    """What makes the index of one schema that of another; 0 is no store."""
    return [statement for since, statement in _SCHEMA if after < since <= to]


def corpus(db: Database, terms: Sequence[str]) -> Corpus:
    items, words = _size(db)
    holding = dict.fromkeys(terms, 0)
    for part in _parts(terms):
        holding.update(db.query(f"SELECT term, doc FROM search_vocabulary WHERE term IN ({marks(part)})", part))
    return Corpus(items, words, holding)


def candidates(db: Database, asked: Corpus, limit: int, types: Sequence[str]) -> list[Row]:
    """(item, type, terms) of what FTS5 ranks first by the rarest terms."""
    rarest = rarest_first(asked)
    if not rarest or limit <= 0:
        return []
    of_type = f"EXISTS (SELECT 1 FROM search_item s WHERE s.id = search_index.rowid AND s.type IN ({marks(types)}))"
    typed = f"AND {of_type}" if types else ""
    newest = 0
    most = most_postings(asked)
    if (held := asked.holding[rarest[0]]) > most:
        newest = int(_last(db) * (1 - most / held))
    rows = db.query(
        f"SELECT rowid FROM search_index WHERE search_index MATCH ? AND rowid > ? {typed} "
        "ORDER BY bm25(search_index) LIMIT ?",  # by `rank` all of them would be sorted
        (" OR ".join(map(_quoted, rarest)), newest, *types, limit),
    )
    found = [row[0] for row in rows]
    if newest:
        found = [*_holding_two(db, asked, typed, types, limit), *found]
    return _content(db, "s.id", list(dict.fromkeys(found)))


def given(db: Database, items: Sequence[str]) -> list[Row]:
    """(item, type, terms) of these items."""
    return _content(db, "s.item", items)


def _holding_two(db: Database, asked: Corpus, typed: str, types: Sequence[str], limit: int) -> list[int]:
    """When even the rarest term is common, the old items that hold it must hold another."""
    two = sorted((term for term, held in asked.holding.items() if held), key=lambda term: asked.holding[term])[:2]
    if len(two) < 2:
        return []
    rows = db.query(
        f"SELECT rowid FROM search_index WHERE search_index MATCH ? {typed} ORDER BY rowid DESC LIMIT ?",
        (" AND ".join(map(_quoted, two)), *types, max(limit, most_postings(asked) // 20)),
    )
    return [row[0] for row in rows]


def _content(db: Database, column: str, values: Sequence[object]) -> list[Row]:
    return [
        row for part in _parts(values) for row in db.query(f"{_CONTENT} WHERE {column} IN ({marks(part)})", list(part))
    ]


def _size(db: Database) -> tuple[int, int]:
    """(items, words) of the index."""
    rows = db.query("SELECT block FROM search_index_data WHERE id = ?", (_AVERAGES,))
    numbers = list(islice(_varints(rows[0][0]), 2)) if rows else []
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)


def _varints(block: bytes) -> Iterator[int]:
    """SQLite's numbers: seven bits a byte, the highest bit saying that more follow, eight in a ninth."""
    value = length = 0
    for byte in block:
        length += 1
        value = value << 8 | byte if length == 9 else value << 7 | byte & 0x7F
        if byte < 0x80 or length == 9:
            yield value
            value = length = 0


def _last(db: Database) -> int:
    return int(db.query("SELECT coalesce(max(id), 0) FROM search_item")[0][0])


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def _parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))
