"""A damaged store made whole again: what can be read is copied row by row into a new file and put in order there.

Nothing is thrown away: the damaged file is kept, and every row that could not stay is written to a file of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Protocol

import apsw
from msgspec import Struct

from hardwon import durable
from hardwon.clock import now
from hardwon.errors import StoreCorrupt
from hardwon.home import private, private_database
from hardwon.store import backup, check, events, fulltext, integrity, migrations, schema, stale
from hardwon.store.database import Row, batches, insert, marks
from hardwon.store.events import Happened
from hardwon.store.sqlite import SqliteDatabase, create_tables

# Copying out of a damaged SQLite file whatever can be read, row by row.

_NUMBERS_TRIED_IN_A_GAP = 20_000


class RefusedRows(Protocol):
    """Where rows go that the new store does not take."""

    def add(self, why: str, table: str, columns: list[str], rows: Iterable[Row]) -> int: ...


def salvage(source: apsw.Connection, new: Path, refused: RefusedRows) -> tuple[int, list[str]]:
    """Make a new store of the same schema with the rows that can be read; returns how many, and what was done."""
    total, done = 0, []
    version = _version(source)
    with suppress(apsw.Error):
        source.execute("PRAGMA writable_schema = ON")  # one table that is not understood does not hide the others
    private_database(new)
    with closing(apsw.Connection(str(new))) as target:
        target.execute("PRAGMA synchronous = OFF")  # it is of no use before it is whole
        tables = migrations.tables_at(version)
        create_tables(target, tables.values())
        for statement in fulltext.index_statements(0, version):
            target.execute(statement)
        target.execute(f"PRAGMA user_version = {version}")
        for table in tables.values():
            if table.salvaged:
                taken, told = _copy(source, target, table.name, list(table.names), refused)
                total += taken
                done += told
    SqliteDatabase(new, write=True).close()  # an older schema is brought up to date
    return total, done


def _version(source: apsw.Connection) -> int:
    """The schema of the damaged file; where that cannot be read, the newest is the likeliest."""
    with suppress(apsw.Error):
        version = int(source.execute("PRAGMA user_version").get)
        migrations.is_behind(version, "the damaged store")
        return version or migrations.newest()
    return migrations.newest()


def _copy(
    source: apsw.Connection, target: apsw.Connection, table: str, columns: list[str], refused: RefusedRows
) -> tuple[int, list[str]]:
    put = insert(table, columns)
    taken = 0
    rejected: list[Row] = []
    reading = _Reading(source, table, columns)
    with target:
        for row in reading.rows():
            try:
                target.execute(put, row)
                taken += 1
            except (apsw.ConstraintError, apsw.MismatchError):  # damaged, or the same row found twice
                rejected.append(row)
    refused.add("the new store does not take it", table, columns, rejected)
    done = [f"read {taken} rows of {table}, with gaps where it is damaged"] if reading.damaged else []
    if rejected:
        done.append(f"took out {len(rejected)} rows of {table} that no store could hold")
    return taken, done


class _Reading:
    """All rows of a table that can be read; `damaged` tells whether that may not be all."""

    def __init__(self, source: apsw.Connection, table: str, columns: list[str]) -> None:
        self._source = source
        self._table = table
        # A flipped bit can make text that is no text; as bytes it can be read all the same.
        self._columns = ", ".join(map(_raw, columns))
        self.damaged = False

    def rows(self) -> Iterator[Row]:
        try:
            self._source.execute(f"EXPLAIN SELECT {self._columns} FROM {self._table}")
        except apsw.Error:  # not even the schema tells of it
            self.damaged = True
            return
        try:
            highest = self._source.execute(f"SELECT max(rowid) FROM {self._table}").get
        except apsw.SQLError:  # it has no such numbers
            yield from self._from_both_ends()
            return
        except apsw.Error:
            highest = None
        yield from self._by_number(highest)

    def _by_number(self, highest: Any) -> Iterator[Row]:
        """In order as far as that goes, then number by number up to the highest that anybody can tell."""
        last = None
        try:
            for row in self._source.execute(f"SELECT rowid, {self._columns} FROM {self._table} ORDER BY rowid"):
                last = row[0]
                yield _plain(row[1:])
            return
        except apsw.Error:
            self.damaged = True
        first = (last if last is not None else 0) + 1
        highest = highest if isinstance(highest, int) else first + _NUMBERS_TRIED_IN_A_GAP
        missed = 0
        for number in range(first, highest + 1):
            found: list[Row] = []
            with suppress(apsw.Error):
                sql = f"SELECT {self._columns} FROM {self._table} WHERE rowid = ?"
                found = self._source.execute(sql, (number,)).fetchall()
            yield from map(_plain, found)
            missed = 0 if found else missed + 1
            if missed > _NUMBERS_TRIED_IN_A_GAP:
                return

    def _from_both_ends(self) -> Iterator[Row]:
        """A table that is its own index can be walked from its beginning and from its end."""
        seen = set()
        for order in ("ASC", "DESC"):
            key = [row[1] for row in self._source.execute(f"PRAGMA table_info({self._table})") if row[5]]
            by = ", ".join(f"{name} {order}" for name in key)
            try:
                for row in self._source.execute(f"SELECT {self._columns} FROM {self._table} ORDER BY {by}"):
                    plain = _plain(row)
                    if plain not in seen:
                        seen.add(plain)
                        yield plain
                return
            except apsw.Error:
                self.damaged = True


def _raw(column: str) -> str:
    text = f"typeof({column}) = 'text'"
    return f"{text}, CASE WHEN {text} THEN CAST({column} AS BLOB) ELSE {column} END"


def _plain(raw: Row) -> Row:
    """(whether it is text, its bytes or value, …) as values; what is no UTF-8 any more will break the row's seal."""
    return tuple(
        value.decode("utf-8", "replace") if text else value for text, value in zip(raw[::2], raw[1::2], strict=True)
    )


