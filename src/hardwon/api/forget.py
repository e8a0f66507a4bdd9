"""Forgetting for good, with proof; and letting go of what is old."""

from __future__ import annotations

import json
import operator
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import shake_256
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
from hardwon.model.attempt import AttemptId
from hardwon.sessions import mentions
from hardwon.sessions.scan import CACHES, Scanned
from hardwon.store import attempts, backup, forget, fulltext, meta, migrations, sqlite, vectors
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
MOST_DAYS = 36_500
_CHANCE = 6
_DAY = 86_400_000_000
_ID = re.compile(rb"[a-z][0-9a-f]{16,32}")
_MOST_REMEMBERED = 1000
"""So many of the texts that something still holds are looked for when the same is asked again."""
_TABLES_NAMED = 3
_FILES_NAMED = 20
_AGAIN = ", then run the same command again"
_IN_USE = "another program has older pages of it open: end that (`hardwon open --stop`, agents)"


class Needles:
    """Texts made ready to be looked for, however many there are; what is found is told as lower-case bytes."""

    def __init__(self, texts: Iterable[str], *, cut: bool, also: Iterable[bytes] = ()) -> None:
        forms = {form for text in texts for form in _forms(text)}
        self._prepare(({piece for form in forms for piece in _stretches(form)} if cut else forms).union(also))

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
        """A copy, opened for writing and left as one file that holds its rows and nothing else."""
        db = SqliteDatabase(path, write=True)
        try:
            yield db
            db.rewrite()
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
    """Files of the agents themselves, which still have it: of a text all of them, else those that it came from."""
    looked_at: int = 0
    """How many files of the agents were searched for a text."""
    unreadable: list[str] = []
    """Those that could not be."""
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
        self, id: AttemptId = "", *, session: str = "", project: str = "", text: str = "", dry_run: bool = False
    ) -> Forgot:
        """Remove one thing from every table, index, copy and export; it does not come back with the next harvest.

        A lesson, failure, session, attempt, interaction or document by the beginning of its `id`, an attempt by its
        number, too; a `session` with its sub-agents by id or transcript; a `project`; a `text` in any case, wherever
        it stands. Raises `NotFound`, and `NotAllowed` unless one thing is named.
        """
        id = str(id)
        need_one(id, session, project, text)
        if not self._memory.exists and not backup.kept(self._memory.home):
            raise NotFound("there is no store yet, so nothing to forget")
        db = self._memory.writing()
        named = id or session or project or text
        asked = digest(id, session, project, text, size=16, key=meta.forget_key(db))
        try:
            with db.unhurried():
                return self._forget(self._target(db, id, session, project, text), asked, named, dry_run=dry_run)
        except NotFound:
            if dry_run or asked not in meta.unproven(db):
                raise
        return self._finish(db, asked, named, is_text=bool(text))

    def _target(self, db: Database, id: str, session: str, project: str, text: str) -> Target:
        if id:
            return forget.by_id(db, attempts.id_of(db, id))
        if session:
            return forget.by_session(db, session, os.path.abspath(os.path.expanduser(session)))
        if project:
            return Target("project", frozenset((self._memory.project(project) or "",)))
        if sum(len(word.encode()) for word in words(text) if word.isalnum()) < _MIN_TEXT_CHARACTERS:
            raise NotAllowed(f"a text to forget needs at least {_MIN_TEXT_CHARACTERS} letters or digits")
        return Target("text", text=" ".join(tilde(text).split()))

    def purge(self, days: int, *, what: What = "all", project: str | None = None, dry_run: bool = False) -> Forgot:
        """Drop what is older than some days; what a newer session confirms or a person decided on stays.

        Raises `NotFound` for an unknown project, `NotAllowed` for less than one day or more than a hundred years.
        """
        if not isinstance(days, int) or not 1 <= days <= MOST_DAYS:
            raise NotAllowed(f"cannot drop what is older than {days!r} days: give a whole number from 1 to {MOST_DAYS}")
        old = Target("purge", before=now() - days * _DAY, what=what, project=self._memory.project(project) or "")
        db = self._memory.writing()
        with db.unhurried():
            rows = self._rehearse(db, old, set())[0].rows if dry_run else self._remove(db, old, set()).rows
        return Forgot("purge", dry_run, dict(sorted(rows.items())))

    def _forget(self, wanted: Target, asked: str, named: str, *, dry_run: bool) -> Forgot:
        db = self._memory.writing()
        copies = self._copies(db)
        sequences = self._sequences(db, copies, wanted)
        trial, sought = self._rehearse(db, wanted, sequences)
        holding = [path for path, copy in copies.reading() if forget.is_in(copy, wanted, sequences)]
        files = copies.delete_older_stores(sought.pieces, dry_run=dry_run)
        words_to_forget = forget.forgotten(db, sequences)
        files += copies.clean_files(sought.whole, words_to_forget.says, dry_run=dry_run)
        if not (trial.rows or holding or files):
            raise NotFound(f"not found in the store or its copies; nothing was changed{self._said_by_agents(wanted)}")
        # Copies first: if this is interrupted, the store still knows what was to be forgotten.
        for path in holding:
            if not dry_run:
                self._remove_from_copy(copies, path, wanted, sequences)
            files.append(Changed(str(path), "a copy of the store: rows removed or changed"))
        left: list[str] = []
        if not dry_run:
            self._remove(db, wanted, sequences, asked)
            left = self._proven(db, copies, sought, asked, named)
        there = {path for path in trial.transcripts if os.path.exists(os.path.expanduser(path))}
        agents = self._agents_files(wanted)
        return Forgot(
            what=wanted.kind,
            dry_run=dry_run,
            rows=dict(sorted(trial.rows.items())),
            files=files,
            transcripts=sorted(there.union(map(tilde, agents.holding))),
            looked_at=agents.looked_at,
            unreadable=[*map(tilde, agents.unreadable)],
            checked=len(sought.whole),
            left=left,
        )

    def _agents_files(self, wanted: Target) -> mentions.Found:
        """Which files of the agents say a text, wherever in them: those in their folders, and those read elsewhere."""
        if wanted.kind != "text":
            return mentions.Found(set(), 0, [])
        known = self._memory.reading().query("SELECT path FROM source UNION SELECT path FROM session")
        read = (os.path.expanduser(path) for (path,) in known)
        own = mentions.files_of_agents(os.environ, Path.home())
        return mentions.saying(words(wanted.text), (*filter(os.path.isabs, read), *own))

    def _said_by_agents(self, wanted: Target) -> str:
        """Where it stands all the same."""
        agents = self._agents_files(wanted)
        some = ", ".join(map(tilde, sorted(agents.holding)[:_FILES_NAMED]))
        more = ", …" if len(agents.holding) > _FILES_NAMED else ""
        of = f"{len(agents.holding):,} of the {agents.looked_at:,} files of your agents that were searched"
        return f"; {of} contain it: {some}{more}" if some else ""

    def _copies(self, db: Database) -> Copies:
        live = Path(db.place) if isinstance(db, SqliteDatabase) else None
        return Copies(self._memory.home, live, map(Path, meta.exports(db)))

    def _finish(self, db: Database, asked: str, named: str, *, is_text: bool) -> Forgot:
        """All rows are gone, but it was killed before the proof, or something still held it: clean and look again."""
        copies = self._copies(db)
        whole, pieces = _opened(db, named, meta.unproven(db)[asked])
        texts = [" ".join(tilde(named).split())] if is_text or len(named) >= MIN_CHARACTERS_THAT_PROVE else []
        sought = _Sought(
            Needles(texts, cut=False, also=whole),
            Needles(texts, cut=True, also=pieces),
            Needles((), cut=False, also=filter(_ID.fullmatch, pieces)),
        )
        _leave_out_what_stays(db, sought)
        files = copies.delete_older_stores(sought.pieces, dry_run=False)
        files += copies.clean_files(sought.whole, _forgotten(self._memory).says, dry_run=False)
        for path in copies.stores():
            with copies.changing(path):
                pass
        self._memory.mirror_for_hooks()
        left = self._proven(db, copies, sought, asked, named)
        return Forgot("unfinished", False, {}, files=files, checked=len(sought.whole), left=left)

    def _proven(self, db: Database, copies: Copies, sought: _Sought, asked: str, named: str) -> list[str]:
        """What still holds it, a line each. Unless nothing does, that is kept for who asks again."""
        told: list[str] = []
        whole: set[bytes] = set()
        pieces: set[bytes] = set()
        if isinstance(db, SqliteDatabase) and not db.rewrite():
            told.append(f"{db.place}: {_IN_USE}{_AGAIN}")
        for path in copies.each_file():
            found, where = self._held(db, copies, path, sought)
            if found:
                (pieces if belongs_to_database(path) else whole).update(found)
                told.append(f"{path}: {where}{_AGAIN}")
        with db.transaction():
            meta.set_unproven(db, asked, _sealed(db, named, whole, pieces) if told else None)
        if sought.echoed:
            told.append(
                f"{db.place}: it is gone, but other rows say the same; `hardwon forget --text WORDS` takes them"
            )
        return told

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
            if asked:
                meta.set_unproven(db, asked, "")
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

    def _held(self, db: Database, copies: Copies, path: Path, sought: _Sought) -> tuple[set[bytes], str]:
        """What of it a file still holds, and what that is and what helps."""
        needles = sought.pieces if belongs_to_database(path) else sought.whole
        found = needles.found_in(path)
        if named := copies.named(path, needles):
            return found | named, "its very name says it: rename or delete it"
        if not found:
            return found, ""
        if not belongs_to_database(path):
            return found, "says it, and Hardwon does not change such a file: take it out yourself or delete the file"
        owner = path
        for end in _JOURNALS:
            owner = owner.with_name(owner.name.removesuffix(end))
        if str(owner) == db.place:
            return _outside_of_rows(db, found, sought)
        if owner not in copies.stores():
            return found, "says it, and is no store that this version can change: delete it"
        copy = SqliteDatabase(owner)
        try:
            of_its_own = {needle for _, some in spoken(copy) for needle in sought.pieces.said(some)}
            return _outside_of_rows(copy, found - of_its_own, sought)
        finally:
            copy.close()


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
        if asked not in meta.unproven(db):
            return done
        proof = self._finish(db, asked, named, is_text=what == "text")
        return replace(done, checked=proof.checked, left=proof.left)


