"""The file of all vectors of a model: a line about it, the items, their vectors as the store has them, their signs."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardwon.store.directions import Directions, Signs, record

if TYPE_CHECKING:
    from hardwon.store.directions import Array

_NAME = "vectors-{}.i8"
_ANY = "vectors-*"
_BLOCK = 4096


def write(folder: Path, token: str, model: str, version: int, items: Sequence[str], records: Array) -> None:
    signs = Signs.of(records)
    names = "\n".join(items).encode()
    about = {
        "model": model,
        "version": version,
        "items": len(items),
        "names": len(names),
        "dimensions": records["steps"].shape[1],
    }
    path = folder / _NAME.format(token)
    unfinished = path.with_suffix(".new")
    with open(unfinished, "wb") as file:
        for part in (json.dumps(about).encode() + b"\n", names, *(each.tobytes() for each in (records, *signs))):
            file.write(part + b"\n" * (-len(part) % _BLOCK))
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def read(folder: Path, token: str, model: str, dimensions: int) -> tuple[int, Directions] | None:
    """(version, vectors); None if it is not there, damaged, or not of this model."""
    import numpy  # noqa: PLC0415 - only where semantics are asked for

    path = folder / _NAME.format(token)
    about = _about(path)
    if about is None or (about["model"], about["dimensions"]) != (model, dimensions):
        return None
    count, words = about["items"], -(-dimensions // 64)
    at = _BLOCK
    try:
        with open(path, "rb") as file:
            file.seek(at)
            items = file.read(about["names"]).decode().split("\n")
        at += _blocks(about["names"])
        arrays = []
        for kind, shape in (
            (record(dimensions), (count,)),
            ("<u8", (words, count)),
            ("<f4", (count,)),
            ("<f4", (count,)),
        ):
            mapped = numpy.memmap(path, dtype=kind, mode="r", offset=at, shape=shape)
            arrays.append(numpy.asarray(mapped))
            at += _blocks(mapped.nbytes)
    except (OSError, ValueError):
        return None
    return (about["version"], Directions(items, arrays[0], Signs(*arrays[1:]))) if len(items) == count else None


def version(folder: Path, token: str, model: str) -> int:
    """Up to which change of the store the file goes; 0 if there is none of this model."""
    about = _about(folder / _NAME.format(token))
    return int(about["version"]) if about and about["model"] == model else 0


def drop(folder: Path, but: str = "") -> None:
    """Remove the files: they are made again from the store when it pays."""
    for path in folder.glob(_ANY):
        if path.name != _NAME.format(but):
            path.unlink(missing_ok=True)


def is_one(name: str) -> bool:
    return fnmatch(name, _ANY)


def _about(path: Path) -> dict[str, Any] | None:
    try:
        with open(path, "rb") as file:
            found: dict[str, Any] = json.loads(file.readline(_BLOCK))
    except (OSError, ValueError):
        return None
    known = ("model", "version", "items", "names", "dimensions")
    return found if all(key in found for key in known) else None


def _blocks(size: int) -> int:
    return size + -size % _BLOCK
