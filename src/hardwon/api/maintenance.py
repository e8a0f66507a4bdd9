"""Keeping the store whole: what `hardwon doctor`, `backup` and `restore` do."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from hardwon import former
from hardwon.api.part import Part
from hardwon.api.paths import AnyPath
from hardwon.clock import ago
from hardwon.errors import NotAllowed, StoreError
from hardwon.install.status import everywhere
from hardwon.install.where import Where
from hardwon.sessions import discover
from hardwon.store import backup, check, hook_data, repair, spool, sqlite
from hardwon.store.database import Check, Row
from hardwon.store.repair import Repaired
from hardwon.store.sqlite import SqliteDatabase, engine_check
from hardwon.text.fence import one_line

DAYS = 7
"""How far back hooks are looked at."""
_DAY = 24 * 3600 * 1_000_000


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
            *_former_name(home),
            engine_check(),
            *sqlite.place_checks(home),
            *self._store(),
            *self._queue(),
            *self._hooks(),
            *_installs(),
            *self._capture(),
            self._backups(),
            _sessions(),
        ]

    def healthy(self) -> bool:
        """Whether there is nothing that `repair` could mend."""
        return all(one.ok for one in self._store())

    def _store(self) -> list[Check]:
        if not self._memory.exists:
            return [Check("store", True, "none yet: `hardwon up` makes it")]
        try:
            return check.store(self._memory.reading())
        except StoreError as error:
            return [Check("store", False, str(error))]

    def _queue(self) -> list[Check]:
        if not self._memory.exists:
            return []
        with suppress(StoreError):  # said of the store already
            return [Check("review", True, self._memory.review.notice() or "few or no lessons wait for review")]
        return []

    def _hooks(self) -> list[Check]:
        return check.hooks(self._runs(), DAYS)

    def _runs(self) -> list[Row]:
        since = time.time_ns() // 1000 - DAYS * _DAY
        runs: list[Row] = [run for run in spool.waiting(str(self._memory.home)) if run[1] >= since]
        if self._memory.exists:
            with suppress(StoreError):  # said of the store already
                runs += hook_data.runs_since(self._memory.reading(), since)
        return runs

    def last_runs(self) -> dict[str, list[dict[str, object]]]:
        """Agent → the last run of each hook, and the last error of those in the last days."""
        newest: dict[tuple[str, str], Row] = {}
        errors: dict[tuple[str, str], str] = {}
        for run in sorted(self._runs(), key=lambda run: run[1]):
            key = (run[3], run[2])
            newest[key] = run
            errors[key] = run[5] or errors.get(key, "")
        moment = time.time_ns() // 1000
        found: dict[str, list[dict[str, object]]] = {}
        for (agent, event), run in newest.items():
            told = {"event": event, "ago": ago(run[1], moment), "milliseconds": run[4] // 1000}
            found.setdefault(agent, []).append({**told, "error": one_line(errors[agent, event])})
        return found

    def _capture(self) -> list[Check]:
        """What could not be recorded of a command or crash, the last time that happened."""
        last = self._memory.home / "capture-error.txt"
        if not last.exists():
            return []
        said = one_line(last.read_text(encoding="utf-8", errors="replace"))
        return [Check("capture", False, f"the last error: {said}; delete {last} when it is fixed")]

    def _backups(self) -> Check:
        if isinstance(self._memory.database, str):
            return Check("backups", True, "are the server's: pg_dump, or `hardwon export --jsonl`")
        kept = backup.kept(self._memory.home)
        if not kept:
            return Check("backups", True, "none yet: `hardwon backup` makes one")
        age = (time.time() - kept[0].stat().st_mtime) / (24 * 3600)
        return Check("backups", True, f"{len(kept)}, the newest {kept[0].name}, {age:.0f} days old")

    def repair(self) -> Repaired:
        """Repair a copy of the store and put it in place; what cannot be kept goes into a file of its own.

        Raises `StoreError` if there is no store, `NotAllowed` for one on a server.
        """
        path = self._file("repair")
        if not path.exists():
            raise StoreError(f"there is no store at {path}: nothing to repair")
        self._memory.close()
        fixed = repair.repair(path)
        self._memory.refresh_standing()
        return fixed

    def backup(self, file: AnyPath | None = None, *, keep: int | None = None) -> Backup:
        """A verified copy, made while others work; `keep` removes all but the newest in the home folder.

        Raises `NotAllowed` for a store on a server.
        """
        self._file("back up")
        db = self._memory.reading()
        assert isinstance(db, SqliteDatabase)
        path = Path(file) if file else backup.default_path(self._memory.home)
        rows = backup.backup(db, path)
        removed = backup.prune(self._memory.home, keep) if keep is not None else []
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


def _former_name(home: Path) -> list[Check]:
    """What was moved over from the project's former name, and what nobody reads any more."""
    moved = former.moved_to(str(home))
    found = [Check("former name", True, f"moved over from {former.NAME}: {'; '.join(moved)}")] if moved else []
    for name in former.variables(os.environ):
        now_called = name.replace(former.NAME.upper(), "HARDWON", 1)
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
    return Check("sessions", True, kept or "none of a known agent on this machine")