def _outside_of_rows(db: Database, found: set[bytes], sought: _Sought) -> tuple[set[bytes], str]:
    """What a database holds that no row which stays says, and where."""
    held = _no_chance(found - _excused(db, sought))
    needles = Needles((), cut=False, also=held)
    tables = sorted({name for name, some in rows_as_text(db) if needles.said(some)})
    what = f"rows of {', '.join(tables[:_TABLES_NAMED])}" if tables else "parts of it that are no row"
    return held, f"{what} still say it: unless another program has it open, that is a bug, please report it"


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
    return sought._replace(echoed=_leave_out_what_stays(db, sought, wanted.kind, strict))


def _leave_out_what_stays(db: Database, sought: _Sought, kind: str = "", strict: Iterable[str] = ()) -> bool:
    """What rows that stay say as well; returns whether they say what they must not."""
    echoes = Needles(strict, cut=False)
    echoed = False
    stays: list[set[bytes]] = [set(), set()]
    for table, some in spoken(db):
        shown = list(map(blank, some))
        # A lesson that is forgotten leaves the conversation it was drawn from, which its person can still find.
        echoed = echoed or ((kind == "text" or table != "passage") and bool(echoes.said(shown)))
        for needles, said_again in zip(sought[:2], stays, strict=True):
            said_again.update(needles.said(shown))
    for needles, said_again in zip(sought[:2], stays, strict=True):
        needles.leave_out(said_again)
    return echoed


