"""Copies of the store that are known to be good, and the way back from one."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path

import apsw

from hardwon import durable
from hardwon.clock import now
from hardwon.errors import NotAllowed, NotFound, StoreCorrupt, StoreError, StoreTooNew
from hardwon.home import FORMER_NAME, private_database, private_folder
from hardwon.store import check, integrity, migrations
from hardwon.store.database import Database
from hardwon.store.integrity import Happened
from hardwon.store.sqlite import SqliteDatabase, explained

FOLDER = "backups"
_NAME = re.compile(rf"(?:hardwon|{FORMER_NAME})-(\d{{8}}-\d{{6}})(?:-(\d+))?\.db")
_MAX_WAIT_MILLISECONDS = 10_000
_SIDES = ("-wal", "-shm", "-journal")
_WORKSHOP = "unfinished-"
_DEAD_AFTER_SECONDS = 3600
"""Who copies a store writes all the time; what nobody wrote to for so long, nobody will."""


def default_path(home: Path) -> Path:
    """`backups/hardwon-YYYYMMDD-HHMMSS.db`, numbered if there is one of this second."""
    named = home / FOLDER / f"hardwon-{stamp()}.db"
    numbered = (named.with_stem(f"{named.stem}-{number}") for number in range(2, 1000))
    return named if not named.exists() else next(path for path in numbered if not path.exists())


def stamp() -> str:
    return datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")


def kept(home: Path) -> list[Path]:
    """The backups in the home folder, the newest first."""
    folder = home / FOLDER
    named = [(found, path) for path in (folder.iterdir() if folder.is_dir() else ()) if (found := _made(path.name))]
    return [path for _, path in sorted(named, reverse=True)]


def _made(name: str) -> tuple[str, int] | None:
    """The second, and which of that second: the first has no number."""
    found = _NAME.fullmatch(name)
    return (found[1], int(found[2] or 1)) if found else None


def need_room_for_one(keep: int | None) -> None:
    if keep is not None and keep < 1:
        raise NotAllowed(f"cannot keep {keep} backups, for that would remove the one just made: keep at least 1")


def prune(home: Path, keep: int, made: Path) -> list[Path]:
    """Remove all but the newest, never the one that was just made; returns those that are gone."""
    need_room_for_one(keep)
    others = [path for path in kept(home) if path.resolve() != made.resolve()]
    gone = others[keep - (len(others) < len(kept(home))) :]
    for path in gone:
        path.unlink()
    return gone


def backup(db: SqliteDatabase, path: Path) -> dict[str, int]:
    """A verified copy, made while others read and write; returns how many rows each table has."""
    if path.exists():
        raise NotAllowed(f"{path} is there already: name another file")
    _make_folder(path.parent)
    sweep(db.path.parent)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        before = counts(db)
        db.copy_to(unfinished)
        with closing(SqliteDatabase(unfinished)) as copy:
            _refuse_unsound(copy, f"no backup was made, for {db.path} is damaged", "run `hardwon doctor --fix`")
            copied = counts(copy)
        if copied != before == counts(db):  # nobody wrote meanwhile
            raise StoreError(f"the copy of {db.path} does not have the same rows: no backup was made; try again")
        durable.settle(unfinished, path)
    finally:
        remove(unfinished)
    return copied


def counts(db: Database) -> dict[str, int]:
    return {table: int(db.query(f"SELECT count(*) FROM {table}")[0][0]) for table in db.columns()}


def restore(file: Path, live: Path) -> Path | None:
    """Put a backup in the store's place; returns where the store as it was is kept, if there was one."""
    with candidate(file, live) as copy:
        with closing(SqliteDatabase(copy, write=True)) as db:  # brings an old one up to date
            _refuse_unsound(db, f"{file} was not restored, for it is damaged", "choose another backup")
            if live.exists():
                _carry_tombstones(live, db)
            with db.transaction():
                integrity.record_events(db, "restore", now(), [Happened("restore", "store", {}, {"file": file.name})])
        if not live.exists():
            durable.settle(copy, live)
            return None
        with alone(live) as connection:
            return swap(connection, live, copy, f"{live.stem}.before-restore-{stamp()}.db")


@contextmanager
def candidate(file: Path, live: Path) -> Iterator[Path]:
    """A copy of a backup beside the store, so that putting it in place needs no more room."""
    if not file.is_file():
        raise NotFound(f"there is no file {file}: `hardwon doctor` names the newest backup")
    with workshop(live) as folder:
        copy = folder / live.name
        try:
            source = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
            version = source.execute("PRAGMA user_version").get
            known = source.execute("SELECT count(*) FROM sqlite_master WHERE name = 'lesson'").get
            if version > migrations.NEWEST:
                raise StoreTooNew(f"{file} was written by a newer Hardwon (schema {version}): upgrade Hardwon first")
            if not known:
                raise StoreCorrupt(f"{file} is not a store of Hardwon")
            private_database(copy)
            with closing(apsw.Connection(str(copy))) as target:
                _transfer(source, target)
            source.close()
        except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError) as error:
            raise StoreCorrupt(f"{file} is damaged or not a store of Hardwon: choose another backup") from error
        except apsw.Error as error:
            raise explained(error, live if isinstance(error, apsw.FullError) else file) from error
        yield copy


