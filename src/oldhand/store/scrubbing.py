"""A Scrubber for what goes into one store."""

from __future__ import annotations

from oldhand.scrub.scrubber import Scrubber
from oldhand.store import meta
from oldhand.store.database import Database


def scrubber(db: Database) -> Scrubber:
    """It gives a secret the same mark as everything else in this store."""
    return Scrubber(key=meta.scrub_key(db))
