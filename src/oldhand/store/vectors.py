"""Vectors: a byte a dimension at rest, and a file of plain floats beside the store to compare with.

The file is a cache. It is known by a random name that the store holds, so that a file of another store, or of
another time, is never taken for it; what was written since, or is gone since, is looked up in the store.
"""

from __future__ import annotations

import array
import json
import os
import secrets
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oldhand.errors import StoreError
from oldhand.store.database import Database, Neighbour, insert, marks

if TYPE_CHECKING:
    import numpy

_WORTH_A_FILE = 2_000
_BLOCK = 4096
_NAME = "vectors-{}.f32"
_AT_ONCE = 500


def packed(vector: Sequence[float]) -> bytes:
    """At a quarter of the size, and as good: the length is 1, a scale precedes the bytes."""
    length = sum(each * each for each in vector) ** 0.5
    largest = max(map(abs, vector), default=0.0)
    if not 0 < length < float("inf"):
        raise StoreError("a vector has no direction: the embedding model gives numbers that cannot be used")
    steps = (round(each / largest * 127) for each in vector)
    return array.array("f", [largest / 127 / length]).tobytes() + array.array("b", steps).tobytes()


def unpacked(values: Sequence[bytes], dimensions: int) -> numpy.ndarray[Any, Any]:
    """One row for each."""
    import numpy  # noqa: PLC0415 - only where semantics are asked for

    stored = numpy.dtype([("scale", "<f4"), ("steps", "i1", (dimensions,))])
    rows = numpy.frombuffer(b"".join(values), dtype=stored)
    matrix: numpy.ndarray[Any, Any] = rows["steps"].astype("<f4") * rows["scale"][:, None]
    return matrix


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
        raise StoreError(f"the vectors are of {', '.join(others)}, not of {model}: run `oldhand reindex`")


def refuse_other_size(db: Database, model: str, size: int) -> None:
    found = db.query("SELECT dimensions FROM embedding WHERE model = ? LIMIT 1", (model,))
    if found and found[0][0] != size:
        raise StoreError(f"vectors of {model} have {found[0][0]} dimensions, not {size}: run `oldhand reindex`")


class Comparison:
    """All vectors of a model in memory, or in a file that is mapped into it."""

    def __init__(self, db: Database, folder: Path) -> None:
        self._db = db
        self._folder = folder
        self._known: tuple[str, int, str] | None = None
        self._parts: list[tuple[Sequence[str], numpy.ndarray[Any, Any]]] = []
        self._renewed: set[str] = set()

    def nearest(self, model: str, vector: Sequence[float], limit: int) -> list[Neighbour]:
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        self._bring_up_to_date(model, len(vector))
        wanted = _unit(vector)
        found: list[Neighbour] = []
        for number, (items, matrix) in enumerate(self._parts):
            similarity = matrix @ wanted
            # What was renewed since stands in both parts; what is gone since makes room for others.
            room = min(len(items), limit + (len(self._renewed) if number == 0 else 0) + limit)
            best = numpy.argpartition(-similarity, room - 1)[:room] if room else numpy.arange(0)
            found += [
                Neighbour(items[at], float(similarity[at])) for at in best if number or items[at] not in self._renewed
            ]
        found.sort(key=lambda near: (-near.similarity, near.item))
        return self._still_there(found[: 2 * limit])[:limit]

    def given(self, model: str, vector: Sequence[float], items: Sequence[str]) -> list[Neighbour]:
        """How near these items are."""
        wanted = _unit(vector)
        found: list[Neighbour] = []
        for start in range(0, len(items), _AT_ONCE):
            part = items[start : start + _AT_ONCE]
            rows = self._db.query(
                f"SELECT item, value FROM embedding WHERE model = ? AND item IN ({marks(part)})", (model, *part)
            )
            if rows:
                similarity = unpacked([row[1] for row in rows], len(vector)) @ wanted
                found += [Neighbour(row[0], float(near)) for row, near in zip(rows, similarity, strict=True)]
        return found

    def _still_there(self, found: list[Neighbour]) -> list[Neighbour]:
        items = [near.item for near in found]
        there: set[str] = set()
        for start in range(0, len(items), _AT_ONCE):
            part = items[start : start + _AT_ONCE]
            there |= {
                row[0] for row in self._db.query(f"SELECT item FROM embedding WHERE item IN ({marks(part)})", part)
            }
        return [near for near in found if near.item in there]

    def _bring_up_to_date(self, model: str, dimensions: int) -> None:
        version, name = _noted(self._db, "vector_version"), _noted(self._db, "vector_file")
        if self._known == (model, int(version or 0), name):
            return
        cached = _read(self._folder / _NAME.format(name), model, dimensions) if name else None
        upto, self._parts = (cached[0], [cached[1]]) if cached else (0, [])
        rows = self._db.query("SELECT item, value FROM embedding WHERE model = ? AND version > ?", (model, upto))
        self._renewed = {row[0] for row in rows} if cached else set()
        if rows:
            if not self._parts:
                self._parts.append(([], unpacked([], dimensions)))
            self._parts.append(([row[0] for row in rows], unpacked([row[1] for row in rows], dimensions)))
        self._known = (model, int(version or 0), name)

    def keep(self, model: str) -> None:
        """Write the file anew if what is not in it is worth it. Not inside a transaction."""
        import numpy  # noqa: PLC0415 - only where semantics are asked for

        name = _noted(self._db, "vector_file")
        header = _header(self._folder / _NAME.format(name)) if name else None
        upto = header["version"] if header and header["model"] == model else 0
        new = self._db.query("SELECT count(*) FROM embedding WHERE model = ? AND version > ?", (model, upto))[0][0]
        if new < _WORTH_A_FILE:
            return
        rows = self._db.query(
            "SELECT item, value, dimensions, version FROM embedding WHERE model = ? ORDER BY item", (model,)
        )
        matrix = numpy.ascontiguousarray(unpacked([row[1] for row in rows], rows[0][2]))
        token = secrets.token_hex(8)
        about = {"model": model, "dimensions": rows[0][2], "version": max(row[3] for row in rows)}
        _write(self._folder / _NAME.format(token), about, [row[0] for row in rows], matrix)
        with self._db.transaction():
            _note(self._db, "vector_file", token)
        drop_files(self._folder, but=token)


