"""Give items their vectors, a few at a time: what was done stays done, whenever it is stopped."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct

from hardwon.recall.embedder import Embedder
from hardwon.store import fulltext
from hardwon.store.database import Database, Vector
from hardwon.store.sqlite import SqliteDatabase

_ITEMS_PER_BATCH = 64

_PENDING = (
    "FROM search_item s LEFT JOIN embedding e ON e.item = s.item "
    "WHERE e.item IS NULL OR e.hash <> s.hash OR e.model <> ?"
)

Progress = Callable[[str, int, int], None]


class Embedded(Struct, frozen=True):
    """How many items got a vector, and how many still have none."""

    done: int
    left: int


def pending(db: Database, model: str) -> int:
    """How many items have no vector of this model, or one of a text that was changed since."""
    return int(db.query(f"SELECT count(*) {_PENDING}", (model,))[0][0])


def embed(
    db: Database, embedder: Embedder, *, seconds: float = float("inf"), progress: Progress | None = None
) -> Embedded:
    """Make the vectors that are missing, for so long; the newest items first."""
    until = time.monotonic() + seconds
    _drop_strangers(db, embedder.name)
    total, done = pending(db, embedder.name), 0
    while done < total and time.monotonic() < until:
        some = _next(db, embedder.name)
        if not some:
            break
        vectors = embedder.embed([text for _, _, text in some])
        with db.transaction():
            db.put_vectors(
                embedder.name,
                (Vector(id, value, hash) for (id, hash, _), value in zip(some, vectors, strict=True)),
            )
        done += len(some)
        if progress:
            progress("embedding", done, total)
    if done and isinstance(db, SqliteDatabase):
        db.comparison.keep(embedder.name)
    return Embedded(done, total - done)


def _next(db: Database, model: str) -> list[tuple[str, str, str]]:
    """(id, hash, text) of a few items that wait."""
    rows = db.query(
        f"SELECT s.item, s.type, s.hash {_PENDING} ORDER BY s.type, s.item LIMIT ?", (model, _ITEMS_PER_BATCH)
    )
    texts: dict[str, str] = {}
    for type in {row[1] for row in rows}:
        texts |= fulltext.indexed_texts(db, type, [row[0] for row in rows if row[1] == type])
    return [(id, hash, texts[id]) for id, _, hash in rows if id in texts]


def _drop_strangers(db: Database, model: str) -> None:
    """Vectors of another model, and of what is no longer there."""
    strange = "model <> ? OR item NOT IN (SELECT item FROM search_item)"
    if db.query(f"SELECT 1 FROM embedding WHERE {strange} LIMIT 1", (model,)):
        with db.transaction():
            db.execute(f"DELETE FROM embedding WHERE {strange}", (model,))
