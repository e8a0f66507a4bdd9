"""The full-text index: terms of our own tokenizer, one entry an item. It can be built again at any time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from hardwon.store.database import Database, Entry, Row, batches, marks
from hardwon.text.normalise import digest, lazy_pattern
from hardwon.text.words import terms

# The full-text index: terms of our own tokenizer, one entry an item. It can be built again at any time.

_ENTRIES_PER_STATEMENT = 1000

_ITEMS = {
    "lesson": "SELECT id, text AS words FROM lesson",
    # What an error says counts three times: the command that met it may name anything.
    "failure": "SELECT f.id, f.signature || ' ' || coalesce(nullif(f.words, ''), f.signature) || ' ' || "
    "coalesce(nullif(f.words, ''), f.signature) || ' ' || coalesce((SELECT "
    "o.command FROM occurrence o WHERE o.failure = f.id ORDER BY o.at, o.source LIMIT 1), '') AS words FROM failure f",
    "attempt": "SELECT id, task || ' ' || approach || ' ' || failure_analysis || ' ' || reflection || ' ' || "
    "test_results || coalesce((SELECT ' ' || string_agg(f.path, ' ' ORDER BY f.position) FROM attempt_file f "
    "WHERE f.attempt = attempt.id), '') AS words FROM attempt",
    "chunk": "SELECT id, heading_path || ' ' || content AS words FROM chunk",
    "interaction": "SELECT id, prompt || ' ' || coalesce(nullif(response, ''), response_summary) AS words "
    "FROM interaction",
    "session": "SELECT id, task AS words FROM session WHERE task <> ''",
    "passage": "SELECT id, text AS words FROM passage",
}
"""Type → every item with the words it is found by."""

TYPES = tuple(_ITEMS)


class Index(NamedTuple):
    """The tables of one full-text index, as SQLite has them."""

    items: str
    """On PostgreSQL the only one."""
    words: str
    vocabulary: str


KNOWN = Index("search_item", "search_index", "search_vocabulary")
SAID = Index("search_passage", "search_said", "search_said_vocabulary")
"""Passages of sessions have an index of their own: what is rare in what is known would not be in all that was said."""
_PASSAGE = "W"
"""How the ids of passages begin."""


INDEXES = (KNOWN, SAID)


def by_index(items: Iterable[str]) -> list[tuple[Index, list[str]]]:
    """The items of each index."""
    listed = list(items)
    said = [item for item in listed if item.startswith(_PASSAGE)]
    known = [item for item in listed if not item.startswith(_PASSAGE)] if said else listed
    return [(index, some) for index, some in ((KNOWN, known), (SAID, said)) if some]


def index_of_types(types: Sequence[str]) -> Index:
    return SAID if tuple(types) == ("passage",) else KNOWN


# The tokenizer gives them in pairs; a question may be a single one.
_IDEOGRAPH = lazy_pattern("[\u3400-\u4dbf\u4e00-\u9fff]")
K1 = 1.2
B = 0.75
CANDIDATES_PER_RESULT = 10
"""The engines choose candidates each in its own way: of so many, the same come out first on both, but for a few."""
MAX_POSTINGS = 10_000
"""Most entries that the engines look at in detail for one question: those of its rarest terms."""
_POSTINGS_SHARE = 25
"""Of a large index it may be one in so many."""
_ITEMS_THAT_TELL_RARITY = 100
_AVERAGES = 1
"""The row of FTS5's own table in which it keeps how much it holds, as numbers of variable length."""
_INDEX = """CREATE VIRTUAL TABLE {} USING fts5 (
    terms,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
)"""
"""Terms come from our own tokenizer; the index only splits them at spaces."""
_ITEM = "CREATE TABLE {} (id INTEGER PRIMARY KEY, item TEXT NOT NULL UNIQUE, type TEXT NOT NULL"
_SCHEMA = (
    (1, _ITEM.format("search_item") + ") STRICT"),
    (1, _INDEX.format("search_index")),
    (1, "INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 1)"),
    # The hash of the text that was indexed, and how many items hold a term.
    (2, "ALTER TABLE search_item ADD COLUMN hash TEXT NOT NULL DEFAULT ''"),
    (2, "CREATE VIRTUAL TABLE search_vocabulary USING fts5vocab (search_index, row)"),
    (4, _ITEM.format("search_passage") + ", hash TEXT NOT NULL) STRICT"),
    (4, _INDEX.format("search_said")),
    (4, "INSERT INTO search_said (search_said, rank) VALUES ('secure-delete', 1)"),
    (4, "CREATE VIRTUAL TABLE search_said_vocabulary USING fts5vocab (search_said, row)"),
)
"""(since which schema, statement)."""


