"""Facades for many threads: a connection is used by one thread at a time.

Reads go to several connections that cannot write; writes go one after the other through one that can, for the
store takes one writer at a time anyway. A request that is sent again with the same key is not done again.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hardwon.api import Hardwon
from hardwon.clock import now
from hardwon.config import Config
from hardwon.errors import HardwonError, StoreError
from hardwon.store import meta
from hardwon.text.normalise import digest


class Busy(HardwonError):
    """Too many requests at once."""


class KeyUsedBefore(HardwonError):
    """An Idempotency-Key was used before for another request."""


class Pool:
    def __init__(self, home: Path | None, readers: int, *, wait: float = 10) -> None:
        self._wait = wait
        self._idle: queue.LifoQueue[Hardwon] = queue.LifoQueue()
        self._writer = Hardwon(home)
        self._writing = threading.Lock()
        self._all = [self._writer, *(Hardwon(home) for _ in range(readers))]
        for memory in self._all[1:]:
            self._idle.put(memory)

    @property
    def home(self) -> Path:
        return self._writer.home

    @contextmanager
    def reading(self) -> Iterator[Hardwon]:
        try:
            memory = self._idle.get(timeout=self._wait)
        except queue.Empty:
            raise Busy("too many requests at once: try again") from None
        try:
            with _mended(memory):
                yield memory
        finally:
            self._idle.put(memory)

    @contextmanager
    def writing(self) -> Iterator[Hardwon]:
        if not self._writing.acquire(timeout=self._wait):
            raise Busy("too many writes at once: try again")
        try:
            with _mended(self._writer):
                yield self._writer
        finally:
            self._writing.release()

    def settings_changed(self, config: Config) -> None:
        """Whoever reads or writes from now on follows these."""
        for memory in self._all:
            memory.config = config

    def close(self) -> None:
        for memory in self._all:
            memory.close()


@contextmanager
def _mended(memory: Hardwon) -> Iterator[None]:
    """After a trouble with the store its connections are opened anew by whoever comes next."""
    try:
        yield
    except StoreError:
        with suppress(Exception):
            memory.close()
        raise


class Key:
    """A key that a request is sent with, and sent again. Only hashes and ids are kept."""

    def __init__(self, memory: Hardwon, caller: str, key: str, request: str) -> None:
        self._db = memory.writing()
        secret = meta.forget_key(self._db)
        self._caller = caller
        self._name, self._asked = digest(caller, key, size=16, key=secret), digest(request, size=16, key=secret)

    def known(self) -> str | None:
        """What came of it, if it was done within a day. Inside the transaction that does it."""
        known = meta.answered(self._db, self._caller, self._name, now())
        if known is not None and known.request != self._asked:
            raise KeyUsedBefore("this Idempotency-Key was already used for another request: use a new one")
        return known.item if known else None

    def keep(self, item: str) -> None:
        """Inside the same transaction: what is done and that it was done are kept together or not at all."""
        meta.remember_answer(self._db, self._caller, self._name, meta.Answered(self._asked, item), now())


def once(memory: Hardwon, caller: str, key: str, request: str, act: Callable[[], str]) -> str:
    """Do it, unless it was done under this key within a day; gives the item that came of it."""
    sent = Key(memory, caller, key, request)
    with memory.writing().transaction():
        item = sent.known()
        if item is None:
            item = act()
            sent.keep(item)
        return item
