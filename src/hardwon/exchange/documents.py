"""A file of another system as a document with a chunk a heading."""

from __future__ import annotations

from pathlib import Path

from hardwon.exchange.intake import Intake
from hardwon.store import documents
from hardwon.store.documents import DocumentRow
from hardwon.text.digest import digest
from hardwon.text.sections import markup_of, sections

_DATA = {".yaml": "yaml", ".yml": "yaml"}


def save(intake: Intake, path: Path, text: str) -> None:
    """Keep a file as it is now, in place of what an earlier import kept of it."""
    content = intake.text(text)
    place = intake.text(path.resolve())
    id = documents.document_id(place)
    hashed = digest(content, size=16)
    known = documents.at_paths(intake.db, [place])
    intake.count("documents", new=not known)
    if [(row.id, row.hash) for row in known] == [(id, hashed)]:
        return
    at = path.stat().st_mtime_ns // 1000
    kind = markup_of(path.suffix)
    parts = sections(content, kind)
    title = next((part.heading for part in parts if part.heading), path.stem)
    row = DocumentRow(id, place, None, hashed, title, _DATA.get(path.suffix, kind), "[]", at, at)
    documents.save(intake.db, row, parts)
    for _ in parts:
        intake.count("chunks", new=True)
