"""A Scrubber for what goes into one store."""

from __future__ import annotations

from hardwon.scrub.scrubber import Scrubber
from hardwon.store import meta
from hardwon.store.database import Database


def scrubber(db: Database) -> Scrubber:
    """It gives a secret the same mark as everything else in this store."""
    return Scrubber(key=meta.scrub_key(db))
