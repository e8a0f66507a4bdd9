"""Hashes that tell whether rows, tables and whole stores are what was written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import apsw
import msgspec

from hardwon.store import schema
from hardwon.store.database import Database, Row, Table, insert, marks
from hardwon.text.normalise import blake2b, digest

# A hash in every row that cannot be made again, so that a flipped bit on the disk is noticed.

Tables = Mapping[str, Table]
SUMS_TABLE = "table_sum"
_HASH_BYTES = 16


class Sealed(NamedTuple):
    id: str
    was: str
    """The seal as it stands; rows from before there were seals have none."""
    now: str
    """As it should be."""

    @property
    def broken(self) -> bool:
        return self.was not in ("", self.now)


def seal_of(values: Iterable[Any]) -> str:
    return digest(*[f"{value:.9g}" if value.__class__ is float else repr(value) for value in values])


def seal_of_fields(table: str, fields: Mapping[str, Any], more: Iterable[Any] = ()) -> str:
    """The seal of a row that is about to be written; `more` are the values of rows that it covers as well."""
    declared = schema.TABLES.named[table]
    own = {**declared.defaults, **fields}
    return seal_of((*map(own.get, declared.sealed), *more))


def reseal(db: Database, table: str, ids: Iterable[str]) -> None:
    """Seal rows again after a change that was meant."""
    for id in ids:
        for row in stored_seals(db, table, schema.TABLES.named, "WHERE id = ?", (id,)):
            db.execute(f"UPDATE {table} SET seal = ? WHERE id = ?", (row.now, id))


def broken_seals(db: Database, table: str) -> list[str]:
    """The ids of the rows that are not what was written."""
    return [row.id for row in stored_seals(db, table, schema.TABLES.named) if row.broken]


def stored_seals(
    db: Database, name: str, tables: Tables, where: str = "", values: Sequence[str] = ()
) -> Iterator[Sealed]:
    """Every row with its seal as it stands and as it should be, by the declaration that is given."""
    table = tables[name]
    covered = tables[table.sealed_with] if table.sealed_with else None
    for seal, *own in db.query(f"SELECT seal, {', '.join(table.sealed)} FROM {name} {where} ORDER BY id", values):
        more = [value for row in _covered(db, covered, name, own[0]) for value in row] if covered else []
        yield Sealed(own[0], seal, seal_of((*own, *more)))


def _covered(db: Database, table: Table, by: str, id: str) -> list[tuple[Any, ...]]:
    key = ", ".join(table.key)
    return db.query(f"SELECT {', '.join(table.names)} FROM {table.name} WHERE {by} = ? ORDER BY {key}", (id,))


# A sum over every table, so that a flipped bit anywhere in the file is noticed, also in rows without a seal.

_encode = msgspec.msgpack.Encoder().encode


class Sums:
    """Watches what a connection writes."""

    def __init__(self, connection: apsw.Connection, columns: dict[str, list[str]]) -> None:
        self._connection = connection
        self._watched = {table: names for table, names in columns.items() if _watched(table)}
        self._changes: dict[str, int] = {}
        if not _known(connection) >= set(self._watched):
            self._begin()
        connection.preupdate_hook(self._change)

    def _change(self, row: apsw.PreUpdate) -> None:
        table = row.table_name
        if table in self._watched:
            for values in (row.old, row.new):
                if values is not None:
                    self._changes[table] = self._changes.get(table, 0) ^ _of_row(values)

    def settle(self) -> None:
        """Store the sums with what changed them; SQLite has no exclusive or: a ^ b is (a | b) - (a & b)."""
        if self._changes:
            mixed = [(value, value, table) for table, value in self._changes.items()]
            self._changes.clear()
            self._connection.executemany(
                f"UPDATE {SUMS_TABLE} SET value = (value | ?) - (value & ?) WHERE name = ?", mixed
            )

    def changes(self) -> dict[str, int]:
        """What is not stored yet, for `undo`."""
        return dict(self._changes)

    def undo(self, before: dict[str, int]) -> None:
        """What was written since then has been taken back."""
        self._changes = dict(before)

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.execute(
                f"CREATE TABLE IF NOT EXISTS {SUMS_TABLE} (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT"
            )
            missing = set(self._watched) - _known(self._connection)
            rows = [(table, sum_of_table(self._connection, table, self._watched[table])) for table in sorted(missing)]
            self._connection.executemany(f"INSERT INTO {SUMS_TABLE} (name, value) VALUES (?, ?)", rows)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def forget_sums(connection: apsw.Connection) -> None:
    """After a change that nobody watched, such as a migration; they are made anew."""
    connection.execute(f"DROP TABLE IF EXISTS {SUMS_TABLE}")


def broken_sums(connection: apsw.Connection, columns: dict[str, list[str]]) -> list[str]:
    """The tables whose rows are not what was written. Rows and sums must be of the same moment."""
    return [
        table
        for table, value in stored_sums(connection).items()
        if table not in columns or sum_of_table(connection, table, columns[table]) != value
    ]


def stored_sums(connection: apsw.Connection) -> dict[str, int]:
    """Table → the sum over its rows, as they were written; empty where no sums are kept."""
    if not _known(connection):
        return {}
    rows: Iterable[Any] = connection.execute(f"SELECT name, value FROM {SUMS_TABLE} ORDER BY name").fetchall()
    return dict(rows)


def _watched(name: str) -> bool:
    declared = schema.TABLES.named.get(name)
    return declared is None or declared.summed


def _known(connection: apsw.Connection) -> set[Any]:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (SUMS_TABLE,)).get:
        return set()
    return {row[0] for row in connection.execute(f"SELECT name FROM {SUMS_TABLE}")}


def sum_of_table(connection: apsw.Connection, table: str, columns: list[str]) -> int:
    """Over its rows as they are."""
    total = 0
    for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table}"):
        total ^= _of_row(row)
    return total


def _of_row(values: Row) -> int:
    return int.from_bytes(blake2b(_encode(values), digest_size=7).digest(), "big")


# One hash over what a store holds: two stores with the same hash know the same, whatever engine they are on.


def content_hash(db: Database) -> str:
    """Of what was learned and decided: equal after the same files, however often the harvest was interrupted.

    Nothing in it depends on the engine or on when it was done, but secrets are marked by the store's own key.
    Counts that are marked stale are as they stand: recount first.
    """
    learned = {table: [column.name for column in table.columns if column.content] for table in schema.TABLES.copied}
    return _hash(db, {table: names for table, names in learned.items() if table.content})


def whole_hash(db: Database) -> str:
    """Of every row that a copy of the store must have."""
    return _hash(db, {table: table.names for table in schema.TABLES.copied})


def is_empty(db: Database) -> bool:
    """Whether a store holds nothing yet but its own keys."""
    kept = (table for table in schema.TABLES.copied if table.name != "meta")
    return not any(db.query(f"SELECT 1 FROM {table.name} LIMIT 1") for table in kept)


def _hash(db: Database, chosen: Mapping[Table, Sequence[str]]) -> str:
    total = blake2b(digest_size=_HASH_BYTES)
    encoder = msgspec.json.Encoder()
    for table in sorted(chosen, key=attrgetter("name")):
        total.update(encoder.encode((table.name, chosen[table])))
        for rows in table.rows(db, chosen[table]):
            total.update(encoder.encode_lines(rows))
    return total.hexdigest()


# The audit trail: what was done to an item, by whom and why; append-only, each entry chained to the one before in its
# lane: those who write at the same time have lanes of their own (see `Database.lane`).
#
# The chain covers a salted digest of the payload and not the payload itself: forgetting erases payload and salt, and
# the chain still verifies.

Fields = Mapping[str, Any]

_EVENT_COLUMNS = "number at action actor item before after why undoes salt digest chain lane".split()
_FORGOTTEN_EVENT = {"actor": "", "item": "", "before": "", "after": "", "why": "", "salt": ""}
_DIGEST_SIZE = 16
_MAX_EVENTS_LOST = 10_000
_INSERT_EVENT = insert("event", _EVENT_COLUMNS)
_encode_fields = msgspec.json.Encoder().encode


class Happened(NamedTuple):
    """Something to be recorded. `before` and `after` hold the fields that changed."""

    action: str
    item: str
    before: Fields
    after: Fields
    why: str = ""
    undoes: int | None = None


class EventRow(NamedTuple):
    number: int
    at: int
    action: str
    actor: str
    item: str
    before: dict[str, Any]
    after: dict[str, Any]
    why: str
    undoes: int | None


def record_events(db: Database, actor: str, at: int, happened: Iterable[Happened]) -> list[int]:
    """Append to the trail, inside the transaction that makes the change; returns the events' numbers."""
    entries = list(happened)
    last = f"(SELECT chain FROM event WHERE lane = {db.lane} ORDER BY number DESC LIMIT 1)"
    numbers, chain = db.next_numbers("event", len(entries), last)
    rows = []
    for number, entry in zip(numbers, entries, strict=True):
        before, after = _encode_fields(entry.before).decode(), _encode_fields(entry.after).decode()
        salt = os.urandom(_DIGEST_SIZE).hex()
        payload = digest(salt, actor, entry.item, before, after, entry.why, size=_DIGEST_SIZE)
        chain = _chained(chain or "", number, at, entry.action, entry.undoes, payload)
        said = (actor, entry.item, before, after, entry.why, entry.undoes)
        rows.append((number, at, entry.action, *said, salt, payload, chain, db.lane))
    db.bulk(_INSERT_EVENT, rows)
    return numbers


