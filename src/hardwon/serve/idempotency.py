"""A request that is sent again with the same key is not done again."""

from __future__ import annotations

from collections.abc import Callable

from hardwon.api import Hardwon
from hardwon.clock import now
from hardwon.errors import HardwonError, NotAllowed
from hardwon.store import meta
from hardwon.text.digest import digest


class KeyUsedBefore(HardwonError):
    """A key was used before for another request."""


def once(memory: Hardwon, caller: str, key: str, request: str, act: Callable[[], str]) -> tuple[str, bool]:
    """Do it, unless it was done under this key within a day; gives the item that came of it, and whether it was.

    Only hashes and ids are kept.
    """
    db = memory.writing()
    secret = meta.forget_key(db)
    name, asked = digest(caller, key, size=16, key=secret), digest(request, size=16, key=secret)
    at = now()
    with db.transaction():
        known = meta.claim_request(db, caller, name, asked, at)
    if known is not None:
        if known.request != asked:
            raise KeyUsedBefore("this Idempotency-Key was already used for another request: use a new one")
        if not known.item:
            minutes = meta.REQUEST_LEASE_MICROSECONDS // 60_000_000
            raise NotAllowed(f"this request is under way: try again later; if it was interrupted, in {minutes} minutes")
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
