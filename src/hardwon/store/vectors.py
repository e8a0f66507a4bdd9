"""Vectors: a byte a dimension at rest, and a file of all of them beside the store to compare with.

The file is a cache. It is known by a random name that the store holds, so that a file of another store, or of
another time, is never taken for it; what was written since, or is gone since, is looked up in the store.
"""

from __future__ import annotations

import array
import json
import math
import mmap
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

from hardwon.errors import StoreError
from hardwon.home import private
from hardwon.store.database import LEAST_SIMILARITY, Database, Neighbour, Row, batches, insert, marks

# Many vectors in memory, and which of them point most nearly the same way as another.

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

COMPARED_EXACTLY = 4_096
"""So many are all compared exactly."""
_TRIED_PER_WANTED = 4
"""How many times as many as wanted are compared to know how near the last of them must be."""
_VECTORS_PER_BLOCK = 8_192
_ROUNDING_STEPS = 7
"""The question's numbers are rounded to so many steps, and are then three planes of bits."""
_DOUBT = 1.75
"""How far signs may be wrong, in lengths of 1 / √dimensions: more than two standard deviations."""
_NAME = "vectors-{}.i8"
FILES = "vectors-*"
"""All of them; they are made again from the store when it pays."""
_BYTES_PER_BLOCK = 4096
_VECTORS_WORTH_A_FILE = 2_000
_DEEPER = 4


def record(dimensions: int) -> numpy.dtype[Any]:
    """A vector as it is stored: a scale, and a byte for each dimension."""
    import numpy  # noqa: PLC0415 - only where semantics are asked for

    return numpy.dtype([("scale", "<f4"), ("steps", "i1", (dimensions,))])


