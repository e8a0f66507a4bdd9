"""The store as a whole: what it holds, its health and copies, files in and out, forgetting, tokens."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hardwon.api.access import Tokens
from hardwon.api.connection import AnyPath, Part, full_id
from hardwon.api.forget import Forgetting
from hardwon.api.sessions import Projects
from hardwon.capture.attempts import kept
from hardwon.clock import now
from hardwon.errors import HardwonError, NoModel, NotAllowed, NotFound, StoreError, StoreTooNew
from hardwon.exchange import atocore, dump, knowledge, loki, markdown, markdown_format, modification_journal
from hardwon.exchange.dump import Header, Loaded, Migrated, load, migrate
from hardwon.exchange.intake import Taken
from hardwon.exchange.markdown import Exported, Merged, merge
from hardwon.harvest.distil.extract import waiting
from hardwon.harvest.upkeep import notice, to_compare
from hardwon.harvest.walk import Progress
from hardwon.home import DATABASE, FORMER_NAME, former_variables, moved_to_home, switched_off, too_open
from hardwon.install.command import Where
from hardwon.install.status import everywhere
from hardwon.measure.metrics import Metrics, collect, snapshot
from hardwon.measure.tallies import Window
from hardwon.recall.embedder import Embedded, embed
from hardwon.scrub.scrubber import Leak, Scrubber, in_file, kinds
from hardwon.sessions import discover
from hardwon.sessions.loss import counted_anew
from hardwon.store import (
    backup,
    check,
    failures,
    fulltext,
    hook_data,
    lessons,
    meta,
    projects,
    repair,
    sessions,
    spool,
    sqlite,
)
from hardwon.store.database import Check, Database, Row, connect, stored_texts
from hardwon.store.forget import forget_again, once_forgotten
from hardwon.store.repair import Repaired
from hardwon.store.sqlite import SqliteDatabase, engine_check
from hardwon.text.shown import ago, one_line

# Everything that goes in and out of the store as files.

T = TypeVar("T")

System = Literal["journal", "atocore", "knowledge", "loki"]
DAYS = 7
"""How far back hooks are looked at."""
_DAY = 24 * 3600 * 1_000_000
_FILES_LOOKED_AT = 20
_MAX_BYTES_LOOKED_AT = 4 * 1024 * 1024
"""Of files that are read again to count what was lost: all together take a second or two."""
_ALL = 1_000_000_000
_OUR_HASHES = frozenset(("seal", "hash", "text_hash", "content_hash", "digest", "chain"))
"""Digits that chance drew, sixteen of which may be a card's number."""
_MAX_KEY_CHARACTERS = 40
_OWN_FILES = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")