class Repaired(Struct, frozen=True):
    done: list[str]
    """What was done, in sentences."""
    damaged: str
    """Where the store is as it was."""
    quarantine: str
    """Where the rows are that could not stay; empty if there are none."""
    rows: int
    """How many of them."""


class Quarantine:
    """Rows that cannot stay, each with the reason."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, why: str, table: str, columns: Sequence[str], rows: Iterable[Row]) -> int:
        before = len(self.lines)
        for row in rows:
            fields = dict(zip(columns, map(_shown, row), strict=False))
            self.lines.append(json.dumps({"why": why, "table": table, "row": fields}, ensure_ascii=False))
        return len(self.lines) - before

    def write(self, path: Path) -> None:
        unfinished = path.with_name(f"{path.name}.new")
        with open(unfinished, "w", encoding="utf-8", errors="replace", opener=private) as file:
            file.writelines(line + "\n" for line in self.lines)
        durable.settle(unfinished, path)


def _shown(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


def repair(live: Path) -> Repaired:
    """Make a whole store of what can be read, and put it in the damaged one's place."""
    at = backup.stamp()
    aside = live.with_name(f"{live.stem}.quarantine-{at}.jsonl")
    quarantine = Quarantine()
    with backup.workshop(live) as folder, backup.alone(live) as connection:
        new = folder / live.name
        rows, done = salvage(connection, new, quarantine)
        if not rows:
            raise StoreCorrupt(
                f"nothing in {live} can be read: `hardwon restore` brings back a backup; or move it away and run "
                "`hardwon up` to build it anew"
            )
        with closing(SqliteDatabase(new, write=True)) as db:
            done += _put_in_order(db, quarantine)
            bad = [one for one in check.store(db) if not one.ok and one.name != "vectors"]
        if bad:
            raise StoreCorrupt(
                f"{live} could not be repaired ({bad[0].name}: {bad[0].says}) and is as it was: "
                "`hardwon restore` brings back a backup"
            )
        if quarantine.lines:
            quarantine.write(aside)
        old = backup.swap(connection, live, new, f"{live.stem}.damaged-{at}.db")
    return Repaired(done, str(old), str(aside) if quarantine.lines else "", len(quarantine.lines))


def _put_in_order(db: SqliteDatabase, quarantine: Quarantine) -> list[str]:
    order = _Order(db, quarantine)
    with db.transaction():
        order.broken_rows()
        order.lost_projects()
        order.dangling()
        order.orphans()
        order.uncounted()
        order.read_again()
    stale.recount(db)
    indexed = fulltext.rebuild(db)
    with db.transaction():
        order.trail()
        told = Happened("repair", "store", {}, {"done": order.done})
        events.record(db, "doctor", now(), [told])
    return [*order.done, f"counted failures and lessons again, indexed {indexed} items"]


