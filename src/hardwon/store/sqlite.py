"""SQLite through apsw: WAL, FULL, every write in an immediate transaction."""

from __future__ import annotations

import os
import re
import shutil
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import apsw

from hardwon import durable
from hardwon.errors import StoreCorrupt, StoreError, StoreOutdated
from hardwon.home import LINKED, private_database, private_folder
from hardwon.store import database, fulltext, migrations, schema
from hardwon.store import integrity as store_integrity
from hardwon.store.database import (
    LEAST_SIMILARITY,
    WAIT_MILLISECONDS,
    Check,
    Entry,
    Neighbour,
    Patience,
    Row,
    Table,
    Vector,
    batches,
    insert,
    marks,
)
from hardwon.store.fulltext import best_matches
from hardwon.store.integrity import Sums
from hardwon.store.vectors import VectorSearch, nearest_first, next_version, packed

# The disk that a store is on: how much room it has, and whether it is another machine's.

LEAST_FREE_BYTES = 100 * 1024 * 1024
NETWORK = frozenset(
    "nfs nfs4 cifs smb smbfs smb3 9p afs afpfs ceph glusterfs ncpfs fuse.sshfs fuse.s3fs fuse.rclone webdav".split()
)
FIRST_SAFE_SQLITE = (3, 51, 3)
_CACHE_KIB = {"read": 2_048, "write": 8_192}
"""Of a connection, of which a service has several. More makes no question quicker: the system keeps the file, too."""
_JOURNALS = ("-wal", "-shm", "-journal")
_TRIES_TO_COPY = 20
_LOG_HEADER = 32
"""Bytes at the beginning of a write-ahead log, with two numbers that are new whenever it is begun anew."""


def place_checks(home: Path) -> list[Check]:
    found = [_room(home)]
    if kind := network_disk(home):
        found.append(Check("file system", False, f"{kind}: locks may fail there; set HARDWON_HOME to a local disk"))
    return found


def _room(home: Path) -> Check:
    there = _nearest(home)
    try:
        free = shutil.disk_usage(there).free
    except OSError as error:
        return Check("disk", False, f"{there} cannot be read: {error.strerror}")
    if is_read_only(there):
        return Check("disk", False, f"{there} cannot be written to: nothing can be learned; set HARDWON_HOME")
    said = f"{free / 1e9:.1f} GB free"
    return Check(
        "disk", free >= LEAST_FREE_BYTES, said if free >= LEAST_FREE_BYTES else f"only {said}: free some space"
    )


def is_read_only(folder: Path) -> bool:
    return folder.is_dir() and not os.access(folder, os.W_OK)


def network_disk(path: Path) -> str:
    """The kind of network file system that a path is on; empty for a local disk, and where nobody can tell."""
    there = str(_nearest(path).resolve())
    if sys.platform == "win32":
        return "a network share" if there.startswith("\\\\") else ""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
            mounts = [line.split() for line in file]
    except OSError:
        return ""
    return network_disk_of_mounts(there, mounts)


def network_disk_of_mounts(path: str, mounts: list[list[str]]) -> str:
    """Of the mounts that hold the path, the innermost and last one counts."""
    holding = [
        (len(point), number, kind)
        for number, (point, kind) in enumerate(
            (_unescaped(fields[1]), fields[2]) for fields in mounts if len(fields) > 2
        )
        if path == point or path.startswith(point.rstrip("/") + "/")
    ]
    kind = max(holding, default=(0, 0, ""))[2]
    return kind if kind in NETWORK else ""


def _unescaped(point: str) -> str:
    """The kernel writes a space as `\\040`."""
    return re.sub(r"\\([0-7]{3})", lambda digits: chr(int(digits[1], 8)), point)


def _nearest(path: Path) -> Path:
    """The path or the nearest folder above it that exists."""
    return next((each for each in (path, *path.parents) if each.exists()), Path("/"))