def events_of_item(db: Database, item: str) -> list[EventRow]:
    """Everything that happened to an item, oldest first."""
    return [_event(row) for row in _select_events(db, "WHERE item = ? ORDER BY number", (item,))]


def recent_events(db: Database, limit: int, *, before: int | None = None) -> list[EventRow]:
    """The newest first; `before` is the number that they must be lower than."""
    if before is None:
        return [_event(row) for row in _select_events(db, "ORDER BY number DESC LIMIT ?", (limit,))]
    return [_event(row) for row in _select_events(db, "WHERE number < ? ORDER BY number DESC LIMIT ?", (before, limit))]


def get_event(db: Database, number: int) -> EventRow | None:
    rows = _select_events(db, "WHERE number = ?", (number,))
    return _event(rows[0]) if rows else None


def erase_events(db: Database, numbers: Sequence[int]) -> int:
    """Forget what these events recorded; their links in the chain stay. Returns how many there were."""
    columns = ", ".join(f"{name} = '{value}'" for name, value in _FORGOTTEN_EVENT.items())
    return db.changed(f"UPDATE event SET {columns} WHERE number IN ({marks(numbers)})", numbers) if numbers else 0


def broken_events(db: Database) -> list[int]:
    """The numbers of the events that were changed, removed or put in between."""
    wrong = []
    chains: dict[int, str] = {}
    for row in _select_events(db, "ORDER BY number"):
        number, at, action, actor, item, before, after, why, undoes, salt, payload, link, lane = row
        forgotten = salt == ""
        honest = forgotten or payload == digest(salt, actor, item, before, after, why, size=_DIGEST_SIZE)
        if not honest or link != _chained(chains.get(lane, ""), number, at, action, undoes, payload):
            wrong.append(number)
        chains[lane] = link
    return wrong