class _Order:
    """The steps, each inside a transaction."""

    def __init__(self, db: SqliteDatabase, quarantine: Quarantine) -> None:
        self._db = db
        self._quarantine = quarantine
        self._columns = db.columns()
        self._again: set[str] = set()
        """Sessions to be read again, if their transcripts are still there."""
        self.done: list[str] = []

    def broken_rows(self) -> None:
        """Rows that break their seal."""
        for table in schema.sealed():
            if table == "session":
                continue
            ids = integrity.broken_seals(self._db, table)
            if table == "lesson":
                self._again |= self._cited_by(ids)
            self._take(table, "id", ids, f"{table}s that were not what was written")
        ids = integrity.broken_seals(self._db, "session")
        for table in (*schema.evidence(), "call"):
            self._take(table, "session" if table == "call" else "source", ids, "", "its session was damaged")
        self._again |= set(ids)
        self._take("session", "id", ids, "sessions that were not what was written")

    def _cited_by(self, lessons: Sequence[str]) -> set[str]:
        rows = self._db.query(f"SELECT source FROM lesson_source WHERE lesson IN ({marks(lessons)})", lessons)
        return {row[0] for row in rows}

    def lost_projects(self) -> None:
        """A project is known by its id; the next session in it brings back its name."""
        holders = [table for table, columns in self._columns.items() if "project" in columns]
        named = " UNION ".join(f"SELECT project FROM {table} WHERE project IS NOT NULL" for table in holders)
        lost = self._db.query(f"SELECT project FROM ({named}) n WHERE project NOT IN (SELECT id FROM project)")
        self._db.bulk("INSERT INTO project (id, key, name) VALUES (?, ?, ?)", ((id, id, id) for (id,) in lost))
        self._db.bulk("DELETE FROM project_root WHERE project = ?", lost)
        if lost:
            self.done.append(f"made {len(lost)} projects anew, without their names")

    def dangling(self) -> None:
        """Rows that refer to others that are gone, until there are none."""
        while sum(self._without(table.name, *reference) for table in schema.TABLES for reference in table.refers):
            continue

    def _without(self, table: str, column: str, parent: str, target: str) -> int:
        columns = self._columns[table]
        there = f"SELECT 1 FROM {parent} p WHERE p.{target} = {table}.{column}"
        where = f"{column} IS NOT NULL AND NOT EXISTS ({there})"
        rows = self._db.query(f"SELECT {', '.join(columns)} FROM {table} WHERE {where}")
        if rows:
            if "source" in columns:
                self._again |= {row[columns.index("source")] for row in rows}
            self._quarantine.add(f"its {column} is gone", table, columns, rows)
            self._db.execute(f"DELETE FROM {table} WHERE {where}")
            self.done.append(f"took out {len(rows)} rows of {table} whose {column} is gone")
        return len(rows)

    def orphans(self) -> None:
        for table in schema.evidence():
            gone = check.orphans(self._db, table)
            self._take(table, "source", gone, f"rows of {table} whose source is gone", "its source is gone")

    def uncounted(self) -> None:
        """Failures that never happened, vectors of nothing; then everything that is counted is behind."""
        never = self._db.query(
            "SELECT id FROM failure f WHERE NOT EXISTS (SELECT 1 FROM occurrence WHERE failure = f.id)"
        )
        lost = [row[0] for row in never]
        for table in ("fix", "tried"):
            self._take(table, "failure", lost, "", "its failure never happened")
        self._take("failure", "id", lost, "failures without an occurrence")
        stale.mark(self._db, (row[0] for row in self._db.query("SELECT id FROM failure")))
        stale.mark(self._db, (row[0] for row in self._db.query("SELECT DISTINCT lesson FROM lesson_source")))
        stale.mark(self._db, (row[0] for row in self._db.query("SELECT id FROM project")))

    def read_again(self) -> None:
        """What came from a transcript can come from it again."""
        ids = sorted(self._again)
        for id in ids:
            self._db.execute("UPDATE session SET harvester_version = 0 WHERE id = ?", (id,))
        integrity.reseal(self._db, "session", ids)
        again = "path NOT IN (SELECT path FROM session WHERE harvester_version <> 0) AND refused = ''"
        if ids and (count := self._db.execute(f"DELETE FROM source WHERE {again}")):
            self.done.append(f"{count} transcripts will be read again by the next harvest, if they are still there")

    def trail(self) -> None:
        """Damaged entries lose what they said, lost ones are replaced by a mark, and the chain is closed again."""
        broken = events.broken(self._db)
        if not broken:
            return
        columns = self._columns["event"]
        rows = self._db.query(f"SELECT {', '.join(columns)} FROM event WHERE number IN ({marks(broken)})", broken)
        self._quarantine.add("the audit trail was broken here", "event", columns, rows)
        events.close_again(self._db)
        self.done.append(f"closed the audit trail again at {len(broken)} events, from number {broken[0]} on")

    def _take(self, table: str, column: str, ids: Sequence[str], told: str, why: str = "its seal is broken") -> None:
        """Move rows into quarantine."""
        columns, count = self._columns[table], 0
        for some in batches(ids):
            where = f"{column} IN ({marks(some)})"
            rows = self._db.query(f"SELECT {', '.join(columns)} FROM {table} WHERE {where}", some)
            count += self._quarantine.add(why, table, columns, rows)
            self._db.execute(f"DELETE FROM {table} WHERE {where}", some)
        if count and told:
            self.done.append(f"took out {count} {told}")
