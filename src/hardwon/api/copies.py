"""The files beside the store that may hold a copy of it, and every byte that still says what was forgotten."""

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
from hardwon.scrub.marks import FORGOTTEN
from hardwon.sessions.scan import CACHES
from hardwon.store import migrations, sqlite, vectors
from hardwon.store.sqlite import SqliteDatabase

# Proof that a text is gone: every byte of every file is looked at.

MIN_CHARACTERS_THAT_PROVE = 12
"""What is shorter than this is found in too many places to prove anything."""

_STRETCH = 24
_MAX_SEARCHED_ONE_BY_ONE = 50
"""So many are looked for one by one faster than all at once."""
_WINDOWS = (12, 6)
_CHUNK = 16 * 1024 * 1024
_SQLITE = b"SQLite format 3\0"


class Needles:
    """Texts made ready to be looked for, however many there are; what is found is told as lower-case bytes."""

    def __init__(self, texts: Iterable[str], *, cut: bool) -> None:
        forms = {form for text in texts for form in _forms(text)}
        self._prepare({piece for form in forms for piece in _stretches(form)} if cut else forms)

    def _prepare(self, needles: set[bytes]) -> None:
        self._needles = needles
        self._longest = max(map(len, needles), default=1)
        self._one_by_one = needles
        self._windows: list[tuple[int, dict[bytes, list[tuple[int, bytes]]]]] = []
        if len(needles) <= _MAX_SEARCHED_ONE_BY_ONE:
            return
        for width in _WINDOWS:
            fit = [needle for needle in self._one_by_one if len(needle) >= 2 * width - 1]
            self._one_by_one = self._one_by_one.difference(fit)
            windows: dict[bytes, list[tuple[int, bytes]]] = {}
            # Wherever it stands, one window at a multiple of the width lies wholly inside it.
            for needle in fit:
                for offset in range(width):
                    windows.setdefault(needle[offset : offset + width], []).append((offset, needle))
            self._windows.append((width, windows))

    def __len__(self) -> int:
        return len(self._needles)

    def leave_out(self, needles: set[bytes]) -> None:
        if needles:
            self._prepare(self._needles - needles)

    def found_in(self, path: Path) -> set[bytes]:
        return {needle for data in self._chunks(path) for needle in self.found(data)}

    def said(self, texts: Iterable[str]) -> set[bytes]:
        return self.found("\n".join(texts).encode("utf-8", "surrogatepass").lower())

    def found(self, data: bytes) -> set[bytes]:
        """The needles that stand in lower-case bytes."""
        found = {needle for needle in self._one_by_one if needle in data}
        for width, windows in self._windows:
            for at in range(0, len(data) - width + 1, width) if windows else ():
                if (window := data[at : at + width]) in windows:
                    for offset, needle in windows[window]:
                        if needle not in found and at >= offset and data.startswith(needle, at - offset):
                            found.add(needle)
        return found

    def _chunks(self, path: Path) -> Iterator[bytes]:
        kept = b""
        for data in sqlite.file_pieces(path, _CHUNK):
            yield (kept + data).lower()
            kept = (kept + data)[-self._longest :]


def files_below(folders: Iterable[Path]) -> list[Path]:
    """Every regular file, links left out."""
    found = {
        Path(folder, name)
        for top in folders
        for folder, _, names in os.walk(top)
        for name in names
        if not os.path.islink(os.path.join(folder, name)) and os.path.isfile(os.path.join(folder, name))
    }
    return sorted(found | {top for top in folders if top.is_file()})


def is_database(path: Path) -> bool:
    try:
        return sqlite.file_beginning(path, len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def belongs_to_database(path: Path) -> bool:
    """Its journals hold pages of it."""
    return path.name.endswith(("-wal", "-shm", "-journal")) or is_database(path)


def _forms(text: str) -> set[bytes]:
    cases = {text} if text.isascii() else {text, text.lower(), text.upper(), text.title()}
    escaped = {json.dumps(case, ensure_ascii=ascii)[1:-1] for case in cases for ascii in (True, False)}
    return {form.encode("utf-8", "surrogatepass").lower() for form in cases | escaped}


def _stretches(needle: bytes) -> Iterator[bytes]:
    if len(needle) <= _STRETCH:
        yield needle
        return
    middle = len(needle) // 2
    yield from (needle[:_STRETCH], needle[middle : middle + _STRETCH], needle[-_STRETCH:])


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
