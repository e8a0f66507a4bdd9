"""Documents: taken in, listed, let go."""

from __future__ import annotations

import builtins
import os

from hardwon.api import convert
from hardwon.api.connection import Part, Paths, each_path, need_switched_on
from hardwon.capture.attempts import kept
from hardwon.capture.documents import SENT, Ingested, ingest, keep
from hardwon.clock import now
from hardwon.errors import NotAllowed, NotFound
from hardwon.model.nouns import Chunk, Document, DocumentDetails
from hardwon.store import documents, integrity, meta
from hardwon.store.database import Database
from hardwon.store.integrity import Happened
from hardwon.store.meta import scrubber
from hardwon.text.normalise import tilde


class Documents(Part):
    """Texts taken in for reference: found by search, told when they fit a task."""

    def ingest(self, paths: Paths, *, project: str = "") -> Ingested:
        """Take in files, or folders of them; returns what changed.

        Unchanged ones are left alone, and those that are gone from a folder go here, too. A file belongs to one
        project, for which it was last taken in; without a project it stays where it is. Raises `NotFound`.
        """
        need_switched_on()
        db = self._memory.writing()
        meta.need_room(db)
        with db.transaction():
            id = kept(db, project)
        return ingest(db, each_path(paths), id, scrubber(db))

    def add(self, name: str, text: str, *, project: str = "") -> str:
        """Take in a text under a name; one of the same name and project gives way. Returns its id.

        Raises `NotAllowed` for an empty text.
        """
        need_switched_on()
        if not text.strip():
            raise NotAllowed("a document cannot be empty")
        holder = self._memory.project_to_keep(project) or None
        db = self._memory.writing()
        meta.need_room(db)
        with db.transaction(holder):
            id = keep(db, name, text, holder, scrubber(db))
            integrity.record_events(db, self._actor(), now(), [Happened("ingest", id, {}, {})])
        return id

    def get(self, id: str) -> DocumentDetails:
        """A document with its parts, by its id, its path, or the name that it was added under. Raises `NotFound`."""
        db = self._memory.reading()
        found = documents.get(db, id)
        if found is None and len(known := _called(db, id)) == 1:
            found = documents.get(db, known[0])
        if found is None:
            raise NotFound(f"no document, or several, called '{id}': `hardwon ingest --list` lists them")
        row, chunks = found
        return DocumentDetails(
            document=convert.document(row),
            chunks=[Chunk(id=one.id, heading_path=one.heading_path, content=one.content) for one in chunks],
        )

    def remove(self, path: str) -> None:
        """Let a document go, by its id, path or name; lessons that cite it keep their quotes.

        Raises `NotFound`, also where several have the name.
        """
        db = self._memory.writing()
        known = _called(db, path)
        if len(known) != 1:
            raise NotFound(f"no document, or several, called '{path}': `hardwon ingest --list` lists them")
        with db.transaction():
            documents.remove(db, known)
            integrity.record_events(db, self._actor(), now(), [Happened("remove", id, {}, {}) for id in known])

    def list(self, *, project: str | None = None) -> list[Document]:
        """Documents by path; with a project, also those of none. Raises `NotFound` for an unknown project."""
        if not self._memory.exists:
            return []
        holder = self._memory.project(project)
        rows = documents.listed(self._memory.reading())
        return [convert.document(row) for row in rows if holder is None or row.project in (holder, None)]


def _called(db: Database, name: str) -> builtins.list[str]:
    """The ids of the documents that are meant: by id or path, else by the name that they were added under."""
    rows = documents.listed(db)
    paths = {name, tilde(os.path.abspath(os.path.expanduser(name)))}
    return [row.id for row in rows if row.id == name or row.path in paths] or [
        row.id for row in rows if row.path.startswith(SENT) and row.path.partition("/")[2] == name
    ]
