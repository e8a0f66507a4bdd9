"""Files that people keep notes in, taken in as documents: new, changed, moved and deleted ones told apart."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

from msgspec import Struct, field

from hardwon.clock import now
from hardwon.errors import NotAllowed, NotFound
from hardwon.scrub.scrubber import Scrubber
from hardwon.store import documents, meta
from hardwon.store.database import Database
from hardwon.store.documents import DocumentRow
from hardwon.store.meta import Forgotten
from hardwon.text.normalise import digest, tilde
from hardwon.text.sections import markup_of, sections

MAX_FILE_BYTES = 5_000_000
SENT = "sent:"
"""How the place of a text begins that is no file, but was sent to the service."""
_SUFFIXES = frozenset((".md", ".markdown", ".mdx", ".rst", ".txt"))
_SKIPPED = frozenset(("node_modules", "__pycache__", "venv", "site-packages", "dist", "build", "target"))
_MAX_TITLE_CHARACTERS = 200


class Ingested(Struct):
    """What taking files in did; each list has paths."""

    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """With the reason."""
    unchanged: int = 0
    chunks: int = 0


def found(paths: Iterable[Path]) -> Iterator[Path]:
    """Files as they are named; of folders, all texts below that are not hidden. No link is followed."""
    for path in paths:
        if path.is_dir():
            yield from _below(path)
        elif path.exists():
            yield path
        else:
            raise NotFound(f"{path} does not exist: name a file or folder that does")


def _below(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(names):
            path = Path(where, name)
            if path.suffix.lower() in _SUFFIXES and not path.is_symlink() and not name.startswith("."):
                yield path


def ingest(db: Database, paths: Iterable[Path], project: str | None, scrubber: Scrubber) -> Ingested:
    """Bring what is known of these files and folders up to date; one transaction a file."""
    report = Ingested()
    wanted = list(paths)
    there: set[str] = set()
    for path in found(wanted):
        place = tilde(str(path.absolute()))
        if place not in there:
            there.add(place)
            _take(db, path, place, project, scrubber, report)
    _drop_deleted(db, [tilde(str(path.absolute())) for path in wanted if path.is_dir()], there, report)
    return report


def place_of(project: str | None, name: str) -> str:
    """Where a text that was sent under a name is kept; no file is ever called so."""
    return f"{SENT}{project or ''}/{name}"


def keep(db: Database, name: str, text: str, project: str | None, scrubber: Scrubber) -> str:
    """Take in a text that somebody sent; one of the same name and project gives way. Inside a transaction."""
    place = place_of(project, scrubber.scrub(name))
    clean = scrubber.scrub(text)
    forgotten = meta.load_tombstones(db)
    if forgotten.says(place):
        raise NotAllowed("a document of this name was forgotten on request: choose another name")
    _save(db, place, clean, project, forgotten, now())
    return documents.document_id(place)


def _take(db: Database, path: Path, place: str, project: str | None, scrubber: Scrubber, report: Ingested) -> None:
    text = _text(path, report)
    if text is None:
        return
    clean = scrubber.scrub(text)
    hashed = digest(clean, size=16)
    known = next(iter(documents.at_paths(db, [place])), None)
    project = project or (known.project if known else None)
    if known and (known.hash, known.project) == (hashed, project):
        report.unchanged += 1
        return
    moved = None if known else _moved_from(db, hashed, project)
    forgotten = meta.load_tombstones(db)
    if forgotten.says(place):
        return
    with db.transaction():
        if moved:
            documents.move(db, moved.id, place, now())
            report.moved.append(f"{moved.path} → {place}")
            return
        chunks = _save(db, place, clean, project, forgotten, path.stat().st_mtime_ns // 1000)
    (report.changed if known else report.new).append(place)
    report.chunks += chunks


def _save(db: Database, place: str, clean: str, project: str | None, forgotten: Forgotten, updated: int) -> int:
    """Put a text in the place of what is known of it; how many parts it has."""
    name = PurePath(place)
    kind = markup_of(name.suffix)
    parts = [part for part in sections(clean, kind) if not forgotten.says(f"{part.heading} {part.text}")]
    title = next((part.heading.partition(" > ")[0] for part in parts if part.heading), name.stem)
    hashed = digest(clean, size=16)
    title = title[:_MAX_TITLE_CHARACTERS]
    row = DocumentRow(documents.document_id(place), place, project, hashed, title, kind, "[]", now(), updated)
    documents.save(db, row, parts)
    return len(parts)


def _text(path: Path, report: Ingested) -> str | None:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            report.refused.append(f"{path}: larger than {MAX_FILE_BYTES // 1_000_000} MB")
            return None
        data = path.read_bytes()
    except OSError as error:
        report.refused.append(f"{path}: {error.strerror or error}")
        return None
    if b"\0" in data:
        report.refused.append(f"{path}: not a text file")
        return None
    return data.decode("utf-8", errors="replace")


def _moved_from(db: Database, hashed: str, project: str | None) -> DocumentRow | None:
    """The document with this very text whose file is gone."""
    same = [row for row in documents.listed(db, project) if row.hash == hashed and not row.path.startswith(SENT)]
    return next((row for row in same if not os.path.exists(os.path.expanduser(row.path))), None)


def _drop_deleted(db: Database, folders: list[str], there: set[str], report: Ingested) -> None:
    gone = [
        row
        for row in documents.listed(db)
        if row.path not in there
        and any(row.path.startswith(folder.rstrip("/\\") + os.sep) for folder in folders)
        and not os.path.exists(os.path.expanduser(row.path))
    ]
    with db.transaction():
        documents.remove(db, [row.id for row in gone])
    report.deleted = [row.path for row in gone]
