"""The bytes of a file that this process may have open as a database.

POSIX drops all locks that a process has on a file when any of its descriptors is closed, SQLite's with them: another
process would then take the store to be unused and delete its journal. Such a descriptor stays open as long as the
database does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import apsw

_JOURNALS = ("-wal", "-shm", "-journal")
_held: dict[tuple[int, int], tuple[int, Path]] = {}


def pieces(path: Path, size: int) -> Iterator[bytes]:
    """The whole file, a piece at a time."""
    if os.name == "nt" or not _in_use(path):  # Windows ties a lock to the handle that took it
        with open(path, "rb") as file:
            while data := file.read(size):
                yield data
        return
    descriptor, at = _descriptor(path), 0
    while data := os.pread(descriptor, size, at):
        at += len(data)
        yield data


def beginning(path: Path, size: int) -> bytes:
    return next(pieces(path, size), b"")


def _in_use(path: Path) -> bool:
    name = os.path.realpath(path)
    for journal in _JOURNALS:
        name = name.removesuffix(journal)
    return any(os.path.realpath(connection.filename) == name for connection in apsw.connections())


def _descriptor(path: Path) -> int:
    for key, (descriptor, held) in list(_held.items()):
        if not _in_use(held):
            os.close(descriptor)
            del _held[key]
    status = os.stat(path)
    key = status.st_dev, status.st_ino
    if key not in _held:
        _held[key] = os.open(path, os.O_RDONLY), path
    return _held[key][0]
