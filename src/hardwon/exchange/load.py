"""A dump into a store: into an empty one as it was, into any other beside what is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct, field

from hardwon.errors import HardwonError
from hardwon.exchange.dump import Header, batches, header
from hardwon.exchange.rows import count, present, put, wipe, without_orphans
from hardwon.store import index, stale
from hardwon.store.content import is_empty, whole_hash
from hardwon.store.database import Database, Row, marks
from hardwon.store.schema import Table, copied
from hardwon.store.scrubbing import scrubber

_OWN = {
    "event": "each store has an audit trail of its own",
    "meta": "each store has keys of its own",
    "tombstone": "they can only be read with the keys of the store that wrote them",
    "standing": "they are ranked anew",
    "stale": "counts are made anew",
}
"""What is not merged into a store that has content, and why."""
_COUNTED = {"occurrence": "failure", "tried": "failure", "lesson_source": "lesson"}
"""Rows → what they are counted for; the column has the table's name."""
_PLAIN = re.compile(r"[A-Z]?[0-9a-f]{0,32}|[a-z-]{0,20}")
"""Ids, hashes and words of our own, which are most values."""


class Loaded(Struct):
    """What a load did."""

    merged: bool
    added: dict[str, int] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)
    """Rows whose id the store had already; they stay as they are."""
    redactions: int = 0
    left_out: list[str] = field(default_factory=list)


def load(db: Database, lines: BinaryIO) -> Loaded:
    """Inside a transaction. Counts and what hooks hand out are behind until they are made anew."""
    head = header(lines.readline())
    work = _Load(db, head, merging=not is_empty(db))
    work.run(lines)
    return work.report


class _Load:
    def __init__(self, db: Database, head: Header, *, merging: bool) -> None:
        self.report = Loaded(merged=merging)
        self._db = db
        self._head = head
        self._merging = merging
        self._scrubber = scrubber(db)
        self._numbers = int(db.query("SELECT coalesce(max(number), 0) FROM attempt")[0][0])
        self._orphans = 0
        self._known: dict[str, set[object]] = {table: set() for table in _COUNTED.values()}

    def run(self, lines: BinaryIO) -> None:
        if not self._merging:
            wipe(self._db)
        read = dict.fromkeys(self._head.rows, 0)
        before = {table.name: count(self._db, table.name) for table in copied()}
        for table, rows in batches(lines):
            read[table.name] += len(rows)
            if self._merging and table.name in _OWN:
                continue
            self._put(table, [self._clean(table, row) for row in rows])
        if read != self._head.rows:
            short = next(name for name, rows in self._head.rows.items() if read[name] != rows)
            raise HardwonError(f"the dump is cut off: it has {read[short]} of {self._head.rows[short]} rows of {short}")
        self._tell(before, read)
        index.complete(self._db)
        if not self._merging and not self._scrubber.redactions and whole_hash(self._db) != self._head.whole:
            raise HardwonError("the dump was changed after it was written: its hash is not that of its rows")

    def _put(self, table: Table, rows: list[Row]) -> None:
        if not self._merging:
            put(self._db, table, rows)
            return
        whole = without_orphans(self._db, table, rows)
        self._orphans += len(rows) - len(whole)
        if table.name in self._known:
            self._known[table.name] |= present(self._db, table.name, "id", {row[0] for row in whole})
        before = self._counts(table, whole)
        put(self._db, table, list(self._renumbered(table, whole)) if table.name == "attempt" else whole)
        after = self._counts(table, whole)
        behind = {id for id in after if before.get(id) != after[id] and id in self._known[_COUNTED[table.name]]}
        if table.name == "project":
            behind = {row[0] for row in whole}
        stale.mark(self._db, sorted(map(str, behind)))

    def _counts(self, table: Table, rows: list[Row]) -> dict[object, int]:
        """How many rows each thing has that the table is counted for."""
        column = _COUNTED.get(table.name)
        if column is None or not rows:
            return {}
        ids = list({row[table.columns.index(column)] for row in rows})
        counted = f"SELECT {column}, count(*) FROM {table.name} WHERE {column} IN ({marks(ids)}) GROUP BY {column}"
        return dict(self._db.query(counted, ids))

    def _renumbered(self, table: Table, rows: list[Row]) -> Iterator[Row]:
        """Attempts are counted by each store for itself."""
        at = table.columns.index("number")
        known = present(self._db, "attempt", "id", {row[0] for row in rows})
        for row in rows:
            if row[0] not in known:
                self._numbers += 1
                yield (*row[:at], self._numbers, *row[at + 1 :])

    def _clean(self, table: Table, row: Row) -> Row:
        """A store is clean, but nothing says that the file is still what a store wrote."""
        before = self._scrubber.redactions
        scrubbed = tuple(self._scrubbed(value) if table.name != "meta" else value for value in row)
        if self._scrubber.redactions == before or "seal" not in table.columns:
            return scrubbed
        at = table.columns.index("seal")
        return (*scrubbed[:at], "", *scrubbed[at + 1 :])

    def _scrubbed(self, value: object) -> object:
        if not isinstance(value, str) or _PLAIN.fullmatch(value):
            return value
        before = self._scrubber.redactions
        clean = self._scrubber.scrub(value)
        return clean if self._scrubber.redactions > before else value

    def _tell(self, before: dict[str, int], read: dict[str, int]) -> None:
        report = self.report
        report.redactions = self._scrubber.redactions
        for table in copied():
            if self._merging and table.name in _OWN:
                if read[table.name]:
                    report.left_out.append(f"{table.name}: {read[table.name]} rows; {_OWN[table.name]}")
                continue
            added = count(self._db, table.name) - before[table.name]
            if not self._merging:
                added = read[table.name]
            if added:
                report.added[table.name] = added
            if read[table.name] > added:
                report.known[table.name] = read[table.name] - added
        if self._orphans:
            report.left_out.append(f"{self._orphans} rows: what they belong to is another row in this store")