class Exchange(Part):
    """Trees of Markdown, dumps, other systems' databases, other engines."""

    def export(
        self, folder: AnyPath, *, project: str | None = None, everything: bool = False, force: bool = False
    ) -> Exported:
        """Write the lessons as a tree of files that people and git can work with; returns what was written.

        With a project only its own lessons and failures, and nothing that only others have seen.
        Raises `NotFound` for an unknown project, `HardwonError` where the tree has changes that were not imported,
        unless `force` drops them, and for the tree of another store.
        """
        directory = Path(folder)
        db, holder = self._memory.reading(), self._memory.project(project)
        with db.snapshot():
            done = markdown.export(db, directory, project=holder, everything=everything, force=force)
        writer = self._memory.writing()
        with writer.transaction():
            meta.remember_export(writer, str(directory.absolute()))
        return done

    def import_tree(
        self, directory: AnyPath, *, theirs: bool = False, trusted: bool = False, dry_run: bool = False
    ) -> Merged | Taken:
        """Bring back what people changed in a tree; without your word for it (`trusted`) it only waits for review.

        Anybody's pull request may have changed it. A tree that this store did not write is always only proposed.
        Where everything could be settled, the tree is written anew: a line that was added has its id then.
        `theirs` lets the tree win where both changed. Raises `HardwonError` where there is no tree, or a damaged one.
        """
        folder = markdown_format.folder_of(Path(directory))
        own = markdown_format.written_here(folder, meta.store_id(self._memory.writing()))
        if own is None:
            return self._exchanged(
                lambda db: knowledge.take(db, folder, worth="untrusted", documents=False), dry_run=dry_run
            )
        only = self._memory.project(own.hardwon.project or None)
        report = self._exchanged(
            lambda db: merge(db, folder, own, actor=self._actor(), project=only, theirs=theirs, trusted=trusted),
            dry_run=dry_run,
        )
        if dry_run:  # what would be added has no id yet
            report.changes = [
                replace(change, lesson="") if change.what == "add" else change for change in report.changes
            ]
        elif report.settled:
            report.rewritten = markdown.write(
                self._memory.reading(), folder, own, project=only, everything=own.hardwon.everything
            ).changed
        return report

    def import_from(
        self, system: System, path: AnyPath, *, trusted: bool = False, project: str | None = None, dry_run: bool = False
    ) -> Taken:
        """Import another system's memory, with its times; importing it again adds nothing.

        `trusted` is the word of the person who imports it that its lessons are true. `project` is whose the attempts of
        a journal, and all of loki, are; it is made where it is new. Raises `NotFound` for a path that does not exist,
        `HardwonError` for what is damaged or not of that system.
        """
        file = Path(path)

        def step(db: Database) -> Taken:
            if system == "journal":
                return modification_journal.take(db, file, project=kept(db, project or ""), trusted=trusted)
            if system == "loki":
                return loki.take(db, file, project=kept(db, project or ""), trusted=trusted)
            if system == "atocore":
                return atocore.take(db, file, trusted=trusted)
            if markdown_format.is_tree(file) and markdown_format.written_here(
                markdown_format.folder_of(file), meta.store_id(db)
            ):
                raise NotAllowed(f"{path} was exported from this store: import it without --from")
            return knowledge.take(db, file, worth="human" if trusted else "claimed", documents=True)

        return self._exchanged(step, dry_run=dry_run)

    def dump(self, out: BinaryIO) -> Header:
        """Write every row of every table as JSON lines; returns what stands at their head."""
        return dump.write(self._memory.reading(), out)

    def load(self, path: AnyPath, *, trusted: bool = False, dry_run: bool = False) -> Loaded:
        """Read a dump into the store; `trusted` is your word that it is yours and unchanged.

        With it: as it was into an empty store, beside what is there into any other. Without it, its lessons and fixes
        wait for review, its sessions are somebody else's, and its keys are not taken.

        Raises `NotFound`, and `HardwonError` for a dump that is cut off, changed or of another version.
        """
        dumped = Path(path)
        if not dumped.is_file():
            raise NotFound(f"no such file: {path}")
        try:
            with dumped.open("rb") as file:
                done = self._exchanged(lambda db: load(db, file, trusted=trusted), dry_run=dry_run, recount=True)
        except OSError as error:
            raise HardwonError(f"cannot read {path}: {error.strerror}") from error
        return done

    def migrate(self, to: AnyPath, *, force: bool = False, progress: Progress | None = None) -> Migrated:
        """Copy the store to a file (a path) or a server (`postgresql://…`); this one stays as it is.

        Raises `NotAllowed` for a place that is in use.
        """
        source = self._memory.reading()
        place = to if isinstance(to, str) and "://" in to else Path(to)
        if _same(place, self._memory.database):
            raise NotAllowed(f"{source.place} is the store itself: name another place to copy it to")
        target = connect(place, write=True, longest=0)
        try:
            with source.unhurried():
                return migrate(source, target, force=force, told=progress)
        finally:
            target.close()

    def _exchanged(self, step: Callable[[Database], T], *, dry_run: bool = False, recount: bool = False) -> T:
        """One transaction, and then what the hooks hand out is brought up to date. A dry run is taken back."""
        db = self._memory.writing()
        done: list[T] = []
        try:
            with db.unhurried(), db.transaction():
                there, uncompared = once_forgotten(db), _uncompared(db)
                done.append(step(db))
                if not (isinstance(done[0], Loaded) and not done[0].merged):  # a whole store is as it was
                    _tell_forgotten(done[0], forget_again(db, there))
                    notice(db, [id for id, _ in sorted(_uncompared(db) - uncompared)], actor=self._actor())
                if dry_run:
                    raise _Rehearsed
        except _Rehearsed:
            return done[0]
        if recount:
            meta.recount_stale(db)
        self._memory.refresh_standing()
        return done[0]