def entry(item: str, type: str, text: str) -> Entry:
    words = terms(text)
    if not text.isascii():
        words += dict.fromkeys(_IDEOGRAPH.findall(text))
    return Entry(item, type, " ".join(words), "" if type == "passage" else digest(text))


def add(db: Database, item: str, type: str, text: str) -> None:
    db.index([entry(item, type, text)])


def remove(db: Database, item: str) -> None:
    db.unindex([item])


def keep(db: Database, item: str, type: str, text: str) -> None:
    """Add it unless the index has this very text."""
    if db.query("SELECT hash FROM search_item WHERE item = ?", (item,)) != [(digest(text),)]:
        add(db, item, type, text)


def indexed_texts(db: Database, type: str, ids: Sequence[str]) -> dict[str, str]:
    """Id → the words that an item is found by."""
    if not ids:
        return {}
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
        clear(db)
        return complete(db)


def clear(db: Database) -> None:
    """Take everything out of the index."""
    for index in INDEXES:
        db.unindex([row[0] for row in db.query(f"SELECT item FROM {index.items}")])


def _behind(db: Database) -> Iterator[list[Entry]]:
    """Entries as they should be, of items that have none or another. One without a hash is of an older Hardwon."""
    for type, sql in _ITEMS.items():
        after = ""
        select = (
            f"SELECT i.id, i.words, s.hash FROM ({sql}) i LEFT JOIN {index_of_types((type,)).items} s ON s.item = i.id "
            "WHERE i.id > ? ORDER BY i.id LIMIT ?"
        )
        while rows := db.query(select, (after, _ENTRIES_PER_STATEMENT)):
            after = rows[-1][0]
            yield [entry(id, type, words) for id, words, hash in rows if hash != "" and hash != digest(words)]


def _orphans(db: Database) -> list[str]:
    orphans: list[str] = []
    for index in INDEXES:
        kept = [sql for type, sql in _ITEMS.items() if index_of_types((type,)) is index]
        items = " UNION ALL ".join(f"SELECT i.id FROM ({sql}) i" for sql in kept)
        rows = db.query(f"SELECT s.item FROM {index.items} s WHERE s.item NOT IN ({items}) ORDER BY s.item")
        orphans += [row[0] for row in rows]
    return orphans


# BM25, the same on every engine: they find candidates, this scores them on all the terms of the question.


class Corpus(NamedTuple):
    """What is in the index, as far as one question needs to know."""

    items: int
    words: int
    """Of all items together."""
    holding: Mapping[str, int]
    """Term of the question → how many items hold it."""

    def among(self, items: int, found: Iterable[tuple[str, str, str]]) -> Corpus:
        """The same, with terms as rare as they are among so many items, of which those are found that hold any."""
        holding = dict.fromkeys(self.holding, 0)
        for _, _, held in found:
            for term in holding.keys() & held.split():
                holding[term] += 1
        return Corpus(items, round(items * self.words / max(1, self.items)), holding)

    def rarity(self, term: str) -> float:
        held = self.holding.get(term, 0)
        return math.log(1 + max(0.0, self.items - held + 0.5) / (held + 0.5))


