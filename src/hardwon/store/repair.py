"""A damaged store made whole again: what can be read is copied row by row into a new file and put in order there.

Nothing is thrown away: the damaged file is kept, and every row that could not stay is written to a file of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import apsw
from msgspec import Struct

from hardwon import durable
from hardwon.clock import now
from hardwon.errors import StoreCorrupt
from hardwon.home import private, private_database
from hardwon.sessions.project import project_id
from hardwon.store import backup, check, failures, fulltext, integrity, lifecycle, meta, migrations, schema
from hardwon.store.database import Row, Table, batches, insert, marks
from hardwon.store.integrity import Happened
from hardwon.store.sqlite import (
    SqliteDatabase,
    create_tables,
    file_beginning,
    file_pieces,
    misdeclared_parts,
    version_of_tables,
)

# Copying out of a damaged SQLite file whatever can be read, row by row.

_NUMBERS_TRIED_IN_A_GAP = 20_000
_IDS_NAMED = 5
_OUR_PAGE = 4096
_HEADER = 100
_BYTES_OFF = 4
"""Of a header: more than one that is off, as a whole field may be, is not what a disk does to a store."""
_MADE_AGAIN = frozenset(("embedding", "answered", "stale"))
"""Of no consequence: made again, or of today alone."""
_NOT_FROM_TRANSCRIPTS = frozenset(
    (
        "meta", "project_alias", "session_commit", "distilled", "distilled_window", "document", "chunk", "interaction",
        "reinforcement", "bootstrap", "exposure", "event", "metric_snapshot", "hook_run", "tombstone", "token",
    )
)  # fmt: skip
"""What is lost of these, no transcript brings back."""
_REBUILT = frozenset(
    (
        "session", "call", "trail", "source", "failure", "fix", "failure_in_project", "project", "project_root",
        "lesson_key", "lesson_compared", *schema.TABLES.evidence,
    )
)  # fmt: skip
"""What reading every transcript again makes as it was."""


class RefusedRows(Protocol):
    """Where rows go that the new store does not take."""

    def add(self, why: str, table: str, columns: list[str], rows: Iterable[Row]) -> int: ...


class Damage:
    """What could not be read or kept, table by table."""

    def __init__(self) -> None:
        self.sums: dict[str, int] = {}
        """Of every table as the store had them: what ends with the same sum has the same rows."""
        self.tables: set[str] = set()
        """Those that may have lost rows, or have others than were written."""
        self.lost: dict[str, set[str]] = {}
        """Ids of rows that are known to be lost."""

    def lose(self, table: str, ids: Iterable[str]) -> None:
        self.tables.add(table)
        if schema.TABLES.named[table].key == ("id",):
            self.lost.setdefault(table, set()).update(ids)

    def of_transcripts(self) -> bool:
        return bool(self.tables - _NOT_FROM_TRANSCRIPTS - _MADE_AGAIN)


def salvage(source: apsw.Connection, new: Path, refused: RefusedRows, damage: Damage) -> tuple[int, list[str]]:
    """Make a new store of the same schema with the rows that can be read; returns how many, and what was done."""
    total, done = 0, []
    with suppress(apsw.Error):
        source.execute("PRAGMA writable_schema = ON")  # one table that is not understood does not hide the others
    version = _version(source)
    with suppress(apsw.Error, UnicodeDecodeError):
        damage.sums = integrity.stored_sums(source)
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
                taken, told = _copy(source, target, table, refused, damage)
                total += taken
                done += told
    SqliteDatabase(new, write=True).close()  # an older schema is brought up to date
    return total, done


def _version(source: apsw.Connection) -> int:
    """The schema of the damaged file, by its tables; where they cannot be read, the newest is the likeliest."""
    with suppress(apsw.Error, UnicodeDecodeError):
        return version_of_tables(source, missing=1) or migrations.NEWEST
    return migrations.NEWEST


def _copy(
    source: apsw.Connection, target: apsw.Connection, table: Table, refused: RefusedRows, damage: Damage
) -> tuple[int, list[str]]:
    name, columns = table.name, list(table.names)
    put = insert(name, columns)
    taken = 0
    rejected: list[Row] = []
    reading = _Reading(source, name, columns)
    with target:
        for row in reading.rows():
            try:
                target.execute(put, row)
                taken += 1
            except (apsw.ConstraintError, apsw.MismatchError):  # damaged, or the same row found twice
                rejected.append(row)
    refused.add("the new store does not take it", name, columns, rejected)
    done = [f"read {taken} rows of {name}, with gaps where it is damaged"] if reading.damaged else []
    if rejected:
        done.append(f"took out {len(rejected)} rows of {name} that no store could hold")
    said = damage.sums.get(name)
    if reading.damaged or rejected or (said is not None and said != integrity.sum_of_table(target, name, columns)):
        damage.lose(name, _named_by_index(source, name) - _named(target, name) if table.key == ("id",) else ())
    return taken, done


def _named_by_index(source: apsw.Connection, table: str) -> set[str]:
    """The ids of all rows, also of those on pages that cannot be read: the index is on others."""
    found: set[str] = set()
    with suppress(apsw.Error, UnicodeDecodeError):
        for (id,) in source.execute(f"SELECT id FROM {table} INDEXED BY sqlite_autoindex_{table}_1 ORDER BY id"):
            found.add(str(id))
    return found


def _named(target: apsw.Connection, table: str) -> set[str]:
    return {str(id) for (id,) in target.execute(f"SELECT id FROM {table}")}


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
    again: int = 0
    """Transcripts that were read again."""
    short: list[str] = []
    """What is lost, or not proven to be there, in sentences; empty is proof that nothing is missing."""


class Mended(NamedTuple):
    """A store that is in order again, before its transcripts are read again."""

    told: Repaired
    damage: Damage
    own: list[str]
    """Transcripts to be read again: those of this user, and others."""
    other: list[str]


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


def repair(live: Path) -> Mended:
    """Make a whole store of what can be read, and put it in the damaged one's place.

    Afterwards the transcripts that it names are to be read again, and `finish` tells what that did not bring.
    """
    at = backup.stamp()
    aside = live.with_name(f"{live.stem}.quarantine-{at}.jsonl")
    quarantine, damage = Quarantine(), Damage()
    with backup.workshop(live) as folder, backup.alone(live) as connection:
        new, copy = folder / live.name, folder / "damaged.db"
        header = _copy_with_sound_header(live, copy)
        apart = header or _copy_as_declared(connection, live, copy)
        with closing(apsw.Connection(str(copy))) if apart else nullcontext(connection) as source:
            rows, done = salvage(source, new, quarantine, damage)
        if not rows:
            raise StoreCorrupt(
                f"nothing of a store can be read in {live}: `hardwon restore` brings back a backup; or move it away "
                "and run `hardwon up` to build it anew"
            )
        with closing(SqliteDatabase(new, write=True)) as db:
            order = _Order(db, quarantine, damage)
            done = [*apart, *done, *_put_in_order(db, order)]
            bad = [one for one in check.store(db) if not one.ok and one.name != "vectors"]
        if bad:
            raise StoreCorrupt(
                f"{live} could not be repaired ({bad[0].name}: {bad[0].says}) and is as it was: "
                "`hardwon restore` brings back a backup"
            )
        if quarantine.lines:
            quarantine.write(aside)
        old = backup.swap(connection, live, new, f"{live.stem}.damaged-{at}.db", in_place=not header)
    told = Repaired(done, str(old), str(aside) if quarantine.lines else "", len(quarantine.lines))
    return Mended(told, damage, order.own, order.other)


def _copy_with_sound_header(live: Path, copy: Path) -> list[str]:
    """Where the first bytes of the file cannot be what SQLite wrote there, a copy in which they are; what was done."""
    beginning = file_beginning(live, _HEADER)
    sound = _sound_header(beginning, live.stat().st_size)
    if len(beginning) < _HEADER or sound == beginning:
        return []
    _copy_file(live, copy)
    with copy.open("r+b") as file:
        file.write(sound)
    return ["mended the first bytes of the file, by which SQLite knows it"]


def _copy_as_declared(connection: apsw.Connection, live: Path, copy: Path) -> list[str]:
    """Where the file says something else of a table than was declared, a copy in which it does not; what was done."""
    wrong: dict[str, str] = {}
    with suppress(apsw.Error, UnicodeDecodeError):
        connection.execute("PRAGMA writable_schema = ON")  # what is not understood does not hide the others
        wrong = misdeclared_parts(connection, _version(connection))
    if not wrong:
        return []
    _copy_file(live, copy)
    with closing(apsw.Connection(str(copy))) as mended:
        mended.execute("PRAGMA writable_schema = ON")
        mended.executemany(
            "UPDATE sqlite_master SET sql = ? WHERE name = ?", [(sql, name) for name, sql in wrong.items()]
        )
    return [f"put right what the file says of {', '.join(wrong)}"]


def _copy_file(live: Path, copy: Path) -> None:
    for side in ("", "-wal"):
        if os.path.exists(f"{live}{side}"):
            with open(f"{copy}{side}", "wb") as file:
                file.writelines(file_pieces(Path(f"{live}{side}"), 2**20))


def _sound_header(beginning: bytes, size: int) -> bytes:
    """As SQLite writes it for every store of ours; what differs from store to store is as it is.

    A file of which more is off is something else.
    """
    header = bytearray(beginning)
    header[0:18] = b"SQLite format 3\0" + _OUR_PAGE.to_bytes(2, "big")
    header[18:20] = bytes([next((mode for mode in beginning[18:20] if mode in (1, 2)), 2)]) * 2
    header[20:24] = bytes((0, 64, 32, 32))
    if beginning[24:28] == beginning[92:96]:
        header[28:32] = (size // _OUR_PAGE).to_bytes(4, "big")
    header[44:48] = (4).to_bytes(4, "big")
    header[52:60] = (1).to_bytes(8, "big")  # no auto-vacuum, UTF-8
    header[64:92] = bytes(28)
    off = sum(was != now for was, now in zip(beginning, header, strict=True))
    return bytes(header) if off <= _BYTES_OFF else beginning


def finish(db: SqliteDatabase, mended: Mended) -> list[str]:
    """After its transcripts were read again: what the damaged store had and this one has not."""
    nobodys = f"SELECT id FROM project WHERE key = id AND id NOT IN ({_named_projects(db, but='standing')})"
    with db.transaction():  # what only damaged rows named
        db.execute(f"DELETE FROM standing WHERE project IN ({nobodys})")
        db.execute(f"DELETE FROM project WHERE id IN ({nobodys})")
    damage, short = mended.damage, []
    for table, ids in sorted(damage.lost.items()):
        there = {row[0] for some in batches(sorted(ids)) for row in _rows_named(db, table, some)}
        if gone := sorted(ids - there):
            named = ", ".join(gone[:_IDS_NAMED]) + (", …" if gone[_IDS_NAMED:] else "")
            short.append(f"{len(gone)} rows of {table} are lost: {named}")
        if decided := _decided(db, sorted(there)):
            short.append(f"what people decided on {', '.join(decided)} is lost: decide again (`hardwon history ID`)")
    sums = db.sums()
    unproven = {table for table in damage.tables - _MADE_AGAIN if damage.sums.get(table, -1) != sums.get(table)}
    left = int(db.query("SELECT count(*) FROM session WHERE harvester_version = 0")[0][0])
    elsewhere = {table for table in unproven & set(schema.TABLES.evidence) if _has_other_sources(db, table)}
    if rebuilt := sorted(unproven & _REBUILT if left else elsewhere):
        which = f"{left} sessions whose transcripts are gone" if left else "what is no session"
        short.append(f"{', '.join(rebuilt)}: rows of {which} may be missing")
    unnamed = sorted(table for table in unproven - _REBUILT if not damage.lost.get(table))
    return [*short, *(f"{table}: rows may be missing, or not be what was written" for table in unnamed)]


def _named_projects(db: SqliteDatabase, but: str = "") -> str:
    """SQL of the ids of all projects that anything belongs to, but for the rows of one table."""
    holders = [table for table, columns in db.columns().items() if "project" in columns and table != but]
    return " UNION ".join(f"SELECT project FROM {table} WHERE project IS NOT NULL" for table in holders)


def _has_other_sources(db: SqliteDatabase, table: str) -> bool:
    """Whether rows of a table come from something else than a session."""
    return bool(db.query(f"SELECT 1 FROM {table} WHERE source NOT IN (SELECT id FROM session) LIMIT 1"))


def _rows_named(db: SqliteDatabase, table: str, ids: Sequence[str]) -> list[Row]:
    return db.query(f"SELECT id FROM {table} WHERE id IN ({marks(ids)})", ids)


def _decided(db: SqliteDatabase, ids: Sequence[str]) -> list[str]:
    """Of these, those that somebody else than the harvest did something about."""
    ours = ("harvest", lifecycle.DECAY_ACTOR, "doctor")
    return [
        row[0]
        for some in batches(ids)
        for row in db.query(
            f"SELECT DISTINCT item FROM event WHERE item IN ({marks(some)}) AND actor NOT IN ({marks(ours)}) "
            "ORDER BY item",
            (*some, *ours),
        )
    ]


def _put_in_order(db: SqliteDatabase, order: _Order) -> list[str]:
    with db.transaction():
        order.broken_rows()
        order.false_fixes()
        order.lost_projects()
        order.dangling()
        order.orphans()
        order.uncounted()
        order.read_again()
    meta.recount_stale(db)
    indexed = fulltext.rebuild(db)
    with db.transaction():
        order.trail()
        told = Happened("repair", "store", {}, {"done": order.done})
        integrity.record_events(db, "doctor", now(), [told])
    return [*order.done, f"counted failures and lessons again, indexed {indexed} items"]


class _Order:
    """The steps, each inside a transaction."""

    def __init__(self, db: SqliteDatabase, quarantine: Quarantine, damage: Damage) -> None:
        self._db = db
        self._quarantine = quarantine
        self._damage = damage
        self._columns = db.columns()
        self.own: list[str] = []
        self.other: list[str] = []
        self.done: list[str] = []

    def broken_rows(self) -> None:
        """Rows that break their seal."""
        for table in schema.TABLES.sealed:
            if table == "session":
                continue
            ids = integrity.broken_seals(self._db, table)
            self._take(table, "id", ids, f"{table}s that were not what was written")
        ids = integrity.broken_seals(self._db, "session")
        for table in (*schema.TABLES.evidence, "call"):
            self._take(table, "session" if table == "call" else "source", ids, "", "its session was damaged")
        for some in batches(ids):  # nothing else knows their files any more
            for path, owner in self._db.query(f"SELECT path, owner FROM session WHERE id IN ({marks(some)})", some):
                self._remember(path, owner)
        self._take("session", "id", ids, "sessions that were not what was written")

    def lost_projects(self) -> None:
        """A project is known by its id; the next session in it brings back its name."""
        named = _named_projects(self._db)
        lost = self._db.query(f"SELECT project FROM ({named}) n WHERE project NOT IN (SELECT id FROM project)")
        self._db.bulk("INSERT INTO project (id, key, name) VALUES (?, ?, ?)", ((id, id, id) for (id,) in lost))
        self._db.bulk("DELETE FROM project_root WHERE project = ?", lost)
        if lost:
            self.done.append(f"made {len(lost)} projects anew, without their names")
            nobodys = self._db.query(f"SELECT id, key FROM project WHERE id NOT IN ({named})")
            false = [id for id, key in nobodys if id != project_id(key)]
            self._take("project_root", "project", false, "", "its project is false")
            self._take("project", "id", false, "projects that were not what was written", "its id is of another key")

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
            self._damage.tables.add(table)
            self._quarantine.add(f"its {column} is gone", table, columns, rows)
            self._db.execute(f"DELETE FROM {table} WHERE {where}")
            self.done.append(f"took out {len(rows)} rows of {table} whose {column} is gone")
        return len(rows)

    def orphans(self) -> None:
        for table in schema.TABLES.evidence:
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
        meta.mark_stale(self._db, (row[0] for row in self._db.query("SELECT id FROM failure")))
        meta.mark_stale(self._db, (row[0] for row in self._db.query("SELECT DISTINCT lesson FROM lesson_source")))
        meta.mark_stale(self._db, (row[0] for row in self._db.query("SELECT id FROM project")))

    def read_again(self) -> None:
        """After any gap nobody knows what is missing: what came from transcripts comes from all of them again."""
        if not self._damage.of_transcripts():
            return
        for path, owner in self._db.query("SELECT DISTINCT path, owner FROM session ORDER BY path"):
            self._remember(path, owner)
        for (path,) in self._db.query("SELECT path FROM source WHERE refused = '' ORDER BY path"):
            self._remember(path, "foreign")
        self._db.execute("UPDATE session SET harvester_version = 0")
        integrity.reseal(self._db, "session", (row[0] for row in self._db.query("SELECT id FROM session")))
        self._db.execute("DELETE FROM source WHERE refused = ''")
        self._db.execute("DELETE FROM lesson_compared")
        if "failure" in self._damage.tables:
            self._db.execute("UPDATE failure SET version = 0")  # the next session that has it says its words again
        if "project" in self._damage.tables:
            self._db.execute("DELETE FROM project_root")
            self._db.execute("UPDATE project SET key = id, name = id WHERE id IN (SELECT project FROM session)")

    def _remember(self, path: str, owner: str) -> None:
        if path not in self.own and path not in self.other and os.path.isfile(os.path.expanduser(path)):
            (self.own if owner == "own" else self.other).append(path)

    def trail(self) -> None:
        """Damaged entries lose what they said, lost ones are replaced by a mark, and the chain is closed again."""
        broken = integrity.broken_events(self._db)
        if not broken:
            return
        self._damage.tables.add("event")
        columns = self._columns["event"]
        rows = self._db.query(f"SELECT {', '.join(columns)} FROM event WHERE number IN ({marks(broken)})", broken)
        self._quarantine.add("the audit trail was broken here", "event", columns, rows)
        integrity.close_events_again(self._db)
        self.done.append(f"closed the audit trail again at {len(broken)} events, from number {broken[0]} on")

    def false_fixes(self) -> None:
        """The id of a fix is made of what it says."""
        rows = self._db.query("SELECT id, failure, steps, succeeded_as FROM fix ORDER BY id")
        wrong = [id for id, *said in rows if id != failures.fix_id(*said)]
        self._take("fix_evidence", "fix", wrong, "", "its fix was damaged")
        self._take("fix", "id", wrong, "fixes that were not what was written", "its id is of other steps")

    def _take(self, table: str, column: str, ids: Sequence[str], told: str, why: str = "its seal is broken") -> None:
        """Move rows into quarantine."""
        if ids:
            self._damage.lose(table, ids if column == "id" else ())
        columns, count = self._columns[table], 0
        for some in batches(ids):
            where = f"{column} IN ({marks(some)})"
            rows = self._db.query(f"SELECT {', '.join(columns)} FROM {table} WHERE {where}", some)
            count += self._quarantine.add(why, table, columns, rows)
            self._db.execute(f"DELETE FROM {table} WHERE {where}", some)
        if count and told:
            self.done.append(f"took out {count} {told}")
