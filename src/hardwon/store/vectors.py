"""Vectors: a byte a dimension at rest, and a file of all of them beside the store to compare with.

The file is a cache. It is known by a random name that the store holds, so that a file of another store, or of
another time, is never taken for it; what was written since, or is gone since, is looked up in the store.
"""

from __future__ import annotations

import array
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hardwon.errors import StoreError
from hardwon.store import vector_file
from hardwon.store.database import EVEN_OPPOSITE, Database, Neighbour, Row, insert, marks
from hardwon.store.directions import Directions, record

if TYPE_CHECKING:
    from hardwon.store.directions import Array

_WORTH_A_FILE = 2_000
_AT_ONCE = 500
_DEEPER = 4


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


class Comparison:
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
        wanted = _unit(vector)
        found: list[Neighbour] = []
        for start in range(0, len(items), _AT_ONCE):
            part = items[start : start + _AT_ONCE]
            rows = self._db.query(
                f"SELECT item, value FROM embedding WHERE model = ? AND item IN ({marks(part)})", (model, *part)
            )
            found += _directions(rows, len(vector)).nearest(wanted, len(rows), EVEN_OPPOSITE)
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
        cached = vector_file.read(self._folder, name, model, dimensions) if name else None
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
        found.sort(key=lambda near: (-near.similarity, near.item))
        return found[:room]

    def _still_there(self, found: list[Neighbour]) -> list[Neighbour]:
        items = [near.item for near in found]
        there: set[str] = set()
        for start in range(0, len(items), _AT_ONCE):
            part = items[start : start + _AT_ONCE]
            there |= {
                row[0] for row in self._db.query(f"SELECT item FROM embedding WHERE item IN ({marks(part)})", part)
            }
        return [near for near in found if near.item in there]

    def keep(self, model: str) -> None:
        """Write the file anew if what is not in it is worth it. Not inside a transaction."""
        name = _noted(self._db, "vector_file")
        upto = vector_file.version(self._folder, name, model) if name else 0
        new = self._db.query("SELECT count(*) FROM embedding WHERE model = ? AND version > ?", (model, upto))[0][0]
        if new < _WORTH_A_FILE:
            return
        rows = self._db.query(
            "SELECT item, value, dimensions, version FROM embedding WHERE model = ? ORDER BY item", (model,)
        )
        token = secrets.token_hex(8)
        newest = max(row[3] for row in rows)
        vector_file.write(self._folder, token, model, newest, [row[0] for row in rows], _records(rows, rows[0][2]))
        with self._db.transaction():
            _note(self._db, "vector_file", token)
        vector_file.drop(self._folder, but=token)


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