IN_MEMORY = Path(":memory:")
"""No file: what SQLite calls a store that ends with its connection."""

_NONE_YET = (
    "there is no store at {} yet: run `hardwon up` first. The examples that it shows where there are no sessions "
    "are not saved; `hardwon up --demo --keep` saves them"
)


class SqliteDatabase:
    """A file on this machine."""

    engine = "sqlite"
    lane = 0
    _sums: Sums | None = None

    def __init__(self, path: Path, *, write: bool = False, create: bool = True, wait: int = WAIT_MILLISECONDS) -> None:
        """`create` lets one that writes make the store if there is none."""
        self.path = path
        self.place = str(path)
        self.comparison = VectorSearch(self, path.parent)
        self._may_create = create
        flags = apsw.SQLITE_OPEN_READWRITE
        if path == IN_MEMORY:
            flags |= apsw.SQLITE_OPEN_CREATE
        elif write and create:
            make_home(path.parent)
            flags |= apsw.SQLITE_OPEN_CREATE
            refuse_lone_journal(path)
        elif not path.exists():
            raise _gone(path) if write else StoreError(_NONE_YET.format(path.parent))
        elif write:
            make_home(path.parent)  # an older version left it open to others
        try:
            if write and path != IN_MEMORY:
                private_database(path, create=create)
            elif path.is_symlink():
                raise OSError(0, LINKED)
            self._copied_at = _state(path) if not write and is_read_only(path.parent) else None
            self._connection = (
                apsw.Connection(str(path), flags=flags) if self._copied_at is None else _private_copy(path)
            )
            self._patience = Patience(path.parent, wait / 1000)
            self._connection.set_busy_handler(self._patience)
            self._connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB['write' if write else 'read']}")
            version = self._trusted_version()
            if not write:
                self._connection.execute("PRAGMA query_only = ON")
            else:
                # WAL needs memory that all processes share, which those of several machines do not.
                journal = "DELETE" if network_disk(path.parent) else "WAL"
                self._connection.execute(f"PRAGMA journal_mode = {journal}")
                self._connection.execute("PRAGMA synchronous = FULL")
                # What is deleted is overwritten: a forgotten text must not be left in a free page.
                self._connection.execute("PRAGMA secure_delete = ON")
            self._file = _identity(path)
            self._bring_up_to_date(version, write=write)
            self._connection.execute("PRAGMA foreign_keys = ON")
            self._sums = Sums(self._connection, self.columns()) if write else None
        except BaseException as error:
            if hasattr(self, "_connection"):
                self._connection.close()  # else who repairs it finds it in use
            if isinstance(error, apsw.Error | OSError):
                raise explained(error, path) from error
            raise

    @contextmanager
    def transaction(self, project: str | None = None) -> Iterator[None]:  # noqa: ARG002 - a file has one writer
        inner = self._connection.in_transaction
        begin, keep, undo = _INNER if inner else _WHOLE
        try:
            with nullcontext() if inner else self._patience.in_line():
                self._connection.execute(begin)
            before = self._sums.changes() if self._sums else {}
            try:
                yield
                if not inner:
                    if self._sums:
                        self._sums.settle()
                    if _identity(self.path) != self._file:  # SQLite would go on writing to a deleted file
                        raise _gone(self.path)
                self._connection.execute(keep)
            except BaseException:  # an interruption, too, must leave nothing half written
                if self._sums:
                    self._sums.undo(before)
                if self._connection.in_transaction:  # a full disk makes SQLite roll back by itself
                    self._connection.execute(undo)
                raise
        except apsw.Error as error:
            raise explained(error, self.path) from error

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        if self._connection.in_transaction:  # which is of one moment, too
            yield
            return
        self.execute("BEGIN")
        try:
            yield
        finally:
            self.execute("ROLLBACK")

    def unhurried(self) -> AbstractContextManager[None]:
        return nullcontext()

    def share_failures(self, ids: Iterable[str]) -> None:
        """Whoever writes has the whole file."""

    def next_numbers(self, table: str, count: int, beside: str = "NULL") -> tuple[list[int], Any]:
        ((newest, known),) = self.query(f"SELECT (SELECT coalesce(max(number), 0) FROM {table}), {beside}")
        return [*range(newest + 1, newest + 1 + count)], known

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        try:
            return list(self._connection.execute(sql, parameters))
        except (apsw.Error, UnicodeDecodeError) as error:
            raise self._explained(error) from error

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        try:
            self._connection.execute(sql, parameters)
        except apsw.Error as error:
            raise self._explained(error) from error

    def changed(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        self.execute(sql, parameters)
        return self._connection.changes()

    def bulk(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        try:
            self._connection.executemany(sql, rows)
        except apsw.Error as error:
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> Exception:
        """What the file does not know any more is a bug of ours only if the file says of its tables what it should."""
        unknown = isinstance(error, apsw.SQLError) and "no such" in str(error)
        if unknown and misdeclared_parts(self._connection, migrations.NEWEST):
            return explained(apsw.CorruptError(), self.path)
        return explained(error, self.path)

    def claim(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        return self.query(sql, parameters)  # an immediate transaction is alone anyway

    def index(self, entries: Iterable[Entry]) -> None:
        latest = {entry.item: entry for entry in entries}
        self.unindex(latest)
        for index, items in fulltext.by_index(latest):
            (newest,) = self.query(f"SELECT coalesce(max(id), 0) FROM {index.items}")[0]
            numbered = list(enumerate(map(latest.__getitem__, items), start=newest + 1))
            self.bulk(
                f"INSERT INTO {index.items} (id, item, type, hash) VALUES (?, ?, ?, ?)",
                [(number, entry.item, entry.type, entry.hash) for number, entry in numbered],
            )
            self.bulk(
                f"INSERT INTO {index.words} (rowid, terms) VALUES (?, ?)",
                [(number, entry.terms) for number, entry in numbered],
            )

    def unindex(self, items: Iterable[str]) -> None:
        for index, of_it in fulltext.by_index(items):
            for some in batches(of_it):
                rows = self.query(f"SELECT id FROM {index.items} WHERE item IN ({marks(some)})", some)
                if rows:
                    self.bulk(f"DELETE FROM {index.words} WHERE rowid = ?", rows)
                    self.bulk(f"DELETE FROM {index.items} WHERE id = ?", rows)

    def matches(
        self,
        terms: Sequence[str],
        limit: int,
        types: Sequence[str] = (),
        *,
        phrases: Sequence[Sequence[str]] = (),
        also: Sequence[str] = (),
    ) -> list[tuple[str, str, float]]:
        if not terms:
            return []
        index = fulltext.index_of_types(types)
        corpus = fulltext.corpus(self, terms, index)
        found = {
            row[0]: row for row in fulltext.candidates(self, corpus, fulltext.CANDIDATES_PER_RESULT * limit, types)
        }
        found |= {row[0]: row for row in fulltext.given(self, [item for item in also if item not in found], index)}
        corpus = fulltext.as_searched(corpus, limit, also, found.values())
        return best_matches(fulltext.ranked(corpus, phrases, found.values()), limit, also)

    def put_vectors(self, model: str, vectors: Iterable[Vector]) -> None:
        version = next_version(self)
        columns = ("item", "model", "dimensions", "value", "hash", "version")
        replace = ", ".join(f"{column} = excluded.{column}" for column in columns[1:])
        self.bulk(
            insert("embedding", columns, f"ON CONFLICT (item) DO UPDATE SET {replace}"),
            ((item, model, len(value), packed(value), hash, version) for item, value, hash in vectors),
        )

    def nearest(
        self,
        model: str,
        vector: Sequence[float],
        limit: int,
        *,
        also: Sequence[str] = (),
        least: float = LEAST_SIMILARITY,
    ) -> list[Neighbour]:
        self.comparison.bring_up_to_date(model, len(vector))
        found = self.comparison.nearest(vector, limit, least) if limit > 0 else []
        seen = {near.item for near in found}
        found += self.comparison.given(model, vector, [item for item in also if item not in seen])
        return sorted(found, key=nearest_first)

    def rewrite(self) -> bool:
        """Leave nothing in the file but its rows; False if who reads it just now keeps older pages in the journal.

        A full-text index keeps terms of deleted rows where its pages begin, and pages keep cells that were moved.
        """
        for index in fulltext.INDEXES:
            self.execute(f"INSERT INTO {index.words} ({index.words}) VALUES ('rebuild')")
        self.execute("PRAGMA temp_store = MEMORY")
        self.execute("VACUUM")
        return not self.query("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]

    def columns(self) -> dict[str, list[str]]:
        return {table: [row[1] for row in self.query(f"PRAGMA table_info({table})")] for table in self._tables()}

    def _tables(self) -> list[str]:
        rows = self.query(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' "
            "AND name NOT GLOB 'search_*' AND name <> ? ORDER BY name",
            (store_integrity.SUMS_TABLE,),
        )
        return [row[0] for row in rows]

    def check(self) -> list[Check]:
        integrity = [str(row[0]) for row in self.query("PRAGMA integrity_check(5)")]
        dangling = self.query("PRAGMA foreign_key_check")
        named, entries = (
            sum(int(self.query(f"SELECT count(*) FROM {index[at]}")[0][0]) for index in fulltext.INDEXES)
            for at in (0, 1)
        )
        wrong = self._wrong_tables()
        misdeclared = list(misdeclared_parts(self._connection, migrations.NEWEST))
        return [
            Check("integrity", integrity == ["ok"], "; ".join(integrity)),
            Check(
                "schema",
                not misdeclared,
                f"not as declared: {', '.join(misdeclared)}" if misdeclared else "every table is as declared",
            ),
            Check("references", not dangling, f"{len(dangling)} dangling"),
            Check("tables", not wrong, f"not what was written: {', '.join(wrong)}" if wrong else "sums are right"),
            Check("index", entries == named, f"{named} items, {entries} entries"),
        ]

    def _wrong_tables(self) -> list[str]:
        columns = self.columns()
        self.execute("SAVEPOINT one_moment")
        try:
            return store_integrity.broken_sums(self._connection, columns)
        finally:
            self.execute("RELEASE one_moment")

    def sums(self) -> dict[str, int]:
        """Table → the sum over its rows."""
        return store_integrity.stored_sums(self._connection)

    def copy_to(self, path: Path) -> None:
        """An exact copy while others go on reading and writing."""
        try:
            private_database(path)
            target = apsw.Connection(str(path))
            with target.backup("main", self._connection, "main") as backup:
                while not backup.done:
                    backup.step(1000)
            target.execute("PRAGMA journal_mode = DELETE")
            target.close()
        except (apsw.Error, OSError) as error:
            raise explained(error, path) from error

    def is_current(self) -> bool:
        if self._connection.in_transaction:
            return True
        return _identity(self.path) == self._file if self._copied_at is None else _state(self.path) == self._copied_at

    def close(self) -> None:
        if not self.is_current():
            _leave_the_name_alone(self._connection)
        self._connection.close()

    def _trusted_version(self) -> int:
        """The number of the schema; 0 if there is nothing in the file. What is no store of ours is refused."""
        if (version := self._version()) == migrations.NEWEST:
            return version
        with self.snapshot():  # another process may just be making it
            version = self._version()
            if version != migrations.NEWEST:
                self._refuse_false_version(version)
                migrations.refuse_newer(version, self.place)
            if not version and self.query("SELECT 1 FROM sqlite_master LIMIT 1"):
                raise StoreCorrupt(
                    f"{self.path} is not a store of Hardwon: move it away and run `hardwon up` to make one"
                )
        return version

    def _bring_up_to_date(self, current: int, *, write: bool) -> None:
        if current == migrations.NEWEST:
            return
        if not (current or (write and self._may_create)):
            raise StoreError(
                f"{self.path} is empty: `hardwon restore` brings back a backup, `hardwon up` builds it anew"
            )
        if not write:
            raise StoreOutdated(f"{self.path} has an older schema: run `hardwon up` once to upgrade it")
        if current:
            self._keep_a_copy(current)
        with self.transaction():
            current = self._version()
            if current == migrations.NEWEST:  # another process was first
                return
            migrations.refuse_newer(current, self.place)
            if current:
                migrations.upgrade(self, current)
            else:
                create_tables(self._connection, schema.TABLES.in_order)
            for statement in fulltext.index_statements(current, migrations.NEWEST):
                self._connection.execute(statement)
            if broken := self.query("PRAGMA foreign_key_check"):
                raise StoreError(
                    f"{self.path} could not be upgraded and is as it was: {len(broken)} rows refer to lost ones"
                )
            self._connection.execute(f"PRAGMA user_version = {migrations.NEWEST}")
            store_integrity.forget_sums(self._connection)

    def _keep_a_copy(self, version: int) -> None:
        """The store as it was, beside the new one, before a migration touches it."""
        copy = self.path.with_name(f"{self.path.stem}.schema{version}.db")
        unfinished = copy.with_name(f"{copy.name}.{os.getpid()}.new")
        self.copy_to(unfinished)
        durable.settle(unfinished, copy)

    def _version(self) -> int:
        row = self._connection.execute("PRAGMA user_version").fetchone()
        return int(row[0]) if row else 0

    def _refuse_false_version(self, said: int) -> None:
        """A number of the schema that its tables contradict was damaged; nothing must be upgraded because of it."""
        made = version_of_tables(self._connection)
        if made in (0, said):
            return
        is_flipped = (said ^ made).bit_count() == 1 and not _has_unknown_parts(self._connection)
        if said < made or is_flipped:  # else a later Hardwon wrote it
            raise StoreCorrupt(
                f"{self.path} is damaged: it says schema {said}, but its tables are those of {made}; "
                "`hardwon doctor --fix` mends it"
            )


_WHOLE = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
_INNER = ("SAVEPOINT inner_part", "RELEASE inner_part", "ROLLBACK TO inner_part; RELEASE inner_part")
"""A transaction in another: all of both, or of the inner one nothing."""


def _columns_of(connection: apsw.Connection) -> dict[str, set[str]]:
    """Table → its columns, as they are."""
    rows = connection.execute(
        "SELECT t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'"
    )
    there: dict[str, set[str]] = {}
    for table, column in rows:
        there.setdefault(str(table), set()).add(str(column))
    return there


def _has_unknown_parts(connection: apsw.Connection) -> bool:
    """Whether there is a table, or a column of one, that no schema we know has: each so far added one."""
    declared = migrations.tables_at(migrations.NEWEST)
    return any(
        name not in declared or not columns <= set(declared[name].names)
        for name, columns in _columns_of(connection).items()
        if not name.startswith(("search_", "sqlite_", store_integrity.SUMS_TABLE))
    )


def version_of_tables(connection: apsw.Connection, missing: int = 0) -> int:
    """The schema with the most tables and columns that are all there, but for so many; 0 if there is none."""
    there = _columns_of(connection)

    def lacking(version: int) -> int:
        """A table that is not there counts as a column."""
        tables = migrations.tables_at(version)
        return sum(len(set(table.names) - there[name]) if name in there else 1 for name, table in tables.items())

    def columns(version: int) -> int:
        return sum(len(table.columns) for table in migrations.tables_at(version).values())

    fitting = [version for version in range(1, migrations.NEWEST + 1) if lacking(version) <= missing]
    return max(fitting, key=columns, default=0)  # of those with the same tables the first


def misdeclared_parts(connection: apsw.Connection, version: int) -> dict[str, str]:
    """Table or index whose statement is not the declared one → the declared one.

    Columns that an upgrade added stand elsewhere in it, and older ones had comments: only the words are compared.
    """
    stored = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    declared = {
        _NAME_OF.findall(statement)[0]: statement
        for table in migrations.tables_at(version).values()
        for statement in database.create_sql(table, "sqlite")
    }
    return {name: sql for name, sql in declared.items() if _words(str(stored.get(name, ""))) != _words(sql)}


_NAME_OF = re.compile(r"CREATE (?:TABLE|INDEX) (\w+)")


def _words(statement: str) -> list[str]:
    return sorted(re.findall(r"\w+|[^\w\s\",]", re.sub("--.*", "", statement)))


def _gone(path: Path) -> StoreError:
    return StoreError(f"{path} is gone: it was deleted or moved; run again to make it anew, or put it back")


def refuse_lone_journal(path: Path) -> None:
    """SQLite would throw it away with what was acknowledged and stands nowhere else yet."""
    log = Path(f"{path}-wal")
    if not path.exists() and log.exists() and log.stat().st_size:
        raise StoreError(
            f"{log} is there without {path.name}: it holds the last writes of a store that was moved or deleted; put "
            f"{path.name} back, or delete {log.name} to begin anew"
        )


def _leave_the_name_alone(connection: apsw.Connection) -> None:
    """The file has another name by now: by the old one, SQLite would delete the journal of whatever has it today."""
    connection.execute("PRAGMA journal_size_limit = 0")
    persist = array("i", [1])
    connection.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, persist.buffer_info()[0])


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _private_copy(path: Path) -> apsw.Connection:
    """A copy of the file and of what stands in its journals, of one moment, which goes with the connection.

    Whoever can write to the file may do so meanwhile, and cannot be locked out: then it is tried again.
    """
    import tempfile  # noqa: PLC0415 - for a store that cannot be written to alone

    with tempfile.TemporaryDirectory(prefix="hardwon-reading-") as folder:
        copy = Path(folder) / path.name
        for _ in range(_TRIES_TO_COPY):
            before = _moment(path)
            try:
                for side in ("", "-wal", "-journal"):
                    beside = Path(f"{path}{side}")
                    Path(f"{copy}{side}").unlink(missing_ok=True)
                    if beside.exists():
                        shutil.copyfile(beside, f"{copy}{side}")
            except FileNotFoundError:
                continue  # a journal that was there a moment ago
            if _moment(path) == before:
                connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)
                connection.execute("PRAGMA journal_mode = MEMORY")  # all is in the one file, which needs no name now
                return connection
    raise StoreError(f"{path} is being written to, and its folder cannot be: it cannot be read safely now; try again")


def _state(path: Path) -> list[tuple[int, int, int]]:
    """Changes with everything that is written to a store."""
    there = [os.stat(f"{path}{side}") for side in ("", "-wal") if os.path.exists(f"{path}{side}")]
    return [(each.st_ino, each.st_size, each.st_mtime_ns) for each in there]


def _moment(path: Path) -> tuple[object, ...]:
    """What stays the same as long as a copy is whole: a log that grows is, one that was begun anew is not."""
    try:
        with open(f"{path}-wal", "rb") as log:
            beginning = log.read(_LOG_HEADER)
    except FileNotFoundError:
        beginning = b""
    if len(beginning) == _LOG_HEADER:
        return (_identity(path), beginning)
    found = os.stat(path)
    return (_identity(path), found.st_size, found.st_mtime_ns, os.path.exists(f"{path}-journal"))


def create_tables(connection: apsw.Connection, tables: Iterable[Table]) -> None:
    for table in tables:
        for statement in database.create_sql(table, "sqlite"):
            connection.execute(statement)


def engine_check() -> Check:
    """Whether the SQLite we run on can lose data when a WAL is reset."""
    version = apsw.sqlite_lib_version()
    safe = tuple(int(part) for part in version.split(".")[:3]) >= FIRST_SAFE_SQLITE
    return Check("sqlite", safe, version + ("" if safe else ": may lose data when a WAL is reset; upgrade apsw"))


def make_home(home: Path) -> None:
    try:
        private_folder(home)
    except OSError as error:
        raise StoreError(
            f"cannot make {home}: {error.strerror}; set HARDWON_HOME to a folder you can write to"
        ) from error


def explained(error: Exception, path: Path) -> Exception:
    """SQLite's error as one sentence that says what to do; what only a bug can cause stays as it is."""
    if isinstance(error, apsw.CorruptError | UnicodeDecodeError) or str(error) == "unsupported file format":
        return StoreCorrupt(
            f"{path} is damaged: `hardwon doctor --fix` saves what can be read, `hardwon restore` brings back a backup"
        )
    if isinstance(error, apsw.NotADBError):
        return StoreCorrupt(
            f"{path} is damaged or not a database: `hardwon doctor --fix` saves what can be read, `hardwon restore` "
            "brings back a backup; or move it away and run `hardwon up` to build it anew"
        )
    if isinstance(error, apsw.CantOpenError | apsw.ReadOnlyError | apsw.PermissionsError | apsw.AuthError):
        return StoreError(
            f"cannot open or write {path}: {_said(error)}; check the folder's permissions or set HARDWON_HOME"
        )
    if isinstance(error, OSError):
        return StoreError(
            f"cannot open or write {path}: {error.strerror}; check the folder's permissions or set HARDWON_HOME"
        )
    if isinstance(error, apsw.FullError):
        return StoreError(f"the disk of {path} is full: free some space and run again")
    if isinstance(error, apsw.BusyError):
        return StoreError(f"{path} is in use by another process: try again")
    if isinstance(error, apsw.IOError):
        return StoreError(
            f"cannot read or write {path}: {_said(error)}; see that its disk is well and has room, and run again"
        )
    if isinstance(error, apsw.ThreadingViolationError):
        return StoreError(
            f"this connection to {path} is busy in another thread: have one Hardwon for each, or use AsyncHardwon"
        )
    if isinstance(error, apsw.ConstraintError | apsw.MismatchError):
        return StoreError(f"{path} refuses a row: {error}")
    return error


def _said(error: Exception) -> str:
    """SQLite's own words; of what failed in a copy it says "not an error"."""
    return str(error) if str(error) != "not an error" else type(error).__name__.removesuffix("Error")


# The bytes of a file that this process may have open as a database.

_held: dict[tuple[int, int], tuple[int, Path]] = {}


def file_pieces(path: Path, size: int) -> Iterator[bytes]:
    """The whole file, a piece at a time."""
    if os.name == "nt" or not _in_use(path):  # Windows ties a lock to the handle that took it
        with open(path, "rb") as file:
            while data := file.read(size):
                yield data
        return
    descriptor, at = _descriptor(path), 0
    while data := os.pread(descriptor, size, at):
        at += len(data)
        yield data


def file_beginning(path: Path, size: int) -> bytes:
    return next(file_pieces(path, size), b"")


def _in_use(path: Path) -> bool:
    name = os.path.realpath(path)
    for journal in _JOURNALS:
        name = name.removesuffix(journal)
    return any(os.path.realpath(connection.filename) == name for connection in apsw.connections())


def _descriptor(path: Path) -> int:
    for key, (descriptor, held) in list(_held.items()):
        if not _in_use(held):
            os.close(descriptor)
            del _held[key]
    status = os.stat(path)
    key = status.st_dev, status.st_ino
    if key not in _held:
        _held[key] = os.open(path, os.O_RDONLY), path
    return _held[key][0]