def _same(one: Path | str, other: Path | str) -> bool:
    if isinstance(one, Path) and isinstance(other, Path):
        return one.resolve() == other.resolve()
    return one == other


def _uncompared(db: Database) -> set[tuple[str, str]]:
    """(lesson, its state) of what no harvest has compared as it is."""
    projects = [row[0] for row in db.query("SELECT id FROM project ORDER BY id")]
    return {one for project in ("", *projects) for one in to_compare(db, project).items()}


def _tell_forgotten(report: object, count: int) -> None:
    if count and isinstance(report, Loaded):
        report.left_out.append(f"{count} rows: what was forgotten here does not come back")


class _Rehearsed(Exception):
    """Ends a dry run."""


class Backup(Struct, frozen=True):
    """A copy of the store."""

    file: str
    bytes: int
    rows: int
    removed: list[str]
    """Older backups that were more than wanted."""


class Restored(Struct, frozen=True):
    """What a backup was put in the place of."""

    file: str
    kept: str
    """Where the store is that was there before; empty if there was none."""


class Maintenance(Part):
    """Keeping the store whole."""

    def check(self) -> list[Check]:
        """What `hardwon doctor` shows, one entry for each thing that was looked at."""
        home = self._memory.home
        return [
            Check("home", True, str(home)),
            *_permissions(home),
            *_former_name(home),
            engine_check(),
            *sqlite.place_checks(home),
            *self._store(),
            *self._queue(),
            *self._forgetting(),
            *self._model(),
            *self._readers(),
            *self._hooks(),
            *_installs(),
            *self._capture(),
            *self._jobs(),
            self._backups(),
            _sessions(),
            *_unread(),
        ]

    def healthy(self) -> bool:
        """Whether there is nothing that `repair` could mend."""
        return all(one.ok for one in self._store())

    def _store(self) -> list[Check]:
        try:
            if not self._memory.exists:
                sqlite.refuse_lone_journal(self._file("check"))
                return [Check("store", True, "none yet: run `hardwon up`")]
            return check.store(self._memory.reading())
        except StoreError as error:
            return [Check("store", False, str(error))]

    def _queue(self) -> list[Check]:
        if not self._memory.exists:
            return []
        with suppress(StoreError):  # said of the store already
            return [
                Check(
                    "review",
                    True,
                    self._memory.review.notice() or f"{self._memory.review.counts().said} waiting for review",
                )
            ]
        return []

    def _forgetting(self) -> list[Check]:
        if not self._memory.exists:
            return []
        with suppress(StoreError):  # said of the store already
            if unproven := len(meta.unproven(self._memory.reading())):
                says = f"{unproven} not verified: run the same `hardwon forget` again, it says what still holds it"
                return [Check("forgetting", False, says)]
        return []

    def _model(self) -> list[Check]:
        if not self._memory.exists:
            return []
        with suppress(StoreError):  # said of the store already
            unread = sum(map(len, waiting(self._memory.reading(), depth=self._memory.config.distil_depth).values()))
            name = self._memory.config.distil
            how = "off: `hardwon distil` runs it" if name == "off" else f"by {name}, when sessions end"
            return [Check("distil", True, f"{how}; {unread:,} sessions and sub-agents not read by a model")]
        return []

    def _readers(self) -> list[Check]:
        """Whether the newest files seem to hold more than was read of them. Nothing that the user could mend."""
        if not self._memory.exists:
            return []
        losing, looked_at, unsure = [], 0, 0
        with suppress(StoreError):  # said of the store already
            for name in sessions.newest_files(self._memory.reading(), _FILES_LOOKED_AT, _MAX_BYTES_LOOKED_AT):
                path = Path(name).expanduser()
                if path.is_file():
                    looked_at += 1
                    loss, not_shown = counted_anew(path)
                    unsure += not_shown
                    if loss:
                        losing.append(f"{one_line(name)} ({loss})")
        if not looked_at:
            return []
        told = f"the {looked_at} newest files were counted anew"
        if losing:
            told += f"; more than was read seems to be in {', '.join(losing[:3])}{' and others' if losing[3:] else ''}"
        if unsure:
            told += f"; {unsure:,} messages of them are read, but not shown to be typed"
        return [Check("readers", True, told)]

    def _hooks(self) -> list[Check]:
        return check.hooks(self._runs(), DAYS)

    def _runs(self) -> list[Row]:
        since = now() - DAYS * _DAY
        runs: list[Row] = [run for run in spool.waiting(str(self._memory.home)) if run[1] >= since]
        if self._memory.exists:
            with suppress(StoreError):  # said of the store already
                runs += hook_data.runs_since(self._memory.reading(), since)
        return runs

    def last_runs(self) -> dict[str, list[dict[str, object]]]:
        """Agent → the last run of each hook, and the last error in the last days, if `doctor` takes it for one."""
        newest: dict[tuple[str, str], Row] = {}
        errors: dict[tuple[str, str], str] = {}
        runs = self._runs()
        slips = check.slips(runs)
        for run in sorted(runs, key=lambda run: run[1]):
            key = (run[3], run[2])
            newest[key] = run
            errors[key] = ("" if run in slips else run[5]) or errors.get(key, "")
        moment = now()
        found: dict[str, list[dict[str, object]]] = {}
        for (agent, event), run in newest.items():
            told = {"event": event, "ago": ago(run[1], moment), "milliseconds": run[4] // 1000}
            told["said"] = spool.noted(str(self._memory.home), agent, event)
            found.setdefault(agent, []).append({**told, "error": one_line(errors[agent, event])})
        return found

    def _capture(self) -> list[Check]:
        """What could not be recorded of a command or crash, the last time that happened."""
        last = self._memory.home / "capture-error.txt"
        if not last.exists():
            return []
        said = one_line(last.read_text(encoding="utf-8", errors="replace"))
        return [Check("capture", False, f"the last error: {said}; delete {last} when it is fixed")]

    def _jobs(self) -> list[Check]:
        with suppress(StoreError):  # said of the store already
            found = meta.failed_jobs(self._memory.reading()) if self._memory.exists else []
            if found:
                _, task, about, _, error = found[0]
                newest = one_line(f"{task} {about}".strip() + (f": {error}" if error else ""))
                said = f"{len(found)} were given up, the newest {newest}; `hardwon worker failed` lists them"
                return [Check("jobs", False, said)]
        return []

    def _backups(self) -> Check:
        if isinstance(self._memory.database, str):
            return Check("backups", True, "are the server's: pg_dump, or `hardwon export --jsonl`")
        kept = backup.kept(self._memory.home)
        if not kept:
            return Check("backups", True, "none yet: run `hardwon backup`")
        age = (time.time() - kept[0].stat().st_mtime) / (24 * 3600)
        return Check("backups", True, f"{len(kept)}, the newest {kept[0].name}, {age:.0f} days old")

    def repair(self) -> Repaired:
        """Repair a copy of the store and put it in place; what cannot be kept goes into a file of its own.

        What came from transcripts is read again from those that are still there; `short` says what is missing then.

        Raises `StoreError` if there is no store, `StoreTooNew` for one of a later version, `NotAllowed` for one on a
        server.
        """
        path = self._file("repair")
        if not path.exists():
            sqlite.refuse_lone_journal(path)
            raise StoreError(f"there is no store at {path}: nothing to repair")
        self._refuse_newer()
        self._memory.close()
        mended = repair.repair(path)
        own, other = ([Path(name).expanduser() for name in names] for names in (mended.own, mended.other))
        if own or other:
            self._memory.take_in([*self._memory.logs(own, mine=True), *self._memory.logs(other)], None)
        self._memory.refresh_standing()
        db = self._memory.writing()
        assert isinstance(db, SqliteDatabase)
        return replace(mended.told, again=len(own) + len(other), short=repair.finish(db, mended))

    def _refuse_newer(self) -> None:
        """What a later version wrote is not damaged, and this one would leave out what it does not know."""
        try:
            self._memory.reading()
        except StoreTooNew:
            raise
        except StoreError:
            pass

    def backup(self, file: AnyPath | None = None, *, keep: int | None = None) -> Backup:
        """A verified copy, made while others work; `keep` removes all but so many of the newest in the home folder.

        Raises `NotAllowed` for a store on a server, and for a `keep` below 1.
        """
        self._file("back up")
        backup.need_room_for_one(keep)
        db = self._memory.reading()
        assert isinstance(db, SqliteDatabase)
        path = Path(file) if file else backup.default_path(self._memory.home)
        rows = backup.backup(db, path)
        removed = backup.prune(self._memory.home, keep, path) if keep is not None else []
        return Backup(str(path), path.stat().st_size, sum(rows.values()), [str(each) for each in removed])

    def restore(self, file: AnyPath) -> Restored:
        """Put a backup in the store's place, if it is sound.

        Raises `NotFound` for a file that is not there, `StoreError` for one that is no sound backup.
        """
        path = self._file("restore")
        self._memory.close()
        kept = backup.restore(Path(file), path)
        self._memory.refresh_standing()
        return Restored(str(file), str(kept or ""))

    def _file(self, verb: str) -> Path:
        database = self._memory.database
        if isinstance(database, str):
            raise NotAllowed(
                f"cannot {verb} a store on PostgreSQL: use pg_dump and pg_restore, or `hardwon export --jsonl`"
            )
        return database


def _permissions(home: Path) -> list[Check]:
    """In a folder that only its owner can look into, a file of a person's own may have any mode."""
    wide, links = too_open(home)
    found = [Check("links", False, f"{link} is a symbolic link, which is not followed") for link in links[:1]]
    if str(home) in wide:
        others = f" and {len(wide) - 1} more" if wide[1:] else ""
        told = f"other users can read {home}{others}: `hardwon doctor --fix` closes it to them"
        found.append(Check("permissions", False, told))
    return found


def _former_name(home: Path) -> list[Check]:
    """What was moved over from the project's former name, and what nobody reads any more."""
    moved = moved_to_home(str(home))
    found = [Check("former name", True, f"moved over from {FORMER_NAME}: {'; '.join(moved)}")] if moved else []
    for name in former_variables(os.environ):
        now_called = name.replace(FORMER_NAME.upper(), "HARDWON", 1)
        found.append(Check("former name", False, f"{name} is set but not read any more: set {now_called} instead"))
    return found


def _installs() -> list[Check]:
    """Agents that call us, and those that would but cannot."""
    found = [each for each in everywhere(Where(os.environ, Path.home())) if each.installed or each.trouble]
    working = ", ".join(each.agent for each in found if not each.trouble)
    broken = [Check("install", False, f"{each.agent}: {each.trouble}") for each in found if each.trouble]
    return [*([Check("installed", True, working)] if working else []), *broken]


def _sessions() -> Check:
    counts = discover.counted(os.environ, Path.home())
    kept = ", ".join(f"{count} of {agent}" for agent, count in counts.items() if count)
    return Check("sessions", True, f"in agents' own folders: {kept}" if kept else "none in agents' own folders")


def _unread() -> list[Check]:
    found = discover.unread(os.environ, Path.home())
    return [Check("not read", True, f"{each.files} of {each.agent}: {each.why}") for each in found]


class Reindexed(Struct, frozen=True):
    """What bringing the search index up to date did."""

    items: int
    """In the full-text index."""
    mended: int
    """Entries that were missing or had no item any more."""
    vectors: int
    """Made now."""
    left: int
    """Items that still have none."""
    notice: str
    """Why no vectors were made, if none were."""


class Store(Maintenance, Exchange, Forgetting, Tokens, Projects):
    """The store as a whole: what it holds, copies, repairs, forgetting, who may use the service."""

    def totals(self) -> dict[str, int]:
        """How many sessions, failures, lessons, … the store holds."""
        db = self._memory.reading()
        errors, before = failures.seen_before(db)
        files, refused, damaged = sessions.file_totals(db)
        return {
            **sessions.totals(db),
            **failures.totals(db),
            "lessons": lessons.count(db),
            "distinct_errors": errors,
            "seen_before": before,
            "files": files,
            "refused": refused,
            "damaged": damaged,
        }

    def resolve(self, id: str) -> str:
        """The full id that a beginning of it stands for. Raises `NotFound` where none or several do."""
        return full_id(self._memory, id)

    def reindex(self, *, rebuild: bool = False, progress: Progress | None = None) -> Reindexed:
        """Mend the full-text index, or build it anew, and give every item its vector.

        Raises `NoModel` if what makes vectors cannot be reached.
        """
        db = self._memory.writing()
        with db.unhurried():
            mended = 0 if rebuild else fulltext.mend(db)
            if rebuild:
                fulltext.rebuild(db)
            items = int(db.query("SELECT count(*) FROM search_item")[0][0])
            made = self._embed(float("inf"), progress)
        return Reindexed(items, mended, made.done, made.left, self._memory.embedder.notice)

    def embed(self, *, seconds: float, progress: Progress | None = None) -> Embedded:
        """Make missing vectors for a while, where there is a model; returns how many are done and left.

        A model that fails is no reason to fail.
        """
        if switched_off():
            return Embedded(0, 0)
        try:
            return self._embed(seconds, progress)
        except NoModel:
            return Embedded(0, 0)

    def _embed(self, seconds: float, progress: Progress | None) -> Embedded:
        embedder = self._memory.embedder.embedder
        if embedder is None:
            return Embedded(0, 0)
        return embed(self._memory.writing(), embedder, seconds=seconds, progress=progress)

    def audit(self) -> list[Leak]:
        """Everything in the home directory and in the store that the present scrubbing rules would redact."""
        scrubber = self._memory.scrubber()
        return [*self._in_files(scrubber), *(self._in_rows(scrubber) if self._memory.exists else ())]

    def _in_rows(self, scrubber: Scrubber) -> Iterator[Leak]:
        for table, row, column, text in stored_texts(self._memory.reading()):
            if column not in _OUR_HASHES and (found := kinds(scrubber, text)):
                key = scrubber.scrub(row)[:_MAX_KEY_CHARACTERS]
                yield from (Leak(table, key, column, kind, count) for kind, count in found.items())

    def _in_files(self, scrubber: Scrubber) -> Iterator[Leak]:
        home = self._memory.home
        for path in sorted(home.rglob("*")):
            name = path.relative_to(home).as_posix()
            if path.is_file() and name not in _OWN_FILES and path.suffix != ".hs":
                yield from in_file(scrubber, path, name)

    def keep_metrics(self, found: Metrics) -> None:
        """Keep the numbers that `memory.measure` gave, so that later ones can be compared."""
        db = self._memory.writing()
        with db.transaction():
            snapshot(db, found)

    def keep_daily_metrics(self, changed: Sequence[str] = ()) -> int:
        """Once a day, the numbers of all and of each project (id) that changed; returns how many were kept."""
        db = self._memory.writing()
        until = now()
        due = [scope for scope in ("", *changed) if meta.latest_snapshot(db, scope) < until - until % _DAY]
        taken = [collect(db, Window(0, until, scope)) for scope in due]
        if taken:
            with db.transaction():
                for found in taken:
                    snapshot(db, found)
        return len(taken)

    def write_metrics(self, found: Metrics, path: AnyPath) -> list[Path]:
        """A page of Markdown with its charts beside it, of one project with its map; returns what was written."""
        from hardwon.map.draw import known_of  # noqa: PLC0415
        from hardwon.map.picture import svg  # noqa: PLC0415
        from hardwon.measure.dashboard import write  # noqa: PLC0415

        db = self._memory.reading()
        name = projects.names(db).get(found.project, "")
        more = [("map", "Where sessions went", svg(known_of(db, found.project), name))] if found.project else []
        return write(found, Path(path), name, more)