@contextmanager
def workshop(live: Path) -> Iterator[Path]:
    """A folder on the disk of the store for files in the making."""
    _make_folder(live.parent)
    sweep(live.parent)
    try:
        folder = Path(tempfile.mkdtemp(prefix=_WORKSHOP, dir=live.parent))
    except OSError as error:
        raise StoreError(f"cannot write to {live.parent}: {error.strerror}; check the folder's permissions") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(home: Path) -> None:
    """Remove what backups, restores and repairs that were killed left behind, once nobody writes to it any more."""
    latest = time.time() - _DEAD_AFTER_SECONDS
    for path in (*home.glob(f"{_WORKSHOP}*"), *home.glob("*.new*"), *(home / FOLDER).glob("*.new*")):
        with suppress(OSError):  # another process sweeps, too
            if max(each.stat().st_mtime for each in (path, *path.glob("*"))) < latest:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _refuse_unsound(db: SqliteDatabase, what: str, advice: str) -> None:
    bad = [one for one in check.store(db) if not one.ok and one.name in check.SOUND]
    if bad:
        raise StoreCorrupt(f"{what} ({bad[0].name}: {bad[0].says}): {advice}")


def _carry_tombstones(live: Path, db: SqliteDatabase) -> None:
    """What was forgotten since the backup stays forgotten; without the same key its marks mean nothing."""
    with suppress(StoreError), closing(SqliteDatabase(live)) as present:
        key = "SELECT value FROM meta WHERE key = 'forget_key'"
        if present.query(key) == db.query(key):
            rows = present.query("SELECT kind, hash, hint, at FROM tombstone")
            with db.transaction():
                db.bulk("INSERT INTO tombstone VALUES (?, ?, ?, ?) ON CONFLICT (kind, hash) DO NOTHING", rows)


@contextmanager
def alone(live: Path) -> Iterator[apsw.Connection]:
    """A connection while which no other process can read or write; nobody can, if the file is too damaged to lock."""
    connection = apsw.Connection(str(live), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(_MAX_WAIT_MILLISECONDS)
        with suppress(apsw.NotADBError, apsw.CorruptError, apsw.SQLError, apsw.ReadOnlyError):
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("COMMIT")  # the lock stays until the end of the connection
        yield connection
    except apsw.BusyError as error:
        raise StoreError(f"{live} is in use by another process: end it and try again") from error
    finally:
        connection.close()


def swap(connection: apsw.Connection, live: Path, new: Path, aside: str, *, in_place: bool = True) -> Path:
    """Give the store the content of another file, all of it or none; the old content is kept, and where is returned.

    The file stays the same where it can: a process that waits for it would be refused by one that was renamed.
    """
    old = live.with_name(aside)
    try:
        if not in_place:
            raise apsw.NotADBError
        _copy(connection, old)
        with closing(apsw.Connection(str(new))) as source:
            _transfer(source, connection)
    except (apsw.NotADBError, apsw.CorruptError):  # too damaged for anybody to wait for it
        connection.close()
        remove(old)
        for side in ("", *_SIDES):
            with suppress(FileNotFoundError):
                Path(f"{live}{side}").replace(f"{old}{side}")
        durable.settle(new, live)
    except apsw.Error as error:
        raise StoreError(f"{live} could not be replaced and is as it was: {explained(error, live)}") from error
    return old


def _copy(connection: apsw.Connection, path: Path) -> None:
    """Page for page, damage and all. Not by reading the file: closing it would give the lock away."""
    unfinished = path.with_name(f"{path.name}.new")
    private_database(unfinished)
    with closing(apsw.Connection(str(unfinished))) as target:
        _transfer(connection, target)
        target.execute("PRAGMA journal_mode = DELETE")
    durable.settle(unfinished, path)


def _transfer(source: apsw.Connection, target: apsw.Connection) -> None:
    with target.backup("main", source, "main") as copying:
        copying.step(-1)  # in one go, so that it is one transaction


def _make_folder(folder: Path) -> None:
    try:
        private_folder(folder)
    except OSError as error:
        raise StoreError(f"cannot make {folder}: {error.strerror}; name a file in a folder you can write to") from error


def remove(path: Path) -> None:
    for side in ("", *_SIDES):
        Path(f"{path}{side}").unlink(missing_ok=True)
