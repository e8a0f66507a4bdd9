"""Waiting for one's turn to write: nobody is overtaken for ever, and nobody waits for a process that ended."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where everybody asks SQLite at once
    fcntl = None  # type: ignore[assignment]

_SHORTEST_NAP, _LONGEST_NAP = 0.001, 0.03


class Patience:
    """For SQLite's lock; what it calls when that is taken.

    SQLite's own naps grow longer, and whoever has waited long is overtaken by those who just came. And whoever has just
    written is awake, and would mostly be the next to write again: so one at a time asks SQLite, the others wait behind
    it in naps of random length, for a lock on the folder.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        self._folder = folder
        self._seconds = seconds
        self._until = 0.0
        self._first = False

    @contextmanager
    def in_line(self) -> Iterator[None]:
        """While which SQLite is asked for its lock."""
        self._until = time.monotonic() + self._seconds
        file = self._opened()
        try:
            while file is not None and not _locked(file) and time.monotonic() < self._until:
                _nap(_LONGEST_NAP)
            self._first = file is not None
            yield
        finally:
            self._first = False
            if file is not None:
                os.close(file)  # which gives the lock back

    def __call__(self, tries: int) -> bool:
        now = time.monotonic()
        if tries == 0 and not self._first:
            self._until = now + self._seconds
        _nap(_SHORTEST_NAP if self._first else _LONGEST_NAP)
        return now < self._until

    def _opened(self) -> int | None:
        try:
            return os.open(self._folder, os.O_RDONLY) if fcntl else None
        except OSError:
            return None


def _locked(file: int) -> bool:
    """Whether it is ours now; where folders cannot be locked, as on some network disks, there is no line."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _nap(longest: float) -> None:
    time.sleep(random.uniform(_SHORTEST_NAP, longest))  # noqa: S311 - no secret