def _excused(db: Database, sought: _Sought) -> set[bytes]:
    """Names of tables and states, and words that only the end of one text and the next make; an id is none of these."""
    excused = {needle for _, some in rows_as_text(db) for needle in sought.pieces.said(some)}
    if isinstance(db, SqliteDatabase):
        schema = db.query("SELECT type || name || tbl_name || coalesce(sql, '') FROM sqlite_master")
        excused |= sought.pieces.said(("SQLite format 3", *(row[0] for row in schema)))
        excused |= {needle for some in fulltext.indexed_terms(db) for needle in sought.pieces.said(some)}
    return excused - sought.ids.said(needle.decode("utf-8", "replace") for needle in excused)


def _sealed(db: Database, named: str, *held: Iterable[bytes]) -> str:
    """Bytes that something still holds, to be read only by who names the same again."""
    some = [[needle.hex() for needle in sorted(needles)[:_MOST_REMEMBERED]] for needles in held]
    return _veiled(db, named, msgspec.json.encode(some)).hex()


def _opened(db: Database, named: str, sealed: str) -> list[list[bytes]]:
    held = msgspec.json.decode(_veiled(db, named, bytes.fromhex(sealed)) or b"[[], []]", type=list[list[str]])
    return [list(map(bytes.fromhex, needles)) for needles in held]


def _veiled(db: Database, named: str, data: bytes) -> bytes:
    return bytes(map(operator.xor, data, shake_256(meta.forget_key(db) + named.encode()).digest(len(data))))
