"""Everything that goes in and out of the store as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from oldhand.exchange import atocore, index, journal, knowledge, tree
from oldhand.exchange.intake import Taken
from oldhand.exchange.tree import Exported
from oldhand.exchange.tree_import import Merged, merge
from oldhand.store import meta
from oldhand.store.database import Database

if TYPE_CHECKING:
    from oldhand.api.oldhand import Oldhand

T = TypeVar("T")

System = Literal["journal", "atocore", "knowledge"]


class Exchange:
    """`memory.exchange`: trees of Markdown, dumps, other systems' databases, other engines."""

    def __init__(self, memory: Oldhand, actor: str = "reviewer") -> None:
        self._memory = memory
        self._actor = actor

    def export(self, directory: Path, *, everything: bool = False, force: bool = False) -> Exported:
        """Write the lessons as a tree of files that people and git can work with."""
        db = self._memory.reading()
        with db.snapshot():
            return tree.export(db, directory, everything=everything, force=force)

    def merge(self, directory: Path, *, theirs: bool = False, dry_run: bool = False) -> Merged | Taken:
        """Bring back what people changed in a tree; one that this store did not write is only proposed for review.

        Where everything could be settled, the tree is written anew: a line that was added has its id then.
        """
        folder = index.folder_of(directory)
        own = index.written_here(folder, meta.store_id(self._memory.writing()))
        if own is None:
            return self._do(lambda db: knowledge.take(db, folder, worth="untrusted", documents=False), dry_run=dry_run)
        report = self._do(lambda db: merge(db, folder, own, actor=self._actor, theirs=theirs), dry_run=dry_run)
        if report.settled and not dry_run:
            report.rewritten = tree.write(
                self._memory.reading(), folder, own, everything=own.oldhand.everything
            ).changed
        return report

    def take(
        self, system: System, path: Path, *, trusted: bool = False, project: str | None = None, dry_run: bool = False
    ) -> Taken:
        """Import another system's memory, with its times; importing it again adds nothing.

        `trusted` is the word of the person who imports it that its lessons are true.
        """

        def step(db: Database) -> Taken:
            if system == "journal":
                return journal.take(db, path, project=self._memory.project(project))
            if system == "atocore":
                return atocore.take(db, path, trusted=trusted)
            return knowledge.take(db, path, worth="human" if trusted else "claimed", documents=True)

        return self._do(step, dry_run=dry_run)

    def _do(self, step: Callable[[Database], T], *, dry_run: bool = False) -> T:
        """One transaction, and then what the hooks hand out is brought up to date. A dry run is taken back."""
        db = self._memory.writing()
        done: list[T] = []
        try:
            with db.transaction():
                done.append(step(db))
                if dry_run:
                    raise _Rehearsed
        except _Rehearsed:
            return done[0]
        self._memory.refresh_standing()
        return done[0]


class _Rehearsed(Exception):
    """Ends a dry run."""
