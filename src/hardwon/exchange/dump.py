"""The whole store as JSON lines, loaded again, and copied from one engine to the other.

A dump is a header, then one row of one table a line, those that others refer to first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct, field

from hardwon.clock import now
from hardwon.errors import HardwonError, NotAllowed, StoreError
from hardwon.model.failure import FOREIGN
from hardwon.store import attempts, fulltext, meta, migrations, schema
from hardwon.store.database import Database, Row, Table, insert, marks
from hardwon.store.database import batches as batched
from hardwon.store.integrity import Happened, content_hash, is_empty, record_events, whole_hash
from hardwon.store.meta import scrubber

# Whole rows, put into a store as they stood in another one.

ROWS_PER_BATCH = 1000
_TYPES: dict[str, tuple[type, ...]] = {"TEXT": (str,), "INTEGER": (int,), "REAL": (float, int)}
_PLAIN = re.compile(r"[A-Z]?[0-9a-f]{0,32}|[a-z-]{0,20}")
"""Ids, hashes and words of our own, which are most values."""


def put(db: Database, table: Table, rows: Sequence[Row]) -> None:
    """Add rows; those whose key is taken are left as they are."""
    db.bulk(insert(table.name, table.names, "ON CONFLICT DO NOTHING"), rows)


def without_orphans(db: Database, table: Table, rows: Sequence[Row]) -> list[Row]:
    """The rows whose parents are in the store."""
    left = list(rows)
    for column, parent, key in table.refers:
        at = table.names.index(column)
        there = present(db, parent, key, {row[at] for row in left if row[at] is not None})
        left = [row for row in left if row[at] is None or row[at] in there]
    return left


def present(db: Database, table: str, column: str, values: Iterable[object]) -> set[object]:
    """Those of the values that the table has."""
    wanted = list(values)
    found = set()
    for start in range(0, len(wanted), ROWS_PER_BATCH):
        part = wanted[start : start + ROWS_PER_BATCH]
        found |= {row[0] for row in db.query(f"SELECT {column} FROM {table} WHERE {column} IN ({marks(part)})", part)}
    return found


def wipe(db: Database) -> None:
    """Take everything out of a store, its keys as well."""
    fulltext.clear(db)
    for table in reversed(schema.TABLES.in_order):
        if not table.service:
            db.execute(f"DELETE FROM {table.name}")


def count(db: Database, table: str) -> int:
    """How many rows a table has."""
    return int(db.query(f"SELECT count(*) FROM {table}")[0][0])


class Header(Struct, frozen=True, kw_only=True):
    """The first line."""

    hardwon: str = "dump"
    schema: int
    content: str
    """The content hash of the store."""
    whole: str
    """The hash of every row below."""
    rows: dict[str, int]


class Record(Struct, frozen=True):
    """Any other line: a row, by the names of its columns."""

    table: str
    row: dict[str, Any]


def write(db: Database, out: BinaryIO) -> Header:
    """Write all of it as it is at one moment; returns the header."""
    with db.snapshot():
        header = Header(
            schema=migrations.NEWEST,
            content=content_hash(db),
            whole=whole_hash(db),
            rows={table.name: count(db, table.name) for table in schema.TABLES.copied},
        )
        encoder = msgspec.json.Encoder()
        out.write(encoder.encode(header) + b"\n")
        for table in schema.TABLES.copied:
            for rows in table.rows(db):
                records = [Record(table.name, dict(zip(table.names, row, strict=True))) for row in rows]
                out.write(encoder.encode_lines(records))
    return header


def header(line: bytes) -> Header:
    """The first line of a dump. Raises HardwonError where it is none, or of another schema."""
    try:
        found = msgspec.json.decode(line, type=Header)
    except (msgspec.DecodeError, RecursionError) as error:
        raise HardwonError("this file is not a Hardwon dump: its first line is not the header of one") from error
    if found.schema != migrations.NEWEST:
        raise HardwonError(
            f"the dump is of schema {found.schema}, this Hardwon has {migrations.NEWEST}: load it with the version "
            "that wrote it, upgrade that store, and dump it again"
        )
    return found


def batches(lines: Iterable[bytes]) -> Iterator[tuple[Table, list[Row]]]:
    """The rows behind the header, some of one table at a time. Raises HardwonError on a line that is damaged."""
    known = {table.name: table for table in schema.TABLES.copied}
    decoder = msgspec.json.Decoder(Record)
    numbered = enumerate(lines, start=2)
    for name, records in groupby(_records(decoder, numbered), lambda entry: entry[1].table):
        if name not in known:
            raise HardwonError(f"line {next(records)[0]} of the dump has a row of an unknown table '{name}'")
        while some := list(islice(records, ROWS_PER_BATCH)):
            yield known[name], [_row(known[name], number, record.row) for number, record in some]


def _records(
    decoder: msgspec.json.Decoder[Record], numbered: Iterable[tuple[int, bytes]]
) -> Iterator[tuple[int, Record]]:
    for number, line in numbered:
        if line.strip():
            try:
                yield number, decoder.decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                raise HardwonError(f"line {number} of the dump is damaged: {error}") from error


def _row(table: Table, number: int, values: dict[str, Any]) -> Row:
    if set(values) != set(table.names):
        raise HardwonError(f"line {number} of the dump does not have the columns of the table {table.name}")
    return tuple(_value(values[column.name], column.type, number) for column in table.columns)


def _value(value: Any, type: str, number: int) -> Any:
    if value is None:
        return None
    fits = isinstance(value, _TYPES[type]) and not isinstance(value, bool)
    if not fits:
        raise HardwonError(f"line {number} of the dump has a value of the wrong type: expected {type.lower()}")
    return float(value) if type == "REAL" else value


# A dump into a store: into an empty one as it was, into any other beside what is there.


class Loaded(Struct):
    """What a load did."""

    merged: bool
    added: dict[str, int] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)
    """Rows whose id the store had already; they stay as they are."""
    redactions: int = 0
    left_out: list[str] = field(default_factory=list)


def load(db: Database, lines: BinaryIO, *, trusted: bool) -> Loaded:
    """Inside a transaction. Counts and what hooks hand out are behind until they are made anew.

    Without a person's word for it, it is somebody else's: what it says waits for review, and its keys, evidence of
    one's own sessions, folders, documents and conflicts are not taken.
    """
    head = header(lines.readline())
    work = _Load(db, head, merging=not trusted or not is_empty(db), trusted=trusted)
    work.run(lines)
    return work.report


_FROM_OTHERS: dict[str, dict[str, object]] = {
    "project": {"description": ""},
    "session": {"owner": "foreign"},
    "call": {},
    "trail": {},
    "failure": {},
    "occurrence": {},
    "fix": {"status": "candidate", "reviewed": 0, "untrusted": FOREIGN},
    "fix_evidence": {},
    "passage": {},
    "lesson": {"trust": "untrusted", "pinned": 0, "kept": 0},
    "lesson_source": {"origin": "import"},
}
"""What is taken of somebody else's dump, and as what."""