def close_events_again(db: Database) -> None:
    """Make the chain whole after damage: what cannot be vouched for loses its payload, what is lost leaves a mark."""
    chains: dict[int, str] = {}
    newest: dict[int, int] = {}
    expected = 1
    rows = _select_events(db, "ORDER BY number")
    there = {row[0] for row in rows}
    for row in rows:
        number, at, action, actor, item, before, after, why, undoes, salt, payload, link, lane = row
        if not expected <= number <= expected + _MAX_EVENTS_LOST:  # the number itself is damaged
            db.execute("DELETE FROM event WHERE number = ?", (number,))
            continue
        chain = chains.get(lane, "")
        if link != _chained(chain, number, at, action, undoes, payload):  # a server leaves numbers out, too
            for missing in sorted({*range(newest.get(lane, 0) + 1, number)} - there):
                chain = _put_event(db, (missing, 0, "lost", None, ""), chain, lane)
                there.add(missing)
        honest = salt == "" or payload == digest(salt, actor, item, before, after, why, size=_DIGEST_SIZE)
        if not honest:
            db.execute("DELETE FROM event WHERE number = ?", (number,))
            chain = _put_event(db, (number, at, action, undoes, payload), chain, lane)
        elif link != (chain := _chained(chain, number, at, action, undoes, payload)):
            db.execute("UPDATE event SET chain = ? WHERE number = ?", (chain, number))
        chains[lane], newest[lane], expected = chain, number, number + 1


def _put_event(db: Database, said: tuple[int, int, str, int | None, str], chain: str, lane: int) -> str:
    """An entry without a payload, as forgetting leaves it; returns its link."""
    number, at, action, undoes, payload = said
    chain = _chained(chain, *said)
    db.bulk(_INSERT_EVENT, [(number, at, action, "", "", "", "", "", undoes, "", payload, chain, lane)])
    return chain


def _chained(chain: str, number: int, at: int, action: str, undoes: int | None, payload: str) -> str:
    return digest(chain, str(number), str(at), action, str(undoes), payload, size=_DIGEST_SIZE)


def _select_events(db: Database, rest: str, values: Sequence[object] = ()) -> list[Row]:
    return db.query(f"SELECT {', '.join(_EVENT_COLUMNS)} FROM event {rest}", values)


def _event(row: Row) -> EventRow:
    number, at, action, actor, item, before, after, why, undoes, *_ = row
    return EventRow(number, at, action, actor, item, _event_fields(before), _event_fields(after), why, undoes)


def _event_fields(text: str) -> dict[str, Any]:
    return msgspec.json.decode(text, type=dict[str, Any]) if text else {}