def drop_files(folder: Path, but: str = "") -> None:
    """Remove the cached vectors: they are made again from the store when it pays."""
    for path in folder.glob(_NAME.format("*")):
        if path.name != _NAME.format(but):
            path.unlink(missing_ok=True)


def is_file(name: str) -> bool:
    return fnmatch(name, _NAME.format("*"))


def _unit(vector: Sequence[float]) -> numpy.ndarray[Any, Any]:
    import numpy  # noqa: PLC0415 - only where semantics are asked for

    wanted = numpy.asarray(vector, dtype="<f4")
    return wanted / (numpy.linalg.norm(wanted) or 1.0)


def _write(path: Path, about: dict[str, Any], items: Sequence[str], matrix: numpy.ndarray[Any, Any]) -> None:
    """A line about the whole, a line for each item, and from the next block on the numbers."""
    head = "\n".join([json.dumps(about | {"items": len(items)}), *items, ""]).encode()
    unfinished = path.with_suffix(".new")
    with open(unfinished, "wb") as file:
        file.write(head + b"\n" * (-len(head) % _BLOCK))
        matrix.tofile(file)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def _header(path: Path) -> dict[str, Any] | None:
    try:
        with open(path, "rb") as file:
            found: dict[str, Any] = json.loads(file.readline(_BLOCK))
            return found
    except (OSError, ValueError):
        return None


def _read(path: Path, model: str, dimensions: int) -> tuple[int, tuple[Sequence[str], numpy.ndarray[Any, Any]]] | None:
    """(version, (items, numbers)); None if it is not there, or not of this model."""
    import numpy  # noqa: PLC0415 - only where semantics are asked for

    about = _header(path)
    if about is None or (about["model"], about["dimensions"]) != (model, dimensions):
        return None
    try:
        with open(path, "rb") as file:
            file.readline()
            items = [file.readline().rstrip(b"\n").decode() for _ in range(about["items"])]
            begins = file.tell() + -file.tell() % _BLOCK
        matrix = numpy.memmap(path, dtype="<f4", mode="r", offset=begins, shape=(len(items), dimensions))
    except (OSError, ValueError):
        return None
    return about["version"], (items, matrix)


def _noted(db: Database, key: str) -> str:
    rows = db.query("SELECT value FROM meta WHERE key = ?", (key,))
    return str(rows[0][0]) if rows else ""


def _note(db: Database, key: str, value: str) -> None:
    db.execute(insert("meta", ("key", "value"), "ON CONFLICT (key) DO UPDATE SET value = excluded.value"), (key, value))