class _Load:
    def __init__(self, db: Database, head: Header, *, merging: bool, trusted: bool) -> None:
        self.report = Loaded(merged=merging)
        self._db = db
        self._head = head
        self._merging = merging
        self._trusted = trusted
        self._scrubber = scrubber(db)
        self._numbers = attempts.highest_number(db)
        self._orphans = 0
        self._attempts: set[object] = set()
        """That this store had not."""
        self._by_token: set[tuple[str, str, str]] = set()
        """(action, actor, item) of what somebody wrote with a token."""
        self._known: dict[str, set[object]] = {
            table.counted_for: set() for table in schema.TABLES.copied if table.counted_for
        }

    def run(self, lines: BinaryIO) -> None:
        if not self._merging:
            wipe(self._db)
        read = dict.fromkeys(self._head.rows, 0)
        before = {table.name: count(self._db, table.name) for table in schema.TABLES.copied}
        for table, rows in batches(lines):
            read[table.name] += len(rows)
            if self._left_out(table):
                if table.name == "event" and self._trusted:
                    self._by_token |= {found for row in rows if (found := _by_token(row)) is not None}
                continue
            whole = rows if self._trusted else self._of_another(table, rows)
            self._put(table, [self._clean(table, row) for row in whole])
        if read != self._head.rows:
            short = next(name for name, rows in self._head.rows.items() if read[name] != rows)
            raise HardwonError(
                f"the dump is incomplete: it has {read[short]} of {self._head.rows[short]} rows of the table {short}; "
                "write it again"
            )
        self._keep_writers()
        self._tell(before, read)
        fulltext.complete(self._db)
        if not self._merging and not self._scrubber.redactions and whole_hash(self._db) != self._head.whole:
            raise HardwonError("the dump was changed after it was written: its checksum does not match its rows")

    def _left_out(self, table: Table) -> str:
        """Why none of its rows is taken; empty if they are."""
        if self._merging and table.not_merged:
            return table.not_merged
        return "" if self._trusted or table.name in _FROM_OTHERS else "not taken without --trust"

    def _of_another(self, table: Table, rows: list[Row]) -> list[Row]:
        """As they may be taken: of what stood here before they change nothing, and they prove nothing."""
        as_what = _FROM_OTHERS[table.name]
        found = [dict(zip(table.names, row, strict=True)) | as_what for row in rows]
        if table.name == "lesson":
            found = [row | ({"status": "candidate"} if row["status"] == "active" else {}) for row in found]
        for column in {"session", "source"} & set(table.names):
            ids = {row[column] for row in found}
            theirs = {
                id
                for some in batched(ids)
                for (id,) in self._db.query(
                    f"SELECT id FROM session WHERE owner = 'foreign' AND id IN ({marks(some)})", some
                )
            }
            found = [row for row in found if row[column] in theirs]
        if table.name == "lesson_source":
            found = [row for row in found if row["lesson"] not in self._known["lesson"]]
        return [tuple((row | ({"seal": ""} if "seal" in row else {})).values()) for row in found]

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
        behind = {id for id in after if before.get(id) != after[id] and id in self._known[table.counted_for]}
        if table.name == "project":
            behind = {row[0] for row in whole}
        meta.mark_stale(self._db, sorted(map(str, behind)))

    def _counts(self, table: Table, rows: list[Row]) -> dict[object, int]:
        """How many rows each thing has that the table is counted for."""
        column = table.counted_for
        if not column or not rows:
            return {}
        ids = list({row[table.names.index(column)] for row in rows})
        counted = f"SELECT {column}, count(*) FROM {table.name} WHERE {column} IN ({marks(ids)}) GROUP BY {column}"
        return dict(self._db.query(counted, ids))

    def _renumbered(self, table: Table, rows: list[Row]) -> Iterator[Row]:
        """Attempts are counted by each store for itself."""
        at = table.names.index("number")
        known = present(self._db, "attempt", "id", {row[0] for row in rows})
        for row in rows:
            if row[0] not in known:
                self._attempts.add(row[0])
                self._numbers += 1
                yield (*row[:at], self._numbers, *row[at + 1 :])

    def _keep_writers(self) -> None:
        """What came with a token waits where it gives orders, in this store as well: its own trail says so, too."""
        for action, actor, item in sorted(self._by_token):
            if item in self._attempts:
                record_events(self._db, actor, now(), [Happened(action, item, {}, {}, "from a dump")])

    def _clean(self, table: Table, row: Row) -> Row:
        """A store is clean, but nothing says that the file is still what a store wrote."""
        before = self._scrubber.redactions
        scrubbed = tuple(self._scrubbed(value) if table.name != "meta" else value for value in row)
        if self._scrubber.redactions == before or "seal" not in table.names:
            return scrubbed
        at = table.names.index("seal")
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
        for table in schema.TABLES.copied:
            if why := self._left_out(table):
                if read[table.name]:
                    report.left_out.append(f"{table.name}: {read[table.name]} rows; {why}")
                continue
            added = count(self._db, table.name) - before[table.name]
            if not self._merging:
                added = read[table.name]
            if added:
                report.added[table.name] = added
            if read[table.name] > added:
                report.known[table.name] = read[table.name] - added
        if self._orphans:
            report.left_out.append(f"{self._orphans} rows: the rows they refer to are not in this store")


