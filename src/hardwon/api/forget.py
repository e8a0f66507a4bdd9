"""Forgetting for good, with proof; and letting go of what is old."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hardwon import hook_config
from hardwon.api.connection import Connection, Part
from hardwon.clock import now
from hardwon.errors import NotAllowed, NotFound
from hardwon.home import private
from hardwon.sessions.scan import CACHES, Scanned
from hardwon.store import backup, forget, meta, migrations, sqlite, vectors
from hardwon.store.database import Database
from hardwon.store.deletion import Removal, rows_as_text, spoken
from hardwon.store.forget import Sequences, Target, What
from hardwon.store.meta import Forgotten, words
from hardwon.store.sqlite import SqliteDatabase
from hardwon.text.normalise import FORGOTTEN, blank, digest, tilde

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon

# The files beside the store that may hold a copy of it, and every byte that still says what was forgotten.

# Proof that a text is gone: every byte of every file is looked at.

MIN_CHARACTERS_THAT_PROVE = 12
"""What is shorter than this is found in too many places to prove anything."""

_STRETCH = 24
_MAX_SEARCHED_ONE_BY_ONE = 50
"""So many are looked for one by one faster than all at once."""
_WINDOWS = (12, 6)
_CHUNK = 16 * 1024 * 1024
_SQLITE = b"SQLite format 3\0"
_JOURNALS = ("-wal", "-shm", "-journal")
_MIN_TEXT_CHARACTERS = 3
_CHANCE = 6
_DAY = 86_400_000_000
_UNFINISHED = "forgetting"
"""The note, a keyed hash, of what is gone from all rows and not yet proven to be gone from every byte."""


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
        with suppress(FileNotFoundError):  # what is gone meanwhile holds nothing; under another name it is looked at
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

    def each_file(self) -> Iterator[Path]:
        """With those that get another name while the others are looked at."""
        seen: set[Path] = set()
        while new := [path for path in self.all_files() if path not in seen]:
            seen.update(new)
            yield from new

    def stores(self) -> list[Path]:
        """Copies that have this version's tables: backups, and the cache of a team's store."""
        return [path for path in self._databases() if _schema(path) == migrations.NEWEST]

    def older_stores(self) -> list[Path]:
        return [path for path in self._databases() if 0 < _schema(path) < migrations.NEWEST]

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
            if path.exists():  # somebody else may remove old backups meanwhile
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
            cached = path.name in CACHES or path.match(vectors.FILES)
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
    with open(temporary, "w", encoding="utf-8", opener=private) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


class Forgot(Struct, frozen=True):
    """What was forgotten, or would be. `left` names what still holds it; empty is proof that nothing does."""

    what: str
    dry_run: bool
    rows: dict[str, int]
    """Table → rows removed or changed in the store."""
    files: list[Changed] = []
    transcripts: list[str] = []
    """Files of the agents themselves, which still have it."""
    checked: int = 0
    """How many texts and ids were looked for in every byte of the home folder."""
    left: list[str] = []


class _Sought(NamedTuple):
    """What must be found nowhere: whole in ordinary files, in pieces in databases."""

    whole: Needles
    pieces: Needles
    ids: Needles
    echoed: bool = False
    """A row that stays says the very words that were to be forgotten."""


def nameable(memory: Connection, paths: Iterable[Path | str]) -> list[Path | str]:
    """Without the files whose very names are forgotten."""
    forgotten = _forgotten(memory)
    if not forgotten:
        return list(paths)
    from hardwon.harvest.walk import Log, is_forgotten  # noqa: PLC0415 - loads all that a harvest needs

    return [path for path in paths if not is_forgotten(Log(Path(path)), forgotten)]


def without_forgotten(memory: Connection, scanned: dict[str, Scanned]) -> dict[str, Scanned]:
    """Without new sessions of forgotten projects, which the cache of counts must not name either."""
    forgotten = _forgotten(memory)
    if not forgotten:
        return scanned
    left = {
        path: found
        for path, found in scanned.items()
        if not any(forgotten.holds("project", project) or forgotten.says(project) for project in found.projects)
    }
    if len(left) < len(scanned):
        for name in CACHES:
            (memory.home / name).unlink(missing_ok=True)
    return left


def _forgotten(memory: Connection) -> Forgotten:
    return meta.load_tombstones(memory.reading()) if memory.exists else Forgotten()


class _RolledBack(Exception):
    """Undoes the transaction that it is raised in."""


def need_one(*named: str) -> None:
    if sum(map(bool, named)) != 1:
        raise NotAllowed("name exactly one thing to forget: an id, a session, a project or a text")


class Forgetting(Part):
    """Letting go for good and with proof, or by age."""

    def forget(
        self, id: str = "", *, session: str = "", project: str = "", text: str = "", dry_run: bool = False
    ) -> Forgot:
        """Remove one thing from every table, index, copy and export; it does not come back with the next harvest.

        A lesson, failure, session, attempt, interaction or document by the beginning of its `id`; a `session` with
        its sub-agents by id or transcript; a `project`; a `text` in any case, wherever it stands. Raises `NotFound`,
        and `NotAllowed` unless one thing is named.
        """
        need_one(id, session, project, text)
        if not self._memory.exists and not backup.kept(self._memory.home):
            raise NotFound("there is no store yet, so nothing to forget")
        db = self._memory.writing()
        asked = digest(id, session, project, text, size=16, key=meta.forget_key(db))
        try:
            with db.unhurried():
                return self._forget(self._target(db, id, session, project, text), asked, dry_run=dry_run)
        except NotFound:
            if dry_run or meta.note(db, _UNFINISHED) != asked:
                raise
        return self._finish(db, id or session or project or text)  # it was killed before the proof

    def _target(self, db: Database, id: str, session: str, project: str, text: str) -> Target:
        if id:
            return forget.by_id(db, id)
        if session:
            return forget.by_session(db, session, os.path.abspath(os.path.expanduser(session)))
        if project:
            return Target("project", frozenset((self._memory.project(project) or "",)))
        if sum(len(word.encode()) for word in words(text) if word.isalnum()) < _MIN_TEXT_CHARACTERS:
            raise NotAllowed(f"a text to forget needs at least {_MIN_TEXT_CHARACTERS} letters or digits")
        return Target("text", text=" ".join(tilde(text).split()))

    def purge(self, days: int, *, what: What = "all", project: str | None = None, dry_run: bool = False) -> Forgot:
        """Drop what is older than some days; what a newer session confirms or a person decided on stays.

        Raises `NotFound` for an unknown project.
        """
        old = Target("purge", before=now() - days * _DAY, what=what, project=self._memory.project(project) or "")
        db = self._memory.writing()
        with db.unhurried():
            rows = self._rehearse(db, old, set())[0].rows if dry_run else self._remove(db, old, set()).rows
        return Forgot("purge", dry_run, dict(sorted(rows.items())))

    def _forget(self, wanted: Target, asked: str, *, dry_run: bool) -> Forgot:
        db = self._memory.writing()
        copies = self._copies(db)
        sequences = self._sequences(db, copies, wanted)
        trial, sought = self._rehearse(db, wanted, sequences)
        holding = [path for path, copy in copies.reading() if forget.is_in(copy, wanted, sequences)]
        files = copies.delete_older_stores(sought.pieces, dry_run=dry_run)
        words_to_forget = forget.forgotten(db, sequences)
        files += copies.clean_files(sought.whole, words_to_forget.says, dry_run=dry_run)
        if not (trial.rows or holding or files):
            raise NotFound("not found in the store or its copies; nothing was changed")
        # Copies first: if this is interrupted, the store still knows what was to be forgotten.
        for path in holding:
            if not dry_run:
                self._remove_from_copy(copies, path, wanted, sequences)
            files.append(Changed(str(path), "a copy of the store: rows removed or changed"))
        left: list[str] = []
        if not dry_run:
            self._remove(db, wanted, sequences, asked)
            left = self._proven(db, copies, sought)
        return Forgot(
            what=wanted.kind,
            dry_run=dry_run,
            rows=dict(sorted(trial.rows.items())),
            files=files,
            transcripts=[path for path in sorted(trial.transcripts) if os.path.exists(os.path.expanduser(path))],
            checked=len(sought.whole),
            left=left,
        )

    def _copies(self, db: Database) -> Copies:
        live = Path(db.place) if isinstance(db, SqliteDatabase) else None
        return Copies(self._memory.home, live, map(Path, meta.exports(db)))

    def _finish(self, db: Database, named: str) -> Forgot:
        """All rows are gone; what is left to do is to let nothing of old pages stay, and to look."""
        copies = self._copies(db)
        texts = [named] if len(named) >= MIN_CHARACTERS_THAT_PROVE else []
        sought = _Sought(Needles(texts, cut=False), Needles(texts, cut=True), Needles((), cut=False))
        _compact(db, vacuum=True)
        for path in copies.stores():
            with copies.changing(path) as copy:
                _compact(copy, vacuum=True)
        self._memory.mirror_for_hooks()
        return Forgot("unfinished", False, {}, checked=len(sought.whole), left=self._proven(db, copies, sought))

    def _proven(self, db: Database, copies: Copies, sought: _Sought) -> list[str]:
        """What still holds it; if nothing does, it is done."""
        left = self._left(db, copies, sought)
        if not left:
            with db.transaction():
                meta.set_note(db, _UNFINISHED, "")
        return left

    def _sequences(self, db: Database, copies: Copies, wanted: Target) -> Sequences:
        """The words to forget, longer ones that copies alone have included."""
        if wanted.kind != "text":
            return set()
        found = forget.sequences(db, wanted.text)
        for _, copy in copies.reading():
            found |= forget.sequences(copy, wanted.text)
        return found

    def _rehearse(self, db: Database, wanted: Target, sequences: Sequences) -> tuple[Removal, _Sought]:
        """What would go, and what may be found nowhere then: all that it said and nothing left says."""
        try:
            with db.transaction():
                removal = forget.remove(db, wanted, sequences, self._actor())
                sought = _sought(db, wanted, removal)
                raise _RolledBack
        except _RolledBack:
            return removal, sought

    def _remove(self, db: Database, wanted: Target, sequences: Sequences, asked: str = "") -> Removal:
        with db.transaction():
            removal = forget.remove(db, wanted, sequences, self._actor())
            forget.bury(db, wanted, sequences)
            meta.set_note(db, _UNFINISHED, asked)
            self._on_record(wanted, removal, asked)
        for file in self._memory.home.glob(vectors.FILES):
            file.unlink(missing_ok=True)
        self._memory.mirror_for_hooks()
        return removal

    def _on_record(self, wanted: Target, removal: Removal, asked: str) -> None:
        """Inside the transaction that removes it."""

    def _remove_from_copy(self, copies: Copies, path: Path, wanted: Target, sequences: Sequences) -> None:
        with copies.changing(path) as copy, copy.transaction():
            forget.remove(copy, wanted, sequences, self._actor())

    def _left(self, db: Database, copies: Copies, sought: _Sought) -> list[str]:
        """What still holds it, after everything was done: one line each."""
        left = []
        _compact(db, vacuum=False)
        if sought.echoed:
            left.append(
                f"{db.place}: it is gone, but other rows say the same; `hardwon forget --text WORDS` takes them"
            )
        for path in copies.each_file():
            needles = sought.pieces if belongs_to_database(path) else sought.whole
            found = needles.found_in(path) | copies.named(path, needles)
            if found and is_database(path):
                found = self._after_vacuum(db, copies, path, found, sought)
            elif path.name.endswith("-shm"):
                found = _no_chance(found)
            if found:
                left.append(f"{path}: still holds it")
        return left

    def _after_vacuum(self, db: Database, copies: Copies, path: Path, found: set[bytes], sought: _Sought) -> set[bytes]:
        """What a database still holds when its free space is gone, but for words that no row was told."""
        if str(path) == db.place:
            return _vacuumed(db, path, found, sought, _excused(db, sought))
        if path not in copies.stores():
            return found
        with copies.changing(path) as copy:
            of_its_own = {needle for _, some in spoken(copy) for needle in sought.pieces.said(some)}
            return _vacuumed(copy, path, found, sought, _excused(copy, sought) | of_its_own)


class ForgettingOnce(Forgetting):
    """The same, with what was removed put on record in the same transaction: asked again, that is the answer."""

    def __init__(self, memory: Hardwon, actor: str, keep: Callable[[str], None]) -> None:
        super().__init__(memory, actor)
        self._keep = keep

    def _on_record(self, wanted: Target, removal: Removal, asked: str) -> None:
        self._keep(msgspec.json.encode((wanted.kind, removal.rows, asked)).decode())

    def again(self, record: str, named: str = "") -> Forgot:
        """What an earlier call did; if it was killed before the proof, that is made up for."""
        db = self._memory.writing()
        what, rows, asked = msgspec.json.decode(record, type=tuple[str, dict[str, int], str])
        done = Forgot(what, False, dict(sorted(rows.items())))
        if not asked or meta.note(db, _UNFINISHED) != asked:
            return done
        proof = self._finish(db, named)
        return replace(done, checked=proof.checked, left=proof.left)


def _vacuumed(db: Database, path: Path, found: set[bytes], sought: _Sought, excused: set[bytes]) -> set[bytes]:
    if not found - excused:
        return set()
    _compact(db, vacuum=True)
    return _no_chance(sought.pieces.found_in(path) - excused)


def _no_chance(found: set[bytes]) -> set[bytes]:
    """A few letters may come together by chance where the file has numbers."""
    return {needle for needle in found if len(needle) >= _CHANCE}


def _sought(db: Database, wanted: Target, removal: Removal) -> _Sought:
    """Made after the removal: what is left may say the same, unless it must not."""
    said = {text for some in removal.said.values() for text in some if len(text) >= MIN_CHARACTERS_THAT_PROVE}
    strict = {"text": {wanted.text}, "lesson": removal.said.get("lesson", set()) & said}.get(wanted.kind, set())
    ids = removal.items - removal.vanished
    texts = ids | ({wanted.text, *removal.words} if wanted.kind == "text" else said)
    sought = _Sought(Needles(texts, cut=False), Needles(texts, cut=True), Needles(ids, cut=False))
    echoes = Needles(strict, cut=False)
    echoed = False
    for table, some in spoken(db):
        shown = list(map(blank, some))
        # A lesson that is forgotten leaves the conversation it was drawn from, which its person can still find.
        echoed = echoed or ((wanted.kind == "text" or table != "passage") and bool(echoes.said(shown)))
        for needles in (sought.whole, sought.pieces):
            needles.leave_out(needles.said(shown))
    return sought._replace(echoed=echoed)


def _excused(db: Database, sought: _Sought) -> set[bytes]:
    """Names of tables and states, and words that only the end of one text and the next make; an id is none of these."""
    excused = {needle for some in rows_as_text(db) for needle in sought.pieces.said(some)}
    if isinstance(db, SqliteDatabase):
        schema = db.query("SELECT type || name || tbl_name || coalesce(sql, '') FROM sqlite_master")
        excused |= sought.pieces.said(("SQLite format 3", *(row[0] for row in schema)))
    return excused - sought.ids.said(needle.decode("utf-8", "replace") for needle in excused)


def _compact(db: Database, *, vacuum: bool) -> None:
    """Let nothing of old pages stay in the file or its journal."""
    if isinstance(db, SqliteDatabase):
        if vacuum:
            db.query("PRAGMA temp_store = MEMORY")
            db.query("VACUUM")
        db.query("PRAGMA wal_checkpoint(TRUNCATE)")
