"""Everything that goes in and out of the store as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar

from msgspec.structs import replace

from hardwon.api.connection import AnyPath, Part
from hardwon.errors import HardwonError, NotAllowed, NotFound
from hardwon.exchange import atocore, dump, knowledge, markdown, markdown_format, modification_journal
from hardwon.exchange.dump import Header, Loaded, Migrated, load, migrate
from hardwon.exchange.intake import Taken
from hardwon.exchange.markdown import Exported, Merged, merge
from hardwon.harvest.walk import Progress
from hardwon.store import meta, stale
from hardwon.store.database import Database, connect
from hardwon.store.forget import forget_again

T = TypeVar("T")

System = Literal["journal", "atocore", "knowledge"]


class Exchange(Part):
    """Trees of Markdown, dumps, other systems' databases, other engines."""

    def export(self, folder: AnyPath, *, everything: bool = False, force: bool = False) -> Exported:
        """Write the lessons as a tree of files that people and git can work with; returns what was written.

        Raises `HardwonError` where the tree has changes that were not imported, unless `force` drops them, and for the
        tree of another store.
        """
        directory = Path(folder)
        db = self._memory.reading()
        with db.snapshot():
            done = markdown.export(db, directory, everything=everything, force=force)
        writer = self._memory.writing()
        with writer.transaction():
            meta.remember_export(writer, str(directory.absolute()))
        return done

    def import_tree(self, directory: AnyPath, *, theirs: bool = False, dry_run: bool = False) -> Merged | Taken:
        """Bring back what people changed in a tree; one that this store did not write is only proposed for review.

        Where everything could be settled, the tree is written anew: a line that was added has its id then.
        `theirs` lets the tree win where both changed. Raises `HardwonError` where there is no tree, or a damaged one.
        """
        folder = markdown_format.folder_of(Path(directory))
        own = markdown_format.written_here(folder, meta.store_id(self._memory.writing()))
        if own is None:
            return self._exchanged(
                lambda db: knowledge.take(db, folder, worth="untrusted", documents=False), dry_run=dry_run
            )
        report = self._exchanged(lambda db: merge(db, folder, own, actor=self._actor(), theirs=theirs), dry_run=dry_run)
        if dry_run:  # what would be added has no id yet
            report.changes = [
                replace(change, lesson="") if change.what == "add" else change for change in report.changes
            ]
        elif report.settled:
            report.rewritten = markdown.write(
                self._memory.reading(), folder, own, everything=own.hardwon.everything
            ).changed
        return report

    def import_from(
        self, system: System, path: AnyPath, *, trusted: bool = False, project: str | None = None, dry_run: bool = False
    ) -> Taken:
        """Import another system's memory, with its times; importing it again adds nothing.

        `trusted` is the word of the person who imports it that its lessons are true. Raises `NotFound` for a
        path that does not exist, `HardwonError` for what is damaged or not of that system.
        """
        file = Path(path)

        def step(db: Database) -> Taken:
            if system == "journal":
                return modification_journal.take(db, file, project=self._memory.project(project))
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

    def load(self, path: AnyPath, *, dry_run: bool = False) -> Loaded:
        """Read a dump into the store: as it was into an empty one, beside what is there into any other.

        Raises `NotFound`, and `HardwonError` for a dump that is cut off, changed or of another version.
        """
        dumped = Path(path)
        if not dumped.is_file():
            raise NotFound(f"no such file: {path}")
        try:
            with dumped.open("rb") as file:
                done = self._exchanged(lambda db: load(db, file), dry_run=dry_run, recount=True)
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
        target = connect(place, write=True)
        try:
            return migrate(source, target, force=force, told=progress)
        finally:
            target.close()

    def _exchanged(self, step: Callable[[Database], T], *, dry_run: bool = False, recount: bool = False) -> T:
        """One transaction, and then what the hooks hand out is brought up to date. A dry run is taken back."""
        db = self._memory.writing()
        done: list[T] = []
        try:
            with db.transaction():
                done.append(step(db))
                forget_again(db)
                if dry_run:
                    raise _Rehearsed
        except _Rehearsed:
            return done[0]
        if recount:
            stale.recount(db)
        self._memory.refresh_standing()
        return done[0]


def _same(one: Path | str, other: Path | str) -> bool:
    if isinstance(one, Path) and isinstance(other, Path):
        return one.resolve() == other.resolve()
    return one == other


class _Rehearsed(Exception):
    """Ends a dry run."""