class Signs(NamedTuple):
    """What is known of each vector at a glance."""

    bits: Array
    """A row for each 64 dimensions, a column for each vector."""
    ones: Array
    stretch: Array
    """What a product with the signs is multiplied by to be one with the vector."""

    @classmethod
    def of(cls, records: Array) -> Signs:
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        dimensions = records["steps"].shape[1]
        bits = numpy.zeros((-(-dimensions // 64), len(records)), dtype="<u8")
        stretch = numpy.empty(len(records), dtype="<f4")
        for part in _parts(len(records)):
            steps = records["steps"][part]
            packed = numpy.zeros((len(steps), 8 * len(bits)), dtype="u1")
            packed[:, : -(-dimensions // 8)] = numpy.packbits(steps > 0, axis=1)
            bits[:, part] = packed.view("<u8").T
            stretch[part] = 1 / (records["scale"][part] * numpy.abs(steps.astype("<i2")).sum(axis=1))
        return cls(bits, numpy.bitwise_count(bits).sum(axis=0, dtype="<f4"), stretch)

    def similarity(self, wanted: Array) -> Array:
        """About how near each vector is."""
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        lowest = numpy.float32(wanted.min())
        step = (numpy.float32(wanted.max()) - lowest) / _ROUNDING_STEPS or numpy.float32(1)
        levels = numpy.rint((wanted - lowest) / step).astype("u1")
        counted = self._shared(levels & 1)
        for place in range(1, _ROUNDING_STEPS.bit_length()):
            counted += self._shared(levels >> place & 1) << place
        product = counted.astype("<f4")
        product *= 2 * step
        product += 2 * lowest * self.ones
        product -= lowest * len(wanted) + step * levels.sum(dtype="<f4")
        product *= self.stretch
        return product

    def _shared(self, plane: Array) -> Array:
        """How many bits each vector has in common with these."""
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        packed = numpy.packbits(plane)
        packed = numpy.pad(packed, (0, 8 * len(self.bits) - len(packed))).view("<u8")
        shared: Array = numpy.bitwise_count(self.bits & packed[:, None]).sum(axis=0, dtype="<u2")
        return shared


def nearest_first(near: Neighbour) -> tuple[float, str]:
    return -near.similarity, near.item


class Names:
    """Ids of one width, in a file: a hundred thousand texts would take more memory than their vectors' signs."""

    def __init__(self, mapped: Array) -> None:
        self._mapped = mapped

    def __len__(self) -> int:
        return len(self._mapped)

    def __getitem__(self, at: int) -> str:
        return bytes(self._mapped[at]).decode(errors="replace")


class Directions:
    """Items and their vectors; with signs, if there are enough of them to need any."""

    def __init__(
        self, items: Sequence[str] | Names, records: Array, signs: Signs | None = None, mapped: mmap.mmap | None = None
    ) -> None:
        self.items = items
        self._records = records
        self._mapped = mapped
        self._signs = signs if signs is not None or len(items) <= COMPARED_EXACTLY else Signs.of(records)

    def __len__(self) -> int:
        return len(self.items)

    def nearest(self, wanted: Array, count: int, least: float) -> list[Neighbour]:
        """The nearest so many to a vector of length 1; none that is less near than the least."""
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        count = min(count, len(self.items))
        if not count:
            return []
        at = self._likely(wanted, count, least)
        similarity = self.similarity(wanted, at)
        if len(at) > count:
            least = max(least, float(numpy.partition(similarity, -count)[-count]))
        best = numpy.flatnonzero(similarity >= least)  # and those that are as near as the last
        found = [Neighbour(self.items[at[each]], float(similarity[each])) for each in best]
        self._let_go()
        return sorted(found, key=nearest_first)[:count]

    def _let_go(self) -> None:
        """The system keeps what was read of the file for whoever needs it; this process would count all of it as its
        own."""
        if self._mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._mapped.madvise(mmap.MADV_DONTNEED)

    def similarity(self, wanted: Array, at: Array) -> Array:
        """Of these, exactly. Not by BLAS: its threads go on spinning when they are done."""
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        found = numpy.empty(len(at), dtype="<f4")
        for part in _parts(len(at)):
            steps = self._records["steps"][at[part]].astype("<f4")
            found[part] = numpy.einsum("ij,j->i", steps, wanted) * self._records["scale"][at[part]]
        return found

    def _likely(self, wanted: Array, count: int, least: float) -> Array:
        """Where those are that may be among the nearest."""
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        if self._signs is None:
            return numpy.arange(len(self.items))
        about = self._signs.similarity(wanted)
        some = min(len(about), _TRIED_PER_WANTED * count)
        tried = self.similarity(wanted, numpy.argpartition(-about, some - 1)[:some])
        reached = float(numpy.partition(tried, -count)[-count])
        return numpy.flatnonzero(about >= max(reached, least) - _DOUBT / len(wanted) ** 0.5)


def _parts(count: int) -> Iterator[slice]:
    return (slice(start, start + _VECTORS_PER_BLOCK) for start in range(0, count, _VECTORS_PER_BLOCK))


# The file of all vectors of a model: a line about it, the items, their vectors as the store has them, their
# signs.


def write_file(folder: Path, token: str, model: str, version: int, items: Sequence[str], records: Array) -> None:
    import numpy  # noqa: PLC0415 - only where semantics are asked for

    names = numpy.array([item.encode() for item in items])
    about = {
        "model": model,
        "version": version,
        "items": len(items),
        "width": names.itemsize,
        "dimensions": records["steps"].shape[1],
    }
    path = folder / _NAME.format(token)
    unfinished = path.with_suffix(".new")
    with open(unfinished, "wb", opener=private) as file:
        parts: tuple[Any, ...] = (json.dumps(about).encode() + b"\n", names, records, *Signs.of(records))
        for part in parts:
            file.write(part)
            file.write(b"\n" * (-file.tell() % _BYTES_PER_BLOCK))
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


_open_files: WeakValueDictionary[tuple[Path, int, int], Directions] = WeakValueDictionary()
"""Those of all connections of this process: a file is mapped once, as long as nobody has changed it."""


def read_file(folder: Path, token: str, model: str, dimensions: int) -> tuple[int, Directions] | None:
    """(version, vectors); None if it is not there, damaged, or not of this model."""
    path = folder / _NAME.format(token)
    about = _about(path)
    if about is None or (about["model"], about["dimensions"]) != (model, dimensions):
        return None
    try:
        status = path.stat()
        as_it_is = path, status.st_size, status.st_mtime_ns
        found = _open_files.get(as_it_is)
        if found is None:
            found = _open_files[as_it_is] = _mapped(path, about["items"], about["width"], dimensions)
    except (OSError, ValueError):
        return None
    return about["version"], found


def _mapped(path: Path, count: int, width: int, dimensions: int) -> Directions:
    import numpy  # noqa: PLC0415 - only where semantics are asked for

    with open(path, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    arrays, at = [], _BYTES_PER_BLOCK
    for kind, shape in (
        (f"S{width}", (count,)),
        (record(dimensions), (count,)),
        ("<u8", (-(-dimensions // 64), count)),
        ("<f4", (count,)),
        ("<f4", (count,)),
    ):
        array = numpy.frombuffer(mapped, kind, math.prod(shape), at).reshape(shape)
        arrays.append(array)
        at += array.nbytes + -array.nbytes % _BYTES_PER_BLOCK
    names, records, *signs = arrays
    return Directions(Names(names), records, Signs(*signs), mapped)


def file_version(folder: Path, token: str, model: str) -> int:
    """Up to which change of the store the file goes; 0 if there is none of this model."""
    about = _about(folder / _NAME.format(token))
    return int(about["version"]) if about and about["model"] == model else 0


def _drop_others(folder: Path, token: str) -> None:
    for path in folder.glob(FILES):
        if path.name != _NAME.format(token):
            path.unlink(missing_ok=True)


def _about(path: Path) -> dict[str, Any] | None:
    try:
        with open(path, "rb") as file:
            found: dict[str, Any] = json.loads(file.readline(_BYTES_PER_BLOCK))
    except (OSError, ValueError):
        return None
    known = ("model", "version", "items", "width", "dimensions")
    return found if all(key in found for key in known) else None


def packed(vector: Sequence[float]) -> bytes:
    """At a quarter of the size, and as good: the length is 1, a scale precedes the bytes."""
    length = sum(each * each for each in vector) ** 0.5
    largest = max(map(abs, vector), default=0.0)
    if not 0 < length < float("inf"):
        raise StoreError("a vector has no direction: the embedding model gives numbers that cannot be used")
    steps = (round(each / largest * 127) for each in vector)
    return array.array("f", [largest / 127 / length]).tobytes() + array.array("b", steps).tobytes()


def next_version(db: Database) -> int:
    """Never given twice, whatever is deleted. Inside a transaction."""
    rows = db.query("SELECT value FROM meta WHERE key = 'vector_version'")
    version = int(rows[0][0]) + 1 if rows else 1
    _note(db, "vector_version", str(version))
    return version


def refuse_other_model(db: Database, model: str) -> None:
    """Vectors of another model alone are a loud error, never an empty result."""
    if db.query("SELECT 1 FROM embedding WHERE model = ? LIMIT 1", (model,)):
        return
    others = [row[0] for row in db.query("SELECT DISTINCT model FROM embedding ORDER BY model")]
    if others:
        raise StoreError(f"the vectors are of {', '.join(others)}, not of {model}: run `hardwon reindex`")


def refuse_other_size(db: Database, model: str, size: int) -> None:
    found = db.query("SELECT dimensions FROM embedding WHERE model = ? LIMIT 1", (model,))
    if found and found[0][0] != size:
        raise StoreError(f"vectors of {model} have {found[0][0]} dimensions, not {size}: run `hardwon reindex`")


class VectorSearch:
    """All vectors of a model in memory, or in a file that is mapped into it."""

    def __init__(self, db: Database, folder: Path) -> None:
        self._db = db
        self._folder = folder
        self._known: tuple[str, int, str, str] | None = None
        self._older: Directions | None = None
        """Of the file."""
        self._newer: Directions | None = None
        self._renewed: set[str] = set()

    def nearest(self, vector: Sequence[float], limit: int, least: float) -> list[Neighbour]:
        wanted = _unit(vector)
        room = limit + len(self._renewed)
        while True:
            found = self._found(wanted, room, least)
            there = self._still_there(found)
            if len(there) >= limit or len(found) < room:
                return there[:limit]
            room *= _DEEPER

    def given(self, model: str, vector: Sequence[float], items: Sequence[str]) -> list[Neighbour]:
        """How near these items are."""
        found: list[Neighbour] = []
        for part in batches(items):
            rows = self._db.query(
                f"SELECT item, value FROM embedding WHERE model = ? AND item IN ({marks(part)})", (model, *part)
            )
            found += compared(rows, vector, len(rows), LEAST_SIMILARITY)
        return found

    def bring_up_to_date(self, model: str, dimensions: int) -> None:
        """What was written since, here or by others. An error if the vectors are of another model."""
        noted: dict[str, str] = dict(
            self._db.query("SELECT key, value FROM meta WHERE key IN ('vector_version', 'vector_file')")
        )
        version, name = noted.get("vector_version", ""), noted.get("vector_file", "")
        if self._known == (model, dimensions, version, name):
            return
        refuse_other_model(self._db, model)
        refuse_other_size(self._db, model, dimensions)
        cached = read_file(self._folder, name, model, dimensions) if name else None
        upto, self._older = cached or (0, None)
        rows = self._db.query("SELECT item, value FROM embedding WHERE model = ? AND version > ?", (model, upto))
        self._newer = _directions(rows, dimensions)
        self._renewed = {row[0] for row in rows} if cached else set()
        self._known = (model, dimensions, version, name)

    def _found(self, wanted: Array, room: int, least: float) -> list[Neighbour]:
        """What was renewed stands in both; the newer counts."""
        older = self._older.nearest(wanted, room, least) if self._older else []
        newer = self._newer.nearest(wanted, room, least) if self._newer else []
        found = [near for near in older if near.item not in self._renewed] + newer
        found.sort(key=nearest_first)
        return found[:room]

    def _still_there(self, found: list[Neighbour]) -> list[Neighbour]:
        items = [near.item for near in found]
        there: set[str] = set()
        for part in batches(items):
            there |= {
                row[0] for row in self._db.query(f"SELECT item FROM embedding WHERE item IN ({marks(part)})", part)
            }
        return [near for near in found if near.item in there]

    def keep(self, model: str) -> None:
        """Write the file anew if what is not in it is worth it. Not inside a transaction."""
        name = _noted(self._db, "vector_file")
        upto = file_version(self._folder, name, model) if name else 0
        new = self._db.query("SELECT count(*) FROM embedding WHERE model = ? AND version > ?", (model, upto))[0][0]
        if new < _VECTORS_WORTH_A_FILE:
            return
        rows = self._db.query(
            "SELECT item, value, dimensions, version FROM embedding WHERE model = ? ORDER BY item", (model,)
        )
        token = os.urandom(8).hex()
        newest = max(row[3] for row in rows)
        write_file(self._folder, token, model, newest, [row[0] for row in rows], _records(rows, rows[0][2]))
        with self._db.transaction():
            _note(self._db, "vector_file", token)
        _drop_others(self._folder, token)


def compared(rows: Sequence[Row], vector: Sequence[float], count: int, least: float) -> list[Neighbour]:
    """The nearest of these rows of (item, value)."""
    return _directions(rows, len(vector)).nearest(_unit(vector), count, least)


def _directions(rows: Sequence[Row], dimensions: int) -> Directions:
    return Directions([row[0] for row in rows], _records(rows, dimensions))


def _records(rows: Sequence[Row], dimensions: int) -> Array:
    import numpy  # noqa: PLC0415 - only where semantics are asked for

    return numpy.frombuffer(b"".join(row[1] for row in rows), dtype=record(dimensions))


def _unit(vector: Sequence[float]) -> Array:
    import numpy  # noqa: PLC0415 - only where semantics are asked for

    wanted: Array = numpy.asarray(vector, dtype="<f4")
    return wanted / (numpy.linalg.norm(wanted) or 1.0)


def _noted(db: Database, key: str) -> str:
    rows = db.query("SELECT value FROM meta WHERE key = ?", (key,))
    return str(rows[0][0]) if rows else ""


def _note(db: Database, key: str, value: str) -> None:
    db.execute(insert("meta", ("key", "value"), "ON CONFLICT (key) DO UPDATE SET value = excluded.value"), (key, value))
