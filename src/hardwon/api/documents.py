"""Documents: taken in, listed, let go."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hardwon.capture.attempts import kept
from hardwon.capture.documents import Ingested, ingest, keep
from hardwon.clock import now
from hardwon.errors import HardwonError, NotAllowed, NotFound
from hardwon.home import switched_off
from hardwon.store import documents, events
from hardwon.store.documents import DocumentRow
from hardwon.store.events import Happened
from hardwon.store.meta import scrubber

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon


class Documents:
    """`memory.documents`."""

    def __init__(self, memory: Hardwon, actor: str = "reviewer") -> None:
        self._memory = memory
        self._actor = actor

    def ingest(self, paths: Iterable[Path | str], *, project: str = "") -> Ingested:
        """Take in texts; unchanged ones are left alone, and those that are gone from a folder go here, too."""
        if switched_off():
            raise HardwonError("HARDWON_OFF is set: nothing is written; unset it to go on")
        db = self._memory.writing()
        with db.transaction():
            id = kept(db, project)
        return ingest(db, [Path(path) for path in paths], id, scrubber(db))

    def keep(self, name: str, text: str, *, project: str = "") -> str:
        """Take in a text under a name; one of the same name and project gives way. Returns its id."""
        if switched_off():
            raise HardwonError("HARDWON_OFF is set: nothing is written; unset it to go on")
        if not text.strip():
            raise NotAllowed("a document cannot be empty")
        holder = self._memory.project(project) if project else None
        db = self._memory.writing()
        with db.transaction():
            id = keep(db, name, text, holder, scrubber(db))
            events.record(db, self._actor, now(), [Happened("ingest", id, {}, {})])
        return id

    def listed(self, project: str | None = None) -> list[DocumentRow]:
        if not self._memory.exists:
            return []
        return documents.listed(self._memory.reading(), self._memory.project(project) if project else None)

    def remove(self, path: str) -> None:
        """Let a document go, by its path or id; lessons that cite it keep their quotes."""
        db = self._memory.writing()
        known = [row.id for row in documents.listed(db) if path in (row.id, row.path)]
        if not known:
            raise NotFound(f"there is no document '{path}': `hardwon ingest --list` shows those there are")
        with db.transaction():
            documents.remove(db, known)
            events.record(db, self._actor, now(), [Happened("remove", id, {}, {}) for id in known])