def _by_token(event: Row) -> tuple[str, str, str] | None:
    _, _, action, actor, item, *_ = event
    return (action, actor, item) if action in ("log", "reflect") and str(actor).startswith("token ") else None


# A store copied to another engine: every row, in one transaction, and only if the copy is found equal.

Progress = Callable[[str, int, int], None]


class Migrated(Struct, frozen=True):
    """What was copied."""

    source: str
    target: str
    rows: int
    indexed: int
    content: str
    """The content hash that both stores have."""
    vectors: int = 0
    """Not copied: each engine keeps its own, and `hardwon reindex` makes them."""


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
        indexed = fulltext.complete(target)
        if whole_hash(source) != whole_hash(target):
            raise StoreError(f"the copy in {target.place} differs from {source.place}: it was rolled back; try again")
        return Migrated(source.place, target.place, rows, indexed, content_hash(target), count(source, "embedding"))


def _copy(source: Database, target: Database, told: Progress) -> int:
    total = sum(count(source, table.name) for table in schema.TABLES.copied)
    done = 0
    for table in schema.TABLES.copied:
        for rows in table.rows(source):
            put(target, table, rows)
            done += len(rows)
            told(f"copying {table.name}", done, total)
    return done


def _quiet(what: str, done: int, total: int) -> None:
    pass
