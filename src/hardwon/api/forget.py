"""Forgetting for good, with proof; and letting go of what is old."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from hardwon.api.connection import Connection, Part
from hardwon.api.copies import MIN_CHARACTERS_THAT_PROVE, Changed, Copies, Needles, belongs_to_database, is_database
from hardwon.clock import now
from hardwon.errors import NotAllowed, NotFound
from hardwon.harvest.walk import Log, is_forgotten
from hardwon.scrub.forgotten import Forgotten, words
from hardwon.scrub.marks import blank
from hardwon.sessions.scan import CACHES, Scanned
from hardwon.store import deletion, forget, meta, vectors
from hardwon.store.database import Database
from hardwon.store.deletion import Removal, rows_as_text, spoken
from hardwon.store.forget import Sequences, Target, What
from hardwon.store.sqlite import SqliteDatabase
from hardwon.text.paths import tilde

_MIN_TEXT_CHARACTERS = 3
_CHANCE = 6
_DAY = 86_400_000_000


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
    return [path for path in paths if not is_forgotten(Log(Path(path)), forgotten)] if forgotten else list(paths)


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
    return deletion.load_tombstones(memory.reading()) if memory.exists else Forgotten()


class _RolledBack(Exception):
    """Undoes the transaction that it is raised in."""


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
        if sum(map(bool, (id, session, project, text))) != 1:
            raise NotAllowed("name exactly one thing to forget: an id, a session, a project or a text")
        if id:
            return self._forget(forget.by_id(self._memory.reading(), id), dry_run=dry_run)
        if session:
            file = os.path.abspath(os.path.expanduser(session))
            return self._forget(forget.by_session(self._memory.reading(), session, file), dry_run=dry_run)
        if project:
            holder = self._memory.project(project) or ""
            return self._forget(Target("project", frozenset((holder,))), dry_run=dry_run)
        if sum(len(word.encode()) for word in words(text) if word.isalnum()) < _MIN_TEXT_CHARACTERS:
            raise NotAllowed(f"a text to forget needs at least {_MIN_TEXT_CHARACTERS} letters or digits")
        return self._forget(Target("text", text=" ".join(tilde(text).split())), dry_run=dry_run)

    def purge(self, days: int, *, what: What = "all", project: str | None = None, dry_run: bool = False) -> Forgot:
        """Drop what is older than some days; what a newer session confirms or a person decided on stays.

        Raises `NotFound` for an unknown project.
        """
        old = Target("purge", before=now() - days * _DAY, what=what, project=self._memory.project(project) or "")
        db = self._memory.writing()
        rows = self._rehearse(db, old, set())[0].rows if dry_run else self._remove(db, old, set()).rows
        return Forgot("purge", dry_run, dict(sorted(rows.items())))

    def _forget(self, wanted: Target, *, dry_run: bool) -> Forgot:
        db = self._memory.writing()
        live = Path(db.place) if isinstance(db, SqliteDatabase) else None
        copies = Copies(self._memory.home, live, map(Path, meta.exports(db)))
        sequences = self._sequences(db, copies, wanted)
        trial, sought = self._rehearse(db, wanted, sequences)
        holding = [path for path, copy in copies.reading() if forget.is_in(copy, wanted, sequences)]
        files = copies.delete_older_stores(sought.pieces, dry_run=dry_run)
        words_to_forget = forget.forgotten(db, sequences)
        files += copies.clean_files(sought.whole, words_to_forget.says, dry_run=dry_run)
        if not (trial.rows or holding or files):
            raise NotFound("not found in the store or its copies: nothing was changed")
        # Copies first: if this is interrupted, the store still knows what was to be forgotten.
        for path in holding:
            if not dry_run:
                self._remove_from_copy(copies, path, wanted, sequences)
            files.append(Changed(str(path), "a copy of the store: rows removed or changed"))
        left: list[str] = []
        if not dry_run:
            self._remove(db, wanted, sequences)
            left = self._left(db, copies, sought)
        return Forgot(
            what=wanted.kind,
            dry_run=dry_run,
            rows=dict(sorted(trial.rows.items())),
            files=files,
            transcripts=[path for path in sorted(trial.transcripts) if os.path.exists(os.path.expanduser(path))],
            checked=len(sought.whole),
            left=left,
        )

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

    def _remove(self, db: Database, wanted: Target, sequences: Sequences) -> Removal:
        with db.transaction():
            removal = forget.remove(db, wanted, sequences, self._actor())
            forget.bury(db, wanted, sequences)
        vectors.drop_file(self._memory.home)
        self._memory.refresh_standing()
        return removal

    def _remove_from_copy(self, copies: Copies, path: Path, wanted: Target, sequences: Sequences) -> None:
        with copies.changing(path) as copy, copy.transaction():
            forget.remove(copy, wanted, sequences, self._actor())

    def _left(self, db: Database, copies: Copies, sought: _Sought) -> list[str]:
        """What still holds it, after everything was done: one line each."""
        left = []
        _compact(db, vacuum=False)
        if sought.echoed:
            left.append(f"{db.place}: other rows say the same words; `hardwon forget --text` takes them out, too")
        for path in copies.all_files():
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
            of_its_own = {needle for some in spoken(copy) for needle in sought.pieces.said(some)}
            return _vacuumed(copy, path, found, sought, _excused(copy, sought) | of_its_own)


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
    for some in spoken(db):
        shown = list(map(blank, some))
        echoed = echoed or bool(echoes.said(shown))
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
