"""Keeping secrets out: how this store's texts are scrubbed, and what of them got in all the same."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hardwon.home import DATABASE
from hardwon.scrub.scrubber import Leak, Scrubber, Scrubbing, in_file, kinds, prepare
from hardwon.store import meta
from hardwon.store.database import stored_texts

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon

CACHE = "cache"
_WORTH_COMPILING = 20_000_000
"""So many bytes take longer to scrub than hyperscan takes to compile its patterns."""
_LONGEST_KEY = 40
_OWN_FILES = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")


class Scrub:
    """`memory.scrub`: a Scrubber with this store's key, and the audit."""

    def __init__(self, memory: Hardwon) -> None:
        self._memory = memory

    def scrubber(self, *, personal: bool = False) -> Scrubber:
        """Gives the same secret the same mark as in everything this store holds."""
        return Scrubber(key=self._key(), cache=self._cache, personal=personal)

    def for_harvest(self, paths: Iterable[Path]) -> Scrubbing:
        """What scrubbing these files needs; for many, hyperscan is made ready first, if it is installed."""
        if sum(map(_size, paths)) > _WORTH_COMPILING:
            prepare(self._cache)
        return Scrubbing(key=self._key(), cache=str(self._cache))

    def audit(self) -> Iterator[Leak]:
        """Everything in the home directory and in the store that the present rules would redact."""
        scrubber = self.scrubber()
        yield from self._in_files(scrubber)
        if self._memory.exists:
            for table, row, column, text in stored_texts(self._memory.reading()):
                if found := kinds(scrubber, text):
                    key = scrubber.scrub(row)[:_LONGEST_KEY]
                    yield from (Leak(table, key, column, kind, count) for kind, count in found.items())

    def _in_files(self, scrubber: Scrubber) -> Iterator[Leak]:
        home = self._memory.home
        for path in sorted(home.rglob("*")):
            name = path.relative_to(home).as_posix()
            if path.is_file() and name not in _OWN_FILES and path.suffix != ".hs":
                yield from in_file(scrubber, path, name)

    @property
    def _cache(self) -> Path:
        return self._memory.home / CACHE

    def _key(self) -> bytes | None:
        return meta.scrub_key(self._memory.reading()) if self._memory.exists else None


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