def most_postings(corpus: Corpus) -> int:
    return max(MAX_POSTINGS, corpus.items // _POSTINGS_SHARE)


def rarest_first(corpus: Corpus, most: int = 0) -> list[str]:
    """The rarest terms that any item holds, as long as they stand in few enough items together; at least one."""
    most = most or most_postings(corpus)
    chosen: list[str] = []
    postings = 0
    for term, held in sorted(corpus.holding.items(), key=lambda entry: (entry[1], entry[0])):
        if held and (not chosen or postings + held <= most):
            chosen.append(term)
            postings += held
    return chosen


def ranked(
    corpus: Corpus,
    phrases: Iterable[Sequence[str]],
    candidates: Iterable[tuple[str, str, str]],
) -> list[tuple[str, str, float]]:
    """(item, type, score) of the (item, type, terms) that match at all, best first; of equals the higher id.

    A phrase that stands in a text word for word counts as much again as its words.
    """
    rarity = {term: corpus.rarity(term) for term in corpus.holding}
    worth = {tuple(phrase): sum(map(corpus.rarity, phrase)) for phrase in phrases}
    most = (sum(rarity.values()) + sum(worth.values())) * (K1 + 1)
    average = corpus.words / corpus.items if corpus.words else 1.0
    asked = set(rarity)
    scored = []
    for item, type, held in candidates:
        words = held.split()
        damping = K1 * (1 - B + B * len(words) / average)
        score = 0.0
        present = asked.intersection(words)
        for term in [term for term in rarity if term in present] if len(present) > 1 else present:
            count = words.count(term)
            score += rarity[term] * (count / (count + damping))
        score += sum(weight / (1 + damping) for phrase, weight in worth.items() if _holds(words, phrase))
        if score > 0:
            scored.append((item, type, score * (K1 + 1) / most))
    scored.sort(key=lambda entry: (entry[2], entry[0]), reverse=True)
    return scored


def _holds(words: Sequence[str], phrase: tuple[str, ...]) -> bool:
    length = len(phrase)
    return any(
        words[at] == phrase[0] and tuple(words[at : at + length]) == phrase for at in range(len(words) - length + 1)
    )


class SmallIndex:
    """A full-text index in memory, where a question is answered often: finds what the engines find.

    These look at some of what holds a term where there is more of it than they are asked for; this has everything.
    """

    def __init__(self) -> None:
        self._types: dict[str, str] = {}
        self._words: dict[str, Counter[str]] = {}
        self._lengths: dict[str, int] = {}
        self._holding: dict[str, dict[str, int]] = {}
        """Term → how often each item has it."""
        self._size = 0
        """Words of all items together."""

    def __len__(self) -> int:
        return len(self._types)

    def put(self, entry: Entry) -> None:
        self.drop(entry.item)
        words = entry.terms.split()
        self._types[entry.item] = entry.type
        self._lengths[entry.item] = len(words)
        self._size += len(words)
        self._words[entry.item] = Counter(words)
        for term, count in self._words[entry.item].items():
            self._holding.setdefault(term, {})[entry.item] = count

    def drop(self, item: str) -> None:
        for term in self._words.pop(item, ()):
            del self._holding[term][item]
        self._types.pop(item, None)
        self._size -= self._lengths.pop(item, 0)

    def matches(self, terms: Sequence[str], limit: int, types: Sequence[str]) -> list[tuple[str, str, float]]:
        """What `ranked` finds, term by term."""
        holding = {term: self._holding.get(term, {}) for term in terms}
        corpus = Corpus(len(self), self._size, {term: len(held) for term, held in holding.items()})
        rarity = {term: corpus.rarity(term) for term in holding}
        most = sum(rarity.values()) * (K1 + 1)
        average = corpus.words / corpus.items if corpus.words else 1.0
        wanted = {item for term in rarest_first(corpus) for item in holding[term]}
        damping = {
            item: K1 * (1 - B + B * self._lengths[item] / average)
            for item in wanted
            if not types or self._types[item] in types
        }
        scores = dict.fromkeys(damping, 0.0)
        for term, held in holding.items():
            for item in held if len(held) <= len(scores) else scores:  # a word that all have costs no more than others
                if item in scores and item in held:
                    scores[item] += rarity[term] * (held[item] / (held[item] + damping[item]))
        found = [(item, self._types[item], score * (K1 + 1) / most) for item, score in scores.items() if score > 0]
        found.sort(key=lambda entry: (entry[2], entry[0]), reverse=True)
        return found[:limit]


def as_searched(asked: Corpus, limit: int, also: Sequence[str], found: Iterable[tuple[str, str, str]]) -> Corpus:
    """Where given items alone are searched, and enough of them to tell, a word is as rare as it is among these: in a
    talk of two people their names tell little, however many talks there are."""
    return asked.among(len(also), found) if limit == 0 and len(also) >= _ITEMS_THAT_TELL_RARITY else asked


def best_matches(found: list[tuple[str, str, float]], limit: int, also: Sequence[str]) -> list[tuple[str, str, float]]:
    """The first `limit` of what was ranked, and what was asked for in any case."""
    wanted = set(also)
    return [row for at, row in enumerate(found) if at < limit or row[0] in wanted]


# SQLite's full-text index, asked so that its cost is bounded: a question of common words takes no longer.


def index_statements(after: int, to: int) -> list[str]:
    """What makes the index of one schema that of another; 0 is no store."""
    return [statement for since, statement in _SCHEMA if after < since <= to]


def corpus(db: Database, terms: Sequence[str], index: Index = KNOWN) -> Corpus:
    items, words = _size(db, index)
    holding = dict.fromkeys(terms, 0)
    for part in batches(terms):
        holding.update(db.query(f"SELECT term, doc FROM {index.vocabulary} WHERE term IN ({marks(part)})", part))
    return Corpus(items, words, holding)


def candidates(db: Database, asked: Corpus, limit: int, types: Sequence[str]) -> list[Row]:
    """(item, type, terms) of what FTS5 ranks first by the rarest terms."""
    index = index_of_types(types)
    words = index.words
    rarest = rarest_first(asked)
    if not rarest or limit <= 0:
        return []
    of_type = f"EXISTS (SELECT 1 FROM {index.items} s WHERE s.id = {words}.rowid AND s.type IN ({marks(types)}))"
    typed = f"AND {of_type}" if types else ""
    newest = 0
    most = most_postings(asked)
    if (held := asked.holding[rarest[0]]) > most:
        newest = int(_last(db, index) * (1 - most / held))
    rows = db.query(
        f"SELECT rowid FROM {words} WHERE {words} MATCH ? AND rowid > ? {typed} "
        f"ORDER BY bm25({words}) LIMIT ?",  # by `rank` all of them would be sorted
        (" OR ".join(map(_quoted, rarest)), newest, *types, limit),
    )
    found = [row[0] for row in rows]
    if newest:
        found = [*_holding_two(db, asked, typed, types, limit), *found]
    return _content(db, index, "s.id", list(dict.fromkeys(found)))


def given(db: Database, items: Sequence[str], index: Index) -> list[Row]:
    """(item, type, terms) of these items."""
    return _content(db, index, "s.item", items)


def _holding_two(db: Database, asked: Corpus, typed: str, types: Sequence[str], limit: int) -> list[int]:
    """When even the rarest term is common, the old items that hold it must hold another."""
    two = sorted((term for term, held in asked.holding.items() if held), key=lambda term: asked.holding[term])[:2]
    if len(two) < 2:
        return []
    words = index_of_types(types).words
    rows = db.query(
        f"SELECT rowid FROM {words} WHERE {words} MATCH ? {typed} ORDER BY rowid DESC LIMIT ?",
        (" AND ".join(map(_quoted, two)), *types, max(limit, most_postings(asked) // 20)),
    )
    return [row[0] for row in rows]


def _content(db: Database, index: Index, column: str, values: Sequence[object]) -> list[Row]:
    select = f"SELECT s.item, s.type, c.c0 FROM {index.items} s JOIN {index.words}_content c ON c.id = s.id"
    return [row for part in batches(values) for row in db.query(f"{select} WHERE {column} IN ({marks(part)})", part)]


def _size(db: Database, index: Index) -> tuple[int, int]:
    """(items, words) of the index."""
    rows = db.query(f"SELECT block FROM {index.words}_data WHERE id = ?", (_AVERAGES,))
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


def _last(db: Database, index: Index) -> int:
    return int(db.query(f"SELECT coalesce(max(id), 0) FROM {index.items}")[0][0])


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


def indexed_terms(db: Database) -> Iterator[list[str]]:
    """Everything as SQLite's index has it, some entries at a time."""
    for index in INDEXES:
        last = 0
        while rows := db.query(
            f"SELECT id, c0 FROM {index.words}_content WHERE id > ? ORDER BY id LIMIT ?", (last, _ENTRIES_PER_STATEMENT)
        ):
            last = rows[-1][0]
            yield [row[1] for row in rows]


def holds(db: Database, id: str) -> bool:
    """Whether this is the id of something that a search can find."""
    return bool(db.query("SELECT 1 FROM search_item WHERE item = ?", (id,)))
