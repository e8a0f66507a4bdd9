"""What else in the home folder may hold something that is to be forgotten: copies of the store, caches, exports."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
from msgspec import Struct

from hardwon import hook_config
from hardwon.api.residue import Needles, belongs_to_database, files_below, is_database
from hardwon.scrub.marks import FORGOTTEN
from hardwon.sessions.scan import CACHES
from hardwon.store import migrations, vectors
from hardwon.store.sqlite import SqliteDatabase

Holds = Callable[[str], bool]

_JOURNALS = ("-wal", "-shm", "-journal")


class Changed(Struct, frozen=True):
    """A file that was changed or deleted, and why."""

    path: str
    what: str


class Copies:
    """The files below the home folder and below the folders that were exported to, but for the live store."""

    def __init__(self, home: Path, live: Path | None, exports: Iterable[Path]) -> None:
        self.places = [home, *exports]
        self._live = live

    def all_files(self) -> list[Path]:
        return files_below(self.places)

    def stores(self) -> list[Path]:
        """Copies that have this version's tables: backups, and the cache of a team's store."""
        return [path for path in self._databases() if _schema(path) == migrations.newest()]

    def older_stores(self) -> list[Path]:
        return [path for path in self._databases() if 0 < _schema(path) < migrations.newest()]

    def _databases(self) -> list[Path]:
        return [path for path in self.all_files() if path != self._live and is_database(path)]

    def other_files(self) -> list[Path]:
        """Caches, logs, exports; never the settings, which are a person's own."""
        skipped = self.places[0] / hook_config.FILE
        return [path for path in self.all_files() if path != skipped and not belongs_to_database(path)]

    def named(self, path: Path, needles: Needles) -> set[bytes]:
        """What of it a file's name says; those right in the home folder are named by us."""
        home = self.places[0]
        names = path.relative_to(home).parts if path.is_relative_to(home) else path.parts[-1:]
        return needles.said(names) if len(names) > 1 or not path.is_relative_to(home) else set()

    def reading(self) -> Iterator[tuple[Path, SqliteDatabase]]:
        for path in self.stores():
            db = SqliteDatabase(path)
            yield path, db
            db.close()

    @contextmanager
    def changing(self, path: Path) -> Iterator[SqliteDatabase]:
        """A copy, opened for writing and left as one file without a journal."""
        db = SqliteDatabase(path, write=True)
        try:
            yield db
            db.query("PRAGMA journal_mode = DELETE")
        finally:
            db.close()

    def delete_older_stores(self, needles: Needles, *, dry_run: bool) -> list[Changed]:
        """Their tables are not ours any more: one that holds something forgotten goes as a whole."""
        done = []
        for path in self.older_stores():
            if needles.found_in(path):
                done.append(Changed(str(path), "deleted: a copy from before an upgrade, which cannot be changed"))
                if not dry_run:
                    for name in (path, *(path.with_name(path.name + end) for end in _JOURNALS)):
                        name.unlink(missing_ok=True)
        return done

    def clean_files(self, needles: Needles, says: Callable[[str], bool], *, dry_run: bool) -> list[Changed]:
        """Takes out what holds a needle, or forgotten words in another spelling."""

        def holds(text: str) -> bool:
            return bool(needles.said([text])) or says(text)

        done = []
        for path in self.other_files():
            cached = path.name in CACHES or vectors.is_vector_file(path.name)
            new = "" if cached or self.named(path, needles) else _cleaned(path, holds)
            if new is None or (cached and not needles.found_in(path)):
                continue
            done.append(Changed(str(path), "lines removed" if new.strip() else "deleted"))
            if not dry_run:
                _replace(path, new)
        return done


def _schema(path: Path) -> int:
    """Of a store of ours; 0 of any other database."""
    try:
        connection = apsw.Connection(f"file:{path}?mode=ro", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            ours = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'lesson_source'").fetchone()
            version = connection.execute("PRAGMA user_version").fetchone()
        finally:
            connection.close()
    except apsw.Error:
        return 0
    return int(version[0]) if ours and version else 0


def _cleaned(path: Path, holds: Holds) -> str | None:
    """A text file without what is to be forgotten; None when it holds nothing of it, or is not text."""
    try:
        text = path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError):
        return None
    lines = text.splitlines(keepends=True)
    left = [line for line in lines if not holds(line)]
    if len(left) == len(lines):
        return None
    if path.suffix == ".json":
        try:
            return json.dumps(_pruned(json.loads(text), holds), indent=2, ensure_ascii=False) + "\n"
        except ValueError:
            pass  # its lines are as good as any
    return "".join(left)


def _pruned(value: Any, holds: Holds) -> Any:
    """The smallest entries of lists that hold it are left out; what is in no list is masked."""
    if isinstance(value, str):
        return FORGOTTEN if holds(value) else value
    if isinstance(value, dict):
        return {name: _pruned(part, holds) for name, part in value.items() if not holds(name)}
    if isinstance(value, list):
        return [_pruned(part, holds) for part in value if not _about(part, holds)]
    return value


def _about(entry: Any, holds: Holds) -> bool:
    """Whether an entry of a list is itself what is forgotten, rather than something around it."""
    parts = entry.values() if isinstance(entry, dict) else [entry]
    return any(holds(str(part)) for part in parts if not isinstance(part, dict | list))


def _replace(path: Path, text: str) -> None:
    if not text.strip():
        path.unlink(missing_ok=True)
        return
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
