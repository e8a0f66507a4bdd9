"""A store copied to another engine: every row, in one transaction, and only if the copy is found equal."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from hardwon.errors import NotAllowed, StoreError
from hardwon.exchange.rows import count, put, wipe
from hardwon.store import index
from hardwon.store.content import content_hash, is_empty, whole_hash
from hardwon.store.database import Database
from hardwon.store.schema import copied

Progress = Callable[[str, int, int], None]


class Migrated(Struct, frozen=True):
    """What was copied."""

    source: str
    target: str
    rows: int
    indexed: int
    content: str
    """The content hash that both stores have."""


def migrate(source: Database, target: Database, *, force: bool = False, told: Progress | None = None) -> Migrated:
    """Copy everything; with `force` in place of what the target holds."""
    with source.snapshot(), target.transaction():
        if not is_empty(target) and not force:
            raise NotAllowed(
                f"{target.place} is not empty: name another file, schema or database, or use --force to replace all "
                "that it holds"
            )
        wipe(target)
        rows = _copy(source, target, told or _quiet)
        indexed = index.complete(target)
        if whole_hash(source) != whole_hash(target):
            raise StoreError(f"{target.place} did not get what {source.place} holds: nothing was kept; try again")
        return Migrated(source.place, target.place, rows, indexed, content_hash(target))


def _copy(source: Database, target: Database, told: Progress) -> int:
    total = sum(count(source, table.name) for table in copied())
    done = 0
    for table in copied():
        for rows in table.rows(source):
            put(target, table, rows)
            done += len(rows)
            told(f"copying {table.name}", done, total)
    return done


def _quiet(what: str, done: int, total: int) -> None:
    pass
