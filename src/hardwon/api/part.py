"""A noun of the API: what can be done with one sort of thing in the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from hardwon.errors import HardwonError
from hardwon.home import switched_off
from hardwon.store.database import Database

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon

T = TypeVar("T")


class Part:
    def __init__(self, memory: Hardwon, actor: str = "") -> None:
        """`actor` is on record with what is done; without one, who usually does it."""
        self._memory = memory
        self._given_actor = actor

    def _change(self, step: Callable[[Database], T]) -> T:
        """One transaction, and then what the hooks hand out is brought up to date."""
        db = self._memory.writing()
        with db.transaction():
            done = step(db)
        self._memory.refresh_standing()
        return done

    def _actor(self, usual: str = "reviewer") -> str:
        return self._given_actor or usual


def need_switched_on() -> None:
    if switched_off():
        raise HardwonError("HARDWON_OFF is set: nothing is written; unset it to go on")
