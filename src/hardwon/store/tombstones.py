"""What stays of a thing that was forgotten: a keyed hash, so that the next harvest does not bring it back."""

from __future__ import annotations

from collections.abc import Iterable

from hardwon.scrub.forgotten import Forgotten, Stone, stone
from hardwon.store import meta
from hardwon.store.database import Database, insert
from hardwon.store.ids import normalised


def load(db: Database) -> Forgotten:
    stones = [Stone(*row) for row in db.query("SELECT kind, hash, hint FROM tombstone")]
    return Forgotten(meta.forget_key(db), stones) if stones else Forgotten()


def current(db: Database, known: Forgotten) -> Forgotten:
    """What is forgotten by now; asked inside the transaction that is going to write."""
    return known if db.query("SELECT count(*) FROM tombstone")[0][0] == len(known) else load(db)


def add(db: Database, stones: Iterable[Stone], at: int) -> None:
    rows = [(*stone, at) for stone in stones]
    db.bulk(insert("tombstone", ("kind", "hash", "hint", "at"), "ON CONFLICT (kind, hash) DO NOTHING"), rows)


def lesson(key: bytes, text: str) -> Stone:
    """By its words alone: they must not come back under another project, agent or kind."""
    return stone(key, "lesson", normalised(text))


def session(key: bytes, id: str) -> Stone:
    return stone(key, "session", id)


def root(key: bytes, agent: str, external_id: str) -> Stone:
    """A session with all the sub-agents that it has and will have."""
    return stone(key, "session", agent, external_id)


def file(key: bytes, path: str, size: int, modified: int) -> Stone:
    """A file that holds nothing but what is forgotten, for as long as it does not change."""
    return stone(key, "file", path, str(size), str(modified))
