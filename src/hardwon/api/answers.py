"""A request that is sent again is not done again: `memory.answers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hardwon.clock import now
from hardwon.errors import HardwonError, NotAllowed
from hardwon.store import meta
from hardwon.text.digest import digest

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon


class SameKey(HardwonError):
    """A key was used before for another request."""


class Answers:
    """Remembers for a day what came of each request that carried a key; only hashes and ids are kept."""

    def __init__(self, memory: Hardwon) -> None:
        self._memory = memory

    def once(self, caller: str, key: str, request: str, act: Callable[[], str]) -> tuple[str, bool]:
        """Do it, unless it was done under this key; gives the item that came of it, and whether it was done before."""
        db = self._memory.writing()
        secret = meta.forget_key(db)
        name, asked = digest(caller, key, size=16, key=secret), digest(request, size=16, key=secret)
        at = now()
        with db.transaction():
            known = meta.claim_request(db, caller, name, asked, at)
        if known is not None:
            if known.request != asked:
                raise SameKey("this Idempotency-Key was used for another request: take a new one")
            if not known.item:
                minutes = meta.REQUEST_LEASE_MICROSECONDS // 60_000_000
                raise NotAllowed(f"this request is under way: ask again later; if it was cut off, in {minutes} minutes")
            return known.item, True
        try:
            item = act()
        except BaseException:
            with db.transaction():
                meta.release_request(db, caller, name, at)
            raise
        with db.transaction():
            meta.settle_request(db, caller, name, at, item)
        return item, False
